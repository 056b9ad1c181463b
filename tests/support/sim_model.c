/*
 * How a flow must end: the rules of tests/support/flow_rules, with one job after the other.
 */
#include <stdio.h>

#include "tests/support/flow_rules.h"
#include "tests/support/sim_impl.h"

static struct rule_job run_job(const struct gen_flow *flow, uint64_t seed, uint32_t step,
                               const char *name)
{
    for (int retries = 0;; retries++) {
        const struct gen_end end = gen_end_of(flow, seed, step, name, (unsigned)retries + 1);
        struct rule_job job = {.made = true, .known = true, .k = end.k, .items = end.items};

        job.code = end.code;
        job.end = end.code ? RULE_FAILED : RULE_COMPLETED;
        job.passed = job.polled = RULE_YES;
        if (!end.code || !rule_retries(&flow->steps[step], RULE_BY_FAILURE, end.code, retries))
            return job;
    }
}

/* Runs the first job that may run now. Returns false when there is none. */
static bool run_next(struct rules *rules, uint64_t seed, const char *flow)
{
    for (uint32_t i = 0; i < rules->flow->count; i++) {
        struct rule_step *step = &rules->steps[i];
        const struct gen_step *spec = &rules->flow->steps[i];
        uint32_t count = spec->loop ? rule_iterations(rules, i) : 1;

        if (spec->chooses || step->verdict != RULE_RUNS || step->end != RULE_OPEN ||
            (rules->closed && !spec->final) || !rule_gang_forms(rules, i))
            continue;
        for (uint32_t k = 0; k < count; k++) {
            char name[SIM_NAME];

            if (step->jobs[k].made || !rule_iteration_due(rules, i, k))
                continue;
            snprintf(name, sizeof name, spec->loop ? "%s-s%u-%u" : "%s-s%u", flow, i, k);
            step->begun |= spec->loop == GEN_ITEMS_FROM;
            step->jobs[k] = run_job(rules->flow, seed, i, name);
            return true;
        }
    }
    return false;
}

enum sim_result sim_model(const struct gen_flow *flow, uint64_t seed, const char *name)
{
    struct rules rules = {.flow = flow};
    bool failed = false;

    if (flow->early || flow->deadline_s)
        return SIM_UNKNOWN;
    for (uint32_t i = 0; i < GEN_STEPS_MAX; i++)
        for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++)
            rules.steps[i].jobs[k].k = -1;
    do {
        rules_judge(&rules);
    } while (rules.phase == RULE_GOES_ON && run_next(&rules, seed, name));
    for (uint32_t i = 0; i < flow->count; i++)
        failed |= rules.steps[i].end == RULE_FAILED;
    if (rules.unsure || rules.phase == RULE_GOES_ON || (failed && flow->policy != GEN_CONTINUE))
        return SIM_UNKNOWN;
    return rules.phase == RULE_SUCCEEDS ? SIM_SUCCEEDS : SIM_FAILS;
}
