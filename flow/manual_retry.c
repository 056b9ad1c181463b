/*
 * Manual retry of a failed flow, requested by a new value of the annotation
 * volcano.sh/jobFlowRetry.
 *
 *   Failed ──► jobs of failed steps removed ──► none is left ──► Running is stored ──► jobs created
 *
 * Steps whose conditions are about failed steps begin again with them (model/restart.c); the retry
 * waits until those of them that run have ended.
 *
 * Every stage follows from the annotation and status.observedRetry, so a restart at any point
 * resumes it. Until Running is stored the results of failed steps stand, with or without their
 * jobs. Afterwards these steps wait for their next attempt. Other completed steps are kept, and so
 * are failures that are ignored or, with handledFailures: succeed, handled.
 * Ref: spec/jobflow.md 13.4, DC-06.
 */
#include <string.h>

#include "base/mem.h"
#include "flow/internal.h"

/* The value of the annotation that has not been acted on yet, or NULL. */
static const char *unseen_value(const struct flow *flow)
{
    const char *asked = meta_annotation(flow->object->meta, ANNOTATION_FLOW_RETRY);

    return asked && !(flow->state.retry && strcmp(flow->state.retry, asked) == 0) ? asked : NULL;
}

/* Stores in observedRetry that this value has been acted on. */
static void note(struct flow *flow, const char *value)
{
    char *kept = mem_strdup(value);

    mem_free(flow->state.retry);
    flow->state.retry = kept;
    status_write_want(&flow->writer.state);
}

bool flow_retry_wanted(const struct flow *flow)
{
    return flow->opening == FLOW_OPEN && flow->state.phase == FLOW_FAILED &&
           !object_deleting(flow->object) && !flow->controller->options.upstream_compat &&
           unseen_value(flow);
}

/* Returns whether jobs are still being terminated. They would fail the retried flow again, so the
 * retry waits for their end. */
static bool jobs_are_ending(const struct flow *flow)
{
    const struct flow_model *m = &flow->model;

    return m->by_phase[JOB_TERMINATING] ||
           (flow_model_unfinished(m) &&
            (flow_failure_policy(flow) == FAILURE_ABORT || flow_deadline_hit(flow)));
}

bool flow_retry_may_begin(const struct flow *flow)
{
    return flow_retry_wanted(flow) && !flow->model.failed_jobs && !flow->model.creating &&
           !jobs_are_ending(flow);
}

void flow_retry_begin(struct flow *flow)
{
    uint32_t count;

    flow_renew_iteration_budgets(flow);
    count = flow_model_restart_failed(&flow->model, flow_now_ms(flow));
    flow->state.ending = FLOW_NONE;
    flow->deadline_passed = false;
    flow_stop_time_limits(flow);
    note(flow, unseen_value(flow));
    flow->state.completion_ms = 0;
    flow->retention.done = false;
    cluster_event(flow->controller->cluster, flow->object, EVENT_NORMAL, "Retry", FLOW_COMPONENT,
                  "%u failed step%s again", count, count == 1 ? " starts" : "s start");
}

void flow_retry_dismiss(struct flow *flow)
{
    if (!flow_retry_wanted(flow) && unseen_value(flow))
        note(flow, unseen_value(flow));
}
