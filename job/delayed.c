/*
 * Arms, cancels and fires delayed actions. Ref: Volcano pkg/controllers/job/job_controller.go,
 * AddDelayActionForJob, CleanPodDelayActionsIfNeed.
 */
#include "job/delayed.h"

#include <string.h>

#include "api/types/kinds/scheduling/podgroup.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "job/run.h"

/* Up to so many armed actions are stored in the turn that arms them. When there are more, they are
 * stored with the counters a moment later, so that arming one does not cost a write of all. */
enum { URGENT_MAX = 64 };

/* The part of a job that an action affects. */
enum level { LEVEL_JOB, LEVEL_TASK, LEVEL_PARTITION, LEVEL_POD };

static enum level level_of(enum job_action action)
{
    switch ((int)action) {
    case ACT_RESTART_TASK:
        return LEVEL_TASK;
    case ACT_RESTART_PARTITION:
        return LEVEL_PARTITION;
    case ACT_RESTART_POD:
        return LEVEL_POD;
    default:
        return LEVEL_JOB;
    }
}

void job_delayed_changed(struct job_run *run, enum job_delays how)
{
    if (run->delays < how)
        run->delays = how;
}

static void forget(struct job_delayed *entry)
{
    if (entry->annotated) {
        job_delayed_changed(entry->run, DELAYS_CHANGED);
        entry->run->delays_annotated--;
    }
    timer_stop(entry->run->ctl->loop, &entry->timer);
    HASH_DEL(entry->run->delayed, entry);
    object_unref(entry->pod);
    mem_free(entry);
}

static void on_timer(struct timer *timer)
{
    struct job_delayed *entry = container_of(timer, struct job_delayed, timer);
    struct job_run *run = entry->run;
    struct job_request *request = mem_alloc(sizeof *request);

    *request = (struct job_request){
        .event = entry->event,
        .has_action = true,
        .action = entry->action,
        .expired = true,
        .has_task = entry->key.task != UINT32_MAX,
        .has_pod = entry->key.task != UINT32_MAX,
        .at = {entry->key.task, entry->key.index},
        .partition = entry->partition,
        .source = entry->key.source,
        .position = entry->key.position,
        .version = entry->version,
        .cause_ms = entry->cause_ms,
        .pod = object_ref(entry->pod),
    };
    forget(entry);
    job_request_post(run, request);
}

static struct job_delayed_key key_of(const struct job_request *request,
                                     enum job_policy_source source, size_t position)
{
    struct job_delayed_key key;

    memset(&key, 0, sizeof key); /* the padding is cleared, because the key is hashed as bytes */
    key.task = request->has_pod ? request->at.task : UINT32_MAX;
    key.index = request->has_pod ? request->at.index : 0;
    key.source = source;
    key.position = (uint32_t)position;
    return key;
}

static struct job_delayed *find(const struct job_run *run, const struct job_delayed_key *key)
{
    struct job_delayed *entry;

    HASH_FIND(hh, run->delayed, key, sizeof *key, entry);
    return entry;
}

static bool same_pod(const struct object *a, const struct object *b)
{
    return a && b ? strcmp(object_uid(a), object_uid(b)) == 0 : a == b;
}

/* Returns whether `due` is a postponed action of the same policy for the same slot. */
static bool is_replaced(const struct job_request *due, const void *arg)
{
    const struct job_delayed *entry = arg;

    return due->event == entry->event && due->action == entry->action && due->has_pod &&
           due->at.task == entry->key.task && due->at.index == entry->key.index;
}

static void arm(struct job_run *run, const struct job_delayed *draft, int64_t delay_ms)
{
    struct job_delayed *entry = mem_alloc(sizeof *entry);

    *entry = *draft;
    entry->run = run;
    entry->timer = (struct timer){.fire = on_timer};
    entry->version = run->model.state.version;
    entry->annotated = job_delayed_is_annotated(entry->event, entry->pod, entry->cause_ms);
    job_request_drop_expired(run, is_replaced, entry);
    HASH_ADD(hh, run->delayed, key, sizeof entry->key, entry);
    timer_start(run->ctl->loop, &entry->timer,
                loop_left_ms(run->ctl->loop, entry->cause_ms + delay_ms, delay_ms));
    if (!entry->annotated)
        return;
    run->delays_annotated++;
    job_delayed_changed(run, run->delays_annotated <= URGENT_MAX ? DELAYS_URGENT : DELAYS_CHANGED);
}

/* An event of a task comes from the pod that is seen last. A new process may see another pod last
 * than the process that armed the action: true when the action is armed although the pods
 * differ. */
static bool is_known(const struct job_run *run, const struct job_request *request,
                     const struct job_delayed_key *key)
{
    if (!request->replayed ||
        (request->event != EVENT_TASK_COMPLETED && request->event != EVENT_TASK_FAILED))
        return false;
    for (const struct job_delayed *entry = run->delayed; entry; entry = entry->hh.next)
        if (entry->event == request->event && entry->key.task == key->task &&
            entry->key.source == key->source && entry->key.position == key->position)
            return true;
    return false;
}

void job_delayed_add(struct job_run *run, const struct job_request *request,
                     const struct job_policy_result *response)
{
    struct job_delayed_key key = key_of(request, response->source, response->position);
    struct job_delayed *entry = find(run, &key);
    int64_t left_ms =
        loop_left_ms(run->ctl->loop, request->cause_ms + response->delay_ms, response->delay_ms);
    char left[TIME_TEXT_MAX];

    if ((entry && same_pod(entry->pod, request->pod)) || is_known(run, request, &key))
        return;
    if (entry)
        forget(entry);
    arm(run,
        &(struct job_delayed){
            .key = key,
            .event = request->event,
            .action = response->action,
            .partition = request->partition,
            .cause_ms = request->cause_ms,
            .pod = object_ref(request->pod),
        },
        response->delay_ms);
    duration_format(left_ms * 1000000, left);
    job_run_event(run, EVENT_NORMAL, "ExecuteAction",
                  "%s in %s after %s, unless its cause is over by then",
                  job_action_text(response->action), left, job_event_text(request->event));
}

static const struct job_policy_row *policy_of(const struct job_run *run,
                                              const struct job_delayed_key *key)
{
    const struct job_compiled_spec *compiled = run->model.compiled;
    const struct job_policy_rows *rows = key->source == POLICY_OF_JOB ? &compiled->policies
                                         : key->task != UINT32_MAX
                                             ? &compiled->tasks[key->task].policies
                                             : NULL;

    return rows && key->position < rows->count ? &rows->items[key->position] : NULL;
}

void job_delayed_rearm(struct job_run *run, const struct job_delayed_annotation *note)
{
    const struct job_delayed_key *key = &note->key;
    struct slot_id at = {key->task, key->index};
    const struct job_slot *slot = job_model_slot(&run->model, at);
    const struct job_policy_row *policy = policy_of(run, key);
    bool of_pod = key->task != UINT32_MAX;

    if (!policy || policy->timeout_ms == 0 || (of_pod && !slot) || find(run, key))
        return;
    arm(run,
        &(struct job_delayed){
            .key = *key,
            .event = note->event,
            .action = policy->action,
            .partition = of_pod ? job_model_partition(&run->model, at) : -1,
            .cause_ms = note->cause_ms,
            /* The evicted pod itself is gone. */
            .pod = of_pod && note->event != EVENT_POD_EVICTED ? object_ref(slot->pod) : NULL,
        },
        policy->timeout_ms);
}

static bool voided_by(const struct job_delayed *entry, const struct job_request *request)
{
    if (entry->event == EVENT_POD_PENDING)
        return same_pod(entry->pod, request->pod);
    return (entry->event == EVENT_POD_FAILED || entry->event == EVENT_POD_EVICTED) &&
           request->event == EVENT_POD_RUNNING;
}

/* Few policies can have an action armed for one slot, so each is looked up by its key. */
void job_delayed_on_event(struct job_run *run, const struct job_request *request)
{
    const struct job_compiled_spec *compiled = run->model.compiled;
    size_t counts[] = {0, compiled->tasks[request->has_task ? request->at.task : 0].policies.count,
                       compiled->policies.count};

    if (!run->delayed || !request->has_pod || request->has_action ||
        (request->event != EVENT_POD_RUNNING && request->event != EVENT_POD_FAILED &&
         request->event != EVENT_POD_EVICTED))
        return;
    for (enum job_policy_source source = POLICY_OF_TASK; source <= POLICY_OF_JOB; source++)
        for (size_t i = 0; i < counts[source]; i++) {
            struct job_delayed_key key = key_of(request, source, i);
            struct job_delayed *entry = find(run, &key);

            if (entry && voided_by(entry, request))
                forget(entry);
        }
}

/* An executed action, which cancels the armed actions it covers. */
struct coverage {
    enum level level;
    const struct job_request *cause;
};

static bool covers(const struct coverage *coverage, enum job_action action, uint32_t task,
                   int32_t index, int32_t partition)
{
    const struct job_request *cause = coverage->cause;

    if (coverage->level == LEVEL_JOB)
        return true;
    if (level_of(action) != coverage->level || !cause->has_task || task != cause->at.task)
        return false;
    return coverage->level == LEVEL_TASK ||
           (coverage->level == LEVEL_PARTITION && partition == cause->partition) ||
           (coverage->level == LEVEL_POD && index == cause->at.index);
}

/* Actions that are due and wait in the queue are cancelled like armed ones. */
static bool is_covered(const struct job_request *due, const void *arg)
{
    return covers(arg, due->action, due->at.task, due->at.index, due->partition);
}

void job_delayed_cancel_covered(struct job_run *run, enum job_action action,
                                const struct job_request *cause)
{
    const struct coverage coverage = {level_of(action), cause};
    struct job_delayed *entry, *next;

    job_request_drop_expired(run, is_covered, &coverage);
    HASH_ITER(hh, run->delayed, entry, next)
    {
        if (covers(&coverage, entry->action, entry->key.task, entry->key.index, entry->partition))
            forget(entry);
    }
}

void job_delayed_cancel_all(struct job_run *run)
{
    job_delayed_cancel_covered(run, ACT_ABORT_JOB, NULL);
}

bool job_delayed_must_wait(const struct job_run *run, const struct job_request *expired)
{
    return run->model.state.phase == JOB_RESTARTING && expired->version == run->model.state.version;
}

bool job_delayed_still_valid(const struct job_run *run, const struct job_request *expired)
{
    const struct job_model *model = &run->model;
    const struct job_slot *slot = expired->has_pod ? job_model_slot(model, expired->at) : NULL;
    bool same = slot && same_pod(slot->pod, expired->pod),
         wanted = slot && expired->at.index < model->tasks[expired->at.task].replicas;

    if (expired->version != model->state.version ||
        (model->state.phase != JOB_PENDING && model->state.phase != JOB_RUNNING))
        return false;
    switch ((int)expired->event) {
    case EVENT_POD_PENDING:
        return same && slot->class == SLOT_PENDING;
    case EVENT_POD_FAILED:
    case EVENT_POD_EVICTED:
        return wanted && slot->class != SLOT_RUNNING && slot->class != SLOT_SUCCEEDED;
    case EVENT_UNKNOWN:
        return model->group && podgroup_status_of(model->group)->phase == PODGROUP_UNKNOWN;
    default:
        return true;
    }
}

void job_delayed_on_mark(struct job_run *run, struct slot_id at)
{
    const struct job_compiled_spec *compiled = run->model.compiled;
    struct job_slot *slot = job_model_slot(&run->model, at);
    const struct job_policy_input what = {.event = EVENT_POD_EVICTED,
                                          .version = run->model.state.version};
    struct job_policy_result response;
    struct job_request *request;

    if (compiled->evicted_delayed == 0 || !slot || !slot->pod || !slot->facts.marked)
        return;
    response = job_policy_match(&what, run->model.state.version, compiled->tasks[at.task].policies,
                                compiled->policies);
    if (response.delay_ms == 0)
        return;
    request = job_request_of_pod(run, EVENT_POD_EVICTED, at, slot->pod, &slot->facts);
    request->cause_ms = job_run_now_ms(run);
    job_delayed_add(run, request, &response);
    job_request_free(request);
}
