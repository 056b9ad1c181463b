/*
 * Manual retry of a flow that has ended, requested by a new value of the annotation
 * volcano.sh/jobFlowRetry. Without further annotations it retries a failed flow: what failed begins
 * again. volcano.sh/jobFlowRetryFrom and volcano.sh/jobFlowRetryOnly name the steps that begin again
 * instead, also in a flow that succeeded: a rerun.
 *
 *   Failed ──► jobs of steps that begin again removed ──► none is left ──► Running is stored
 *   Succeed                                                                      │
 *                                                                                └──► jobs created
 *
 * Steps whose conditions are about failed steps begin again with them (model/restart.c); the retry
 * waits until those of them that run have ended. A step whose entry in the spec has changed since its
 * job was made begins again with all that depends on it. volcano.sh/jobFlowRetryEdited names these
 * steps when `run` has compared the files; it knows of templates and parameters, too.
 *
 * Every stage follows from the annotations and status.observedRetry, so a restart at any point
 * resumes it. Until Running is stored the results of all steps stand, with or without their jobs.
 * Afterwards the steps that begin again wait for their next attempt, and nodes[].kept tells what the
 * rerun left alone. In a retry other completed steps are kept, and so are failures that are ignored
 * or, with handledFailures: succeed, handled.
 * Ref: spec/jobflow.md 13.4, spec/everyday.md 7.1, DC-06.
 */
#include <string.h>

#include "base/mem.h"
#include "flow/graph/selection.h"
#include "flow/internal.h"
#include "flow/model/spec_hash.h"

/* Returns the value of the annotation that has not been acted on yet, or NULL. */
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

/* A flow that succeeded has nothing to retry, but its steps may be run again by name. */
static bool phase_allows(const struct flow *flow)
{
    const struct flow_rerun rerun = jobflow_rerun_of(flow->object);

    return flow->state.phase == FLOW_FAILED ||
           (flow->state.phase == FLOW_SUCCEED && flow_rerun_is_selective(&rerun));
}

bool flow_retry_wanted(const struct flow *flow)
{
    return flow->opening == FLOW_OPEN && flow_phase_finished(flow->state.phase) &&
           !object_deleting(flow->object) && !flow->controller->options.upstream_compat &&
           unseen_value(flow) && phase_allows(flow);
}

/* Returns the hash of the spec's entry that the step's job was made from; 0: not known. Only the
 * job of a large flow's step tells it. */
static uint64_t hash_of_job(const struct flow *flow, uint32_t step)
{
    const struct step_history *history = flow->model.steps[step].history;
    const struct object *job = history ? NULL : flow_job_of(flow, step);
    const char *text = job ? meta_annotation(job->meta, ANNOTATION_FLOW_SPEC_HASH) : NULL;

    return history ? history->spec_hash : text ? spec_hash_parse(text) : 0;
}

/* Adds the steps whose entry in the spec has changed since their jobs were made. */
static void add_edited(struct flow *flow, struct step_set *out)
{
    struct flow_model *m = &flow->model;

    for (uint32_t i = 0; i < m->graph->steps; i++) {
        uint64_t made_from = m->steps[i].attempt && !m->steps[i].jobless ? hash_of_job(flow, i) : 0;

        if (made_from && made_from != flow_spec_hash(m, i))
            step_set_add(out, m->steps[i].is_iteration ? flow_graph_loop(m->graph, i) : i);
    }
}

/* Returns a number for what the annotations ask for, which changes with any of them. */
static uint64_t request_key(const struct flow *flow)
{
    const struct flow_rerun rerun = jobflow_rerun_of(flow->object);
    const char *const texts[] = {unseen_value(flow), rerun.from, rerun.only, rerun.edited};
    uint64_t key = 0;

    for (size_t i = 0; i < countof(texts); i++)
        key = key * 31 + (texts[i] ? hash_bytes(texts[i], strlen(texts[i])) : i);
    return key;
}

void flow_retry_prepare(struct flow *flow)
{
    const struct flow_rerun rerun = jobflow_rerun_of(flow->object);
    struct flow_model *m = &flow->model;
    struct step_set selected = {0}, edited = {0};

    if (m->retry_prepared && flow->retry_key == request_key(flow))
        return;
    if (m->retry_prepared) {
        flow_model_forget_retry(m);
        flow_renew_job_commands(flow);
    }
    flow->retry_key = request_key(flow);
    step_set_init(&selected, m->graph->steps);
    step_set_init(&edited, m->graph->steps);
    step_selection_add(m->graph, &rerun, &selected);
    if (!rerun.edited)
        add_edited(flow, &edited);
    step_selection_add_from(m->graph, &edited, &selected);
    flow_model_prepare_retry(m,
                             &(struct retry_request){.selected = &selected,
                                                     .selective = flow_rerun_is_selective(&rerun),
                                                     .only = rerun.only != NULL});
    step_set_release(&selected);
    step_set_release(&edited);
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

static void tell(const struct flow *flow, uint32_t count)
{
    const struct flow_rerun rerun = jobflow_rerun_of(flow->object);
    struct cluster *cluster = flow->controller->cluster;

    if (flow_rerun_is_selective(&rerun))
        cluster_event(cluster, flow->object, EVENT_NORMAL, "Rerun", FLOW_COMPONENT,
                      "%u step%s again: %s %s", count, count == 1 ? " runs" : "s run",
                      rerun.from ? "from" : "only", rerun.from ? rerun.from : rerun.only);
    else
        cluster_event(cluster, flow->object, EVENT_NORMAL, "Retry", FLOW_COMPONENT,
                      "%u failed step%s again", count, count == 1 ? " starts" : "s start");
}

void flow_retry_begin(struct flow *flow)
{
    uint32_t count;

    if (!flow->model.selective) {
        flow_renew_iteration_budgets(flow);
        flow_retry_prepare(flow);
    }
    count = flow_model_restart(&flow->model, flow_now_ms(flow));
    flow->state.ending = FLOW_NONE;
    flow->deadline_passed = false;
    flow_stop_time_limits(flow);
    tell(flow, count);
    note(flow, unseen_value(flow));
    flow->state.completion_ms = 0;
    flow->retention.done = false;
}

void flow_retry_dismiss(struct flow *flow)
{
    if (!flow_retry_wanted(flow) && unseen_value(flow))
        note(flow, unseen_value(flow));
}
