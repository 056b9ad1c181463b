/*
 * Reads the facts of a pod from its annotations and status, and derives the event of a change. Ref:
 * Volcano pkg/controllers/job/job_controller_handler.go, addPod, updatePod, deletePod.
 */
#include "job/model/event.h"

#include <string.h>

#include "api/types/kinds/job/job.h"
#include "job/model/names.h"
#include "job/model/pod_times.h"

/* The first container that ended with an error decides; init containers count when no regular one
 * has ended (O-17). */
static int32_t exit_code_of(const struct container_status *items, size_t count, bool *any_ended)
{
    for (size_t i = 0; i < count; i++) {
        if (items[i].state != CONTAINER_TERMINATED)
            continue;
        *any_ended = true;
        if (items[i].exit_code != 0)
            return items[i].exit_code;
    }
    return 0;
}

static int32_t deciding_exit_code(const struct pod_status *status)
{
    bool ended = false, init_ended = false;
    int32_t code = exit_code_of(status->containers.items, status->containers.count, &ended);

    if (code == 0 && !ended)
        code =
            exit_code_of(status->init_containers.items, status->init_containers.count, &init_ended);
    return code;
}

static int32_t restarts_of(const struct container_status *items, size_t count)
{
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += items[i].restart_count;
    return sum > INT32_MAX ? INT32_MAX : (int32_t)sum;
}

static bool all_ready(const struct pod_status *status)
{
    if (status->containers.count == 0)
        return false;
    for (size_t i = 0; i < status->containers.count; i++)
        if (!status->containers.items[i].ready)
            return false;
    return true;
}

bool job_pod_facts(const struct object *pod, struct pod_facts *out)
{
    const struct pod_status *status;
    struct pod_facts facts = {0};
    const char *version = NULL;
    bool has_job = false, has_task = false;

    /* One walk: annotations are few, but there are four to find in every pod event. */
    for (uint32_t i = 0; i < pod->meta->n_annotations; i++) {
        const struct kv *annotation = &pod->meta->annotations[i];

        if (strcmp(annotation->key, ANNOTATION_JOB_VERSION) == 0)
            version = annotation->value;
        else if (strcmp(annotation->key, LABEL_JOB_NAME) == 0)
            has_job = true;
        else if (strcmp(annotation->key, LABEL_TASK_SPEC) == 0)
            has_task = true;
        else if (strcmp(annotation->key, ANNOTATION_OUT_OF_SYNC) == 0)
            facts.marked = strcmp(annotation->value, "true") == 0;
    }
    if (!has_job || !has_task || !version || !job_parse_int(version, &facts.version))
        return false;
    status = pod_status_of(pod);
    facts.phase = (uint8_t)status->phase;
    facts.deleting = object_deleting(pod);
    if (status->containers.count > 0 || status->init_containers.count > 0) {
        facts.restarts = restarts_of(status->containers.items, status->containers.count) +
                         restarts_of(status->init_containers.items, status->init_containers.count);
        facts.exit_code = status->phase == POD_FAILED ? deciding_exit_code(status) : 0;
    }
    facts.ready =
        status->phase == POD_SUCCEEDED || (status->phase == POD_RUNNING && all_ready(status));
    *out = facts;
    return true;
}

int64_t job_event_since_ms(enum job_event event, const struct object *known,
                           const struct object *pod)
{
    switch ((int)event) {
    case EVENT_POD_PENDING: /* pending since its creation, unless it returned to Pending */
        return known ? 0 : meta_created_ms(pod->meta);
    case EVENT_POD_FAILED:
    case EVENT_TASK_COMPLETED:
        return job_pod_ended_ms(pod_status_of(pod));
    default:
        return 0;
    }
}

static bool restart_budget_used_up(const struct task_facts *task)
{
    int32_t limit = task->max_retry == 0 ? 3 : task->max_retry;

    return task->replicas != 0 && limit >= 0 && task->restarts >= limit;
}

static bool same(const struct pod_facts *a, const struct pod_facts *b)
{
    return a->restarts == b->restarts && a->exit_code == b->exit_code && a->version == b->version &&
           a->phase == b->phase && a->marked == b->marked && a->deleting == b->deleting &&
           a->ready == b->ready;
}

enum job_event job_event_of(const struct pod_facts *before, const struct pod_facts *after,
                            const struct task_facts *task)
{
    enum pod_phase phase;
    bool entered, restarted;

    if (!after)
        return !before || before->marked ? EVENT_OUT_OF_SYNC : EVENT_POD_EVICTED;
    if (before && same(before, after))
        return EVENT_NONE;
    if (after->marked)
        return EVENT_OUT_OF_SYNC;
    phase = (enum pod_phase)after->phase;
    entered = !before || before->phase != after->phase;
    restarted = after->restarts > (before ? before->restarts : 0);

    if (phase == POD_FAILED) /* a pod that is being deleted raises only an eviction, later (O-16) */
        return entered && !after->deleting ? EVENT_POD_FAILED : EVENT_OUT_OF_SYNC;
    if (phase == POD_SUCCEEDED)
        return entered && task->replicas > 0 && task->succeeded >= task->replicas
                   ? EVENT_TASK_COMPLETED
                   : EVENT_OUT_OF_SYNC;
    if (phase != POD_RUNNING && phase != POD_PENDING)
        return EVENT_OUT_OF_SYNC;
    if (restarted &&
        restart_budget_used_up(task)) /* takes precedence over the change of phase (O-20) */
        return EVENT_TASK_FAILED;
    if (!entered)
        return EVENT_OUT_OF_SYNC;
    return phase == POD_RUNNING ? EVENT_POD_RUNNING : EVENT_POD_PENDING;
}
