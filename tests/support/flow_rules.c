/*
 * Judging flows, step by step in their order.
 */
#include "tests/support/flow_rules.h"
#include <string.h>

/* ---- retries ---- */

bool rule_retries(const struct gen_step *step, bool terminated, int code, int retries)
{
    if (retries >= step->max_retry || (step->retries && terminated && step->not_terminated))
        return false;
    return !(step->retries && step->not_code_2 && code == 2);
}

int64_t rule_delay_ms(const struct gen_step *step, int retry)
{
    int64_t delay_s = step->backoff_s;

    for (int i = 1; i < retry; i++)
        delay_s *= step->backoff_factor;
    return (delay_s < step->most_s ? delay_s : step->most_s) * 1000;
}

/* ---- what became of steps ---- */

static bool has_failed(enum rule_end end)
{
    return end == RULE_FAILED || end == RULE_TERMINATED;
}

/* What the newest of its jobs that has ended left behind; NULL when there is none. */
static const struct rule_job *results_of(const struct rules *rules, uint32_t at)
{
    const struct rule_step *step = &rules->steps[at];
    uint32_t count = rules->flow->steps[at].loop ? rule_iterations(rules, at) : 1;

    for (uint32_t k = count; k-- > 0;)
        if (step->jobs[k].known && step->jobs[k].end != RULE_OPEN)
            return &step->jobs[k];
    return NULL;
}

static bool term_holds(const struct rules *rules, const struct gen_term *term)
{
    enum rule_end end = rules->steps[term->target].end;
    const struct rule_job *job = results_of(rules, term->target);

    switch (term->about) {
    case GEN_HAS_FAILED:
        return has_failed(end);
    case GEN_HAS_COMPLETED:
        return end == RULE_COMPLETED;
    case GEN_WAS_SKIPPED:
        return end == RULE_SKIPPED;
    case GEN_OUTPUT_ABOVE:
        return job && job->k > 1;
    case GEN_OUTPUT_AMONG:
        return job && (job->k == 0 || job->k == 2);
    case GEN_OUTPUT_THERE:
        return job && job->k >= 0;
    case GEN_CODE_AMONG:
        return job && (job->code == 1 || job->code == 2);
    case GEN_POD_FAILED:
        return job && job->code != 0;
    case GEN_PARAMETER:
        return rules->flow->parameter == 1;
    case GEN_ABOUT_N:
        break;
    }
    return false;
}

static bool holds(const struct rules *rules, const struct gen_condition *condition)
{
    bool all = true, any = false;

    for (uint32_t i = 0; i < condition->count; i++) {
        bool one = term_holds(rules, &condition->terms[i]) != condition->terms[i].negate;

        all &= one;
        any |= one;
    }
    return condition->any ? any : all;
}

static bool speaks_of_ends(const struct gen_term *term)
{
    return term->about == GEN_HAS_FAILED || term->about == GEN_HAS_COMPLETED ||
           term->about == GEN_WAS_SKIPPED || term->about == GEN_CODE_AMONG ||
           term->about == GEN_POD_FAILED;
}

static bool asks_for_end_of(const struct gen_condition *condition, uint32_t target)
{
    for (uint32_t i = 0; i < condition->count; i++)
        if (speaks_of_ends(&condition->terms[i]) &&
            (target == UINT32_MAX || condition->terms[i].target == target))
            return true;
    return false;
}

/* 13.3: somebody's condition may handle its failure. */
static bool may_rescue(const struct rules *rules, uint32_t rescuer, uint32_t failed)
{
    const struct gen_step *step = &rules->flow->steps[rescuer];

    return !step->final && asks_for_end_of(&step->condition, failed);
}

static bool has_rescuers(const struct rules *rules, uint32_t failed)
{
    for (uint32_t i = failed + 1; i < rules->flow->count; i++)
        if (may_rescue(rules, i, failed))
            return true;
    return false;
}

/* ---- targets ---- */

struct targets {
    uint32_t count, met, lost, skipped, open, dead, unsure, settled;
};

static enum rule_sure passed(const struct rules *rules, uint32_t at, uint32_t target)
{
    return rules->flow->steps[at].probes ? rules->steps[target].jobs[0].passed : RULE_NO;
}

static void count_target(const struct rules *rules, uint32_t at, uint32_t target,
                         struct targets *out)
{
    enum rule_end end = rules->steps[target].end;
    enum rule_sure ran = passed(rules, at, target);
    bool lost = has_failed(end) && !rules->flow->steps[target].ignored;

    out->count++;
    if (end == RULE_UNSURE || (ran == RULE_PERHAPS && end != RULE_COMPLETED))
        out->unsure++;
    else if (end == RULE_COMPLETED || ran == RULE_YES || (has_failed(end) && !lost))
        out->met++;
    else if (end == RULE_SKIPPED)
        out->skipped++;
    else if (lost && (has_rescuers(rules, target) || rules->flow->steps[target].final))
        out->lost++;
    else if (lost)
        out->dead++;
    else
        out->open++;
}

static struct targets count_targets(const struct rules *rules, uint32_t at)
{
    struct targets t = {0};

    for (uint32_t i = 0; i < at; i++)
        if (rules->flow->steps[at].targets >> i & 1)
            count_target(rules, at, i, &t);
    t.settled = t.met + t.lost + t.skipped + t.dead;
    return t;
}

/* ---- verdicts ---- */

static enum rule_verdict verdict_of_two(bool runs, bool skips)
{
    if (runs && skips)
        return RULE_EITHER;
    return runs ? RULE_RUNS : skips ? RULE_SKIPS : RULE_WAITS;
}

/* Is the condition asked: 13.3. */
static enum rule_sure is_due(const struct gen_step *step, const struct targets *t)
{
    if (step->any ? t->settled > 0 : t->settled == t->count)
        return RULE_YES;
    return step->any ? (t->unsure ? RULE_PERHAPS : RULE_NO)
                     : (t->settled + t->unsure == t->count ? RULE_PERHAPS : RULE_NO);
}

static bool is_unclear(const struct rules *rules, const struct gen_condition *condition)
{
    for (uint32_t i = 0; i < condition->count; i++)
        if (condition->terms[i].about != GEN_PARAMETER &&
            rules->steps[condition->terms[i].target].end == RULE_UNSURE)
            return true;
    return false;
}

static enum rule_verdict ask(struct rules *rules, uint32_t at, const struct targets *t)
{
    const struct gen_step *spec = &rules->flow->steps[at];
    struct rule_step *step = &rules->steps[at];
    enum rule_sure due = is_due(spec, t);

    if (step->ran_before)
        return due == RULE_YES ? RULE_RUNS : due == RULE_NO ? RULE_WAITS : RULE_EITHER;
    if (due == RULE_NO)
        return RULE_WAITS;
    if (due == RULE_PERHAPS || (t->unsure && !spec->any) || is_unclear(rules, &spec->condition))
        step->held = step->held_not = true;
    else if (t->skipped == t->count && t->count && !asks_for_end_of(&spec->condition, UINT32_MAX))
        step->held_not = true;
    else if (holds(rules, &spec->condition))
        step->held = true;
    else
        step->held_not = true;
    return verdict_of_two(step->held, step->held_not);
}

static enum rule_verdict depend(const struct rules *rules, uint32_t at, const struct targets *t)
{
    const struct gen_step *spec = &rules->flow->steps[at];

    if (spec->any && t->count) {
        if (t->met)
            return RULE_RUNS;
        if (t->unsure)
            return RULE_EITHER;
        return t->lost + t->skipped == t->count ? RULE_SKIPS : RULE_WAITS;
    }
    if (t->lost)
        return RULE_SKIPS;
    if (t->unsure)
        return RULE_EITHER;
    if (t->open || t->dead)
        return RULE_WAITS;
    return t->count && t->skipped == t->count ? RULE_SKIPS : RULE_RUNS;
}

/* What the switch that lists it says: 13.3. */
static enum rule_verdict gate(const struct rules *rules, uint32_t at)
{
    int by = rules->flow->steps[at].listed_by;
    const struct gen_step *spec;
    const struct rule_step *step;
    bool in_case, in_default;

    if (rules->flow->steps[at].final)
        return rules->ending ? RULE_RUNS : rules->perhaps_ending ? RULE_EITHER : RULE_WAITS;
    if (by == GEN_NOWHERE)
        return RULE_RUNS;
    spec = &rules->flow->steps[by];
    step = &rules->steps[by];
    in_case = spec->case_step == at;
    in_default = spec->default_step == at;
    if (step->end == RULE_SKIPPED)
        return RULE_SKIPS;
    if (step->end == RULE_UNSURE)
        return RULE_EITHER;
    if (step->end != RULE_COMPLETED)
        return RULE_WAITS;
    return verdict_of_two((step->took_case && in_case) || (step->took_default && in_default),
                          (step->took_case && !in_case) || (step->took_default && !in_default));
}

static enum rule_verdict judge(struct rules *rules, uint32_t at)
{
    const struct gen_step *spec = &rules->flow->steps[at];
    enum rule_verdict let = gate(rules, at), own;
    struct targets t;

    if (rules->steps[at].stays)
        return RULE_RUNS;
    if (let == RULE_SKIPS || let == RULE_WAITS)
        return let;
    t = count_targets(rules, at);
    own = spec->condition.count ? ask(rules, at, &t) : depend(rules, at, &t);
    return let == RULE_EITHER && own != RULE_SKIPS ? RULE_EITHER : own;
}

/* ---- ends ---- */

uint32_t rule_iterations(const struct rules *rules, uint32_t at)
{
    const struct rule_step *step = &rules->steps[at];

    return rules->flow->steps[at].iterations + step->more + step->perhaps_more;
}

/* Those it has for sure: all, once one of the others was made. */
static uint32_t sure_iterations(const struct rules *rules, uint32_t at)
{
    const struct rule_step *step = &rules->steps[at];
    uint32_t all = rule_iterations(rules, at), sure = all - step->perhaps_more;

    for (uint32_t k = sure; k < all; k++)
        if (step->jobs[k].made)
            return all;
    return sure;
}

static enum rule_end end_of_loop(const struct rules *rules, uint32_t at)
{
    const struct gen_step *spec = &rules->flow->steps[at];
    const struct rule_step *step = &rules->steps[at];
    uint32_t done = 0;
    bool unsure = false;

    for (uint32_t k = 0; k < rule_iterations(rules, at); k++) {
        if (has_failed(step->jobs[k].end))
            return RULE_FAILED;
        unsure |= step->jobs[k].end == RULE_UNSURE;
        done += step->jobs[k].end == RULE_COMPLETED;
        if (spec->loop == GEN_UNTIL && step->jobs[k].end == RULE_COMPLETED && step->jobs[k].k > 1)
            return RULE_COMPLETED;
    }
    if (unsure)
        return RULE_UNSURE;
    if (done < sure_iterations(rules, at))
        return RULE_OPEN;
    if (done < rule_iterations(rules, at))
        return RULE_UNSURE;
    return spec->loop == GEN_UNTIL ? RULE_FAILED : RULE_COMPLETED;
}

static bool any_made(const struct rule_step *step)
{
    for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++)
        if (step->jobs[k].made)
            return true;
    return false;
}

static enum rule_end end_of(const struct rules *rules, uint32_t at)
{
    const struct gen_step *spec = &rules->flow->steps[at];
    const struct rule_step *step = &rules->steps[at];

    if (!spec->chooses && any_made(step))
        return spec->loop ? end_of_loop(rules, at) : step->jobs[0].end;
    if (step->unclear)
        return RULE_UNSURE;
    switch (step->verdict) {
    case RULE_SKIPS:
        return RULE_SKIPPED;
    case RULE_EITHER:
        return RULE_UNSURE;
    case RULE_RUNS:
        return spec->chooses ? RULE_COMPLETED : RULE_OPEN;
    case RULE_WAITS:
        break;
    }
    return RULE_OPEN;
}

static void choose(struct rules *rules, uint32_t at)
{
    struct rule_step *step = &rules->steps[at];

    if (step->verdict == RULE_EITHER)
        step->took_case = step->took_default = true;
    if (step->verdict != RULE_RUNS || step->took_case || step->took_default)
        return;
    if (holds(rules, &rules->flow->steps[at].case_condition))
        step->took_case = true;
    else
        step->took_default = true;
}

/* A switch that is asked early may have been asked at any moment since. */
static void choose_again(struct rules *rules, uint32_t at)
{
    struct rule_step *step = &rules->steps[at];
    const struct gen_condition *condition = &rules->flow->steps[at].case_condition;

    if (!rules->flow->early || step->verdict != RULE_RUNS)
        return;
    for (uint32_t i = 0; i < condition->count; i++)
        if (condition->terms[i].about != GEN_PARAMETER &&
            (rules->steps[condition->terms[i].target].end == RULE_OPEN ||
             rules->steps[condition->terms[i].target].end == RULE_UNSURE))
            step->took_case = step->took_default = true;
}

/* ---- the flow ---- */

static bool has_run(const struct rules *rules, uint32_t at)
{
    return any_made(&rules->steps[at]) ||
           (rules->flow->steps[at].chooses && rules->steps[at].end == RULE_COMPLETED);
}

/* Its failure fails the flow: 13.3, 13.4. */
static enum rule_sure is_lost(const struct rules *rules, uint32_t at)
{
    bool unsure = false;

    if (!has_failed(rules->steps[at].end) || rules->flow->steps[at].ignored ||
        rules->steps[at].handled)
        return RULE_NO;
    for (uint32_t i = at + 1; i < rules->flow->count; i++) {
        if (!may_rescue(rules, i, at))
            continue;
        if (any_made(&rules->steps[i]) || rules->steps[i].verdict == RULE_RUNS ||
            rules->steps[i].verdict == RULE_WAITS)
            return RULE_NO; /* handled, or perhaps yet */
        unsure |= rules->steps[i].verdict == RULE_EITHER;
    }
    return unsure ? RULE_PERHAPS : RULE_YES;
}

static bool is_ready(const struct rules *rules, uint32_t at)
{
    const struct rule_step *step = &rules->steps[at];

    return step->end == RULE_OPEN && rule_gang_forms(rules, at) &&
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
    enum rule_sure lost;
    bool all_done, active, unsure;
};

static void count_step(const struct rules *rules, uint32_t i, struct tally *tally)
{
    const struct rule_step *step = &rules->steps[i];
    enum rule_sure lost = is_lost(rules, i);

    tally->lost = lost > tally->lost ? lost : tally->lost;
    tally->unsure |= step->end == RULE_UNSURE;
    tally->all_done &= step->end != RULE_OPEN && step->end != RULE_UNSURE && lost == RULE_NO;
    if (has_failed(step->end) && lost == RULE_NO && !rules->flow->steps[i].ignored &&
        !step->handled)
        for (uint32_t r = i + 1; r < rules->flow->count; r++) /* judged yet? */
            tally->all_done &= !may_rescue(rules, r, i) || any_made(&rules->steps[r]) ||
                               rules->steps[r].verdict != RULE_WAITS;
    tally->active |= is_ready(rules, i);
    for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++) {
        const struct rule_job *job = &step->jobs[k];
        bool gone = job->made && job->end == RULE_OPEN && step->end == RULE_OPEN;
        bool busy = job->unfinished || job->again || gone;

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
    if (tally.all_done)
        return RULE_SUCCEEDS;
    return rules->late ? RULE_FAILS : RULE_GOES_ON;
}

/* Ordinary jobs end before the final ones begin. */
static bool ordinary_jobs_left(const struct rules *rules)
{
    for (uint32_t i = 0; i < rules->flow->count; i++)
        for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++)
            if (!rules->flow->steps[i].final && rules->steps[i].jobs[k].unfinished)
                return true;
    return false;
}

static void judge_steps(struct rules *rules)
{
    for (uint32_t i = 0; i < rules->flow->count; i++) {
        struct rule_step *step = &rules->steps[i];

        step->verdict = judge(rules, i);
        if (rules->flow->steps[i].chooses) {
            choose(rules, i);
            choose_again(rules, i);
        }
        step->end = end_of(rules, i);
    }
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
    bool finals = false;

    for (uint32_t i = 0; i < rules->flow->count; i++)
        finals |= rules->flow->steps[i].final;
    judge_steps(rules);
    rules->phase = phase_of(rules);
    if (rules->unsure && !ordinary_jobs_left(rules) && !rules->perhaps_ending) {
        rules->perhaps_ending = true;
        judge_steps(rules);
    }
    if (!finals || !rules->phase)
        return;
    if (!rules->ending && (rules->unsure || ordinary_jobs_left(rules))) {
        rules->phase = RULE_GOES_ON;
        rules->closed = true;
        return;
    }
    rules->ending = rules->phase;
    judge_steps(rules);
    rules->unsure |= count_steps(rules, true).unsure;
    rules->phase = phase_with_finals(rules);
}

/* ---- loops, gangs ---- */

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
    return (end_of_loop(rules, at) == RULE_OPEN || end_of_loop(rules, at) == RULE_UNSURE) &&
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
        if (any_made(&rules->steps[i]) || rules->steps[i].ran_before)
            return true; /* it has formed */
        coming += rules->steps[i].end != RULE_SKIPPED;
        ready += rules->steps[i].verdict == RULE_RUNS || rules->steps[i].verdict == RULE_EITHER;
    }
    least = rules->flow->gang_least ? rules->flow->gang_least : (uint32_t)__builtin_popcount(gang);
    return ready >= (least < coming ? least : coming);
}

/* ---- a retry by hand ---- */

/* A loop with until, all of whose iterations have completed in vain: it goes on with as many. */
static bool is_used_up(const struct rules *rules, uint32_t at)
{
    const struct gen_step *spec = &rules->flow->steps[at];

    if (spec->loop != GEN_UNTIL || spec->final || end_of_loop(rules, at) == RULE_COMPLETED)
        return false;
    for (uint32_t k = 0; k < sure_iterations(rules, at); k++)
        if (rules->steps[at].jobs[k].end != RULE_COMPLETED)
            return false;
    return true;
}

static void begin_again(struct rules *rules, uint32_t at)
{
    const struct gen_step *spec = &rules->flow->steps[at];
    struct rule_step *step = &rules->steps[at];
    bool ran = any_made(step) || step->ran_before;

    step->held = step->held_not = step->took_case = step->took_default = false;
    step->ran_before = ran;
    if (is_used_up(rules, at))
        *(step->unclear ? &step->perhaps_more : &step->more) += spec->iterations;
    for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++) {
        struct rule_job *job = &step->jobs[k];

        if (!job->unfinished && !(spec->loop && !spec->final && job->end == RULE_COMPLETED))
            *job = (struct rule_job){.k = step->unclear ? job->k : -1};
    }
}

/* Somebody's condition held because of its failure; perhaps, when he did not get to run. */
static enum rule_sure is_rescued(const struct rules *rules, uint32_t at)
{
    enum rule_sure rescued = RULE_NO;

    if (rules->flow->steps[at].ignored || rules->steps[at].handled)
        return RULE_YES;
    for (uint32_t i = at + 1; i < rules->flow->count; i++) {
        if (!may_rescue(rules, i, at))
            continue;
        if (has_run(rules, i))
            return RULE_YES;
        if (rules->steps[i].verdict == RULE_RUNS || rules->steps[i].verdict == RULE_EITHER)
            rescued = RULE_PERHAPS;
    }
    return rescued;
}

void rules_start_again(struct rules *rules)
{
    enum rule_sure lost[GEN_STEPS_MAX];

    for (uint32_t i = 0; i < rules->flow->count; i++) /* of those that failed */
        lost[i] = has_failed(rules->steps[i].end) ? RULE_YES - is_rescued(rules, i) : RULE_NO;
    for (uint32_t i = 0; i < rules->flow->count; i++) {
        struct rule_step *step = &rules->steps[i];

        if (has_failed(step->end) && lost[i] == RULE_NO)
            step->handled = true;
        step->unclear = lost[i] == RULE_PERHAPS || (step->unclear && !any_made(step));
        step->stays |= rules->flow->steps[i].chooses && step->end == RULE_COMPLETED;
        if (rules->flow->steps[i].final || lost[i] || step->end == RULE_SKIPPED ||
            step->end == RULE_OPEN || step->end == RULE_UNSURE)
            begin_again(rules, i);
    }
    rules->ending = RULE_GOES_ON;
    rules->perhaps_ending = false;
    rules->late = rules->seen_late = false;
}
