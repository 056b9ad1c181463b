/*
 * What the states of a step that serves others mean for its dependents, and theirs for it.
 */
#include "flow/model/serving.h"

static bool is_over(const struct step *step)
{
    return step->state == STEP_SKIPPED || step->state == STEP_DORMANT ||
           (step->state == STEP_STARTED && job_phase_finished((enum job_phase)step->phase));
}

/* Returns whether the step has not begun. A step between two attempts has. */
static bool has_not_begun(const struct step *step)
{
    return step->state == STEP_WAITING || step->state == STEP_READY ||
           step->state == STEP_CHECKING || step->state == STEP_BLOCKED ||
           step->state == STEP_ASKING;
}

/* Returns whether a dependent has ended. A failed loop has not as long as one of its iterations
 * runs. */
static bool user_ended(const struct flow_model *m, uint32_t i, bool closed)
{
    const struct step *step = &m->steps[i];

    if (has_not_begun(step))
        return closed || step->kept;
    if (!is_over(step))
        return false;
    for (uint32_t k = 1; k <= flow_graph_iterations(m->graph, i); k++)
        if (!is_over(&step[k]) && !has_not_begun(&step[k]))
            return false;
    return true;
}

bool flow_model_users_ended(const struct flow_model *m, uint32_t i, bool closed)
{
    flow_graph_each_dependent(m->graph, i, user)
    {
        if (!user_ended(m, user, closed))
            return false;
    }
    return true;
}

uint32_t flow_model_count_users(const struct flow_model *m, uint32_t i, uint32_t *out_ended)
{
    uint32_t count = 0;

    *out_ended = 0;
    flow_graph_each_dependent(m->graph, i, user)
    {
        count++;
        *out_ended += user_ended(m, user, false);
    }
    return count;
}

void flow_model_server_ready(struct flow_model *m, uint32_t i)
{
    flow_model_uncount(m, i);
    m->steps[i].ready = true;
    flow_model_count(m, i);
    m->changes++;
    flow_model_notify_dependents(m, i);
}

void flow_model_look_at_servers(struct flow_model *m)
{
    for (uint32_t i = 0; m->has_servers && i < m->graph->steps; i++)
        if (m->steps[i].serves)
            step_set_add(&m->servers, i);
}

static bool iteration_begins_again(const struct flow_model *m, uint32_t loop)
{
    for (uint32_t k = 1; k <= flow_graph_iterations(m->graph, loop); k++)
        if (m->steps[loop + k].judged_again)
            return true;
    return false;
}

/* Returns whether the retry that is being prepared may start the step. */
static bool may_start(const struct flow_model *m, uint32_t i)
{
    const struct step *step = &m->steps[i];

    if (step->judged_again || iteration_begins_again(m, i))
        return true;
    if (m->selective)
        return !m->only && has_not_begun(step);
    return has_not_begun(step) || step->state == STEP_SKIPPED || flow_model_step_fails_flow(m, i) ||
           flow_loop_was_cut_short(m, i);
}

static bool is_needed(const struct flow_model *m, uint32_t i)
{
    flow_graph_each_dependent(m->graph, i, user)
    {
        if (may_start(m, user))
            return true;
    }
    return false;
}

bool flow_model_prepare_servers(struct flow_model *m)
{
    bool any = false, more = m->has_servers;

    while (more) { /* a server may itself use another one */
        more = false;
        for (uint32_t i = 0; i < m->graph->steps; i++) {
            struct step *step = &m->steps[i];

            if (!step->serves || step->judged_again || step->state != STEP_STARTED ||
                !is_needed(m, i))
                continue;
            flow_model_uncount(m, i);
            step->judged_again = true;
            flow_model_count(m, i);
            more = any = true;
        }
    }
    return any;
}
