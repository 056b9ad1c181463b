/*
 * Lists of index ranges with a number each. Text that is damaged counts as far as it can be read.
 */
#include "job/slot_annotations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "base/mem.h"
#include "job/names.h"

#define KEY_SUCCEEDED "succeeded-pods-"
#define KEY_RESTARTS  "slot-restarts-"
#define KEY_TARGETED  "targeted-restarts"

enum { KEY_MAX = 128 };

void job_notes_configure(struct job_view *view)
{
    const char *keep = meta_annotation(view->job->meta, ANNOTATION_KEEP_SUCCEEDED);
    const char *budget = meta_annotation(view->job->meta, ANNOTATION_RESTART_BUDGET);

    view->keeps_succeeded = keep && strcmp(keep, "true") == 0;
    view->slot_budget = budget && strcmp(budget, "slot") == 0;
    job_notes_review(view);
}

void job_notes_review(struct job_view *view)
{
    view->notes_changed = view->keeps_succeeded || view->slot_budget;
}

/* ---- reading ---- */

struct range {
    int32_t from, to; /* both in it */
    int32_t number;   /* 1 where none is given */
};

/* Takes the next range off `*at`. False at the end, or where it makes no sense. */
static bool next_range(const char **at, struct range *out)
{
    char *end;
    long from, to, number = 1;

    if (**at < '0' || **at > '9')
        return false;
    from = to = strtol(*at, &end, 10);
    if (*end == '-')
        to = strtol(end + 1, &end, 10);
    if (*end == ':')
        number = strtol(end + 1, &end, 10);
    *at = *end == ',' ? end + 1 : end;
    if (to < from || to > INT32_MAX || number < 1 || number > INT32_MAX)
        return false;
    *out = (struct range){(int32_t)from, (int32_t)to, (int32_t)number};
    return true;
}

static const char *note_of(const struct job_view *view, const char *prefix, uint32_t task)
{
    char key[KEY_MAX];

    snprintf(key, sizeof key, "%s%s", prefix, view->shape->spec->tasks.items[task].name);
    return job_state_resource(&view->state, key);
}

static void read_task(struct job_view *view, const char *prefix, uint32_t t,
                      void (*note)(struct job_view *view, struct job_slot *slot, int32_t number))
{
    struct job_task_view *task = &view->tasks[t];
    const char *text = note_of(view, prefix, t);
    struct range range;

    while (text && next_range(&text, &range))
        for (int32_t i = range.from; i <= range.to && i < task->n_slots; i++)
            note(view, &task->slots[i], range.number);
}

static void take_success(struct job_view *view, struct job_slot *slot, int32_t number)
{
    slot->kept = true;
    slot->facts =
        (struct pod_facts){.phase = POD_SUCCEEDED, .ready = true, .version = view->state.version};
}

static void take_restarts(struct job_view *view, struct job_slot *slot, int32_t number)
{
    slot->restarts = number;
    if (number > view->worst_slot)
        view->worst_slot = number;
}

void job_notes_reload_restarts(struct job_view *view)
{
    const char *targeted = job_state_resource(&view->state, KEY_TARGETED);

    view->targeted = view->worst_slot = 0;
    if (targeted && !job_parse_int(targeted, &view->targeted))
        view->targeted = 0;
    if (view->state.n_controlled == 0 && !view->slot_budget)
        return;
    for (uint32_t t = 0; t < view->shape->spec->tasks.count; t++) {
        for (int32_t i = 0; view->slot_budget && i < view->tasks[t].n_slots; i++)
            view->tasks[t].slots[i].restarts = 0;
        read_task(view, KEY_RESTARTS, t, take_restarts);
    }
}

void job_notes_load(struct job_view *view)
{
    job_notes_configure(view);
    job_notes_reload_restarts(view);
    for (uint32_t t = 0; view->state.n_controlled && t < view->shape->spec->tasks.count; t++)
        read_task(view, KEY_SUCCEEDED, t, take_success);
    view->notes_changed = false;
}

/* ---- writing ---- */

static int32_t success_of(const struct job_slot *slot)
{
    return slot->kept && slot->class_ == SLOT_SUCCEEDED;
}

static int32_t restarts_of(const struct job_slot *slot)
{
    return slot->restarts;
}

static bool write_task(struct job_view *view, const char *prefix, uint32_t t,
                       int32_t (*number_of)(const struct job_slot *slot))
{
    const struct job_task_view *task = &view->tasks[t];
    scoped(buf) struct buf text = {0};
    char key[KEY_MAX];
    int32_t n = task->n_slots < task->replicas ? task->n_slots : task->replicas;

    for (int32_t from = 0, to; from < n; from = to) {
        int32_t number = number_of(&task->slots[from]);

        for (to = from + 1; to < n && number_of(&task->slots[to]) == number; to++)
            ;
        if (!number)
            continue;
        buf_printf(&text, text.len ? ",%d" : "%d", from);
        if (to - from > 1)
            buf_printf(&text, "-%d", to - 1);
        if (number > 1)
            buf_printf(&text, ":%d", number);
    }
    snprintf(key, sizeof key, "%s%s", prefix, view->shape->spec->tasks.items[t].name);
    return text.len ? job_state_control(&view->state, key, text.data)
                    : job_state_drop(&view->state, key);
}

bool job_notes_write(struct job_view *view)
{
    bool changed = false;
    char targeted[16];

    if (!view->notes_changed)
        return false;
    view->notes_changed = false;
    view->notes_written = true;
    for (uint32_t t = 0; t < view->shape->spec->tasks.count; t++) {
        if (view->keeps_succeeded)
            changed |= write_task(view, KEY_SUCCEEDED, t, success_of);
        if (view->slot_budget)
            changed |= write_task(view, KEY_RESTARTS, t, restarts_of);
    }
    if (view->targeted == 0)
        return changed;
    snprintf(targeted, sizeof targeted, "%d", view->targeted);
    return job_state_control(&view->state, KEY_TARGETED, targeted) || changed;
}

void job_notes_settle(struct job_view *view)
{
    if (!view->notes_written)
        return;
    view->notes_written = false;
    for (uint32_t t = 0; t < view->shape->spec->tasks.count; t++)
        for (int32_t i = 0; i < view->tasks[t].n_slots; i++) {
            struct job_slot *slot = &view->tasks[t].slots[i];

            slot->kept = slot->kept && slot->class_ == SLOT_SUCCEEDED;
            if (i >= view->tasks[t].replicas)
                slot->restarts = 0;
        }
}

/* ---- counting ---- */

void job_notes_restarted(struct job_view *view, uint32_t task, int32_t from, int32_t to)
{
    if (view->slot_budget)
        view->targeted++;
    for (int32_t i = from; i < to && i < view->tasks[task].n_slots; i++) {
        struct job_slot *slot = &view->tasks[task].slots[i];

        if (view->slot_budget && slot->pod)
            take_restarts(view, slot, slot->restarts + 1);
        if (slot->kept) /* it runs again with the others */
            job_view_unkeep(view, (struct slot_at){task, i});
    }
    job_notes_review(view);
}
