/*
 * Keeps which steps may be reused, and for a reused step the earlier work that its result comes
 * from.
 */
#include "flow/model/step_reuse.h"

#include "base/mem.h"
#include "base/timefmt.h"
#include "flow/model/flow_model.h"

void reused_work_release(struct reused_work *work)
{
    mem_free(work->entry);
    mem_free(work->key);
    mem_free(work->flow);
    mem_free(work->job);
    mem_free(work->uid);
    *work = (struct reused_work){0};
}

void reuse_draft_release(struct reuse_draft *draft)
{
    mem_free(draft->key);
    mem_free(draft->body);
    blob_unref(draft->status);
    *draft = (struct reuse_draft){0};
}

static void release(struct step_reuse *reuse)
{
    reused_work_release(&reuse->from);
    reuse_draft_release(&reuse->draft);
    mem_free(reuse->note);
    *reuse = (struct step_reuse){0};
}

/* Returns whether the step may be left out. `probed`: a dependent probes it. */
static bool may_be_reused(const struct flow_model *m, uint32_t i, bool probed,
                          enum reuse_scope scope)
{
    const struct flow_step *step = flow_graph_step(m->graph, i);
    bool is_loop = step->loop && flow_graph_iteration(m->graph, i) == ITERATION_NONE;

    if (scope == REUSE_OFF || !flow_step_makes_jobs(step) || flow_step_serves(step) || is_loop ||
        probed || ready_queue_gang(&m->ready_queue, i))
        return false;
    return step->cache || (scope == REUSE_ALL && !flow_step_is_final(step));
}

/* Marks the steps that a dependent probes. */
static void mark_probed(const struct flow_model *m, struct step_set *out)
{
    for (uint32_t i = 0; m->probed && i < m->graph->steps; i++) {
        const struct flow_depends *depends = flow_graph_step(m->graph, i)->depends;

        for (size_t t = 0; m->steps[i].probe && t < depends->targets.count; t++) {
            uint32_t target = flow_graph_find(m->graph, depends->targets.items[t]);

            if (target != STEP_NONE)
                step_set_add(out, target);
        }
    }
}

void flow_model_init_reuse(struct flow_model *m, enum reuse_scope scope)
{
    struct step_set probed = {0};
    bool any = false;

    step_set_init(&probed, m->graph->steps);
    mark_probed(m, &probed);
    for (uint32_t i = 0; scope != REUSE_OFF && i < m->graph->steps; i++) {
        m->steps[i].reusable = may_be_reused(m, i, step_set_has(&probed, i), scope);
        m->steps[i].look_up = m->steps[i].reusable;
        any |= m->steps[i].reusable;
    }
    step_set_release(&probed);
    if (any)
        m->reuse = mem_array(m->graph->steps, sizeof *m->reuse);
}

void flow_model_take_over_reuse(struct flow_model *m, uint32_t i, struct flow_model *old,
                                uint32_t from)
{
    if (!m->reuse || !old->reuse)
        return;
    m->reuse[i] = old->reuse[from];
    m->reuse[i].task = 0;
    old->reuse[from] = (struct step_reuse){0};
}

void flow_model_release_reuse(struct flow_model *m)
{
    for (uint32_t i = 0; m->reuse && i < m->graph->steps; i++)
        release(&m->reuse[i]);
    mem_free(m->reuse);
    m->reuse = NULL;
}

static void set_cached(struct flow_model *m, uint32_t i, struct reused_work *from)
{
    m->steps[i].cached = true;
    m->steps[i].attempt = 1;
    if (!m->reuse)
        return;
    release(&m->reuse[i]);
    m->reuse[i].from = *from;
    *from = (struct reused_work){0};
}

void flow_model_complete_cached(struct flow_model *m, uint32_t i, struct reused_work *from,
                                struct job_results *results)
{
    struct step *step = &m->steps[i];

    set_cached(m, i, from);
    if (!step->history && results)
        step->history = step_history_new();
    if (results)
        step_history_set_results(step->history, results);
    if (step->is_iteration)
        m->steps[flow_graph_loop(m->graph, i)].ran = true;
    step->recreate = step->retry = false;
    flow_model_move_step(m, i, STEP_STARTED, JOB_COMPLETED);
    step->result_change = m->cached_change = m->changes;
    flow_model_notify_dependents(m, i);
}

void flow_model_restore_cached(struct flow_model *m, uint32_t i, struct reused_work *from)
{
    set_cached(m, i, from);
    reused_work_release(from);
}

void flow_model_set_reuse_note(struct flow_model *m, uint32_t i, const char *note)
{
    char *kept = mem_strdup(note);

    if (m->reuse) {
        mem_free(m->reuse[i].note);
        m->reuse[i].note = kept;
        m->changes++;
    } else {
        mem_free(kept);
    }
}

void flow_model_write_reused(const struct flow_model *m, uint32_t i, struct buf *out)
{
    const struct reused_work *from = m->reuse ? &m->reuse[i].from : NULL;
    char made[TIME_TEXT_MAX];

    buf_str(out, "reused");
    if (!from || !from->job)
        return;
    time_format(from->made_ms, made);
    buf_printf(out, ": made by job %s on %s", from->job, made);
}
