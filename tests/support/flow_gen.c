/*
 * Generates random flows from a seed.
 */
#include "tests/support/flow_gen.h"

#include <string.h>

#include "base/collections/hash.h"

static uint32_t dice_below(struct dice *dice, uint32_t n)
{
    return (uint32_t)dice_roll(dice, (int)n);
}

uint32_t gen_ancestors(const struct gen_flow *flow, uint32_t at)
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

static void roll_condition(struct dice *dice, uint32_t ancestors, struct gen_condition *out)
{
    out->any = dice_chance(dice, 30);
    out->count = 1 + dice_chance(dice, 30);
    for (uint32_t i = 0; i < out->count; i++)
        out->terms[i] = (struct gen_term){.about = (enum gen_about)dice_below(dice, GEN_ABOUT_N),
                                          .target = pick(dice, ancestors),
                                          .negate = dice_chance(dice, 20)};
}

static void roll_targets(struct dice *dice, struct gen_flow *flow, uint32_t at)
{
    struct gen_step *step = &flow->steps[at];
    bool jobs = true;

    for (uint32_t i = 0; i < at; i++)
        if (flow->steps[i].final == step->final && dice_chance(dice, at < 3 ? 50 : 30)) {
            step->targets |= 1u << i;
            jobs &= !flow->steps[i].chooses && !flow->steps[i].loop;
        }
    step->any = step->targets && dice_chance(dice, 15);
    if (step->targets && jobs && dice_chance(dice, 15))
        step->probes = (enum gen_probe)(GEN_TASK_STATUS + dice_below(dice, 3));
    flow->early |= step->probes != GEN_NO_PROBE;
}

/* Makes the step a switch over two later steps that no other switch lists yet. */
static void roll_switch(struct dice *dice, struct gen_flow *flow, uint32_t at, uint32_t ancestors)
{
    struct gen_step *step = &flow->steps[at];
    uint32_t free = 0;

    for (uint32_t i = at + 1; i < flow->count; i++)
        if (flow->steps[i].listed_by == GEN_NOWHERE && !flow->steps[i].final)
            free |= 1u << i;
    if (!free)
        return;
    step->chooses = true;
    roll_condition(dice, ancestors, &step->case_condition);
    step->case_step = pick(dice, free);
    step->default_step = pick(dice, free);
    flow->steps[step->case_step].listed_by = (int)at;
    flow->steps[step->default_step].listed_by = (int)at;
}

static void roll_loop(struct dice *dice, struct gen_flow *flow, uint32_t at)
{
    struct gen_step *step = &flow->steps[at];

    step->loop = (enum gen_loop)(GEN_ITEMS + dice_below(dice, 3));
    step->iterations = 1 + dice_below(dice, GEN_ITERATIONS_MAX);
    step->parallelism = step->loop == GEN_UNTIL ? 1 : dice_below(dice, 3);
    step->range_start = dice_roll(dice, 3);
    flow->early |= step->parallelism != 1 && step->iterations > 1;
}

/* Returns the targets of the step that have a job and whose outputs are known when the step begins,
 * as bits. */
static uint32_t sources(const struct gen_flow *flow, uint32_t at)
{
    const struct gen_step *step = &flow->steps[at];
    uint32_t plain = 0;

    for (uint32_t i = 0; i < at && !step->any && !step->probes; i++)
        if ((step->targets >> i & 1) && !flow->steps[i].chooses && !flow->steps[i].loop)
            plain |= 1u << i;
    return plain;
}

static void roll_retry(struct dice *dice, struct gen_step *step)
{
    step->retries = true;
    step->max_retry = dice_roll(dice, 3);
    step->not_code_2 = dice_chance(dice, 20);
    step->not_terminated = dice_chance(dice, 20);
    step->also_aborted = !step->not_terminated && dice_chance(dice, 30);
    step->backoff_s = 5 * dice_roll(dice, 4);
    step->backoff_factor = 1 + dice_roll(dice, 3);
    step->most_s = dice_chance(dice, 20) ? 8 : 300;
}

static void roll_job(struct dice *dice, struct gen_flow *flow, uint32_t at)
{
    struct gen_step *step = &flow->steps[at];
    const uint32_t plain = sources(flow, at);

    if (dice_chance(dice, 20))
        roll_loop(dice, flow, at);
    if (step->loop == GEN_ITEMS && plain && dice_chance(dice, 70)) {
        step->loop = GEN_ITEMS_FROM;
        step->items_of = pick(dice, plain);
    }
    if (dice_chance(dice, 25))
        roll_retry(dice, step);
    step->other = dice_chance(dice, 20);
    step->patched = dice_chance(dice, 40);
    if (step->patched && plain && dice_chance(dice, 50))
        step->output_of = (int)pick(dice, plain);
}

static void roll_step(struct dice *dice, struct gen_flow *flow, uint32_t at)
{
    struct gen_step *step = &flow->steps[at];
    uint32_t ancestors;

    step->output_of = GEN_NOWHERE;
    step->max_retry = flow->max_retry;
    step->backoff_s = 10;
    step->backoff_factor = 2;
    step->most_s = 300;
    roll_targets(dice, flow, at);
    ancestors = gen_ancestors(flow, at);
    for (uint32_t i = 0; i < at && step->final; i++) /* all ordinary steps have ended before */
        ancestors |= flow->steps[i].final ? 0 : 1u << i;
    if (ancestors && dice_chance(dice, step->final ? 50 : 25))
        roll_condition(dice, ancestors, &step->condition);
    if (ancestors && !step->final && !step->probes && dice_chance(dice, 12))
        roll_switch(dice, flow, at, ancestors);
    for (uint32_t i = 0; i <= at; i++) /* a target may still be running when the condition is
                                        * evaluated */
        flow->early |= (step->condition.count || step->chooses) && flow->steps[i].any;
    if (!step->chooses)
        roll_job(dice, flow, at);
    step->ignored = dice_chance(dice, 12);
}

/* Returns all steps that must end (switches: choose) before the step begins, as bits. */
static uint32_t before(const struct gen_flow *flow, uint32_t at)
{
    uint32_t all = 1u << at;

    for (uint32_t i = at + 1; i-- > 0;)
        if (all >> i & 1)
            all |= flow->steps[i].targets |
                   (flow->steps[i].listed_by == GEN_NOWHERE ? 0 : 1u << flow->steps[i].listed_by);
    return all & ~(1u << at);
}

/* Returns whether the member waits for a probe of another member. */
static bool follows(const struct gen_flow *flow, uint32_t member)
{
    const struct gen_step *step = &flow->steps[member];

    return step->probes && !step->any && (step->targets & flow->gang);
}

uint32_t gen_gang_least(const struct gen_flow *flow)
{
    uint32_t members = (uint32_t)__builtin_popcount(flow->gang), together = members;

    for (uint32_t i = 0; i < flow->count; i++)
        together -= (flow->gang >> i & 1) && follows(flow, i);
    return flow->gang_least && flow->gang_least < together ? flow->gang_least : together;
}

/* Returns whether one of two steps can begin only when the other has ended, because of its targets
 * or of a switch that lists it. A step with a probe of the other does not count. */
static bool never_together(const struct gen_flow *flow, uint32_t first, uint32_t later)
{
    const struct gen_step *step = &flow->steps[later];

    if (step->probes && !step->any && step->targets == 1u << first &&
        step->listed_by == GEN_NOWHERE)
        return false;
    return before(flow, later) >> first & 1;
}

static void roll_gang(struct dice *dice, struct gen_flow *flow)
{
    uint32_t fit = 0, first, second;

    for (uint32_t i = 0; i < flow->count; i++)
        if (!flow->steps[i].chooses && !flow->steps[i].loop && !flow->steps[i].final)
            fit |= 1u << i;
    if (__builtin_popcount(fit) < 2)
        return;
    first = pick(dice, fit);
    second = pick(dice, fit & ~(1u << first));
    if (never_together(flow, first, second) || never_together(flow, second, first))
        return;
    flow->gang = 1u << first | 1u << second;
    flow->gang_least = dice_below(dice, 3);
}

static void roll_rest(struct dice *dice, struct gen_flow *flow)
{
    static const enum gen_policy policies[] = {GEN_STOP, GEN_ABORT, GEN_CONTINUE, GEN_CONTINUE};

    flow->policy = policies[dice_roll(dice, 4)];
    flow->max_running = dice_chance(dice, 20) ? 1 + dice_below(dice, 3) : 0;
    flow->critical_path = dice_chance(dice, 15);
    flow->classed = dice_chance(dice, 15);
    if (dice_chance(dice, 20))
        roll_gang(dice, flow);
    flow->deadline_s = dice_chance(dice, 8) ? 5 + dice_roll(dice, 60) : 0;
    flow->ttl_s = dice_chance(dice, 10) ? dice_roll(dice, 100) : -1;
    flow->deletes = dice_chance(dice, 15);
    flow->pinned = dice_chance(dice, 25);
    flow->parameter = dice_roll(dice, 3);
    flow->parameter_given = dice_chance(dice, 50);
    flow->handled_succeed = dice_chance(dice, 40);
}

/* Whether template u has references. If it refers to an output, that is one which all steps of the
 * template may have. No dice are rolled, so that other features of a seed stay as they are. */
static void refer_in_template(uint64_t seed, struct gen_flow *flow)
{
    uint32_t known = UINT32_MAX;

    flow->referring = hash_stable(&seed, sizeof seed) % 3 == 0;
    flow->template_output = GEN_NOWHERE;
    for (uint32_t i = 0; i < flow->count; i++)
        if (flow->steps[i].other)
            known &= sources(flow, i);
    for (uint32_t i = 0; flow->referring && i < flow->count; i++)
        if (known != UINT32_MAX && (known >> i & 1))
            flow->template_output = (int)i;
}

void gen_flow(uint64_t seed, struct gen_flow *out)
{
    struct dice dice = {seed * UINT64_C(0x2545f4914f6cdd1d)};
    uint32_t finals;

    memset(out, 0, sizeof *out);
    out->max_retry = dice_chance(&dice, 25) ? 1 : 0;
    out->count = 1 + dice_below(&dice, GEN_STEPS_MAX - 1);
    finals = dice_chance(&dice, 25) ? 1 + dice_below(&dice, 2) : 0;
    for (uint32_t i = 0; i < out->count; i++) {
        out->steps[i].final = i > 0 && i + finals >= out->count;
        out->steps[i].listed_by = GEN_NOWHERE;
    }
    for (uint32_t i = 0; i < out->count; i++)
        roll_step(&dice, out, i);
    roll_rest(&dice, out);
    refer_in_template(seed, out);
}

bool gen_flow_append(struct gen_flow *flow, struct dice *dice)
{
    uint32_t at = flow->count;

    if (at == GEN_STEPS_MAX)
        return false;
    flow->count++;
    flow->steps[at] = (struct gen_step){.listed_by = GEN_NOWHERE};
    roll_step(dice, flow, at);
    flow->steps[at].output_of = GEN_NOWHERE; /* the targets of the step may end without outputs */
    flow->steps[at].other &= flow->template_output == GEN_NOWHERE;
    return true;
}

static bool is_asked_for_output(const struct gen_flow *flow, uint32_t step)
{
    if (flow->template_output == (int)step)
        return true;
    for (uint32_t i = 0; i < flow->count; i++)
        if (flow->steps[i].output_of == (int)step)
            return true;
    return false;
}

struct gen_end gen_end_of(const struct gen_flow *flow, uint64_t seed, uint32_t step,
                          const char *job, unsigned attempt)
{
    struct dice dice = {seed ^ hash_stable(job, strlen(job)) ^ attempt * UINT64_C(0x9e3779b9)};
    struct gen_end end = {.k = -1, .items = GEN_NO_ITEMS};

    if (dice_chance(&dice, 25))
        end.code = 1 + dice_roll(&dice, 2);
    end.terminated = end.code && dice_chance(&dice, 20);
    if (dice_chance(&dice, 80) || is_asked_for_output(flow, step))
        end.k = dice_roll(&dice, 4);
    end.items = dice_roll(&dice, GEN_ITERATIONS_MAX + 1);
    if (dice_chance(&dice, 10))
        end.items = dice_chance(&dice, 50) ? GEN_NO_ITEMS : GEN_BROKEN_ITEMS;
    return end;
}
