/*
 * Manual retry: a new value of the annotation volcano.sh/jobFlowRetry on a flow that has failed.
 *
 *   Failed ──► jobs of failed steps removed ──► none is left ──► Running is stored ──► jobs created
 *
 * All of it follows from the annotation and status.observedRetry, so it is taken up again after a
 * restart at any point: until Running is stored the results of failed steps stand, with or without
 * their jobs; once it is, they are steps that wait, with attempts behind them. Completed steps and
 * failures somebody waited for are kept. Ref: spec/jobflow.md 13.4, DC-06.
 */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "flow/internal.h"

static const char *unseen_value(const struct flow *flow)
{
    const char *asked = meta_annotation(flow->object->meta, ANNOTATION_FLOW_RETRY);

    return asked && !(flow->state.retry && strcmp(flow->state.retry, asked) == 0) ? asked : NULL;
}

static void note(struct flow *flow, const char *value)
{
    char *kept = mem_strdup(value);

    mem_free(flow->state.retry);
    flow->state.retry = kept;
    flow->writer.dirty = true;
}

bool flow_retry_wanted(const struct flow *flow)
{
    return flow->opening == FLOW_OPEN && flow->state.phase == FLOW_FAILED &&
           !object_deleting(flow->object) && !flow->controller->options.upstream_compat &&
           unseen_value(flow);
}

/* Jobs on their way to an end would only fail the flow again: they come to it first. */
static bool awaits_an_end(const struct flow *flow)
{
    const struct flow_model *m = &flow->model;

    return m->by_phase[JOB_TERMINATING] ||
           (flow_model_unfinished(m) &&
            (flow_failure_policy(flow) == FAILURE_ABORT || flow_deadline_hit(flow)));
}

bool flow_retry_may_begin(const struct flow *flow)
{
    return flow_retry_wanted(flow) && !flow->model.failed_jobs && !awaits_an_end(flow);
}

void flow_retry_begin(struct flow *flow)
{
    uint32_t count;

    flow_renew_iteration_budgets(flow);
    count = flow_model_restart_failed(&flow->model, flow_now_ms(flow));
    flow->ending = FLOW_NONE;
    flow->deadline_passed = false;
    flow_stop_time_limits(flow);
    note(flow, unseen_value(flow));
    flow->state.completion_ms = 0;
    flow->retained_done = false;
    cluster_event(flow->controller->cluster, flow->object, EVENT_NORMAL, "Retry", FLOW_COMPONENT,
                  "%u failed step%s again", count, count == 1 ? " starts" : "s start");
}

void flow_retry_dismiss(struct flow *flow)
{
    if (!flow_retry_wanted(flow) && unseen_value(flow))
        note(flow, unseen_value(flow));
}
