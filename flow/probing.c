/*
 * Runs the probes of steps that wait for targets with dependsOn.probe.
 *
 * A target is probed while its job exists and the waiting step has not started. A target that has
 * been satisfied stays so (model/step_probe). A probe may wait for a failure of the target; that
 * failure is then marked as handled and does not fail the flow.
 */
#include <string.h>

#include "base/collections/hash.h"
#include "flow/internal.h"
#include "flow/model/step_probe.h"
#include "probes/requirements.h"

static uint32_t target_step(const struct flow *flow, const struct step_probe *probe, size_t target)
{
    return flow_graph_find(flow->model.graph, probe->depends->targets.items[target]);
}

static void on_passed(void *ctx)
{
    struct step_probe *probe = ctx;
    struct flow *flow = probe->owner;

    step_set_add(&flow->model.probing, probe->step);
    flow_make_runnable(flow);
}

/* Starts probing the job of a target, or passes on its new version. A job with a new uid is probed
 * from the start. */
static void probe_job(struct flow *flow, struct step_probe *probe, size_t target,
                      const struct object *job)
{
    uint64_t key = hash_bytes(object_uid(job), strlen(object_uid(job)));

    if (probe->targets[target] && probe->jobs[target] != key)
        probe_target_free(take(probe->targets[target]));
    if (probe->targets[target]) {
        probe_target_job_changed(probe->targets[target], job);
        return;
    }
    probe->jobs[target] = key;
    probe->targets[target] = probe_target_new(flow->controller->probes, &flow->probes,
                                              probe->depends->probe, job, on_passed, probe);
}

/* Returns whether the target is satisfied now. */
static bool is_met(const struct flow *flow, const struct step_probe *probe, size_t target,
                   uint32_t step)
{
    const struct probe_target *looking = probe->targets[target];
    bool completed = flow->model.steps[step].phase == JOB_COMPLETED;

    if (!looking) /* the job is gone; only its result is left */
        return completed;
    if (probe_target_verdict(looking) == PROBE_NOT_APPLICABLE)
        return completed;
    return probe_target_verdict(looking) == PROBE_PASSED ||
           (completed && probe_target_met_by_completion(looking));
}

/* Warns once about an entry of the probe that no target has a task for: it can never pass. */
static void warn_unmatched_entry(struct flow *flow, uint32_t step, struct step_probe *probe)
{
    size_t entry = probe->warned ? SIZE_MAX : step_probe_unmatched_entry(probe);
    const char *task;

    if (entry == SIZE_MAX)
        return;
    task = probe_entry_task(probe->depends->probe, entry);
    probe->warned = true;
    cluster_event(flow->controller->cluster, flow->object, EVENT_WARNING, "ProbeTaskNotFound",
                  FLOW_COMPONENT, "step %s: no target has a task %s, its probe can never pass",
                  flow_graph_step(flow->model.graph, step)->name, task ? task : "at all");
}

/* The target is satisfied. If its probe waits for a failure, the failure of the target is handled,
 * also one that comes later. */
static void mark_awaited_failure(struct flow *flow, const struct step_probe *probe, uint32_t target)
{
    const struct object *job = flow_job_of(flow, target);

    if (probe_wants_failure(probe->depends->probe, job ? job_spec_of(job) : NULL))
        flow_model_mark_handled(&flow->model, target);
}

/* Once a target has or had a job, its tasks are known, and so which entries of the probe apply. */
static void learn_tasks(struct flow *flow, struct step_probe *probe, size_t t, uint32_t target)
{
    const struct step *step = &flow->model.steps[target];
    const struct object *job = flow_job_of(flow, target);

    if (job || step->state == STEP_STARTED || step->state == STEP_SKIPPED)
        step_probe_learn_tasks(probe, t, job ? job_spec_of(job) : NULL);
}

/* Evaluates one target of a step and latches it when it is satisfied. */
static void evaluate_target(struct flow *flow, struct step_probe *probe, size_t t)
{
    struct flow_model *m = &flow->model;
    uint32_t target = target_step(flow, probe, t);
    const struct object *job = flow_job_of(flow, target);

    learn_tasks(flow, probe, t, target);
    if (probe->met[t])
        return;
    if (job)
        probe_job(flow, probe, t, job);
    if (!is_met(flow, probe, t, target))
        return;
    step_probe_mark_met(probe, t);
    m->changes++;
    if (probe->targets[t] && probe_target_verdict(probe->targets[t]) == PROBE_PASSED)
        mark_awaited_failure(flow, probe, target);
    probe_target_free(take(probe->targets[t]));
}

static void evaluate_step(struct flow *flow, uint32_t step)
{
    struct flow_model *m = &flow->model;
    struct step_probe *probe = m->steps[step].probe;
    uint32_t open = step_probe_open(probe);

    if (m->steps[step].state != STEP_WAITING || flow_phase_finished(flow->state.phase) ||
        object_deleting(flow->object)) {
        step_probe_stop(probe);
        return;
    }
    probe->owner = flow;
    probe->step = step;
    for (size_t t = 0; t < probe->depends->targets.count; t++)
        evaluate_target(flow, probe, t);
    warn_unmatched_entry(flow, step, probe);
    for (uint32_t now = step_probe_open(probe); open > now; open--)
        flow_model_target_met(m, step);
    if (m->steps[step].state != STEP_WAITING)
        step_probe_stop(probe);
}

void flow_probing_run(struct flow *flow)
{
    struct flow_model *m = &flow->model;

    for (uint32_t step = step_set_next(&m->probing, 0); step != STEP_NONE;
         step = step_set_next(&m->probing, step)) {
        step_set_remove(&m->probing, step);
        evaluate_step(flow, step);
    }
}

void flow_probing_stop(struct flow *flow)
{
    struct flow_model *m = &flow->model;

    for (uint32_t i = 0; m->probed && i < m->graph->steps; i++)
        if (m->steps[i].probe)
            step_probe_stop(m->steps[i].probe);
}

void flow_probing_restore(struct flow *flow)
{
    struct flow_model *m = &flow->model;

    for (uint32_t i = 0; m->probed && i < m->graph->steps; i++) {
        struct step_probe *probe = m->steps[i].probe;

        for (size_t t = 0; probe && t < probe->depends->targets.count; t++) {
            uint32_t target = target_step(flow, probe, t);

            learn_tasks(flow, probe, t, target);
            if (probe->met[t])
                mark_awaited_failure(flow, probe, target);
        }
    }
}
