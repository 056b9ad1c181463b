/*
 * Slots and counters. Every change of a slot goes through slot_open and slot_close, which take its
 * share out of the counters and put the new one in.
 */
#include "job/view.h"

#include <string.h>

#include "api/types/kinds/job/job.h"
#include "base/mem.h"
#include "job/names.h"
#include "job/slot_annotations.h"

/* Nobody runs more replicas of a task; a forged pod with a higher index is none of ours. */
enum { INDEX_MAX = 1000000 };

static const struct job_task *spec_of(const struct job_view *view, uint32_t task)
{
    return &view->shape->spec->tasks.items[task];
}

/* The pod dies although nobody marked it: the rules of the epoch. */
static bool outlived(const struct job_view *view, const struct pod_facts *pod)
{
    const struct job_state *state = &view->state;
    bool finished = pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED;
    int32_t failures = state->retry_count - view->resumes - view->targeted;

    if (!job_phase_active(state->phase))
        return !finished;
    if (pod->version >= state->version)
        return false;
    if (!finished)
        return true;
    if (view->resumed && pod->phase == POD_SUCCEEDED) /* work that is done stays done (O-35) */
        return false;
    /* The restart that may not be: its failed and succeeded pods stay for inspection (lastRetry).
     */
    return !(state->phase == JOB_RESTARTING && failures >= view->shape->spec->max_retry);
}

static bool is_doomed(const struct job_view *view, const struct job_task_view *task,
                      const struct job_slot *slot, int32_t index)
{
    if (!slot->pod)
        return false;
    if (slot->facts.marked || slot->facts.deleting)
        return true;
    if (index >= task->replicas && job_phase_active(view->state.phase))
        return true;
    return outlived(view, &slot->facts);
}

static bool is_vacant(const struct job_task_view *task, const struct job_slot *slot, int32_t index)
{
    return slot->class_ == SLOT_EMPTY && !slot->pod && slot->op == SLOT_IDLE &&
           index < task->replicas;
}

static void classify(const struct job_view *view, const struct job_task_view *task,
                     struct job_slot *slot, int32_t index)
{
    bool counts = slot->pod || (slot->kept && index < task->replicas &&
                                !outlived(view, &slot->facts)); /* as the pod would */

    slot->doomed = is_doomed(view, task, slot, index);
    slot->class_ = !counts        ? SLOT_EMPTY
                   : slot->doomed ? SLOT_TERMINATING
                                  : (uint8_t)(SLOT_PENDING + slot->facts.phase);
}

static bool is_reapable(const struct job_slot *slot)
{
    return slot->doomed && slot->op == SLOT_IDLE && !slot->facts.deleting;
}

static void count(struct job_view *view, struct job_task_view *task, const struct job_slot *slot,
                  int32_t index, int32_t sign)
{
    if (slot->class_ != SLOT_EMPTY) {
        view->totals[slot->class_] += sign;
        task->by_class[slot->class_] += sign;
        if (slot->class_ == SLOT_PENDING || slot->class_ == SLOT_RUNNING)
            task->restarts += (int64_t)sign * slot->facts.restarts;
        if (slot->class_ != SLOT_TERMINATING && slot->facts.ready)
            task->ready += sign;
    }
    if (is_vacant(task, slot, index)) {
        task->vacant += sign;
        if (task->unlocked)
            view->vacant += sign;
        if (sign > 0 && (task->vacant == 1 || index < task->vacant_from))
            task->vacant_from = index;
    }
    if (is_reapable(slot)) {
        task->reap += sign;
        view->reap += sign;
        if (sign > 0 && (task->reap == 1 || index > task->reap_to))
            task->reap_to = index;
    }
}

static void set_unlocked(struct job_view *view, uint32_t at)
{
    const struct job_shape_task *needs = &view->shape->tasks[at];
    struct job_task_view *task = &view->tasks[at];
    uint32_t met = 0;
    bool unlocked;

    for (uint32_t i = 0; i < needs->n_needs; i++)
        met += job_view_task_ready(view, needs->needs[i]);
    unlocked = needs->n_needs == 0 || (needs->needs_any ? met > 0 : met == needs->n_needs);
    if (unlocked != task->unlocked) {
        task->unlocked = unlocked;
        view->vacant += unlocked ? task->vacant : -task->vacant;
    }
    if (!task->started && (unlocked || task->vacant < task->replicas)) {
        task->started = true;
        view->gang_changed = true;
    }
}

static void update_short(struct job_view *view, uint32_t at)
{
    struct job_task_view *task = &view->tasks[at];
    const struct job_task *spec = spec_of(view, at);
    bool now =
        spec->min_available.set && task->by_class[SLOT_SUCCEEDED] < spec->min_available.value;

    view->short_tasks += now - task->short_;
    task->short_ = now;
}

static struct job_slot *slot_open(struct job_view *view, struct slot_at at)
{
    struct job_task_view *task = &view->tasks[at.task];
    struct job_slot *slot = &task->slots[at.index];

    count(view, task, slot, at.index, -1);
    return slot;
}

static void slot_close(struct job_view *view, struct slot_at at, bool was_ready)
{
    struct job_task_view *task = &view->tasks[at.task];
    struct job_slot *slot = &task->slots[at.index];
    const struct job_shape_task *shape = &view->shape->tasks[at.task];

    classify(view, task, slot, at.index);
    count(view, task, slot, at.index, +1);
    update_short(view, at.task);
    if (shape->n_dependents > 0 && was_ready != job_view_task_ready(view, at.task))
        for (uint32_t i = 0; i < shape->n_dependents; i++)
            set_unlocked(view, shape->dependents[i]);
    if (!task->started && slot->pod)
        set_unlocked(view, at.task);
}

bool job_view_task_ready(const struct job_view *view, uint32_t task)
{
    return view->tasks[task].ready >= job_task_wanted_ready(spec_of(view, task));
}

/* Make room up to `n_slots`, and count what is vacant there. */
static void grow(struct job_view *view, uint32_t at, int32_t n_slots)
{
    struct job_task_view *task = &view->tasks[at];
    int32_t old = task->n_slots;

    if (n_slots <= old)
        return;
    task->slots = mem_resize(task->slots, (size_t)n_slots * sizeof *task->slots);
    memset(task->slots + old, 0, (size_t)(n_slots - old) * sizeof *task->slots);
    task->n_slots = n_slots;
    for (int32_t i = old; i < n_slots; i++)
        count(view, task, &task->slots[i], i, +1);
}

static int32_t annotation_int(const struct object *object, const char *key, int32_t otherwise)
{
    const char *text = meta_annotation(object->meta, key);
    int32_t value;

    return text && job_parse_int(text, &value) ? value : otherwise;
}

/* Resumes are counted in annotations, each with the version it started from, so that a repeated
 * write counts once. */
static void read_resumes(struct job_view *view)
{
    int32_t resumes = 0, from = -1;

    if (view->state.retry_count > 0) {
        resumes = annotation_int(view->job, ANNOTATION_RESUME_COUNT, 0);
        from = annotation_int(view->job, ANNOTATION_RESUME_VERSION, -1);
    }
    view->resumes = resumes < 0 ? 0 : resumes;
    /* Noted, but the decision itself was not stored. */
    if (view->resumes > 0 && from == view->state.version)
        view->resumes--;
    view->resumed = from >= 0 && from == view->state.version - 1;
}

/* Count everything anew: for changes that touch every slot. */
static void recount(struct job_view *view)
{
    view->counted_version = view->state.version;
    memset(view->totals, 0, sizeof view->totals);
    view->vacant = view->reap = view->short_tasks = 0;
    for (uint32_t t = 0; t < view->shape->spec->tasks.count; t++) {
        struct job_task_view *task = &view->tasks[t];

        memset(task->by_class, 0, sizeof task->by_class);
        task->restarts = 0;
        task->ready = task->vacant = task->reap = 0;
        task->short_ = false;
        for (int32_t i = 0; i < task->n_slots; i++) {
            struct job_slot *slot = &task->slots[i];

            classify(view, task, slot, i);
            count(view, task, slot, i, +1);
        }
        update_short(view, t);
    }
    for (uint32_t t = 0; t < view->shape->spec->tasks.count; t++)
        set_unlocked(view, t);
}

void job_view_init(struct job_view *view, const struct object *job, struct job_shape *shape)
{
    *view = (struct job_view){.job = object_ref(job), .shape = shape};
    job_state_load(&view->state, job_status_of(job));
    view->counted_version = view->state.version;
    read_resumes(view);
    view->tasks = mem_array(shape->spec->tasks.count, sizeof *view->tasks);
    for (uint32_t t = 0; t < shape->spec->tasks.count; t++) {
        view->tasks[t].replicas = spec_of(view, t)->replicas;
        grow(view, t, view->tasks[t].replicas);
    }
    job_notes_load(view);
    recount(view);
}

void job_view_release(struct job_view *view)
{
    size_t n_tasks = view->shape ? view->shape->spec->tasks.count : 0;

    for (size_t t = 0; t < n_tasks; t++) {
        for (int32_t i = 0; i < view->tasks[t].n_slots; i++)
            object_unref(view->tasks[t].slots[i].pod);
        mem_free(view->tasks[t].slots);
    }
    mem_free(view->tasks);
    job_state_release(&view->state);
    job_shape_put(view->shape);
    object_unref(view->group);
    object_unref(view->job);
    *view = (struct job_view){0};
}

void job_view_set_job(struct job_view *view, const struct object *job)
{
    struct object *old = view->job;

    view->job = object_ref(job);
    if (old->meta != job->meta) {
        read_resumes(view);
        job_notes_configure(view);
    }
    object_unref(old);
}

void job_view_reshape(struct job_view *view, const struct object *job, struct job_shape *shape)
{
    size_t before = view->shape->spec->tasks.count, after = shape->spec->tasks.count;

    for (size_t t = after; t < before;
         t++) { /* admission forbids it; a foreign API server may not */
        for (int32_t i = 0; i < view->tasks[t].n_slots; i++)
            object_unref(view->tasks[t].slots[i].pod);
        mem_free(view->tasks[t].slots);
    }
    view->tasks = mem_resize(view->tasks, (after ? after : 1) * sizeof *view->tasks);
    if (after > before)
        memset(view->tasks + before, 0, (after - before) * sizeof *view->tasks);
    job_shape_put(view->shape);
    view->shape = shape;
    job_view_set_job(view, job);
    for (uint32_t t = 0; t < after; t++) {
        view->tasks[t].replicas = spec_of(view, t)->replicas;
        grow(view, t, view->tasks[t].replicas);
    }
    recount(view);
    job_notes_review(view);
    view->gang_changed = true;
}

void job_view_new_epoch(struct job_view *view)
{
    read_resumes(view);
    recount(view);
    job_notes_review(view); /* what was kept may have gone with the epoch */
}

struct job_slot *job_view_slot(const struct job_view *view, struct slot_at at)
{
    if (at.task >= view->shape->spec->tasks.count || at.index < 0 ||
        at.index >= view->tasks[at.task].n_slots)
        return NULL;
    return &view->tasks[at.task].slots[at.index];
}

int32_t job_view_partition(const struct job_view *view, struct slot_at at)
{
    const struct job_partition *partition = spec_of(view, at.task)->partition;

    return partition ? job_partition_of(at.index, partition->size) : -1;
}

bool job_view_locate(const struct job_view *view, const struct object *pod, struct slot_at *out)
{
    const char *name = meta_annotation(pod->meta, ANNOTATION_TASK_SPEC);
    const char *index = strrchr(object_name(pod), '-');
    int32_t task, number;

    if (!name || !index)
        return false;
    task = view->shape->spec->tasks.count == 1 && strcmp(name, spec_of(view, 0)->name) == 0
               ? 0
               : job_shape_task_at(view->shape, name);
    if (task < 0 || !job_parse_int(index + 1, &number) || number < 0 || number >= INDEX_MAX)
        return false;
    *out = (struct slot_at){(uint32_t)task, number};
    return true;
}

/* Its success outlives the pod that somebody deletes (O-61). */
static bool keeps_success(const struct job_view *view, const struct job_slot *slot,
                          const struct object *pod)
{
    const struct pod_facts *facts = &slot->facts;

    return !pod && slot->pod && view->keeps_succeeded && facts->phase == POD_SUCCEEDED &&
           !facts->marked && !outlived(view, facts);
}

static struct task_facts task_facts_of(const struct job_view *view, uint32_t at)
{
    const struct job_task_view *task = &view->tasks[at];

    return (struct task_facts){task->replicas, spec_of(view, at)->max_retry, task->restarts,
                               task->by_class[SLOT_SUCCEEDED]};
}

enum job_event job_view_put(struct job_view *view, struct slot_at at, const struct object *pod,
                            const struct pod_facts *facts)
{
    struct job_slot *slot;
    struct object *old;
    struct pod_facts before;
    struct task_facts task;
    bool was_ready, keeps;

    grow(view, at.task, at.index + 1);
    slot = &view->tasks[at.task].slots[at.index];
    if (pod && slot->pod && strcmp(object_uid(pod), object_uid(slot->pod)) == 0 &&
        pod->revision <= slot->pod->revision)
        return EVENT_NONE;
    was_ready = job_view_task_ready(view, at.task);
    slot_open(view, at);
    old = slot->pod;
    before = slot->facts;
    keeps = keeps_success(view, slot, pod);
    slot->pod = pod ? object_ref(pod) : NULL;
    slot->facts = pod ? *facts : keeps ? before : (struct pod_facts){0};
    slot->kept = keeps;
    view->notes_changed |= keeps;
    /* A finished creation or removal shows itself here, whichever comes first, this or its answer.
     */
    if (!pod || slot->op == SLOT_CREATING)
        slot->op = SLOT_IDLE;
    slot_close(view, at, was_ready);
    task = task_facts_of(view, at.task);
    object_unref(old);
    if (keeps)
        return EVENT_OUT_OF_SYNC; /* nothing is lost */
    return job_event_of(old ? &before : NULL, pod ? &slot->facts : NULL, &task);
}

void job_view_set_op(struct job_view *view, struct slot_at at, enum slot_op op)
{
    bool was_ready = job_view_task_ready(view, at.task);

    slot_open(view, at)->op = (uint8_t)op;
    slot_close(view, at, was_ready);
}

void job_view_unkeep(struct job_view *view, struct slot_at at)
{
    bool was_ready = job_view_task_ready(view, at.task);

    slot_open(view, at)->kept = false;
    slot_close(view, at, was_ready);
}

bool job_view_next_vacant(struct job_view *view, uint32_t at, struct slot_at *out)
{
    struct job_task_view *task = &view->tasks[at];

    if (task->vacant == 0 || !task->unlocked)
        return false;
    for (int32_t i = task->vacant_from; i < task->replicas; i++)
        if (is_vacant(task, &task->slots[i], i)) {
            task->vacant_from = i;
            *out = (struct slot_at){at, i};
            return true;
        }
    return false;
}

bool job_view_next_reap(struct job_view *view, uint32_t at, struct slot_at *out)
{
    struct job_task_view *task = &view->tasks[at];

    if (task->reap == 0)
        return false;
    for (int32_t i = task->reap_to; i >= 0; i--)
        if (is_reapable(&task->slots[i])) {
            task->reap_to = i;
            *out = (struct slot_at){at, i};
            return true;
        }
    return false;
}

struct job_counts job_view_counts(const struct job_view *view)
{
    const struct job_spec *spec = view->shape->spec;
    const struct job_state *state = &view->state;

    return (struct job_counts){
        .phase = state->phase,
        .pending = view->totals[SLOT_PENDING],
        .running = view->totals[SLOT_RUNNING],
        .succeeded = view->totals[SLOT_SUCCEEDED],
        .failed = view->totals[SLOT_FAILED],
        .terminating = view->totals[SLOT_TERMINATING],
        .unknown = view->totals[SLOT_UNKNOWN],
        .replicas = view->shape->replicas,
        .task_minimums = view->shape->task_minimums,
        .min_available = spec->min_available,
        .status_min_available = state->min_available,
        .min_success = spec->min_success,
        .max_retry = spec->max_retry,
        .retry_count = state->retry_count,
        .resumes = view->resumes,
        .targeted = view->targeted,
        .worst_slot = view->worst_slot,
        .short_tasks = view->short_tasks,
    };
}
