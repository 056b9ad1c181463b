/*
 * Stores the armed delayed actions in status.controlledResources, for the next process:
 *
 *   delayed-actions   PodFailed/job[1]/worker/0-2@1767323045123,Unknown/job[0]@1767323050000
 *
 * Each entry has the event, the policy that asks, the task and indexes of the pods, and the time of
 * the cause in milliseconds since the epoch. A pod that is pending since its creation has no entry:
 * its metadata has the time. An action is stored in the turn that arms it. A cancelled
 * action is removed with the next write of the counters. A process that starts before that write
 * finds that the cause is gone, and drops the action.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/delayed.h"
#include "job/run.h"

#define RESOURCE_DELAYED "delayed-actions"

static const char *const sources[] = {[POLICY_OF_TASK] = "task", [POLICY_OF_JOB] = "job"};

/* Writes entries. Pods of one task with the same time of cause become one entry with a range. */
struct writer {
    const struct job_run *run;
    struct buf text;
    struct job_delayed_annotation last;
    int32_t from; /* first index of the range that `last` ends */
    bool any;
};

static void put_last(struct writer *w)
{
    const struct job_delayed_key *key = &w->last.key;

    if (!w->any)
        return;
    buf_printf(&w->text, "%s%s/%s[%u]", w->text.len ? "," : "", job_event_text(w->last.event),
               sources[key->source], key->position);
    if (key->task != UINT32_MAX) {
        buf_printf(&w->text, "/%s/%d", w->run->model.compiled->spec->tasks.items[key->task].name,
                   w->from);
        if (key->index > w->from)
            buf_printf(&w->text, "-%d", key->index);
    }
    buf_printf(&w->text, "@%" PRId64, w->last.cause_ms);
}

static bool continues(const struct job_delayed_annotation *last,
                      const struct job_delayed_annotation *note)
{
    return note->event == last->event && note->cause_ms == last->cause_ms &&
           note->key.task == last->key.task && note->key.index == last->key.index + 1 &&
           note->key.source == last->key.source && note->key.position == last->key.position;
}

bool job_delayed_is_annotated(enum job_event event, const struct object *pod, int64_t cause_ms)
{
    return event != EVENT_POD_PENDING || !pod || meta_created_ms(pod->meta) != cause_ms;
}

static void put(struct writer *w, const struct job_delayed_annotation *note,
                const struct object *pod)
{
    if (!job_delayed_is_annotated(note->event, pod, note->cause_ms))
        return;
    if (!w->any || !continues(&w->last, note)) {
        put_last(w);
        w->from = note->key.index;
    }
    w->last = *note;
    w->any = true;
}

/* Actions that are due and wait in a list of requests. */
static void put_expired(struct writer *w, const struct job_request *first)
{
    for (const struct job_request *due = first; due; due = due->next) {
        const struct job_delayed_annotation note = {
            {due->has_pod ? due->at.task : UINT32_MAX, due->has_pod ? due->at.index : 0,
             due->source, due->position},
            due->event,
            due->cause_ms,
        };

        if (due->expired)
            put(w, &note, due->pod);
    }
}

bool job_delayed_annotations_write(struct job_run *run)
{
    struct writer w = {.run = run};
    bool changed;

    if (run->delays == DELAYS_STORED)
        return false;
    run->delays = DELAYS_STORED;
    put_expired(&w, run->first);
    put_expired(&w, run->postponed);
    for (const struct job_delayed *entry = run->delayed; entry; entry = entry->hh.next)
        put(&w, &(struct job_delayed_annotation){entry->key, entry->event, entry->cause_ms},
            entry->pod);
    put_last(&w);
    changed = w.text.len ? job_state_control(&run->model.state, RESOURCE_DELAYED, w.text.data)
                         : job_state_drop(&run->model.state, RESOURCE_DELAYED);
    buf_release(&w.text);
    return changed;
}

/* Copies the text up to `end` into `out` and moves `*at` behind it. False when it does not fit. */
static bool take_word(const char **at, char end, char *out, size_t room)
{
    const char *stop = strchr(*at, end);
    size_t len = stop ? (size_t)(stop - *at) : room;

    if (len >= room)
        return false;
    memcpy(out, *at, len);
    out[len] = '\0';
    *at = stop + 1;
    return true;
}

static bool take_number(const char **at, int64_t most, int64_t *out)
{
    char *end;

    if (**at < '0' || **at > '9')
        return false;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return *out <= most;
}

static bool take_policy(const char **at, struct job_delayed_key *out)
{
    char source[8];
    int64_t position;

    if (!take_word(at, '[', source, sizeof source) || !take_number(at, UINT32_MAX, &position) ||
        *(*at)++ != ']')
        return false;
    out->position = (uint32_t)position;
    for (uint32_t i = POLICY_OF_TASK; i <= POLICY_OF_JOB; i++)
        if (strcmp(source, sources[i]) == 0)
            out->source = i;
    return out->source != POLICY_NONE;
}

static bool take_pods(const struct job_run *run, const char **at, struct job_delayed_key *out,
                      int64_t *out_to)
{
    char name[64];
    int64_t from;
    int32_t task;

    if (*(*at)++ != '/' || !take_word(at, '/', name, sizeof name) ||
        !take_number(at, INT32_MAX, &from))
        return false;
    *out_to = from;
    if (**at == '-' && (++*at, !take_number(at, INT32_MAX, out_to)))
        return false;
    task = job_compiled_task_at(run->model.compiled, name);
    out->task = (uint32_t)task;
    out->index = (int32_t)from;
    return task >= 0;
}

/* Reads one entry, arms its actions and moves `*at` to its end. False when the entry is damaged. */
static bool rearm(struct job_run *run, const char **at)
{
    struct job_delayed_annotation note;
    char event[32];
    int64_t to = 0;

    memset(&note, 0, sizeof note); /* the key is hashed as bytes */
    note.key.task = UINT32_MAX;
    if (!take_word(at, '/', event, sizeof event) || !job_event_parse(event, &note.event) ||
        !take_policy(at, &note.key))
        return false;
    if (**at != '@' && !take_pods(run, at, &note.key, &to))
        return false;
    if (*(*at)++ != '@' || !take_number(at, INT64_MAX, &note.cause_ms))
        return false;
    if (note.key.task != UINT32_MAX && to >= run->model.tasks[note.key.task].n_slots)
        to = run->model.tasks[note.key.task].n_slots - 1;
    for (; note.key.index <= to; note.key.index++)
        job_delayed_rearm(run, &note);
    return true;
}

void job_delayed_annotations_load(struct job_run *run)
{
    const char *noted = job_state_resource(&run->model.state, RESOURCE_DELAYED);
    scoped_str text = NULL;

    if (!noted || !job_phase_active(run->model.state.phase))
        return;
    text = mem_strdup(noted);
    for (char *entry = text, *next; entry; entry = next) {
        const char *at = entry;

        next = strchr(entry, ',');
        if (next)
            *next++ = '\0';
        rearm(run, &at);
    }
    job_delayed_changed(run, DELAYS_CHANGED); /* the next write drops damaged entries */
}
