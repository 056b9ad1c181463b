/*
 * What the spec alone says about control: which steps make no job, are final or are iterations;
 * which conditions may handle which failures; and which results the spec refers to.
 */
#include <string.h>

#include "api/types/schema/flow_reference.h"
#include "base/mem.h"
#include "flow/model/condition.h"
#include "flow/model/control.h"
#include "flow/model/loop_items.h"

/* Edges from a step to the steps that may handle its failure. */
struct term_edges {
    struct dag_edge *edges; /* edges to fill; NULL: they are only counted */
    size_t count;
};

static void collect_handlers(const struct flow_model *m, uint32_t step, struct term_edges *out)
{
    const struct flow_condition *condition = flow_graph_step(m->graph, step)->condition;

    if (!condition || m->steps[step].is_iteration || m->steps[step].final)
        return;
    for (size_t t = 0; t < condition->terms.count; t++) {
        const struct flow_term *term = &condition->terms.items[t];
        uint32_t target =
            flow_term_handles(term) ? flow_graph_find(m->graph, term->target) : STEP_NONE;

        if (target == STEP_NONE)
            continue;
        if (out->edges)
            out->edges[out->count] = (struct dag_edge){target, step};
        out->count++;
    }
}

static void link_handlers(struct flow_model *m)
{
    struct flow_control *c = m->control;
    struct term_edges found = {0};

    for (uint32_t i = 0; i < c->count; i++)
        collect_handlers(m, i, &found);
    found.edges = mem_array(found.count + 1, sizeof *found.edges);
    found.count = 0;
    for (uint32_t i = 0; i < c->count; i++)
        collect_handlers(m, i, &found);
    dag_init(&c->failure_handlers, c->count, found.edges, found.count);
    for (size_t i = 0; i < found.count; i++)
        found.edges[i] = (struct dag_edge){found.edges[i].to, found.edges[i].from};
    dag_init(&c->handled_targets, c->count, found.edges, found.count);
    mem_free(found.edges);
}

void flow_control_init(struct flow_model *m)
{
    struct flow_control *c = mem_alloc(sizeof *c);

    m->control = c;
    c->count = m->graph->steps;
    c->steps = mem_array(c->count + 1, sizeof *c->steps);
    step_set_init(&c->to_evaluate, c->count);
    step_set_init(&c->unannounced, c->count);
    for (uint32_t i = 0; i < c->count; i++) {
        struct step *step = &m->steps[i];

        step->is_iteration = flow_graph_iteration(m->graph, i) != ITERATION_NONE;
        step->jobless = flow_graph_jobless(m->graph, i);
        step->approval = flow_graph_step(m->graph, i)->approval != NULL;
        step->serves = flow_step_serves(flow_graph_step(m->graph, i));
        m->has_servers |= step->serves;
        step->ignored = flow_graph_step(m->graph, i)->failure_policy == STEP_FAILURE_IGNORE;
        step->final = flow_step_is_final(flow_graph_step(m->graph, i));
        c->finals += step->final;
    }
    link_handlers(m);
}

void flow_control_free(struct flow_control *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->count; i++) {
        mem_free(c->steps[i].chosen);
        loop_items_free(c->steps[i].items);
    }
    mem_free(c->steps);
    dag_release(&c->failure_handlers);
    dag_release(&c->handled_targets);
    dag_release(&c->conditions);
    step_set_release(&c->to_evaluate);
    step_set_release(&c->unannounced);
    mem_free(c);
}

/* Marks the step of that name and its iterations. */
static void mark_wanted(struct flow_model *m, const char *name, size_t len)
{
    char text[64];
    uint32_t step;

    if (len >= sizeof text)
        return;
    memcpy(text, name, len);
    text[len] = '\0';
    step = flow_graph_find(m->graph, text);
    if (step == STEP_NONE)
        return;
    m->steps[step].results_wanted = true;
    for (uint32_t k = 1; k <= flow_graph_iterations(m->graph, step); k++)
        m->steps[step + k].results_wanted = true;
}

static void mark_terms(struct flow_model *m, const struct flow_condition *condition)
{
    for (size_t t = 0; condition && t < condition->terms.count; t++) {
        const struct flow_term *term = &condition->terms.items[t];

        if (term->target && (term->output || term->exit_code || term->task_status))
            mark_wanted(m, term->target, strlen(term->target));
    }
}

static void mark_output(void *arg, const struct flow_ref *ref)
{
    if (ref->kind == FLOW_REF_OUTPUT)
        mark_wanted(arg, ref->name, ref->name_len);
}

void flow_control_mark_wanted_results(struct flow_model *m)
{
    const struct jobflow_spec *spec = m->graph->spec;
    bool outputs = m->has_references && strstr(m->body->text, ".outputs.");

    for (size_t i = 0; i < spec->steps.count && (m->control || outputs); i++) {
        const struct flow_step *step = &spec->steps.items[i];

        mark_terms(m, step->condition);
        for (size_t k = 0; step->choice && k < step->choice->cases.count; k++)
            mark_terms(m, step->choice->cases.items[k].condition);
        if (step->loop)
            mark_terms(m, step->loop->until);
        if (step->loop && step->loop->items_from)
            mark_wanted(m, step->loop->items_from->target, strlen(step->loop->items_from->target));
        if (outputs && step->approval && step->approval->message)
            flow_ref_each(step->approval->message, mark_output, m);
        if (outputs) {
            flow_refs_each(step->patch_job_spec, mark_output, m);
            flow_refs_each(step->patch_spec, mark_output, m);
            flow_refs_each(step->env, mark_output, m);
            flow_refs_each(step->job_template, mark_output, m);
        }
    }
}
