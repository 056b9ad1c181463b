/*
 * Takes what the status of a flow says of its loops, switches and approvals, which have no job.
 *
 * A loop begins with its first iteration. That it is over, and what a switch has chosen, is in the
 * status, which is read as long as one of them is open. Their times are those of the steps that
 * decided them, because the status is written a little later. The job of a step behind them may come
 * before that status; their end is then inferred from the iterations and from what the switch lists.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "view/flow_tracker_internal.h"

/* Returns when the last of the steps ended that decided the end of a loop or switch; 0 when none
 * did. */
static int64_t decided_ms(const struct flow_view_step *step)
{
    const struct flow_view *flow = step->flow;
    uint32_t i = flow_view_position(step);
    int64_t last_ms = 0;

    for (uint32_t k = 0; k < step->n_iterations; k++)
        if (step->iterations[k] && step->iterations[k]->ended_ms > last_ms)
            last_ms = step->iterations[k]->ended_ms;
    if (step->template || !flow_view_link(step->flow, NULL))
        return last_ms;
    for (uint32_t t = flow->targets.first[i]; t < flow->targets.first[i + 1]; t++)
        if (flow->steps[flow->targets.next[t]].ended_ms > last_ms)
            last_ms = flow->steps[flow->targets.next[t]].ended_ms;
    return last_ms;
}

/* Returns what a switch chose, who has approved a step, or why a loop failed. Owned, or NULL. */
static char *verdict_of(const json_t *node)
{
    const char *chosen = doc_text(node, "case"), *by = doc_text(node, "outputs.approvedBy");
    const char *text = doc_text(node, "outputs.text");
    const char *reason = doc_text(node, "reason"), *message = doc_text(node, "message");

    return chosen && *chosen ? mem_printf("chose %s", chosen)
           : chosen          ? mem_strdup("chose the default")
           : by ? mem_printf("approved by %s%s%s", by, text && *text ? ": " : "", text ? text : "")
           : reason ? mem_printf("%s: %s", reason, message ? message : "")
                    : NULL;
}

/* Sets begin and end of a loop or switch that has ended. Neither has a job whose times could be shown. */
static void set_times(struct flow_view_step *step)
{
    int64_t end_ms = decided_ms(step);

    if (end_ms)
        step->ended_ms = end_ms;
    if (!step->template || step->started_ms > step->ended_ms)
        step->created_ms = step->started_ms = step->ended_ms;
}

static void end_jobless(struct flow_tracker *tracker, struct flow_view_step *step,
                        const json_t *node, enum view_state state, enum telling telling)
{
    scoped_str verdict = verdict_of(node);
    /* A step that was decided anew between two statuses was not seen to wait. */
    enum view_state before = step->state == state ? VIEW_WAITING : (enum view_state)step->state;
    bool told = step->inferred && step->state == state;

    step->inferred = false;
    flow_tracker_set_told(step, verdict);
    flow_tracker_set_state(tracker, step, state);
    step->ran_ms = doc_duration_ms(node, "duration");
    set_times(step);
    step->resumed = telling == SILENT;
    if (step->resumed)
        step->created_ms = step->started_ms = step->ended_ms = 0;
    if (telling == TELL && !told)
        tracker->events.step(tracker->events.ctx, step, before);
}

static bool has_other_verdict(const struct flow_view_step *step, const json_t *node)
{
    scoped_str verdict = verdict_of(node);

    return strcmp(verdict ? verdict : "", step->told ? step->told : "") != 0;
}

/* A step waits for its approval, which it did not before. */
static void take_question(struct flow_tracker *tracker, struct flow_view_step *step,
                          const json_t *node, enum telling telling)
{
    scoped_str question = verdict_of(node);

    flow_tracker_set_told(step, question);
    flow_tracker_set_state(tracker, step, VIEW_WAITING);
    if (telling == TELL)
        tracker->events.step(tracker->events.ctx, step, VIEW_NONE);
}

static bool is_approval(const struct flow_view_step *step)
{
    return !step->template && json_object_get(flow_view_step_spec(step), "approve");
}

/* The entry of a loop, a switch or an approval. What was told of an earlier end goes when it is retried. */
static void take_jobless_node(struct flow_tracker *tracker, struct flow_view_step *step,
                              const json_t *node, enum telling telling)
{
    const char *phase = doc_text(node, "phase");
    enum view_state state = phase ? view_state_parse(phase) : VIEW_NONE;

    if (!phase || !flow_view_step_jobless(step))
        return;
    if (state == VIEW_WAITING && doc_text(node, "askedTime")) {
        if (has_other_verdict(step, node))
            take_question(tracker, step, node, telling);
    } else if (state == VIEW_COMPLETED || state == VIEW_FAILED || state == VIEW_TERMINATED ||
               (state == VIEW_SKIPPED && is_approval(step) && doc_text(node, "askedTime"))) {
        if (state != step->state || step->inferred || has_other_verdict(step, node))
            end_jobless(tracker, step, node, state, telling);
    } else if (state != step->state && flow_view_step_over(step) && !step->inferred) {
        flow_tracker_set_told(step, NULL);
        flow_tracker_come_to(tracker, step, state, telling);
    }
}

/* Returns the state in which a loop has ended if its iterations are all that there were; VIEW_NONE
 * when one of them has not ended, or none was seen. */
static enum view_state end_of_loop(const struct flow_view_step *loop)
{
    enum view_state end = VIEW_NONE;

    for (uint32_t k = 0; k < loop->n_iterations; k++) {
        const struct flow_view_step *iteration = loop->iterations[k];

        if (iteration && (!flow_view_step_over(iteration) || iteration->state == VIEW_STOPPED))
            return VIEW_NONE;
        if (iteration && iteration->state != VIEW_COMPLETED)
            end = VIEW_FAILED;
        else if (iteration && end == VIEW_NONE)
            end = VIEW_COMPLETED;
    }
    return end;
}

static bool lists(const json_t *names, const char *name)
{
    json_t *one;
    size_t i;

    json_array_foreach(names, i, one)
    {
        if (json_is_string(one) && strcmp(json_string_value(one), name) == 0)
            return true;
    }
    return false;
}

/* Returns what is told of a switch that has chosen the step; NULL when it does not list it. Owned. */
static char *choice_with(struct flow_view_step *chooser, const char *name)
{
    const json_t *spec = json_object_get(flow_view_step_spec(chooser), "switch");
    json_t *one;
    size_t i;

    json_array_foreach(json_object_get(spec, "cases"), i, one)
    {
        if (lists(json_object_get(one, "flows"), name))
            return mem_printf("chose %s", doc_text(one, "name"));
    }
    return lists(json_object_get(spec, "default"), name) ? mem_strdup("chose the default") : NULL;
}

/* Returns what is told of a loop that has failed: its first failed iteration. Owned, or NULL. */
static char *failure_of(const struct flow_view_step *loop)
{
    for (uint32_t k = 0; k < loop->n_iterations; k++) {
        const struct flow_view_step *iteration = loop->iterations[k];

        if (iteration && iteration->state != VIEW_COMPLETED)
            return mem_printf("IterationFailed: iteration %s is %s", iteration->name,
                              flow_view_step_state(iteration));
    }
    return NULL;
}

static void end_targets(struct flow_tracker *tracker, struct flow_view_step *step, int depth);

/* Ends a loop or switch because the job of a step behind it was made. */
static void end_target(struct flow_tracker *tracker, struct flow_view_step *target,
                       const struct flow_view_step *behind, int depth)
{
    enum view_state before = (enum view_state)target->state, end;
    scoped_str told = NULL;

    if (!flow_view_step_jobless(target) || flow_view_step_over(target))
        return;
    end = target->template ? end_of_loop(target) : VIEW_NONE;
    if (target->template)
        told = end == VIEW_FAILED ? failure_of(target) : NULL;
    else if ((told = choice_with(target, behind->name)))
        end = VIEW_COMPLETED;
    if (end == VIEW_NONE)
        return;
    end_targets(tracker, target, depth + 1);
    target->inferred = true;
    target->resumed = false;
    flow_tracker_set_told(target, told);
    flow_tracker_set_state(tracker, target, end);
    set_times(target);
    tracker->events.step(tracker->events.ctx, target, before);
}

/* Ends the loops that can make no further iteration once a final step begins. */
static void end_before_final(struct flow_tracker *tracker, const struct flow_view_step *final)
{
    struct flow_view *flow = final->flow;

    for (uint32_t i = 0; flow->n_in[VIEW_RUNNING] && i < flow->n_steps; i++) {
        struct flow_view_step *step = &flow->steps[i];
        enum view_state end = step->loops && !step->final ? end_of_loop(step) : VIEW_NONE;

        if (end == VIEW_FAILED ||
            (end == VIEW_COMPLETED && step->iterations_over == flow_view_step_iterations(step)))
            end_target(tracker, step, final, 0);
    }
}

static void end_targets(struct flow_tracker *tracker, struct flow_view_step *step, int depth)
{
    enum { DEPTH_MAX = 32 };
    struct flow_view *flow = step->flow;
    uint32_t i;

    if (!flow->has_jobless || step->any || depth == DEPTH_MAX || !flow_view_link(flow, NULL) ||
        doc_at(flow_view_step_spec(step), "dependsOn.probe"))
        return;
    i = flow_view_position(step);
    for (uint32_t t = flow->targets.first[i]; t < flow->targets.first[i + 1]; t++)
        end_target(tracker, &flow->steps[flow->targets.next[t]], step, depth);
}

void flow_tracker_end_targets(struct flow_tracker *tracker, struct flow_view_step *step)
{
    end_targets(tracker, step, 0);
    if (step->final && step->flow->has_jobless)
        end_before_final(tracker, step);
}

static void forget_listed(struct flow_view *flow)
{
    for (uint32_t i = 0; i < flow->n_steps; i++)
        flow->steps[i].iterations_listed = 0;
}

void flow_tracker_take_jobless(struct flow_tracker *tracker, struct flow_view *flow,
                               enum telling telling)
{
    scoped(json) json_t *status = NULL;
    bool compact;
    json_t *node;
    size_t i;

    if (!flow->has_jobless || !flow->object->status)
        return;
    status = object_status_json(flow->object);
    compact = json_object_get(status, "results") != NULL;
    forget_listed(flow);
    json_array_foreach(json_object_get(status, "nodes"), i, node)
    {
        uint32_t at = flow_view_find(flow, doc_text(node, "name"));
        uint32_t loop = flow_view_find(flow, doc_text(node, "step"));

        if (at != UINT32_MAX)
            take_jobless_node(tracker, &flow->steps[at], node, telling);
        else if (loop != UINT32_MAX && !compact)
            flow->steps[loop].iterations_listed++;
    }
}
