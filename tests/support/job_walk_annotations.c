/*
 * Checks what a job records of single slots: successes whose pods are gone (O-61), and restarts
 * that are counted per slot (O-77). The test keeps its own record of the successes and compares. Of
 * the restarts it checks that each is counted once, at the slots of one task.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "tests/support/job_walk_internal.h"

/* Reads a number after the character `sign` (0: no such character); `*text` moves past it. Returns
 * false if there is none. */
static bool read_number(const char **text, char sign, int *out)
{
    const char *begin = *text + (sign != 0);
    char *end;
    long number;

    if (sign && **text != sign)
        return false;
    number = strtol(begin, &end, 10);
    if (end == begin)
        return false;
    *out = (int)number;
    *text = end;
    return true;
}

/* Parses "0-2,5" or "0:2,5-7:1" into one number per slot. */
static void read_list(const char *text, int out[GEN_REPLICAS + 1])
{
    int from, to, number;

    memset(out, 0, (GEN_REPLICAS + 1) * sizeof *out);
    while (text && read_number(&text, 0, &from)) {
        to = from;
        number = 1;
        read_number(&text, '-', &to);
        read_number(&text, ':', &number);
        for (int i = from; i <= to && i <= GEN_REPLICAS; i++)
            out[i] = number;
        text += *text == ',';
    }
}

static const char *note_of(const struct job_status *status, const char *key)
{
    for (size_t i = 0; i < status->controlled.count; i++)
        if (strcmp(status->controlled.items[i].key, key) == 0)
            return status->controlled.items[i].value;
    return NULL;
}

static void read_task(const struct job_status *status, const char *prefix, int task,
                      int out[GEN_REPLICAS + 1])
{
    char key[64];

    snprintf(key, sizeof key, "%s-%s", prefix, gen_task_name(task));
    read_list(note_of(status, key), out);
}

static bool has_pod(const struct sight *sight, int task, int index)
{
    for (int i = 0; i < sight->count; i++)
        if (sight->pods[i].task == task && sight->pods[i].index == index)
            return true;
    return false;
}

void walk_count_kept(const struct sight *sight, struct rule_counts *counts)
{
    const struct walk *walk = sight->walk;

    for (int t = 0; t < walk->spec.n_tasks; t++)
        for (int i = 0; i < walk->spec.tasks[t].replicas; i++)
            if (walk->kept[t][i] && !has_pod(sight, t, i)) {
                counts->succeeded++;
                counts->succeeded_of[t]++;
                counts->ready_of[t]++;
                counts->known_of[t]++;
            }
}

/* Forgets recorded successes when an epoch runs everything again. An epoch that ends or resumes the
 * job keeps them, and so does a job whose restart is refused. */
static void forget_kept(struct walk *walk, const struct job_status *now, bool new_epoch)
{
    bool again =
        walk_active(now->phase) && !walk->resumed && walk_failures(walk) < walk->spec.max_retry;

    for (int t = 0; t < walk->spec.n_tasks; t++) {
        int still[GEN_REPLICAS + 1];

        read_task(now, "succeeded-pods", t, still);
        for (int i = 0; i <= GEN_REPLICAS; i++)
            walk->kept[t][i] &= new_epoch ? !again : still[i] > 0;
    }
}

static void count_restarts(struct walk *walk, const struct job_status *now, bool new_epoch)
{
    const char *targeted = note_of(now, "targeted-restarts");
    int total = targeted ? (int)strtol(targeted, NULL, 10) : 0, tasks = 0;

    if (total != walk->targeted + !new_epoch)
        walk_violated(walk, "O-77: %d restarts of slots, then %d", walk->targeted, total);
    walk->targeted = total;
    for (int t = 0; t < walk->spec.n_tasks; t++) {
        int restarts[GEN_REPLICAS + 1];
        bool any = false;

        read_task(now, "slot-restarts", t, restarts);
        for (int i = 0; i <= GEN_REPLICAS; i++) {
            int more = restarts[i] - walk->slot_restarts[t][i];

            if (walk->slot_restarts[t][i] != SLOT_ANEW && (more < 0 || more > 1))
                walk_violated(walk, "O-77: slot %s-%d had %d restarts, now %d", gen_task_name(t), i,
                              walk->slot_restarts[t][i], restarts[i]);
            any |= more > 0 && (walk->slot_restarts[t][i] != SLOT_ANEW || restarts[i] > 0);
            walk->slot_restarts[t][i] = restarts[i];
            if (restarts[i] > walk->most_slot_restarts)
                walk->most_slot_restarts = restarts[i];
        }
        tasks += any;
    }
    /* With faults, the slot may have been scaled away before its restart is decided. */
    if (tasks > !new_epoch || (walk->strict && tasks < !new_epoch))
        walk_violated(walk, "O-77: a restart was counted at slots of %d tasks", tasks);
}

int walk_failures(const struct walk *walk)
{
    return walk->retries - walk->resumes - walk->targeted;
}

int walk_worst(const struct walk *walk)
{
    int failures = walk_failures(walk);

    return failures > walk->most_slot_restarts ? failures : walk->most_slot_restarts;
}

void walk_notes_restarted(struct walk *walk, const struct job_status *now, bool new_epoch)
{
    if (walk->spec.slot_budget && now->phase == JOB_RESTARTING && walk->phase != JOB_RESTARTING)
        count_restarts(walk, now, new_epoch);
    if (walk->spec.keep_succeeded)
        forget_kept(walk, now, new_epoch);
}

void walk_notes_clear(struct walk *walk)
{
    memset(walk->kept, 0, sizeof walk->kept);
    memset(walk->slot_restarts, 0, sizeof walk->slot_restarts);
    walk->targeted = walk->most_slot_restarts = 0;
}
