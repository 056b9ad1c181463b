/*
 * Restores the model of the flow from its status, begins the retry in it as the controller would, and
 * compares each step before and after.
 */
#include "cli/preflight/foresight.h"

#include <string.h>

#include "api/types/text/suggest.h"
#include "base/mem.h"
#include "flow/graph/selection.h"
#include "flow/model/flow_model.h"
#include "flow/status/restore.h"

enum { NAMED_MAX = 10 };

/* A rerun is a feature of this program, and repeats the iterations that the spec names. */
static const struct flow_model_options model_options = {.upstream = false, .extra = NULL};

/* A model of a stored flow, with what the status says beside it. */
struct restored {
    struct flow_model model;
    struct flow_state state;
    struct removed_entries removed;
};

static void restored_release(struct restored *restored)
{
    flow_model_release(&restored->model);
    flow_state_release(&restored->state);
    removed_entries_release(&restored->removed);
}

static bool restore(const struct object *flow, struct restored *out, struct error *err)
{
    scoped(json) json_t *status = flow->status ? object_status_json(flow) : NULL;

    if (!flow_model_init(&out->model, flow, &model_options, err))
        return false;
    flow_restore(&out->model, &out->state, &out->removed, status, flow->meta->generation);
    out->model.retries_ended = true;
    return true;
}

static bool names_known(const struct flow_graph *graph, const char *flow, const char *names,
                        struct error *err)
{
    const char *at = names, *name;
    size_t len;

    while (names && flow_rerun_next_name(&at, &name, &len)) {
        scoped_str text = mem_printf("%.*s", (int)len, name);
        struct suggest best = {0};

        if (flow_graph_find(graph, text) != STEP_NONE)
            continue;
        for (size_t i = 0; i < graph->spec->steps.count; i++)
            suggest_offer(&best, text, graph->spec->steps.items[i].name);
        return error_set(err, ERR_INVALID, "", "%s has no step \"%s\"%s%s%s", flow, text,
                         best.word ? "; near: \"" : "", best.word ? best.word : "",
                         best.word ? "\"" : "");
    }
    return true;
}

/* Puts what `old` knows into a model for the edited spec. */
static bool take_over(struct restored *old, const struct object *now, struct error *err)
{
    struct flow_model edited;

    if (!flow_model_init(&edited, now, &model_options, err))
        return false;
    flow_model_take_over(&edited, &old->model);
    flow_model_release(&old->model);
    old->model = edited;
    return true;
}

static enum step_fate fate_of(const struct step *before, const struct step *after, bool selected)
{
    bool had_result = before->state == STEP_STARTED;

    if (selected && after->jobless && had_result)
        return FATE_RUNS_AGAIN; /* a switch may be decided already */
    if (after->state == STEP_STARTED && !(after->jobless && after->phase == JOB_RUNNING))
        return phase_failed(after->phase) && after->kept ? FATE_STAYS_FAILED : FATE_KEPT;
    if (after->state == STEP_SKIPPED)
        return FATE_STAYS_SKIPPED;
    if (after->kept)
        return FATE_LEFT_OUT;
    return had_result ? FATE_RUNS_AGAIN : FATE_MAY_RUN;
}

/* Returns how many iterations of the loop had a job and begin again. */
static uint32_t iterations_again(const struct flow_model *m, const struct step *before,
                                 uint32_t loop)
{
    uint32_t count = 0;

    for (uint32_t i = loop + 1; i <= loop + flow_graph_iterations(m->graph, loop); i++)
        count += before[i].state == STEP_STARTED && m->steps[i].state != STEP_STARTED;
    return count;
}

static void compare(const struct flow_model *m, const struct step *before,
                    const struct step_set *selected, struct foresight *out)
{
    size_t at = 0;

    out->count = m->graph->spec->steps.count;
    out->fates = mem_array(out->count + 1, sizeof *out->fates);
    out->again = mem_array(out->count + 1, sizeof *out->again);
    for (uint32_t i = 0; i < m->graph->steps; i += 1 + flow_graph_iterations(m->graph, i), at++) {
        out->fates[at] = fate_of(&before[i], &m->steps[i], step_set_has(selected, i));
        out->again[at] = iterations_again(m, before, i);
        out->with[out->fates[at]]++;
    }
}

static void begin(struct flow_model *m, const struct flow_rerun *rerun, struct foresight *out)
{
    struct step *before = mem_array(m->graph->steps + 1, sizeof *before);
    struct step_set selected = {0};

    memcpy(before, m->steps, m->graph->steps * sizeof *before);
    step_set_init(&selected, m->graph->steps);
    step_selection_add(m->graph, rerun, &selected);
    flow_model_prepare_retry(m, &(struct retry_request){.selected = &selected,
                                                        .selective = flow_rerun_is_selective(rerun),
                                                        .only = rerun->only != NULL});
    flow_model_restart(m, 0);
    compare(m, before, &selected, out);
    step_set_release(&selected);
    mem_free(before);
}

bool foresee(const struct object *stored, const struct object *now, const struct flow_rerun *rerun,
             struct foresight *out, struct error *err)
{
    const enum flow_phase phase = jobflow_phase_of(stored);
    struct restored restored = {0};
    bool ok;

    memset(out, 0, sizeof *out);
    if (!flow_phase_finished(phase))
        return error_set(err, ERR_CONFLICT, "",
                         "jobflow \"%s\" is %s: only a flow that has ended can be run again",
                         object_name(stored),
                         phase == FLOW_NONE ? "not begun" : flow_phase_text(phase));
    ok = restore(stored, &restored, err) &&
         (stored->body == now->body || take_over(&restored, now, err)) &&
         names_known(restored.model.graph, object_name(now), rerun->from, err) &&
         names_known(restored.model.graph, object_name(now), rerun->only, err);
    if (ok) {
        flow_restore_missing_jobs(&restored.model);
        flow_model_recount(&restored.model);
        flow_model_end_retries(&restored.model);
        begin(&restored.model, rerun, out);
    }
    restored_release(&restored);
    return ok;
}

void foresight_release(struct foresight *foresight)
{
    mem_free(foresight->fates);
    mem_free(foresight->again);
    memset(foresight, 0, sizeof *foresight);
}

char *foresight_text(const struct foresight *foresight, size_t step)
{
    static const char *const texts[FATE_N] = {
        [FATE_KEPT] = "kept",
        [FATE_STAYS_FAILED] = "stays failed",
        [FATE_STAYS_SKIPPED] = "stays skipped",
        [FATE_RUNS_AGAIN] = "runs again",
        [FATE_MAY_RUN] = "may run",
        [FATE_LEFT_OUT] = "does not run",
    };

    const enum step_fate fate = foresight->fates[step];
    const uint32_t again = foresight->again[step];

    if (fate == FATE_RUNS_AGAIN && again)
        return mem_printf("%u iteration%s again", again, again == 1 ? " runs" : "s run");
    return mem_strdup(texts[fate]);
}

void foresight_write(const struct foresight *foresight, struct buf *out)
{
    const size_t again = foresight->with[FATE_RUNS_AGAIN], may = foresight->with[FATE_MAY_RUN];

    buf_printf(out, "%zu of %zu step%s run%s again", again, foresight->count,
               foresight->count == 1 ? "" : "s", again == 1 ? "s" : "");
    if (may)
        buf_printf(out, ", %zu that never ran may run", may);
    buf_printf(out, ", %zu %s kept", foresight->count - again - may,
               foresight->count - again - may == 1 ? "is" : "are");
}

/* Appends the names of the steps with that fate, at most NAMED_MAX of them. */
static void name_steps(const struct foresight *foresight, const struct object *flow,
                       enum step_fate fate, struct buf *out)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow);
    size_t named = 0;

    for (size_t i = 0; i < foresight->count && i < spec->steps.count; i++) {
        if (foresight->fates[i] != fate)
            continue;
        if (named == NAMED_MAX) {
            buf_printf(out, " and %zu more", foresight->with[fate] - named);
            return;
        }
        buf_printf(out, "%s%s", named++ ? ", " : "", spec->steps.items[i].name);
    }
}

void foresight_write_failures(const struct foresight *foresight, const struct object *flow,
                              struct buf *out)
{
    const bool one = foresight->with[FATE_STAYS_FAILED] == 1;

    if (!foresight->with[FATE_STAYS_FAILED])
        return;
    buf_str(out, one ? "step " : "steps ");
    name_steps(foresight, flow, FATE_STAYS_FAILED, out);
    buf_printf(out, " stay%s Failed: %s not among those that run again", one ? "s" : "",
               one ? "it is" : "they are");
}
