/*
 * The rules of the whole flow: its end, and the order of its jobs.
 */
#include "tests/support/flow_rules_impl.h"

/* Returns whether the failure of the step fails the flow (13.3, 13.4). */
static enum rule_sure is_lost(const struct rules *rules, uint32_t at)
{
    bool unsure = false;

    if (!rule_has_failed(rules->steps[at].end) || rules->flow->steps[at].ignored ||
        rules->steps[at].handled)
        return RULE_NO;
    for (uint32_t i = at + 1; i < rules->flow->count; i++) {
        if (!rule_may_rescue(rules, i, at))
            continue;
        if (rule_any_made(&rules->steps[i]) || rules->steps[i].verdict == RULE_RUNS ||
            (rules->steps[i].verdict == RULE_WAITS && !rules->steps[i].pinned))
            return RULE_NO; /* the failure is handled, or may still be handled */
        unsure |= rules->steps[i].verdict == RULE_EITHER;
    }
    return unsure ? RULE_PERHAPS : RULE_YES;
}

static bool is_ready(const struct rules *rules, uint32_t at)
{
    const struct rule_step *step = &rules->steps[at];

    return step->end == RULE_OPEN && !step->pinned && rule_gang_forms(rules, at) &&
           (step->verdict == RULE_RUNS || step->verdict == RULE_EITHER);
}

uint32_t rule_unfinished(const struct rules *rules)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < rules->flow->count; i++)
        for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++)
            count += rules->steps[i].jobs[k].unfinished;
    return count;
}

struct tally {
    enum rule_sure lost; /* some failure fails the flow */
    bool all_done, active, unsure;
    bool handled; /* some failure is handled */
};

static void count_step(const struct rules *rules, uint32_t i, struct tally *tally)
{
    const struct rule_step *step = &rules->steps[i];
    enum rule_sure lost = is_lost(rules, i);

    if (!step->pinned) /* a failure that was kept fails the flow when nothing is left to start */
        tally->lost = lost > tally->lost ? lost : tally->lost;
    tally->unsure |= step->end == RULE_UNSURE;
    tally->handled |= rule_has_failed(step->end) && !rules->flow->steps[i].ignored;
    tally->all_done &= step->end != RULE_OPEN && step->end != RULE_UNSURE && lost == RULE_NO;
    if (rule_has_failed(step->end) && lost == RULE_NO && !rules->flow->steps[i].ignored &&
        !step->handled)
        /* A later step whose condition may not have been evaluated yet. */
        for (uint32_t r = i + 1; r < rules->flow->count; r++)
            tally->all_done &= !rule_may_rescue(rules, r, i) || rule_any_made(&rules->steps[r]) ||
                               rules->steps[r].verdict != RULE_WAITS;
    tally->active |= is_ready(rules, i);
    for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++) {
        const struct rule_job *job = &step->jobs[k];
        bool gone = job->made && job->end == RULE_OPEN && step->end == RULE_OPEN;
        bool busy = !step->pinned && (job->unfinished || job->again || gone);

        tally->active |= busy;
        tally->all_done &= !busy;
    }
}

static struct tally count_steps(const struct rules *rules, bool final)
{
    struct tally tally = {.all_done = true};

    for (uint32_t i = 0; i < rules->flow->count; i++)
        if (rules->flow->steps[i].final == final)
            count_step(rules, i, &tally);
    return tally;
}

static enum rule_phase phase_of(struct rules *rules)
{
    const struct tally tally = count_steps(rules, false);
    bool goes_on = rules->flow->policy == GEN_CONTINUE;

    rules->unsure =
        tally.unsure || tally.lost == RULE_PERHAPS || (rules->seen_late && !rules->late);
    rules->closed =
        rules->aborted || rules->late || rules->ending || (tally.lost == RULE_YES && !goes_on);
    if (rules->ending && !rules->aborted)
        return rules->ending;
    if (rules->aborted || (tally.lost == RULE_YES && (!goes_on || !tally.active)))
        return RULE_FAILS;
    if (rules->partial && !tally.active && !tally.all_done && !tally.unsure)
        return RULE_FAILS; /* by a failure that was kept, or a step that was left out */
    if (tally.all_done)
        return tally.handled && !rules->flow->handled_succeed ? RULE_FAILS : RULE_SUCCEEDS;
    return rules->late ? RULE_FAILS : RULE_GOES_ON;
}

/* Returns whether ordinary jobs have not ended; final steps begin only after them. */
static bool ordinary_jobs_left(const struct rules *rules)
{
    for (uint32_t i = 0; i < rules->flow->count; i++)
        for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++)
            if (!rules->flow->steps[i].final && rules->steps[i].jobs[k].unfinished)
                return true;
    return false;
}

static enum rule_phase phase_with_finals(const struct rules *rules)
{
    const struct tally finals = count_steps(rules, true);

    if (finals.lost == RULE_YES)
        return finals.active ? RULE_GOES_ON : RULE_FAILS;
    return finals.all_done ? rules->ending : RULE_GOES_ON;
}

void rules_judge(struct rules *rules)
{
    const bool was_closed = rules->closed;
    bool finals = false;

    for (uint32_t i = 0; i < rules->flow->count; i++)
        finals |= rules->flow->steps[i].final;
    rule_judge_steps(rules);
    rules->phase = phase_of(rules);
    if (rules->closed && !was_closed)
        rule_judge_steps(rules); /* loops that went on after a failure end with the flow */
    if (rules->unsure && !ordinary_jobs_left(rules) && !rules->perhaps_ending) {
        rules->perhaps_ending = true;
        rule_judge_steps(rules);
    }
    if (!finals || !rules->phase)
        return;
    if (!rules->ending && (rules->unsure || ordinary_jobs_left(rules))) {
        rules->phase = RULE_GOES_ON;
        rules->closed = true;
        return;
    }
    rules->ending = rules->phase;
    rule_judge_steps(rules);
    rules->unsure |= count_steps(rules, true).unsure;
    rules->phase = phase_with_finals(rules);
}

bool rule_iteration_due(const struct rules *rules, uint32_t at, uint32_t iteration)
{
    const struct gen_step *spec = &rules->flow->steps[at];
    const struct rule_step *step = &rules->steps[at];
    uint32_t busy = 0;

    if (!spec->loop)
        return true;
    for (uint32_t k = 0; k < rule_iterations(rules, at); k++) {
        const struct rule_job *job = &step->jobs[k];

        if (k != iteration)
            busy += (job->made && job->end == RULE_OPEN) || job->unfinished;
        if (k < iteration && !job->made && spec->loop == GEN_UNTIL)
            return false;
    }
    return (rule_end_of_loop(rules, at) == RULE_OPEN ||
            rule_end_of_loop(rules, at) == RULE_UNSURE) &&
           (!spec->parallelism || busy < spec->parallelism);
}

bool rule_gang_forms(const struct rules *rules, uint32_t at)
{
    uint32_t gang = rules->flow->gang, ready = 0, coming = 0, least;

    if (!(gang >> at & 1))
        return true;
    for (uint32_t i = 0; i < rules->flow->count; i++) {
        if (!(gang >> i & 1))
            continue;
        if (rule_any_made(&rules->steps[i]) || (rules->steps[i].ran_before && !rules->partial))
            return true; /* the gang has started already; in a rerun it starts as in a first run */
        coming += rules->steps[i].end != RULE_SKIPPED;
        ready += rules->steps[i].verdict == RULE_RUNS || rules->steps[i].verdict == RULE_EITHER;
    }
    least = gen_gang_least(rules->flow);
    return ready >= (least < coming ? least : coming);
}
