/*
 * Slots and counters. Every change of a slot stands between slot_open and slot_close: the first
 * takes the slot's share out of the counters, the second puts the new share in.
 */
#include "job/model/model.h"

#include <string.h>

#include "api/types/kinds/job/job.h"
#include "base/mem.h"
#include "job/model/names.h"
#include "job/model/slot_annotations.h"

/* More than the replicas of any task. A pod with a higher index is forged and belongs to no
 * slot. */
enum { INDEX_MAX = 1000000 };

static const struct job_task *spec_of(const struct job_model *model, uint32_t task)
{
    return &model->compiled->spec->tasks.items[task];
}

/* Returns whether an unmarked pod is doomed by the phase, or because its kill epoch is over. */
static bool is_past_its_epoch(const struct job_model *model, const struct pod_facts *pod)
{
    const struct job_state *state = &model->state;
    bool finished = pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED;
    int32_t failures = state->retry_count - model->resumes - model->targeted;

    if (!job_phase_active(state->phase))
        return !finished;
    if (pod->version >= state->version)
        return false;
    if (!finished)
        return true;
    if (model->resumed && pod->phase == POD_SUCCEEDED) /* a resume keeps succeeded pods (O-35) */
        return false;
    /* When the retries are used up, failed and succeeded pods stay for inspection (lastRetry). */
    return !(state->phase == JOB_RESTARTING && failures >= model->compiled->spec->max_retry);
}

/* Returns whether an unmarked companion is doomed: by its own end, which makes room for its next
 * pod, by a restart of the job, or because no other pod is left. */
static bool is_unwanted_companion(const struct job_model *model, const struct pod_facts *pod)
{
    bool finished = pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED;

    if (!job_phase_active(model->state.phase))
        return !finished && model->companions_leave;
    return finished || model->companions_leave || is_past_its_epoch(model, pod);
}

static bool is_doomed(const struct job_model *model, const struct job_task_model *task,
                      const struct job_slot *slot, int32_t index)
{
    if (!slot->pod)
        return false;
    if (slot->facts.marked || slot->facts.deleting)
        return true;
    if (index >= task->replicas && job_phase_active(model->state.phase))
        return true;
    return task->companion ? is_unwanted_companion(model, &slot->facts)
                           : is_past_its_epoch(model, &slot->facts);
}

static bool is_vacant(const struct job_model *model, const struct job_task_model *task,
                      const struct job_slot *slot, int32_t index)
{
    return slot->class == SLOT_EMPTY && !slot->pod && slot->op == SLOT_IDLE &&
           index < task->replicas && !(task->companion && model->companions_leave);
}

static void classify(const struct job_model *model, const struct job_task_model *task,
                     struct job_slot *slot, int32_t index)
{
    bool counts =
        slot->pod ||
        (slot->kept && index < task->replicas &&
         !is_past_its_epoch(model, &slot->facts)); /* a kept success counts as its pod would */

    slot->doomed = is_doomed(model, task, slot, index);
    slot->class = !counts        ? SLOT_EMPTY
                  : slot->doomed ? SLOT_TERMINATING
                                 : (uint8_t)(SLOT_PENDING + slot->facts.phase);
}

static bool is_to_remove(const struct job_slot *slot)
{
    return slot->doomed && slot->op == SLOT_IDLE && !slot->facts.deleting;
}

static void count(struct job_model *model, struct job_task_model *task, const struct job_slot *slot,
                  int32_t index, int32_t sign)
{
    if (slot->class != SLOT_EMPTY) {
        model->totals[slot->class] += sign;
        if (task->companion)
            model->companions[slot->class] += sign;
        task->by_class[slot->class] += sign;
        if (slot->class == SLOT_PENDING || slot->class == SLOT_RUNNING)
            task->restarts += (int64_t)sign * slot->facts.restarts;
        if (slot->class != SLOT_TERMINATING && slot->facts.ready)
            task->ready += sign;
    }
    if (is_vacant(model, task, slot, index)) {
        task->vacant += sign;
        if (task->unlocked)
            model->vacant += sign;
        if (sign > 0 && (task->vacant == 1 || index < task->vacant_from))
            task->vacant_from = index;
    }
    if (slot->class == SLOT_SUCCEEDED && !slot->pod) {
        task->absent += sign;
        model->absent += sign;
        model->gang_changed = true;
    }
    if (is_to_remove(slot)) {
        task->to_remove += sign;
        model->to_remove += sign;
        if (sign > 0 && (task->to_remove == 1 || index > task->to_remove_to))
            task->to_remove_to = index;
    }
}

/* Whether the gang waits for the task. It does not wait for one that waits for others, unless all
 * its pods are there: the missing ones are created only when the others run. A pod that is kept
 * because it succeeded before a restart is no start of its task. */
static bool is_started(const struct job_task_model *task)
{
    const bool lives = task->by_class[SLOT_PENDING] || task->by_class[SLOT_RUNNING];

    return task->unlocked || ((task->started || lives) && task->vacant == 0);
}

static void update_started(struct job_model *model, uint32_t at)
{
    struct job_task_model *task = &model->tasks[at];
    const bool started = is_started(task);

    model->gang_changed |= started != task->started;
    task->started = started;
}

static bool companions_ready(const struct job_model *model)
{
    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++)
        if (model->tasks[t].companion && !job_model_task_ready(model, t))
            return false;
    return true;
}

bool job_model_task_waits(const struct job_model *model, uint32_t task)
{
    return model->compiled->tasks[task].n_needs > 0 ||
           (model->lifecycle.has_companions && !model->tasks[task].companion);
}

static void set_unlocked(struct job_model *model, uint32_t at)
{
    const struct job_compiled_task *needs = &model->compiled->tasks[at];
    struct job_task_model *task = &model->tasks[at];
    uint32_t met = 0;
    bool unlocked;

    for (uint32_t i = 0; i < needs->n_needs; i++)
        met += job_model_task_ready(model, needs->needs[i]);
    unlocked = needs->n_needs == 0 || (needs->needs_any ? met > 0 : met == needs->n_needs);
    if (model->lifecycle.has_companions && !task->companion)
        unlocked = unlocked && companions_ready(model);
    if (unlocked != task->unlocked) {
        task->unlocked = unlocked;
        model->vacant += unlocked ? task->vacant : -task->vacant;
    }
    update_started(model, at);
}

static void update_short(struct job_model *model, uint32_t at)
{
    struct job_task_model *task = &model->tasks[at];
    const struct job_task *spec = spec_of(model, at);
    bool now = !task->companion && spec->min_available.set &&
               task->by_class[SLOT_SUCCEEDED] < spec->min_available.value;

    model->tasks_below_minimum += now - task->below_minimum;
    task->below_minimum = now;
}

static struct job_slot *slot_open(struct job_model *model, struct slot_id at)
{
    struct job_task_model *task = &model->tasks[at.task];
    struct job_slot *slot = &task->slots[at.index];

    count(model, task, slot, at.index, -1);
    return slot;
}

/* Unlocks or locks what waits for the task, whose readiness has changed. */
static void unlock_dependents(struct job_model *model, uint32_t at)
{
    const struct job_compiled_task *compiled = &model->compiled->tasks[at];

    for (uint32_t i = 0; i < compiled->n_dependents; i++)
        set_unlocked(model, compiled->dependents[i]);
    for (uint32_t t = 0; model->tasks[at].companion && t < model->compiled->spec->tasks.count; t++)
        if (!model->tasks[t].companion)
            set_unlocked(model, t);
}

/* Returns whether the companions have served: no pod of another task is or becomes alive. While the
 * job runs this is the case when all of those have ended. */
static bool must_companions_leave(const struct job_model *model)
{
    struct job_counts counts;

    if (!model->lifecycle.has_companions)
        return false;
    counts = job_model_counts(model);
    if (!job_phase_active(counts.phase))
        return job_counts_alive(&counts) == job_counts_companions_alive(&counts);
    return counts.phase == JOB_RUNNING && job_counts_ordinary(&counts) > 0 &&
           (int64_t)counts.succeeded + counts.failed == job_counts_ordinary(&counts);
}

/* Dooms the companions, or wants them again, when must_companions_leave changes. O(companions). */
static void update_companions(struct job_model *model)
{
    bool leave = must_companions_leave(model);

    if (leave == model->companions_leave)
        return;
    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++) {
        struct job_task_model *task = &model->tasks[t];

        for (int32_t i = 0; task->companion && i < task->n_slots; i++)
            count(model, task, &task->slots[i], i, -1);
    }
    model->companions_leave = leave;
    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++) {
        struct job_task_model *task = &model->tasks[t];

        for (int32_t i = 0; task->companion && i < task->n_slots; i++) {
            classify(model, task, &task->slots[i], i);
            count(model, task, &task->slots[i], i, +1);
        }
    }
    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++)
        set_unlocked(model, t);
}

static void slot_close(struct job_model *model, struct slot_id at, bool was_ready)
{
    struct job_task_model *task = &model->tasks[at.task];
    struct job_slot *slot = &task->slots[at.index];

    classify(model, task, slot, at.index);
    count(model, task, slot, at.index, +1);
    update_short(model, at.task);
    if (was_ready != job_model_task_ready(model, at.task))
        unlock_dependents(model, at.task);
    if (job_model_task_waits(model, at.task))
        update_started(model, at.task);
    update_companions(model);
}

bool job_model_task_ready(const struct job_model *model, uint32_t task)
{
    return model->tasks[task].ready >= job_task_wanted_ready(spec_of(model, task));
}

/* Adds slots up to `n_slots` and counts them as vacant. */
static void grow(struct job_model *model, uint32_t at, int32_t n_slots)
{
    struct job_task_model *task = &model->tasks[at];
    int32_t old = task->n_slots;

    if (n_slots <= old)
        return;
    task->slots = mem_resize(task->slots, (size_t)n_slots * sizeof *task->slots);
    memset(task->slots + old, 0, (size_t)(n_slots - old) * sizeof *task->slots);
    task->n_slots = n_slots;
    for (int32_t i = old; i < n_slots; i++)
        count(model, task, &task->slots[i], i, +1);
}

static int32_t annotation_int(const struct object *object, const char *key, int32_t otherwise)
{
    const char *text = meta_annotation(object->meta, key);
    int32_t value;

    return text && job_parse_int(text, &value) ? value : otherwise;
}

/* Resumes are counted in annotations of the job, with the version that the last one started from,
 * so that a repeated write counts once. */
static void read_resumes(struct job_model *model)
{
    int32_t resumes = 0, from = -1;

    if (model->state.retry_count > 0) {
        resumes = annotation_int(model->job, ANNOTATION_RESUME_COUNT, 0);
        from = annotation_int(model->job, ANNOTATION_RESUME_VERSION, -1);
    }
    model->resumes = resumes < 0 ? 0 : resumes;
    /* Counted, but the decision itself was not stored. */
    if (model->resumes > 0 && from == model->state.version)
        model->resumes--;
    model->resumed = from >= 0 && from == model->state.version - 1;
}

/* In a new version of the job the tasks wait for each other again. */
static void begin_version(struct job_model *model)
{
    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++)
        model->tasks[t].started = false;
    model->gang_changed = true;
    model->counted_version = model->state.version;
}

/* Counts all slots anew, for changes that affect every slot. */
static void recount(struct job_model *model)
{
    if (model->counted_version != model->state.version)
        begin_version(model);
    memset(model->totals, 0, sizeof model->totals);
    memset(model->companions, 0, sizeof model->companions);
    model->companions_leave = false;
    model->vacant = model->to_remove = model->tasks_below_minimum = model->absent = 0;
    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++) {
        struct job_task_model *task = &model->tasks[t];

        memset(task->by_class, 0, sizeof task->by_class);
        task->restarts = 0;
        task->ready = task->vacant = task->to_remove = task->absent = 0;
        task->below_minimum = false;
        for (int32_t i = 0; i < task->n_slots; i++) {
            struct job_slot *slot = &task->slots[i];

            classify(model, task, slot, i);
            count(model, task, slot, i, +1);
        }
        update_short(model, t);
    }
    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++)
        set_unlocked(model, t);
    update_companions(model);
}

/* Reads the annotations of the job. Returns true when the tasks that are kept alive have changed. */
static bool read_lifecycle(struct job_model *model)
{
    const struct meta *meta = model->job->meta;
    bool changed = false;

    model->lifecycle = job_lifecycle_of(meta, model->compiled->spec);
    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++) {
        struct job_task_model *task = &model->tasks[t];
        bool companion =
            model->lifecycle.has_companions && job_is_companion(meta, spec_of(model, t)->name);

        changed = changed || companion != task->companion;
        task->companion = companion;
    }
    return changed;
}

void job_model_init(struct job_model *model, const struct object *job,
                    struct job_compiled_spec *compiled, const struct job_model_options *options)
{
    *model = (struct job_model){.job = object_ref(job), .compiled = compiled};
    if (options) {
        model->local_pods = options->local_pods;
        model->own_network = options->own_network;
        model->keeps_by_default = options->keeps_succeeded;
        model->gang = options->gang;
    }
    job_state_load(&model->state, job_status_of(job));
    model->counted_version = model->state.version;
    read_resumes(model);
    model->tasks = mem_array(compiled->spec->tasks.count, sizeof *model->tasks);
    read_lifecycle(model);
    for (uint32_t t = 0; t < compiled->spec->tasks.count; t++) {
        model->tasks[t].replicas = spec_of(model, t)->replicas;
        grow(model, t, model->tasks[t].replicas);
    }
    job_slot_annotations_load(model);
    recount(model);
}

void job_model_release(struct job_model *model)
{
    size_t n_tasks = model->compiled ? model->compiled->spec->tasks.count : 0;

    for (size_t t = 0; t < n_tasks; t++) {
        for (int32_t i = 0; i < model->tasks[t].n_slots; i++)
            object_unref(model->tasks[t].slots[i].pod);
        mem_free(model->tasks[t].slots);
    }
    mem_free(model->tasks);
    job_state_release(&model->state);
    job_compiled_spec_put(model->compiled);
    object_unref(model->group);
    object_unref(model->job);
    *model = (struct job_model){0};
}

void job_model_set_job(struct job_model *model, const struct object *job)
{
    struct object *old = model->job;

    model->job = object_ref(job);
    if (old->meta != job->meta) {
        read_resumes(model);
        job_slot_annotations_configure(model);
        if (read_lifecycle(model))
            recount(model);
    }
    object_unref(old);
}

void job_model_set_spec(struct job_model *model, const struct object *job,
                        struct job_compiled_spec *compiled)
{
    size_t before = model->compiled->spec->tasks.count, after = compiled->spec->tasks.count;

    for (size_t t = after; t < before; t++) { /* admission forbids it; another API server may not */
        for (int32_t i = 0; i < model->tasks[t].n_slots; i++)
            object_unref(model->tasks[t].slots[i].pod);
        mem_free(model->tasks[t].slots);
    }
    model->tasks = mem_resize(model->tasks, (after ? after : 1) * sizeof *model->tasks);
    if (after > before)
        memset(model->tasks + before, 0, (after - before) * sizeof *model->tasks);
    job_compiled_spec_put(model->compiled);
    model->compiled = compiled;
    job_model_set_job(model, job);
    for (uint32_t t = 0; t < after; t++) {
        model->tasks[t].replicas = spec_of(model, t)->replicas;
        grow(model, t, model->tasks[t].replicas);
    }
    recount(model);
    job_slot_annotations_mark_changed(model);
    model->gang_changed = true;
}

void job_model_new_epoch(struct job_model *model)
{
    read_resumes(model);
    recount(model);
    job_slot_annotations_mark_changed(model); /* kept successes may have ended with the epoch */
}

struct job_slot *job_model_slot(const struct job_model *model, struct slot_id at)
{
    if (at.task >= model->compiled->spec->tasks.count || at.index < 0 ||
        at.index >= model->tasks[at.task].n_slots)
        return NULL;
    return &model->tasks[at.task].slots[at.index];
}

int32_t job_model_partition(const struct job_model *model, struct slot_id at)
{
    const struct job_partition *partition = spec_of(model, at.task)->partition;

    return partition ? job_partition_of(at.index, partition->size) : -1;
}

bool job_model_locate(const struct job_model *model, const struct object *pod, struct slot_id *out)
{
    const char *name = meta_annotation(pod->meta, ANNOTATION_TASK_SPEC);
    const char *index = strrchr(object_name(pod), '-');
    int32_t task, number;

    if (!name || !index)
        return false;
    task = model->compiled->spec->tasks.count == 1 && strcmp(name, spec_of(model, 0)->name) == 0
               ? 0
               : job_compiled_task_at(model->compiled, name);
    if (task < 0 || !job_parse_int(index + 1, &number) || number < 0 || number >= INDEX_MAX)
        return false;
    *out = (struct slot_id){(uint32_t)task, number};
    return true;
}

/* Returns whether the success of a deleted pod stays (O-61). */
static bool keeps_success(const struct job_model *model, const struct job_slot *slot,
                          const struct object *pod)
{
    const struct pod_facts *facts = &slot->facts;

    return !pod && slot->pod && model->keeps_succeeded && facts->phase == POD_SUCCEEDED &&
           !facts->marked && !is_past_its_epoch(model, facts);
}

static struct task_facts task_facts_of(const struct job_model *model, uint32_t at)
{
    const struct job_task_model *task = &model->tasks[at];

    return (struct task_facts){task->replicas, task->companion ? -1 : spec_of(model, at)->max_retry,
                               task->restarts, task->by_class[SLOT_SUCCEEDED]};
}

enum job_event job_model_set_pod(struct job_model *model, struct slot_id at,
                                 const struct object *pod, const struct pod_facts *facts)
{
    struct job_slot *slot;
    struct object *old;
    struct pod_facts before;
    struct task_facts task;
    bool was_ready, keeps;

    grow(model, at.task, at.index + 1);
    slot = &model->tasks[at.task].slots[at.index];
    if (pod && slot->pod && strcmp(object_uid(pod), object_uid(slot->pod)) == 0 &&
        pod->revision <= slot->pod->revision)
        return EVENT_NONE;
    was_ready = job_model_task_ready(model, at.task);
    slot_open(model, at);
    old = slot->pod;
    before = slot->facts;
    keeps = keeps_success(model, slot, pod);
    slot->pod = pod ? object_ref(pod) : NULL;
    slot->facts = pod ? *facts : keeps ? before : (struct pod_facts){0};
    slot->kept = keeps;
    model->annotations_changed |=
        keeps || (model->keeps_by_default && pod && facts->phase == POD_SUCCEEDED);
    /* The change ends a creation or removal; the answer to the write may come before or after it.
     */
    if (!pod || slot->op == SLOT_CREATING)
        slot->op = SLOT_IDLE;
    slot_close(model, at, was_ready);
    task = task_facts_of(model, at.task);
    object_unref(old);
    if (keeps)
        return EVENT_OUT_OF_SYNC; /* the success stays: no eviction */
    return job_event_of(old ? &before : NULL, pod ? &slot->facts : NULL, &task);
}

void job_model_set_op(struct job_model *model, struct slot_id at, enum slot_op op)
{
    bool was_ready = job_model_task_ready(model, at.task);

    slot_open(model, at)->op = (uint8_t)op;
    slot_close(model, at, was_ready);
}

void job_model_keep_success(struct job_model *model, struct slot_id at)
{
    bool was_ready = job_model_task_ready(model, at.task);
    struct job_slot *slot = slot_open(model, at);

    slot->kept = true;
    slot->facts =
        (struct pod_facts){.phase = POD_SUCCEEDED, .ready = true, .version = model->state.version};
    model->annotations_changed = true;
    slot_close(model, at, was_ready);
}

void job_model_forget_success(struct job_model *model, struct slot_id at)
{
    bool was_ready = job_model_task_ready(model, at.task);

    slot_open(model, at)->kept = false;
    slot_close(model, at, was_ready);
}

bool job_model_next_vacant(struct job_model *model, uint32_t at, struct slot_id *out)
{
    struct job_task_model *task = &model->tasks[at];

    if (task->vacant == 0 || !task->unlocked)
        return false;
    for (int32_t i = task->vacant_from; i < task->replicas; i++)
        if (is_vacant(model, task, &task->slots[i], i)) {
            task->vacant_from = i;
            *out = (struct slot_id){at, i};
            return true;
        }
    return false;
}

bool job_model_next_removal(struct job_model *model, uint32_t at, struct slot_id *out)
{
    struct job_task_model *task = &model->tasks[at];

    if (task->to_remove == 0)
        return false;
    for (int32_t i = task->to_remove_to; i >= 0; i--)
        if (is_to_remove(&task->slots[i])) {
            task->to_remove_to = i;
            *out = (struct slot_id){at, i};
            return true;
        }
    return false;
}

struct job_counts job_model_counts(const struct job_model *model)
{
    const struct job_spec *spec = model->compiled->spec;
    const struct job_state *state = &model->state;
    const int32_t *companions = model->companions;
    struct job_companion_counts kept = {0};

    for (uint32_t t = 0; model->lifecycle.has_companions && t < spec->tasks.count; t++)
        if (model->tasks[t].companion) {
            kept.replicas += model->tasks[t].replicas;
            kept.minimum += job_task_minimum(spec_of(model, t));
        }
    kept.alive = (int64_t)companions[SLOT_PENDING] + companions[SLOT_RUNNING] +
                 companions[SLOT_UNKNOWN] + companions[SLOT_TERMINATING];
    return (struct job_counts){
        .phase = state->phase,
        .pending = model->totals[SLOT_PENDING],
        .running = model->totals[SLOT_RUNNING],
        .succeeded = model->totals[SLOT_SUCCEEDED] - companions[SLOT_SUCCEEDED],
        .failed = model->totals[SLOT_FAILED] - companions[SLOT_FAILED],
        .terminating = model->totals[SLOT_TERMINATING],
        .unknown = model->totals[SLOT_UNKNOWN],
        .replicas = model->compiled->replicas,
        .task_minimums = model->compiled->task_minimums,
        .min_available = spec->min_available,
        .status_min_available = state->min_available,
        .min_success = spec->min_success,
        .max_retry = spec->max_retry,
        .retry_count = state->retry_count,
        .resumes = model->resumes,
        .targeted = model->targeted,
        .most_slot_restarts = model->most_slot_restarts,
        .tasks_below_minimum = model->tasks_below_minimum,
        .companions = kept,
        .must_fail = job_reason_fails(state->reason),
    };
}
