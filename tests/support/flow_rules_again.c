/*
 * The rules of manual retries: which steps begin again (13.4), and of reruns (everyday.md 7.1).
 */
#include "tests/support/flow_rules_impl.h"

static bool has_run(const struct rules *rules, uint32_t at)
{
    return rule_any_made(&rules->steps[at]) || rules->steps[at].begun ||
           (rules->flow->steps[at].chooses && rules->steps[at].end == RULE_COMPLETED);
}

/* Returns whether a loop with `until` completed all its iterations without success. A manual retry
 * continues it with as many again. */
static bool is_used_up(const struct rules *rules, uint32_t at)
{
    const struct gen_step *spec = &rules->flow->steps[at];

    if (spec->loop != GEN_UNTIL || spec->final || rule_end_of_loop(rules, at) == RULE_COMPLETED)
        return false;
    for (uint32_t k = 0; k < rule_sure_iterations(rules, at); k++)
        if (rules->steps[at].jobs[k].end != RULE_COMPLETED)
            return false;
    return true;
}

/* Returns what is known of a job if it is not known whether its step begins again. */
static struct rule_job results_that_may_stay(const struct rule_job *job)
{
    return (struct rule_job){.end = job->known ? RULE_UNSURE : RULE_OPEN,
                             .known = job->known,
                             .code = job->code,
                             .k = job->k,
                             .items = job->items};
}

/* Makes a step begin again after a manual retry. `judged`: also what has completed begins again. */
static void begin_again(struct rules *rules, uint32_t at, bool judged)
{
    const struct gen_step *spec = &rules->flow->steps[at];
    struct rule_step *step = &rules->steps[at];
    bool ran = rule_any_made(step) || step->ran_before;

    step->held = step->held_not = step->took_case = step->took_default = false;
    step->ran_before = ran;
    step->was_skipped = step->begun = false;
    if (is_used_up(rules, at) && !judged)
        *(step->unclear ? &step->perhaps_more : &step->more) += spec->iterations;
    for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++) {
        struct rule_job *job = &step->jobs[k];
        bool kept = spec->ignored ? job->end != RULE_OPEN : job->end == RULE_COMPLETED;

        job->kept = spec->loop && !spec->final && !judged && kept;
        if (!job->unfinished && !job->kept)
            *job = step->unclear ? results_that_may_stay(job) : (struct rule_job){.k = -1};
    }
}

/* Returns whether a manual retry keeps the failure of the step, because it is ignored or a condition
 * handled it and that is enough; RULE_PERHAPS when the handling step
 * did not run. */
static enum rule_sure is_rescued(const struct rules *rules, uint32_t at)
{
    enum rule_sure rescued = RULE_NO;

    if (rules->flow->steps[at].ignored)
        return RULE_YES;
    if (!rules->flow->handled_succeed)
        return RULE_NO;
    if (rules->steps[at].handled)
        return RULE_YES;
    for (uint32_t i = at + 1; i < rules->flow->count; i++) {
        if (!rule_may_rescue(rules, i, at))
            continue;
        if (has_run(rules, i))
            return RULE_YES;
        if (rules->steps[i].verdict == RULE_RUNS || rules->steps[i].verdict == RULE_EITHER)
            rescued = RULE_PERHAPS;
    }
    return rescued;
}

static enum rule_sure how_lost(const struct rules *rules, uint32_t at)
{
    const struct rule_step *step = &rules->steps[at];
    enum rule_sure lost;

    if (!rule_has_failed(step->end))
        return RULE_NO;
    lost = RULE_YES - is_rescued(rules, at);
    if (rules->flow->steps[at].loop && rules->flow->steps[at].ignored)
        return lost; /* the loop goes on where it is: see blur_stopped */
    for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++)
        if (step->jobs[k].stopped && lost == RULE_NO)
            lost = RULE_PERHAPS;
    return lost;
}

/* Handles an iteration whose failure its loop ignores. It stays as it is, unless its next attempt
 * had begun when the flow ended. */
static void blur_stopped(struct rules *rules, uint32_t at)
{
    if (!rules->flow->steps[at].loop || !rules->flow->steps[at].ignored)
        return;
    for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++)
        if (rules->steps[at].jobs[k].stopped)
            rules->steps[at].jobs[k].end = RULE_UNSURE;
}

/* What a manual retry does to a step. */
struct again {
    enum rule_sure lost;     /* the step begins again because it failed */
    enum rule_sure judged;   /* the step has begun, and it is judged again */
    enum rule_sure affected; /* the step is one of both, or has not begun and depends on such a
                              * step */
};

static enum rule_sure more_sure(enum rule_sure a, enum rule_sure b)
{
    return a > b ? a : b;
}

static enum rule_sure less_sure(enum rule_sure a, enum rule_sure b)
{
    return a < b ? a : b;
}

static uint32_t asked_for(const struct gen_condition *condition)
{
    uint32_t steps = 0;

    for (uint32_t i = 0; i < condition->count; i++)
        if (condition->terms[i].about != GEN_PARAMETER)
            steps |= 1u << condition->terms[i].target;
    return steps;
}

/* Finds out whether the step is judged again. The results of all earlier steps are known. */
static void judge_again(const struct rules *rules, uint32_t at, struct again *again)
{
    const struct gen_step *spec = &rules->flow->steps[at];
    const enum rule_end end = rules->steps[at].end;
    const uint32_t waits =
        spec->targets | (spec->listed_by == GEN_NOWHERE ? 0 : 1u << spec->listed_by);
    const uint32_t asks =
        asked_for(&spec->condition) | (spec->chooses ? asked_for(&spec->case_condition) : 0);
    enum rule_sure begun = has_run(rules, at) ? RULE_YES : RULE_NO;
    enum rule_sure by_condition = RULE_NO, by_target = RULE_NO, by_any = RULE_NO;

    if (begun == RULE_NO && end == RULE_UNSURE)
        begun = RULE_PERHAPS;
    for (uint32_t i = 0; i < at; i++) {
        if (asks >> i & 1)
            by_condition = more_sure(by_condition, again[i].affected);
        if (waits >> i & 1)
            by_target = more_sure(by_target, again[i].judged);
        if ((asks | waits) >> i & 1)
            by_any = more_sure(by_any, again[i].affected);
    }
    again[at].judged = less_sure(begun, more_sure(by_condition, by_target));
    again[at].affected = more_sure(again[at].lost, again[at].judged);
    if (begun != RULE_YES)
        again[at].affected = more_sure(again[at].affected, less_sure(RULE_YES - begun, by_any));
}

/* Returns whether the step is a loop at work. It goes on, although the target whose probe let it
 * start may begin again. */
static bool is_loop_at_work(const struct rules *rules, uint32_t at)
{
    for (uint32_t k = 0; rules->flow->steps[at].loop && k < GEN_LOOP_JOBS_MAX; k++)
        if (rules->steps[at].jobs[k].unfinished)
            return true;
    return false;
}

/* The flow has not ended any more. */
static void start_anew(struct rules *rules, bool partial)
{
    rules->partial = partial;
    rules->ending = RULE_GOES_ON;
    rules->perhaps_ending = false;
    rules->late = rules->seen_late = false;
}

void rules_start_again(struct rules *rules)
{
    struct again again[GEN_STEPS_MAX] = {0};

    for (uint32_t i = 0; i < rules->flow->count; i++) { /* finds the iterations that failed */
        again[i].lost = how_lost(rules, i);
        if (!rules->flow->steps[i].final)
            judge_again(rules, i, again);
    }
    for (uint32_t i = 0; i < rules->flow->count; i++) {
        struct rule_step *step = &rules->steps[i];
        const bool chooses = rules->flow->steps[i].chooses;
        const enum rule_sure judged = again[i].judged;

        step->pinned = false;
        blur_stopped(rules, i);
        step->handled |= rule_has_failed(step->end) && again[i].lost == RULE_NO;
        step->handled &= judged != RULE_YES;
        step->unclear |= (again[i].lost == RULE_PERHAPS && judged != RULE_YES) ||
                         (judged == RULE_PERHAPS && again[i].lost != RULE_YES) ||
                         (chooses && step->end == RULE_UNSURE);
        step->stays = (step->stays || (chooses && step->end == RULE_COMPLETED) ||
                       is_loop_at_work(rules, i)) &&
                      judged == RULE_NO && again[i].lost == RULE_NO;
        if (rules->flow->steps[i].final || again[i].lost || judged || step->end == RULE_SKIPPED ||
            step->end == RULE_OPEN || step->end == RULE_UNSURE)
            begin_again(rules, i, judged == RULE_YES);
    }
    start_anew(rules, false);
}

/* The steps named and all later ones that depend on them. */
static uint32_t with_dependents(const struct rules *rules, uint32_t named)
{
    uint32_t set = named;

    for (uint32_t i = 0; i < rules->flow->count; i++) {
        const struct gen_step *spec = &rules->flow->steps[i];

        if (spec->targets & set || (spec->listed_by != GEN_NOWHERE && set >> spec->listed_by & 1))
            set |= 1u << i;
    }
    return set;
}

void rules_run_again(struct rules *rules, uint32_t named, bool only)
{
    const uint32_t set = only ? named : with_dependents(rules, named);

    for (uint32_t i = 0; i < rules->flow->count; i++) {
        struct rule_step *step = &rules->steps[i];
        bool never_ran = step->end == RULE_OPEN;

        step->handled = false;
        step->pinned = !rules->flow->steps[i].final && !(set >> i & 1) && (only || !never_ran);
        if (step->pinned) {
            step->verdict = never_ran                   ? RULE_WAITS
                            : step->end == RULE_SKIPPED ? RULE_SKIPS
                                                        : RULE_RUNS;
            continue;
        }
        step->stays = step->unclear = false;
        begin_again(rules, i, set >> i & 1);
    }
    start_anew(rules, true);
}
