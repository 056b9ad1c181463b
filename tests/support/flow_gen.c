/*
 * Flows from dice. Steps only name steps before them, and switches list steps behind them, so every
 * flow has an order; what else may be wrong with one is admission's to say.
 */
#include "tests/support/flow_gen.h"
#include "base/hash.h"
#include <stdio.h>
#include <string.h>

static uint32_t dice_below(struct dice *dice, uint32_t n)
{
    return (uint32_t)dice_roll(dice, (int)n);
}

/* Everything a step waits for, directly or through others. */
static uint32_t ancestors(const struct gen_flow *flow, uint32_t at)
{
    uint32_t all = flow->steps[at].targets;

    for (uint32_t i = at; i-- > 0;)
        if (all >> i & 1)
            all |= flow->steps[i].targets;
    return all;
}

static uint32_t pick(struct dice *dice, uint32_t bits)
{
    uint32_t at = dice_below(dice, (uint32_t)__builtin_popcount(bits));

    for (uint32_t i = 0;; i++)
        if ((bits >> i & 1) && at-- == 0)
            return i;
}

static void add_term(struct dice *dice, uint32_t bits, struct buf *out)
{
    static const char *const kinds[] = {
        "phases: [Failed, Terminated]",
        "phases: [Completed]",
        "phases: [Skipped]",
        "output: {key: k, operator: Gt, values: [\"1\"]}",
        "output: {key: k, operator: In, values: [\"0\", \"2\"]}",
        "exitCode: {operator: In, values: [1, 2]}",
        "taskStatus: {taskName: main, phase: Failed}",
    };

    buf_printf(out, "{target: s%u, %s%s}", pick(dice, bits),
               dice_chance(dice, 20) ? "not: true, " : "",
               kinds[dice_below(dice, sizeof kinds / sizeof *kinds)]);
}

static void add_condition(struct dice *dice, uint32_t bits, struct buf *out)
{
    buf_printf(out, "{strategy: %s, terms: [", dice_chance(dice, 30) ? "any" : "all");
    add_term(dice, bits, out);
    if (dice_chance(dice, 30)) {
        buf_str(out, ", ");
        add_term(dice, bits, out);
    }
    buf_str(out, "]}");
}

static void add_targets(struct dice *dice, struct gen_flow *flow, uint32_t at)
{
    struct gen_step *step = &flow->steps[at];

    for (uint32_t i = 0; i < at; i++)
        if (flow->steps[i].final == step->final && dice_chance(dice, at < 3 ? 50 : 30))
            step->targets |= 1u << i;
    step->any = step->targets && dice_chance(dice, 15);
    if (!step->targets)
        return;
    buf_str(&flow->spec, ", dependsOn: {targets: [");
    for (uint32_t i = 0; i < at; i++)
        if (step->targets >> i & 1)
            buf_printf(&flow->spec, "s%u,", i);
    buf_printf(&flow->spec, "]%s}", step->any ? ", strategy: any" : "");
}

/* Steps behind it that no switch lists yet. */
static void add_switch(struct dice *dice, struct gen_flow *flow, uint32_t at, uint32_t before)
{
    uint32_t free = 0;

    for (uint32_t i = at + 1; i < flow->count; i++)
        if (!flow->steps[i].listed && !flow->steps[i].final)
            free |= 1u << i;
    if (!free)
        return;
    flow->steps[at].chooses = true;
    buf_str(&flow->spec, ", switch: {cases: [{name: one, if: ");
    add_condition(dice, before, &flow->spec);
    buf_str(&flow->spec, ", flows: [");
    for (int i = 0; i < 2; i++) {
        uint32_t step = pick(dice, free);

        flow->steps[step].listed = true;
        buf_printf(&flow->spec, i ? "]}], default: [s%u]}" : "s%u", step);
    }
}

static void add_loop(struct dice *dice, struct gen_flow *flow, uint32_t at)
{
    struct gen_step *step = &flow->steps[at];

    step->iterations = 1 + dice_below(dice, GEN_ITERATIONS_MAX);
    step->until = dice_chance(dice, 40);
    if (step->until) {
        step->parallelism = 1;
        buf_printf(&flow->spec,
                   ", for: {maxIterations: %u, until: {terms: [{target: s%u, output: {key: k, "
                   "operator: Gt, values: [\"1\"]}}]}}",
                   step->iterations, at);
        return;
    }
    step->parallelism = dice_below(dice, 3);
    flow->early |= step->parallelism != 1 && step->iterations > 1;
    buf_printf(&flow->spec, ", for: {range: {end: %u}, parallelism: %u}", step->iterations,
               step->parallelism);
}

static void add_retry(struct dice *dice, struct gen_flow *flow, uint32_t at)
{
    static const char *const more[] = {"", ", backoffSeconds: 0", ", backoffSeconds: 30",
                                       ", phases: [Failed]",
                                       ", exitCodes: {operator: NotIn, values: [2]}"};

    flow->steps[at].max_retry = (int)dice_below(dice, 3);
    buf_printf(&flow->spec, ", retry: {maxRetry: %d%s}", flow->steps[at].max_retry,
               more[dice_below(dice, 5)]);
}

static void add_step(struct dice *dice, struct gen_flow *flow, uint32_t at)
{
    struct gen_step *step = &flow->steps[at];
    uint32_t before;

    buf_printf(&flow->spec, "{name: s%u", at);
    if (step->final)
        buf_str(&flow->spec, ", when: always");
    add_targets(dice, flow, at);
    before = ancestors(flow, at);
    if (before && dice_chance(dice, 25)) {
        step->conditional = true;
        flow->early |= step->any;
        buf_str(&flow->spec, ", if: ");
        add_condition(dice, before, &flow->spec);
    }
    if (before && !step->final && dice_chance(dice, 12))
        add_switch(dice, flow, at, before);
    if (step->chooses) {
        flow->early |= step->any;
    } else {
        buf_str(&flow->spec, ", jobTemplateName: t");
        if (dice_chance(dice, 20))
            add_loop(dice, flow, at);
        if (dice_chance(dice, 25))
            add_retry(dice, flow, at);
    }
    step->ignored = dice_chance(dice, 12);
    if (step->ignored)
        buf_str(&flow->spec, ", failurePolicy: ignore");
    buf_str(&flow->spec, "},");
}

static void add_rest(struct dice *dice, struct gen_flow *flow, int max_retry)
{
    static const char *const policies[] = {"stop", "abort", "continue", "continue"};
    uint32_t policy = dice_below(dice, 4);

    flow->goes_on = policy >= 2;
    buf_printf(&flow->spec, "], failurePolicy: %s", policies[policy]);
    if (max_retry)
        buf_printf(&flow->spec, ", maxRetry: %d", max_retry);
    if (dice_chance(dice, 20)) {
        flow->max_running = 1 + dice_below(dice, 3);
        buf_printf(&flow->spec, ", scheduling: {maxRunningJobs: %u%s}", flow->max_running,
                   dice_chance(dice, 50) ? ", order: criticalPath" : "");
    } else if (dice_chance(dice, 15)) {
        buf_str(&flow->spec, ", gangs: [{name: g, flows: [s0, s1]}]");
    }
    if (dice_chance(dice, 8)) {
        flow->deadline = true;
        buf_printf(&flow->spec, ", activeDeadlineSeconds: %u", 5 + dice_below(dice, 60));
    }
    if (dice_chance(dice, 15)) {
        flow->deletes = true;
        buf_str(&flow->spec, ", jobRetainPolicy: delete");
    }
}

void gen_flow(uint64_t seed, struct gen_flow *out)
{
    struct dice dice = {seed * UINT64_C(0x2545f4914f6cdd1d)};
    int max_retry = dice_chance(&dice, 25) ? 1 : 0;
    uint32_t finals;

    memset(out, 0, sizeof *out);
    out->count = 1 + dice_below(&dice, GEN_STEPS_MAX);
    finals = dice_chance(&dice, 25) ? 1 + dice_below(&dice, 2) : 0;
    buf_str(&out->spec, "flows: [");
    for (uint32_t i = 0; i < out->count; i++) {
        out->steps[i].final = i > 0 && i + finals >= out->count;
        out->steps[i].max_retry = max_retry;
    }
    for (uint32_t i = 0; i < out->count; i++)
        add_step(&dice, out, i);
    add_rest(&dice, out, max_retry);
}

void gen_flow_release(struct gen_flow *flow)
{
    buf_release(&flow->spec);
}

struct gen_end gen_end_of(uint64_t seed, const char *job, unsigned attempt)
{
    struct dice dice = {seed ^ hash_stable(job, strlen(job)) ^ attempt * UINT64_C(0x9e3779b9)};
    struct gen_end end = {0};

    if (dice_chance(&dice, 25))
        end.code = 1 + (int)dice_below(&dice, 2);
    end.terminated = end.code && dice_chance(&dice, 20);
    if (dice_chance(&dice, 80))
        snprintf(end.message, sizeof end.message, "k=%u", dice_below(&dice, 4));
    return end;
}
