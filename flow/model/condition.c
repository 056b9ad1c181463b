/*
 * Evaluates conditions, one function for each kind of term, and gives the values of references. All
 * values come from the model, so no other object is read.
 */
#include "flow/model/condition.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/schema/flow_reference.h"
#include "api/types/text/json_text.h"
#include "base/mem.h"
#include "flow/model/loop_items.h"
#include "flow/model/retry_policy.h"

/* Returns the results of a step's finished job. An aborted job has none, because it may be resumed.
 */
static const struct job_results *results_of(const struct step *step)
{
    bool ended = step->state == STEP_STARTED && job_phase_finished((enum job_phase)step->phase);

    return ended && step->history ? step->history->results : NULL;
}

const struct job_results *flow_results_of(const struct flow_model *m, uint32_t step)
{
    uint32_t iterations = flow_graph_iterations(m->graph, step);
    const struct job_results *results = results_of(&m->steps[step]);

    for (uint32_t k = iterations; k > 0 && !results; k--)
        results = results_of(&m->steps[step + k]);
    return results;
}

/* Returns how many iterations of the loop have come about. */
static uint32_t iterations_begun(const struct flow_model *m, uint32_t loop)
{
    uint32_t count = flow_graph_iterations(m->graph, loop);

    while (count && !m->steps[loop + count].attempt && m->steps[loop + count].state != STEP_SKIPPED)
        count--;
    return count;
}

/* Appends the outputs of all iterations as a JSON list, with null for each that has none. Returns
 * false when none has one. */
static bool add_list(const struct flow_model *m, uint32_t loop, const char *key, struct buf *out)
{
    scoped(json) json_t *list = json_array();
    uint32_t count = iterations_begun(m, loop), found = 0;

    for (uint32_t k = 1; k <= count; k++) {
        const char *value = job_results_output(results_of(&m->steps[loop + k]), key);

        found += value != NULL;
        json_array_append_new(list, value ? json_string(value) : json_null());
    }
    json_text(list, out);
    return found > 0;
}

/* Appends the output that a reference means. Returns false when there is none. */
static bool add_output_of(const struct flow_model *m, uint32_t target, const struct flow_ref *ref,
                          const char *key, struct buf *out)
{
    const char *value;

    if (ref->every)
        return add_list(m, target, key, out);
    value = job_results_output(flow_results_of(m, target), key);
    if (value)
        buf_str(out, value);
    return value != NULL;
}

static bool add_output(const struct flow_model *m, const struct flow_ref *ref, struct buf *out,
                       struct error *err)
{
    char name[64 + 1] = "", key[64 + 1] = "";
    scoped(buf) struct buf value = {0};
    uint32_t target;

    if (ref->name_len < sizeof name && ref->key_len < sizeof key) {
        memcpy(name, ref->name, ref->name_len);
        memcpy(key, ref->key, ref->key_len);
    }
    target = flow_graph_find(m->graph, name);
    if (target != STEP_NONE && add_output_of(m, target, ref, key, &value)) {
        buf_str(out, value.data ? value.data : "");
        return true;
    }
    if (target != STEP_NONE && m->steps[target].state == STEP_SKIPPED) {
        buf_str(out, ref->every ? "[]" : "");
        return true;
    }
    return error_set(
        err, ERR_NOT_FOUND, "",
        "%s %.*s has %soutput %.*s: its pods write lines KEY=VALUE to their "
        "termination message; where it may be missing, an `if` with Exists asks for it",
        ref->every ? "no iteration of step" : "step", (int)ref->name_len, ref->name,
        ref->every ? "" : "no ", (int)ref->key_len, ref->key);
}

static bool add_parameter(const struct flow_model *m, const struct flow_ref *ref, struct buf *out,
                          struct error *err)
{
    scoped_str name = mem_printf("%.*s", (int)ref->name_len, ref->name);

    if (!jobflow_find_parameter(m->graph->spec, name))
        return error_set(err, ERR_INVALID, "",
                         "$(params.%s): the flow has no parameter of that name: add it to "
                         "spec.parameters",
                         name);
    buf_str(out, jobflow_parameter(m->graph->spec, name));
    return true;
}

static bool value_of(void *ctx, const struct flow_ref *ref, struct buf *out, bool *out_leave,
                     struct error *err)
{
    struct flow_values *values = ctx;
    const struct flow_model *m = values->model;
    uint32_t iteration =
        values->step == STEP_NONE ? ITERATION_NONE : flow_graph_iteration(m->graph, values->step);

    values->last_is_output = ref->kind == FLOW_REF_OUTPUT;
    switch (ref->kind) {
    case FLOW_REF_ITEM:
        if (iteration == ITERATION_NONE)
            *out_leave = true;
        else
            flow_iteration_item(m, values->step, out);
        return true;
    case FLOW_REF_INDEX:
        if (iteration == ITERATION_NONE)
            *out_leave = true;
        else
            buf_printf(out, "%u", iteration);
        return true;
    case FLOW_REF_ATTEMPT:
        if (values->step == STEP_NONE)
            *out_leave = true;
        else
            buf_printf(out, "%u", m->steps[values->step].attempt + 1u);
        return true;
    case FLOW_REF_PARAMETER:
        return add_parameter(m, ref, out, err);
    case FLOW_REF_OUTPUT:
        return add_output(m, ref, out, err);
    case FLOW_REF_FLOW_NAME:
        buf_str(out, m->name);
        return true;
    case FLOW_REF_FLOW_PHASE:
        if (values->flow_phase)
            buf_str(out, values->flow_phase);
        else
            *out_leave = true;
        return true;
    case FLOW_REF_DOUBTFUL: /* a doubtful reference is never replaced */
        *out_leave = true;
        return true;
    }
    return false;
}

struct flow_ref_values flow_values_of(struct flow_values *values)
{
    return (struct flow_ref_values){value_of, values};
}

/* Appends an entry of `items`, whose references to parameters are replaced. */
static void add_item(const struct flow_model *m, const char *item, struct buf *out)
{
    struct flow_values values = {.model = m, .step = STEP_NONE};
    const struct flow_ref_values refs = flow_values_of(&values);
    scoped(buf) struct buf text = {0};

    if (flow_refs_replace_text(item, &refs, &text, NULL))
        buf_str(out, text.data ? text.data : "");
    else
        buf_str(out, item);
}

void flow_iteration_item(const struct flow_model *m, uint32_t step, struct buf *out)
{
    const struct flow_loop *loop = flow_graph_step(m->graph, step)->loop;
    uint32_t iteration = flow_graph_iteration(m->graph, step);
    int64_t distance = loop->range && loop->range->step.set ? loop->range->step.value : 1;

    const struct loop_items *items =
        loop->items_from ? loop_items_of(m, flow_graph_loop(m->graph, step)) : NULL;

    if (loop->items_from)
        buf_str(out, items && iteration < items->count ? items->items[iteration] : "");
    else if (loop->items.count)
        add_item(m, iteration < loop->items.count ? loop->items.items[iteration] : "", out);
    else
        buf_printf(out, "%" PRId64, (loop->range ? loop->range->start : 0) + distance * iteration);
}

static bool parse_number(const char *text, double *out)
{
    char *end;

    *out = strtod(text, &end);
    return *text && !*end;
}

bool flow_values_compare(enum value_operator op, const char *value, const char *with)
{
    double left, right;

    if (op != VALUE_GT && op != VALUE_LT)
        return strcmp(value, with) == 0;
    return parse_number(value, &left) && parse_number(with, &right) &&
           (op == VALUE_GT ? left > right : left < right);
}

/* Compares a value with those of a term; NULL: the output or parameter does not exist. */
static bool value_matches(const struct flow_model *m, const struct term_value *term,
                          const char *value)
{
    struct flow_values values = {.model = m, .step = STEP_NONE};
    const struct flow_ref_values refs = flow_values_of(&values);
    bool found = false;

    if (term->op == VALUE_EXISTS || term->op == VALUE_DOES_NOT_EXIST)
        return (value != NULL) == (term->op == VALUE_EXISTS);
    for (size_t i = 0; value && i < term->values.count; i++) {
        scoped(buf) struct buf with = {0};

        if (flow_refs_replace_text(term->values.items[i], &refs, &with, NULL))
            found |= flow_values_compare(term->op, value, with.data ? with.data : "");
    }
    return found != (term->op == VALUE_NOT_IN);
}

/* Returns the phase that a step ended in, or NULL. */
static const char *final_phase(const struct step *step)
{
    if (step->state == STEP_SKIPPED)
        return "Skipped";
    if (step->state != STEP_STARTED || !job_phase_finished((enum job_phase)step->phase))
        return NULL;
    return job_phase_text((enum job_phase)step->phase);
}

static bool phase_matches(const struct step *step, const struct str_list *phases)
{
    const char *phase = final_phase(step);

    for (size_t i = 0; phase && i < phases->count; i++)
        if (strcmp(phases->items[i], phase) == 0)
            return true;
    return false;
}

static bool status_matches(const struct job_results *results, const struct term_task_status *term)
{
    int32_t least = term->min_count.set ? term->min_count.value : 1;
    enum pod_phase phase;

    if (strcmp(term->phase, "Completed") == 0)
        phase = POD_SUCCEEDED;
    else if (!pod_phase_parse(term->phase, &phase))
        return false;
    return results && job_results_count(results, term->task, phase) >= least;
}

static bool term_matches(const struct flow_model *m, const struct flow_term *term)
{
    uint32_t target = term->target ? flow_graph_find(m->graph, term->target) : STEP_NONE;
    const struct job_results *results;
    int32_t code;

    if (term->parameter)
        return value_matches(m, term->parameter,
                             jobflow_parameter(m->graph->spec, term->parameter->key));
    if (target == STEP_NONE)
        return false;
    if (term->phases.count)
        return phase_matches(&m->steps[target], &term->phases);
    results = flow_results_of(m, target);
    if (term->task_status)
        return status_matches(results, term->task_status);
    if (term->exit_code)
        return job_results_exit_code(results, term->exit_code->task, &code) &&
               exit_code_matches(term->exit_code, code);
    return term->output &&
           value_matches(m, term->output, job_results_output(results, term->output->key));
}

bool flow_condition_holds(const struct flow_model *m, const struct flow_condition *condition)
{
    bool any = condition->strategy == STRATEGY_ANY;

    for (size_t i = 0; i < condition->terms.count; i++) {
        const struct flow_term *term = &condition->terms.items[i];

        if (term_matches(m, term) != term->negate) {
            if (any)
                return true;
        } else if (!any) {
            return false;
        }
    }
    return !any;
}

bool flow_term_handles(const struct flow_term *term)
{
    return term->target && (term->phases.count || term->exit_code || term->task_status);
}

bool flow_condition_handles(const struct flow_condition *condition)
{
    for (size_t i = 0; i < condition->terms.count; i++)
        if (flow_term_handles(&condition->terms.items[i]))
            return true;
    return false;
}
