/*
 * Renders the status document of a flow: one function for each member of the document. The full
 * form has an entry for every step, the compact form only for those that choose_shown picks.
 */
#include "flow/status/status.h"

#include <string.h>

#include "base/timefmt.h"
#include "flow/graph/step_bitmap.h"
#include "flow/model/condition.h"
#include "flow/model/control.h"
#include "flow/model/serving.h"
#include "flow/model/spec_hash.h"
#include "flow/model/step_block.h"
#include "flow/model/step_probe.h"

#define FLOW_LIST_KEY(name, key) key,
static const char *const list_keys[FLOW_LIST_N] = {FLOW_LISTS(FLOW_LIST_KEY)};
#undef FLOW_LIST_KEY

const char *flow_list_key(enum flow_list list)
{
    return list_keys[list];
}

/* The document that is being written. */
struct document {
    const struct flow_status_view *view;
    const struct flow_model *m;
    struct jsonw w;
    struct step_set shown; /* steps with entries; compact form only */
};

static uint32_t next_shown(const struct document *doc, uint32_t from)
{
    if (doc->m->compact)
        return step_set_next(&doc->shown, from);
    while (from < doc->m->graph->steps && doc->m->steps[from].state == STEP_DORMANT)
        from++;
    return from < doc->m->graph->steps ? from : STEP_NONE;
}

#define each_shown(doc, step)                                                                      \
    for (uint32_t step = next_shown((doc), 0); step != STEP_NONE;                                  \
         step = next_shown((doc), step + 1))

static const char *job_name(const struct flow_model *m, uint32_t step, struct buf *scratch)
{
    buf_clear(scratch);
    flow_model_job_name(m, step, scratch);
    return scratch->data;
}

static void write_lists(struct document *doc)
{
    scoped(buf) struct buf name = {0};

    for (int list = 0; list < FLOW_LIST_N; list++) {
        uint32_t left = doc->m->compact ? COMPACT_LIST_MAX : UINT32_MAX;

        if (!doc->m->lists[list].count)
            continue;
        jsonw_member_open_list(&doc->w, list_keys[list]);
        step_set_each(&doc->m->lists[list], step)
        {
            if (!left--)
                break;
            jsonw_str(&doc->w, job_name(doc->m, step, &name));
        }
        jsonw_close_list(&doc->w);
    }
}

/* Returns the history of a step. The model of a large flow keeps none for most steps, so it is made
 * from the job; `*out_made` is then to be freed by the caller. */
static const struct step_history *history_of(const struct document *doc, uint32_t step,
                                             struct step_history **out_made)
{
    const struct step *s = &doc->m->steps[step];
    const struct object *job;

    *out_made = NULL;
    if (s->history && (!doc->m->compact || s->history->job || !s->job))
        return s->history;
    job = s->job && doc->view->job ? doc->view->job(doc->view->ctx, step) : NULL;
    if (!job)
        return s->history;
    *out_made = step_history_new();
    step_history_job_changed(*out_made, job, job->meta->created_at_ms);
    return *out_made;
}

static void write_job_status_list(struct document *doc)
{
    scoped(buf) struct buf name = {0};
    const struct removed_entries *removed = doc->view->removed;
    bool open = false;

    each_shown(doc, step)
    {
        struct step_history *made;
        const struct step_history *history = history_of(doc, step, &made);

        if (history && (history->job || history->kept_status || history->n_spans)) {
            if (!open)
                jsonw_member_open_list(&doc->w, "jobStatusList");
            open = true;
            step_history_write_status(history, job_name(doc->m, step, &name), &doc->w);
        }
        step_history_free(made);
    }
    for (size_t i = 0; removed && i < removed->count; i++) {
        if (!open)
            jsonw_member_open_list(&doc->w, "jobStatusList");
        open = true;
        jsonw_raw(&doc->w, removed->items[i], strlen(removed->items[i]));
    }
    if (open)
        jsonw_close_list(&doc->w);
}

/* Returns the phase that is shown of a step: that of its job, or a text that says why it has none.
 */
static const char *step_phase(const struct step *step)
{
    if (step->state == STEP_STARTED)
        return step->phase == JOB_NONE ? job_phase_text(JOB_PENDING)
                                       : job_phase_text((enum job_phase)step->phase);
    if (step->state == STEP_SKIPPED)
        return STEP_SKIPPED_TEXT;
    if (step->block && step->state != STEP_CHECKING)
        return STEP_BLOCKED_TEXT;
    return step->retry || step->state == STEP_BACKOFF ? STEP_RETRYING_TEXT : STEP_WAITING_TEXT;
}

static void write_conditions(struct document *doc)
{
    scoped(buf) struct buf name = {0};
    bool open = false;

    each_shown(doc, step)
    {
        struct step_history *made;
        const struct step_history *history = history_of(doc, step, &made);
        const struct step *s = &doc->m->steps[step];

        if (s->jobless || s->state == STEP_DORMANT)
            continue;
        if (!open)
            jsonw_member_open(&doc->w, "conditions");
        open = true;
        jsonw_key(&doc->w, job_name(doc->m, step, &name));
        if (s->state == STEP_STARTED && history && (history->job || history->kept_condition)) {
            step_history_write_condition(history, &doc->w);
        } else {
            jsonw_open(&doc->w);
            jsonw_member_str(&doc->w, "phase", step_phase(s));
            jsonw_close(&doc->w);
        }
        step_history_free(made);
    }
    if (open)
        jsonw_close(&doc->w);
}

static void write_met_targets(const struct step_probe *probe, struct jsonw *w)
{
    if (!probe || !probe->n_met)
        return;
    jsonw_member_open_list(w, "satisfiedTargets");
    for (size_t i = 0; i < probe->depends->targets.count; i++)
        if (probe->met[i])
            jsonw_str(w, probe->depends->targets.items[i]);
    jsonw_close_list(w);
}

static void write_spec_hash(const struct step_history *history, struct jsonw *w)
{
    char text[SPEC_HASH_TEXT_MAX];

    if (!history || !history->spec_hash)
        return;
    spec_hash_format(history->spec_hash, text);
    jsonw_member_str(w, "specHash", text);
}

static void write_loop_state(struct document *doc, uint32_t i)
{
    scoped(buf) struct buf message = {0};
    const char *reason = flow_loop_state(doc->m, i, &message);

    jsonw_member_str_opt(&doc->w, "reason", reason);
    jsonw_member_str_opt(&doc->w, "message", reason ? message.data : NULL);
}

static void write_cached(struct document *doc, uint32_t i)
{
    const struct reused_work *from = doc->m->reuse ? &doc->m->reuse[i].from : NULL;
    scoped(buf) struct buf message = {0};
    struct jsonw *w = &doc->w;

    flow_model_write_reused(doc->m, i, &message);
    jsonw_member_str(w, "reason", STEP_CACHED_TEXT);
    jsonw_member_str(w, "message", message.data);
    jsonw_member_open(w, "cachedFrom");
    jsonw_member_str_opt(w, "entry", from ? from->entry : NULL);
    jsonw_member_str_opt(w, "key", from ? from->key : NULL);
    jsonw_member_str_opt(w, "flow", from ? from->flow : NULL);
    jsonw_member_str_opt(w, "job", from ? from->job : NULL);
    jsonw_member_str_opt(w, "uid", from ? from->uid : NULL);
    jsonw_member_time_opt(w, "time", from ? from->made_ms : 0);
    jsonw_close(w);
}

static void write_approval(struct jsonw *w, const struct step_history *history)
{
    if (!history)
        return;
    jsonw_member_time_opt(w, "askedTime", history->asked_ms);
    jsonw_member_str_opt(w, "reason", history->reason);
    jsonw_member_str_opt(w, "message", history->message);
}

/* What is told of a step while it serves others. */
static void write_serving(struct document *doc, uint32_t i)
{
    scoped(buf) struct buf message = {0};
    uint32_t ended, users = flow_model_count_users(doc->m, i, &ended);

    if (!doc->m->steps[i].ready)
        buf_str(&message, "its pods are not ready; ");
    buf_printf(&message, "%u of %u steps that depend on it %s ended", ended, users,
               ended == 1 ? "has" : "have");
    jsonw_member_str(&doc->w, "reason", "UntilDependents");
    jsonw_member_str(&doc->w, "message", message.data);
}

static void write_reason(struct document *doc, uint32_t i, const struct step_history *history)
{
    const struct step *step = &doc->m->steps[i];
    struct jsonw *w = &doc->w;

    if (step->approval) {
        write_approval(w, history);
    } else if (step->serves && step->state == STEP_STARTED &&
               !job_phase_finished((enum job_phase)step->phase)) {
        write_serving(doc, i);
    } else if (step->jobless && step->state == STEP_STARTED) {
        write_loop_state(doc, i);
    } else if (step->state == STEP_CHECKING && !step->block) {
        jsonw_member_str(w, "reason", "CheckingInputs");
    } else if (step->state == STEP_STARTED && step->held) {
        jsonw_member_str(w, "reason", "HashingOutputs");
    } else if (step->state == STEP_STARTED && step->cached) {
        write_cached(doc, i);
    } else if (step->block && step->state != STEP_STARTED) {
        jsonw_member_str(w, "reason", block_reasons[step->block->reason].text);
        jsonw_member_str_opt(w, "message", step->block->message);
    } else if (step->state == STEP_STARTED && history) {
        jsonw_member_str_opt(w, "reason", step_history_reason(history));
        jsonw_member_str_opt(w, "message", step_history_message(history));
    }
}

/* Returns the outputs of a step that has ended; of one to be retried, which may yet end so, those
 * of the attempt before. */
static const struct job_results *results_shown(const struct flow_model *m, uint32_t i)
{
    const struct step_history *history = m->steps[i].history;

    return history && flow_model_retry_pending(m, i) ? history->results : flow_results_of(m, i);
}

/* The members of an iteration that say which one it is. */
static void write_iteration(struct document *doc, uint32_t step)
{
    uint32_t iteration = flow_graph_iteration(doc->m->graph, step);
    scoped(buf) struct buf item = {0};

    if (iteration == ITERATION_NONE)
        return;
    jsonw_member_str(&doc->w, "step", flow_graph_step(doc->m->graph, step)->name);
    jsonw_member_int(&doc->w, "iteration", iteration);
    if (flow_graph_step(doc->m->graph, step)->loop->until)
        return;
    flow_iteration_item(doc->m, step, &item);
    jsonw_member_str(&doc->w, "item", item.data ? item.data : "");
}

static void write_jobs(struct document *doc, uint32_t step, struct buf *name)
{
    const struct step *s = &doc->m->steps[step];

    if (s->jobless || s->cached || !s->attempt ||
        (s->state != STEP_STARTED && s->state != STEP_BACKOFF))
        return;
    jsonw_member_open_list(&doc->w, "jobs");
    jsonw_str(&doc->w, job_name(doc->m, step, name));
    jsonw_close_list(&doc->w);
}

/* Writes how long a loop that is over took. */
static void write_loop_duration(struct document *doc, uint32_t step)
{
    const struct step *s = &doc->m->steps[step];
    int64_t took_ms = loop_times_took(doc->view->loops, flow_graph_name(doc->m->graph, step));
    char text[TIME_TEXT_MAX];

    if (took_ms < 0 || s->state != STEP_STARTED || !job_phase_finished((enum job_phase)s->phase))
        return;
    duration_format(took_ms * 1000000, text);
    jsonw_member_str(&doc->w, "duration", text);
}

static void write_nodes(struct document *doc)
{
    scoped(buf) struct buf name = {0};
    struct jsonw *w = &doc->w;

    if (!doc->m->graph->steps)
        return;
    jsonw_member_open_list(w, "nodes");
    each_shown(doc, step)
    {
        struct step_history *made;
        const struct step_history *history = history_of(doc, step, &made);
        const struct step *s = &doc->m->steps[step];

        jsonw_open(w);
        jsonw_member_str(w, "name", flow_graph_name(doc->m->graph, step));
        jsonw_member_str(w, "phase", step_phase(s));
        write_iteration(doc, step);
        if (s->jobless && doc->m->graph->extra)
            jsonw_member_int_opt(w, "iterations", flow_graph_iterations(doc->m->graph, step));
        if (s->jobless)
            write_loop_duration(doc, step);
        write_jobs(doc, step, &name);
        jsonw_member_int_opt(w, "attempt", s->attempt);
        jsonw_member_int_opt(w, "retries", s->retries);
        jsonw_member_bool_opt(w, "kept", s->kept);
        if (s->state == STEP_BACKOFF && history)
            jsonw_member_time_opt(w, "nextRetryTime", history->next_retry_ms);
        write_met_targets(s->probe, w);
        write_spec_hash(history, w);
        if (doc->m->control && doc->m->control->steps[step].chosen && s->state == STEP_STARTED)
            jsonw_member_str(w, "case", doc->m->control->steps[step].chosen);
        job_results_write_outputs(results_shown(doc->m, step), w);
        write_reason(doc, step, history);
        jsonw_member_str_opt(w, "reuse", doc->m->reuse ? doc->m->reuse[step].note : NULL);
        if (history && s->attempt && !s->cached) {
            jsonw_key(w, "attempts");
            step_history_write_attempts(history, s->attempt, w);
        }
        jsonw_close(w);
        step_history_free(made);
    }
    jsonw_close_list(w);
}

/* Steps of the spec that have completed, a loop as one step. */
static uint32_t completed_steps(const struct flow_model *m)
{
    uint32_t count = 0;

    if (!m->graph->vertices) /* the flow has no loops */
        return m->lists[FLOW_LIST_COMPLETED].count;
    for (uint32_t i = 0; i < m->graph->steps; i += 1 + flow_graph_iterations(m->graph, i))
        count += m->steps[i].state == STEP_STARTED && m->steps[i].phase == JOB_COMPLETED;
    return count;
}

static void write_counts(struct document *doc)
{
    static const struct {
        const char *key;
        enum flow_list list;
    } rows[] = {
        /* clang-format off */
        {"pending",    FLOW_LIST_PENDING},
        {"running",    FLOW_LIST_RUNNING},
        {"completed",  FLOW_LIST_COMPLETED},
        {"failed",     FLOW_LIST_FAILED},
        {"terminated", FLOW_LIST_TERMINATED},
        {"unknown",    FLOW_LIST_UNKNOWN},
        {"skipped",    FLOW_LIST_SKIPPED},
        /* clang-format on */
    };

    jsonw_member_open(&doc->w, "stepCounts");
    jsonw_member_int(&doc->w, "total", doc->m->graph->steps - doc->m->unlisted);
    jsonw_member_int_opt(&doc->w, "waiting",
                         doc->m->lists[FLOW_LIST_WAITING].count - doc->m->blocked.count);
    for (size_t i = 0; i < countof(rows); i++)
        jsonw_member_int_opt(&doc->w, rows[i].key, doc->m->lists[rows[i].list].count);
    jsonw_member_int_opt(&doc->w, "blocked", doc->m->blocked.count);
    jsonw_member_int_opt(&doc->w, "cached", doc->m->cached);
    if (doc->m->graph->vertices) { /* above, iterations are counted instead of their loop */
        jsonw_member_int(&doc->w, "steps", (int64_t)doc->m->graph->spec->steps.count);
        jsonw_member_int(&doc->w, "completedSteps", completed_steps(doc->m));
    }
    jsonw_close(&doc->w);
}

/* The bitmap of the steps that a rerun of others has kept. */
static void write_kept(struct document *doc)
{
    scoped(buf) struct buf bits = {0};
    struct step_set kept = {0};

    step_set_init(&kept, doc->m->graph->steps);
    for (uint32_t i = 0; i < doc->m->graph->steps; i++)
        if (doc->m->steps[i].kept)
            step_set_add(&kept, i);
    step_bitmap_write(&kept, NULL, &bits);
    if (bits.len)
        jsonw_member_str(&doc->w, "kept", bits.data);
    step_set_release(&kept);
}

/* The bitmap of the steps that were reused. */
static void write_cached_bits(struct document *doc)
{
    scoped(buf) struct buf bits = {0};
    struct step_set cached = {0};

    step_set_init(&cached, doc->m->graph->steps);
    for (uint32_t i = 0; i < doc->m->graph->steps; i++)
        if (doc->m->steps[i].cached && doc->m->steps[i].state == STEP_STARTED)
            step_set_add(&cached, i);
    step_bitmap_write(&cached, NULL, &bits);
    if (bits.len)
        jsonw_member_str(&doc->w, "cached", bits.data);
    step_set_release(&cached);
}

/* Bitmaps of the steps by how they ended. Steps that have not ended have a bitmap only when a list
 * of names would be cut. */
static void write_results(struct document *doc)
{
    const struct step_set *lists = doc->m->lists;
    const struct {
        const char *key;
        const struct step_set *a, *b;
        uint32_t named;
    } rows[] = {
        /* clang-format off */
        {"completed", &doc->m->completed,       NULL, 0},
        {"failed",    &lists[FLOW_LIST_FAILED],  &lists[FLOW_LIST_TERMINATED], 0},
        {"skipped",   &lists[FLOW_LIST_SKIPPED], NULL, 0},
        {"pending",   &lists[FLOW_LIST_PENDING], NULL, COMPACT_LIST_MAX},
        {"running",   &lists[FLOW_LIST_RUNNING], NULL, COMPACT_LIST_MAX},
        {"unknown",   &lists[FLOW_LIST_UNKNOWN], NULL, COMPACT_LIST_MAX},
        /* clang-format on */
    };

    jsonw_member_open(&doc->w, "results");
    if (doc->m->partial)
        write_kept(doc);
    if (doc->m->cached)
        write_cached_bits(doc);
    for (size_t i = 0; i < countof(rows); i++) {
        scoped(buf) struct buf bits = {0};

        if (rows[i].a->count + (rows[i].b ? rows[i].b->count : 0) <= rows[i].named)
            continue;
        step_bitmap_write(rows[i].a, rows[i].b, &bits);
        if (bits.len)
            jsonw_member_str(&doc->w, rows[i].key, bits.data);
    }
    jsonw_close(&doc->w);
}

static void write_state(struct document *doc)
{
    const struct flow_state *state = doc->view->state;
    struct jsonw *w = &doc->w;
    char took[TIME_TEXT_MAX];

    jsonw_member_open(w, "state");
    jsonw_member_str_opt(w, "phase", flow_phase_text(state->phase));
    jsonw_member_str_opt(w, "reason", state->reason);
    jsonw_member_str_opt(w, "message", state->message);
    jsonw_member_time_opt(w, "lastTransitionTime", state->since_ms);
    jsonw_close(w);
    if (state->ending != FLOW_NONE && !flow_phase_finished(state->phase))
        jsonw_member_str(w, "ending", flow_phase_text(state->ending));
    jsonw_member_time_opt(w, "startTime", state->start_ms);
    jsonw_member_time_opt(w, "completionTime", state->completion_ms);
    if (state->completion_ms && state->duration_ms >= 0) {
        duration_format(state->duration_ms * 1000000, took);
        jsonw_member_str(w, "duration", took);
    }
    jsonw_member_int_opt(w, "observedGeneration", doc->view->generation);
    jsonw_member_str_opt(w, "observedRetry", state->retry);
}

static void choose_shown(struct document *doc)
{
    const struct flow_model *m = doc->m;
    const struct step_set *causes[] = {
        &m->lists[FLOW_LIST_FAILED],
        &m->lists[FLOW_LIST_TERMINATED],
        &m->blocked,
        &m->lists[FLOW_LIST_RUNNING],
        &m->lists[FLOW_LIST_UNKNOWN],
        &m->lists[FLOW_LIST_PENDING],
        &m->retried,
    };

    step_set_init(&doc->shown, m->graph->steps);
    for (size_t i = 0; i < countof(causes); i++) {
        uint32_t left = COMPACT_LIST_MAX;

        step_set_each(causes[i], step)
        {
            if (!left--)
                break;
            step_set_add(&doc->shown, step);
        }
    }
    step_set_each(&m->retried, step)
    {
        /* Only this member has the attempts of started steps. */
        if (m->steps[step].state != STEP_STARTED)
            step_set_add(&doc->shown, step);
    }
    for (uint32_t i = 0; m->control && i < m->graph->steps; i++)
        if (m->steps[i].jobless || (m->steps[i].results_wanted && flow_results_of(m, i)))
            step_set_add(&doc->shown, i);
}

struct blob *flow_status_render(const struct flow_status_view *view)
{
    scoped(buf) struct buf text = {0};
    struct document doc = {.view = view, .m = view->model, .w = jsonw_to(&text)};

    jsonw_open(&doc.w);
    if (doc.m) {
        if (doc.m->compact)
            choose_shown(&doc);
        write_lists(&doc);
        write_job_status_list(&doc);
        write_conditions(&doc);
    }
    write_state(&doc);
    if (doc.m) {
        write_counts(&doc);
        write_nodes(&doc);
        if (doc.m->compact)
            write_results(&doc);
        if (view->critical_path)
            jsonw_member_raw(&doc.w, "criticalPath", view->critical_path,
                             strlen(view->critical_path));
        step_set_release(&doc.shown);
    }
    jsonw_close(&doc.w);
    return jobflow_status_blob(&text,
                               &(struct jobflow_summary){
                                   .phase = view->state->phase,
                                   .retry = view->state->retry,
                                   .reason = view->state->reason,
                                   .message = view->state->message,
                                   .completed = doc.m ? completed_steps(doc.m) : 0,
                                   .steps = doc.m ? doc.m->graph->spec->steps.count : 0,
                                   .jobs_unfinished = doc.m && flow_model_unfinished(doc.m) > 0,
                               });
}
