/*
 * Writes generated flows as YAML for the controller.
 */
#include "tests/support/flow_gen.h"

static void write_term(const struct gen_term *term, struct buf *out)
{
    static const char *const texts[GEN_ABOUT_N] = {
        [GEN_HAS_FAILED] = "phases: [Failed, Terminated]",
        [GEN_HAS_COMPLETED] = "phases: [Completed]",
        [GEN_WAS_SKIPPED] = "phases: [Skipped]",
        [GEN_OUTPUT_ABOVE] = "output: {key: k, operator: Gt, values: [\"1\"]}",
        [GEN_OUTPUT_AMONG] = "output: {key: k, operator: In, values: [\"0\", \"2\"]}",
        [GEN_OUTPUT_THERE] = "output: {key: k, operator: Exists}",
        [GEN_CODE_AMONG] = "exitCode: {operator: In, values: [1, 2]}",
        [GEN_POD_FAILED] = "taskStatus: {taskName: main, phase: Failed}",
        [GEN_PARAMETER] = "parameter: {name: p, operator: In, values: [\"1\"]}",
    };

    buf_char(out, '{');
    if (term->about != GEN_PARAMETER)
        buf_printf(out, "target: s%u, ", term->target);
    buf_printf(out, "%s%s}", term->negate ? "not: true, " : "", texts[term->about]);
}

static void write_condition(const struct gen_condition *condition, struct buf *out)
{
    buf_printf(out, "{strategy: %s, terms: [", condition->any ? "any" : "all");
    for (uint32_t i = 0; i < condition->count; i++) {
        buf_str(out, i ? ", " : "");
        write_term(&condition->terms[i], out);
    }
    buf_str(out, "]}");
}

static void write_names(uint32_t bits, struct buf *out)
{
    bool first = true;

    for (uint32_t i = 0; bits >> i; i++)
        if (bits >> i & 1) {
            buf_printf(out, "%ss%u", first ? "" : ", ", i);
            first = false;
        }
}

static const char *const probes[] = {
    [GEN_NO_PROBE] = "",
    [GEN_TASK_STATUS] = ", probe: {taskStatusList: [{taskName: main, phase: Running}]}",
    [GEN_HTTP] = ", probe: {httpGetList: [{taskName: main, port: 80, path: /up}]}",
    [GEN_TCP] = ", probe: {tcpSocketList: [{taskName: main, port: 80}]}",
};

static void write_targets(const struct gen_step *step, struct buf *out)
{
    if (!step->targets)
        return;
    buf_str(out, ", dependsOn: {targets: [");
    write_names(step->targets, out);
    buf_printf(out, "]%s%s}", step->any ? ", strategy: any" : "", probes[step->probes]);
}

static void write_loop(const struct gen_step *step, uint32_t at, struct buf *out)
{
    static const char *const items[GEN_ITERATIONS_MAX] = {"eu", "us", "ap", "af"};

    buf_str(out, ", for: {");
    if (step->loop == GEN_UNTIL)
        buf_printf(out,
                   "maxIterations: %u, until: {terms: [{target: s%u, output: {key: k, "
                   "operator: Gt, values: [\"1\"]}}]}}",
                   step->iterations, at);
    else if (step->loop == GEN_RANGE)
        buf_printf(out, "range: {start: %d, end: %d, step: 2}, parallelism: %u}", step->range_start,
                   step->range_start + 2 * (int)step->iterations, step->parallelism);
    else if (step->loop == GEN_ITEMS_FROM)
        buf_printf(out, "itemsFrom: {target: s%u, key: l}, maxIterations: %u, parallelism: %u}",
                   step->items_of, step->iterations, step->parallelism);
    else {
        buf_str(out, "items: [");
        for (uint32_t i = 0; i < step->iterations; i++)
            buf_printf(out, "%s%s", i ? ", " : "", items[i]);
        buf_printf(out, "], parallelism: %u}", step->parallelism);
    }
}

static void write_retry(const struct gen_step *step, struct buf *out)
{
    buf_printf(out,
               ", retry: {maxRetry: %d, backoffSeconds: %d, backoffFactor: %d, "
               "maxBackoffSeconds: %d%s%s}",
               step->max_retry, step->backoff_s, step->backoff_factor, step->most_s,
               step->not_terminated ? ", phases: [Failed]"
               : step->also_aborted ? ", phases: [Failed, Terminated, Aborted]"
                                    : "",
               step->not_code_2 ? ", exitCodes: {operator: NotIn, values: [2]}" : "");
}

/* Writes the text of variable W: in the patch it contains references, in a job their values. */
static void write_patch(const struct gen_step *step, struct buf *out)
{
    buf_str(out, ", patch: {spec: {tasks: [{name: main, template: {spec: {containers: [{name: c, "
                 "env: [{name: W, value: \"$(parameters.p)");
    if (step->loop)
        buf_str(out, " $(item) $(index)");
    if (step->output_of != GEN_NOWHERE)
        buf_printf(out, " $(steps.s%d.outputs.k)", step->output_of);
    buf_str(out, "\"}]}]}}}]}}");
}

/* Writes the item and the index of an iteration. */
static void write_iteration(const struct gen_step *step, uint32_t iteration, struct buf *out)
{
    static const char *const items[GEN_ITERATIONS_MAX] = {"eu", "us", "ap", "af"};

    if (step->loop == GEN_ITEMS)
        buf_printf(out, " %s %u", items[iteration], iteration);
    else if (step->loop == GEN_ITEMS_FROM)
        buf_printf(out, " i%u %u", iteration, iteration);
    else
        buf_printf(out, " %d %u",
                   step->loop == GEN_RANGE ? step->range_start + 2 * (int)iteration
                                           : (int)iteration,
                   iteration);
}

void gen_patch_text(const struct gen_flow *flow, uint32_t at, uint32_t iteration, int k,
                    struct buf *out)
{
    const struct gen_step *step = &flow->steps[at];

    buf_printf(out, "%d", flow->parameter);
    if (step->loop)
        write_iteration(step, iteration, out);
    if (step->output_of != GEN_NOWHERE)
        buf_str(out, " ");
    if (step->output_of != GEN_NOWHERE && k >= 0)
        buf_printf(out, "%d", k);
}

void gen_template_variable(const struct gen_flow *flow, struct buf *out)
{
    if (!flow->referring)
        return;
    buf_str(out, ", {name: R, value: \"$(flow.name) $(params.p) $(attempt) $(item) $(index)");
    if (flow->template_output != GEN_NOWHERE)
        buf_printf(out, " $(steps.s%d.outputs.k)", flow->template_output);
    buf_str(out, "\"}");
}

void gen_template_text(const struct gen_flow *flow, uint32_t at, uint32_t iteration,
                       unsigned attempt, int k, struct buf *out)
{
    const struct gen_step *step = &flow->steps[at];

    buf_printf(out, "f %d %u", flow->parameter, attempt);
    if (step->loop)
        write_iteration(step, iteration, out);
    else
        buf_str(out, " $(item) $(index)"); /* variables of the container, if it has them */
    if (flow->template_output != GEN_NOWHERE)
        buf_str(out, " ");
    if (flow->template_output != GEN_NOWHERE && k >= 0)
        buf_printf(out, "%d", k);
}

/* Writes the output l in one of its two forms: a list or a number of items. */
void gen_end_message(const struct gen_end *end, struct buf *out)
{
    const bool list = end->k % 2 == 0;

    if (end->k >= 0)
        buf_printf(out, "k=%d\n", end->k);
    if (end->items == GEN_BROKEN_ITEMS)
        buf_str(out, "l=[i0,\n");
    if (end->items < 0)
        return;
    buf_str(out, list ? "l=[" : "l=");
    for (int i = 0; i < end->items; i++)
        buf_printf(out, list ? "%s\"i%d\"" : "%s i%d", i ? "," : "", i);
    buf_str(out, list ? "]\n" : "\n");
}

static void write_step(const struct gen_flow *flow, uint32_t at, struct buf *out)
{
    const struct gen_step *step = &flow->steps[at];

    buf_printf(out, "{name: s%u", at);
    if (step->final)
        buf_str(out, ", when: always");
    write_targets(step, out);
    if (step->condition.count) {
        buf_str(out, ", if: ");
        write_condition(&step->condition, out);
    }
    if (step->chooses) {
        buf_str(out, ", switch: {cases: [{name: one, if: ");
        write_condition(&step->case_condition, out);
        buf_printf(out, ", flows: [s%u]}], default: [s%u]}", step->case_step, step->default_step);
    } else {
        buf_printf(out, ", jobTemplateName: %s", step->other ? "u" : "t");
    }
    if (step->loop)
        write_loop(step, at, out);
    if (step->retries)
        write_retry(step, out);
    if (step->patched)
        write_patch(step, out);
    if (step->ignored)
        buf_str(out, ", failurePolicy: ignore");
    buf_str(out, "},");
}

static void write_scheduling(const struct gen_flow *flow, struct buf *out)
{
    if (!flow->max_running && !flow->critical_path && !flow->classed)
        return;
    buf_str(out, ", scheduling: {queue: default");
    if (flow->max_running)
        buf_printf(out, ", maxRunningJobs: %u", flow->max_running);
    if (flow->critical_path)
        buf_str(out, ", order: criticalPath");
    if (flow->classed)
        buf_str(out, ", priorityClassName: high");
    buf_char(out, '}');
}

void gen_flow_write(const struct gen_flow *flow, bool suspend, struct buf *out)
{
    static const char *const policies[] = {"stop", "abort", "continue"};

    buf_str(out, "flows: [");
    for (uint32_t i = 0; i < flow->count; i++)
        write_step(flow, i, out);
    buf_printf(out, "], failurePolicy: %s, parameters: [{name: p, default: \"%d\"%s}]",
               policies[flow->policy], flow->parameter_given ? 9 : flow->parameter,
               flow->parameter_given ? flow->parameter == 0   ? ", value: \"0\""
                                       : flow->parameter == 1 ? ", value: \"1\""
                                                              : ", value: \"2\""
                                     : "");
    if (flow->max_retry)
        buf_printf(out, ", maxRetry: %d", flow->max_retry);
    write_scheduling(flow, out);
    if (flow->gang) {
        buf_str(out, ", gangs: [{name: g, flows: [");
        write_names(flow->gang, out);
        buf_str(out, "]");
        if (flow->gang_least)
            buf_printf(out, ", minAvailable: %u", flow->gang_least);
        buf_str(out, "}]");
    }
    if (flow->handled_succeed)
        buf_str(out, ", handledFailures: succeed");
    if (flow->deadline_s)
        buf_printf(out, ", activeDeadlineSeconds: %d", flow->deadline_s);
    if (flow->ttl_s >= 0)
        buf_printf(out, ", ttlSecondsAfterFinished: %d", flow->ttl_s);
    if (flow->pinned)
        buf_str(out, ", templatePolicy: pinned");
    if (flow->deletes)
        buf_str(out, ", jobRetainPolicy: delete");
    if (suspend)
        buf_str(out, ", suspend: true");
}
