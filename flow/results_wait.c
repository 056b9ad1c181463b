/*
 * A job has as many ended pods as its status counts. When fewer are in the cache, they are listed
 * once. What is not in that list is gone.
 */
#include "flow/results_wait.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"

struct results_wait {
    LIST_ENTRY(results_wait) next;
    struct flow *flow;
    struct object *job;
    struct cluster_refresh refresh;
    bool is_read; /* the pods of the job have been read */
};

static void count_ended(void *arg, const struct object *pod)
{
    *(int64_t *)arg += pod_phase_ended(pod_status_phase(pod));
}

static bool pods_are_here(const struct flow *flow, const struct object *job)
{
    const struct job_status *status = job_status_of(job);
    int64_t ended = 0;

    cluster_each_owned(flow->controller->cluster, &kind_pod, object_uid(job), count_ended, &ended);
    return ended >= (int64_t)status->succeeded + status->failed;
}

static struct results_wait *wait_of(const struct flow *flow, const struct object *job)
{
    struct results_wait *wait;

    LIST_FOREACH(wait, &flow->results_waits, next)
    if (strcmp(object_uid(wait->job), object_uid(job)) == 0)
        return wait;
    return NULL;
}

static void wait_free(struct results_wait *wait)
{
    if (!wait->is_read)
        cluster_refresh_cancel(wait->flow->controller->cluster, &wait->refresh);
    LIST_REMOVE(wait, next);
    object_unref(wait->job);
    mem_free(wait);
}

/* Goes on with the job, if it is still the job of its step. */
static void on_read(struct cluster_refresh *refresh)
{
    struct results_wait *wait = container_of(refresh, struct results_wait, refresh);
    struct flow *flow = wait->flow;
    const struct object *job = cluster_get(flow->controller->cluster, &kind_job,
                                           object_namespace(wait->job), object_name(wait->job));
    uint32_t step = STEP_NONE;

    wait->is_read = true;
    if (flow->opening == FLOW_OPEN && job && wait_of(flow, job) == wait)
        step = flow_model_step_of_job(&flow->model, job);
    if (step == STEP_NONE)
        wait_free(wait);
    else
        flow_job_changed(flow, step, job);
    flow_make_runnable(flow);
}

bool flow_results_are_whole(struct flow *flow, const struct object *job)
{
    struct cluster *cluster = flow->controller->cluster;
    struct results_wait *wait;

    if (!cluster_may_lag(cluster))
        return true;
    wait = wait_of(flow, job);
    if (wait)
        return wait->is_read;
    if (pods_are_here(flow, job))
        return true;
    wait = mem_alloc(sizeof *wait);
    wait->flow = flow;
    wait->job = object_ref(job);
    wait->refresh = (struct cluster_refresh){.kind = &kind_pod,
                                             .ns = object_namespace(wait->job),
                                             .label = LABEL_JOB_NAME,
                                             .value = object_name(wait->job),
                                             .done = on_read};
    LIST_INSERT_HEAD(&flow->results_waits, wait, next);
    cluster_refresh_start(cluster, &wait->refresh);
    return false;
}

bool flow_results_gathered(struct flow *flow, const struct object *job)
{
    struct results_wait *wait = wait_of(flow, job);

    if (wait)
        wait_free(wait);
    return wait;
}

bool flow_results_reading(const struct flow *flow)
{
    const struct results_wait *wait;

    LIST_FOREACH(wait, &flow->results_waits, next)
    if (!wait->is_read)
        return true;
    return false;
}

void flow_results_stop(struct flow *flow)
{
    while (!LIST_EMPTY(&flow->results_waits))
        wait_free(LIST_FIRST(&flow->results_waits));
}
