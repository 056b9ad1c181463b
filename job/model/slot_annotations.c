/*
 * Reads and writes lists of index ranges with a number each. Damaged text is read up to the damage.
 */
#include "job/model/slot_annotations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "job/model/names.h"

#define KEY_SUCCEEDED "succeeded-pods-"
#define KEY_RESTARTS  "slot-restarts-"
#define KEY_TARGETED  "targeted-restarts"

enum { KEY_MAX = 128 };

void job_slot_annotations_configure(struct job_model *model)
{
    const char *keep = meta_annotation(model->job->meta, ANNOTATION_KEEP_SUCCEEDED);
    const char *budget = meta_annotation(model->job->meta, ANNOTATION_RESTART_BUDGET);

    model->keeps_succeeded = keep ? strcmp(keep, "true") == 0 : model->keeps_by_default;
    model->slot_budget = budget && strcmp(budget, "slot") == 0;
    job_slot_annotations_mark_changed(model);
}

void job_slot_annotations_mark_changed(struct job_model *model)
{
    model->annotations_changed = model->keeps_succeeded || model->slot_budget;
}

/* One entry of a list such as "0-4:2,7": slots by their index, and the number given for them. */
struct range {
    int32_t from, to; /* first and last slot, both included */
    int32_t number;   /* 1 when the text gives none */
};

/* Reads the next range and moves `*at` behind it. False at the end of the text, or when it is
 * damaged. */
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

static const char *note_of(const struct job_model *model, const char *prefix, uint32_t task)
{
    char key[KEY_MAX];

    snprintf(key, sizeof key, "%s%s", prefix, model->compiled->spec->tasks.items[task].name);
    return job_state_resource(&model->state, key);
}

static void read_task(struct job_model *model, const char *prefix, uint32_t t,
                      void (*note)(struct job_model *model, struct job_slot *slot, int32_t number))
{
    struct job_task_model *task = &model->tasks[t];
    const char *text = note_of(model, prefix, t);
    struct range range;

    while (text && next_range(&text, &range))
        for (int32_t i = range.from; i <= range.to && i < task->n_slots; i++)
            note(model, &task->slots[i], range.number);
}

static void take_success(struct job_model *model, struct job_slot *slot, int32_t number)
{
    slot->kept = true;
    slot->facts =
        (struct pod_facts){.phase = POD_SUCCEEDED, .ready = true, .version = model->state.version};
}

static void take_restarts(struct job_model *model, struct job_slot *slot, int32_t number)
{
    slot->restarts = number;
    if (number > model->most_slot_restarts)
        model->most_slot_restarts = number;
}

void job_slot_annotations_reload_restarts(struct job_model *model)
{
    const char *targeted = job_state_resource(&model->state, KEY_TARGETED);

    model->targeted = model->most_slot_restarts = 0;
    if (targeted && !job_parse_int(targeted, &model->targeted))
        model->targeted = 0;
    if (model->state.n_controlled == 0 && !model->slot_budget)
        return;
    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++) {
        for (int32_t i = 0; model->slot_budget && i < model->tasks[t].n_slots; i++)
            model->tasks[t].slots[i].restarts = 0;
        read_task(model, KEY_RESTARTS, t, take_restarts);
    }
}

void job_slot_annotations_load(struct job_model *model)
{
    job_slot_annotations_configure(model);
    job_slot_annotations_reload_restarts(model);
    for (uint32_t t = 0; model->state.n_controlled && t < model->compiled->spec->tasks.count; t++)
        read_task(model, KEY_SUCCEEDED, t, take_success);
    model->annotations_changed = false;
}

static int32_t kept_success_of(const struct job_slot *slot)
{
    return slot->kept && slot->class == SLOT_SUCCEEDED;
}

static int32_t success_of(const struct job_slot *slot)
{
    return slot->class == SLOT_SUCCEEDED;
}

bool job_slot_annotations_name_successes(const struct job_model *model, uint32_t task)
{
    return note_of(model, KEY_SUCCEEDED, task) != NULL;
}

static int32_t restarts_of(const struct job_slot *slot)
{
    return slot->restarts;
}

static bool write_task(struct job_model *model, const char *prefix, uint32_t t,
                       int32_t (*number_of)(const struct job_slot *slot))
{
    const struct job_task_model *task = &model->tasks[t];
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
    snprintf(key, sizeof key, "%s%s", prefix, model->compiled->spec->tasks.items[t].name);
    return text.len ? job_state_control(&model->state, key, text.data)
                    : job_state_drop(&model->state, key);
}

bool job_slot_annotations_write(struct job_model *model)
{
    bool changed = false;
    char targeted[16];

    if (!model->annotations_changed)
        return false;
    model->annotations_changed = false;
    model->annotations_written = true;
    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++) {
        if (model->keeps_succeeded)
            changed |= write_task(model, KEY_SUCCEEDED, t,
                                  model->keeps_by_default ? success_of : kept_success_of);
        if (model->slot_budget)
            changed |= write_task(model, KEY_RESTARTS, t, restarts_of);
    }
    if (model->targeted == 0)
        return changed;
    snprintf(targeted, sizeof targeted, "%d", model->targeted);
    return job_state_control(&model->state, KEY_TARGETED, targeted) || changed;
}

void job_slot_annotations_stored(struct job_model *model)
{
    if (!model->annotations_written)
        return;
    model->annotations_written = false;
    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++)
        for (int32_t i = 0; i < model->tasks[t].n_slots; i++) {
            struct job_slot *slot = &model->tasks[t].slots[i];

            slot->kept = slot->kept && slot->class == SLOT_SUCCEEDED;
            if (i >= model->tasks[t].replicas)
                slot->restarts = 0;
        }
}

void job_slot_annotations_count_restart(struct job_model *model, uint32_t task, int32_t from,
                                        int32_t to)
{
    if (model->slot_budget)
        model->targeted++;
    for (int32_t i = from; i < to && i < model->tasks[task].n_slots; i++) {
        struct job_slot *slot = &model->tasks[task].slots[i];

        if (model->slot_budget && slot->pod)
            take_restarts(model, slot, slot->restarts + 1);
        if (slot->kept) /* the slot runs again with the rest */
            job_model_forget_success(model, (struct slot_id){task, i});
    }
    job_slot_annotations_mark_changed(model);
}
