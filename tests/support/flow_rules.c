/*
 * The rules of single steps. Each step is evaluated in order.
 */
#include <string.h>

#include "tests/support/flow_rules_impl.h"

bool rule_retries(const struct gen_step *step, enum rule_loss how, int code, int retries)
{
    if (retries >= step->max_retry ||
        (step->retries && how == RULE_BY_TERMINATION && step->not_terminated) ||
        (how == RULE_BY_ABORT && !step->also_aborted))
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

bool rule_has_failed(enum rule_end end)
{
    return end == RULE_FAILED || end == RULE_TERMINATED;
}

/* Returns the results of the newest ended job of the step; NULL when none has ended. */
static const struct rule_job *results_of(const struct rules *rules, uint32_t at)
{
    const struct rule_step *step = &rules->steps[at];
    uint32_t count = rules->flow->steps[at].loop ? rule_iterations(rules, at) : 1;

    for (uint32_t k = count; k-- > 0;)
        if (step->jobs[k].known && step->jobs[k].end != RULE_OPEN)
            return &step->jobs[k];
    return NULL;
}

/* The moment for which targets are looked at. With DURING, steps that end at the same moment are
 * not seen yet. */
enum moment { AFTER, DURING };

static bool term_holds(const struct rules *rules, const struct gen_term *term, enum moment when)
{
    const struct rule_step *target = &rules->steps[term->target];
    enum rule_end end = when == DURING ? target->before : target->end;
    const struct rule_job *job = results_of(rules, term->target);

    switch (term->about) {
    case GEN_HAS_FAILED:
        return rule_has_failed(end);
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

static bool holds(const struct rules *rules, const struct gen_condition *condition,
                  enum moment when)
{
    bool all = true, any = false;

    for (uint32_t i = 0; i < condition->count; i++) {
        bool one = term_holds(rules, &condition->terms[i], when) != condition->terms[i].negate;

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

/* Returns whether the condition of a later step may handle the failure of the step (13.3). */
bool rule_may_rescue(const struct rules *rules, uint32_t handler, uint32_t failed)
{
    const struct gen_step *step = &rules->flow->steps[handler];

    return !step->final && asks_for_end_of(&step->condition, failed);
}

static bool has_rescuers(const struct rules *rules, uint32_t failed)
{
    for (uint32_t i = failed + 1; i < rules->flow->count; i++)
        if (rule_may_rescue(rules, i, failed))
            return true;
    return false;
}

struct targets {
    uint32_t count, met, lost, skipped, open, dead, unsure, settled;
};

static enum rule_sure passed(const struct rules *rules, uint32_t at, uint32_t target)
{
    const struct rule_job *job = &rules->steps[target].jobs[0];

    switch (rules->flow->steps[at].probes) {
    case GEN_TASK_STATUS:
        return job->passed;
    case GEN_HTTP:
    case GEN_TCP:
        return job->polled;
    case GEN_NO_PROBE:
        break;
    }
    return RULE_NO;
}

static void count_target(const struct rules *rules, uint32_t at, uint32_t target,
                         struct targets *out)
{
    enum rule_end end = rules->steps[target].end;
    enum rule_sure ran = passed(rules, at, target);
    bool lost = rule_has_failed(end) && !rules->flow->steps[target].ignored;

    out->count++;
    if (end == RULE_UNSURE || (ran == RULE_PERHAPS && end != RULE_COMPLETED))
        out->unsure++;
    else if (end == RULE_COMPLETED || ran == RULE_YES || (rule_has_failed(end) && !lost))
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

static enum rule_verdict verdict_of_two(bool runs, bool skips)
{
    if (runs && skips)
        return RULE_EITHER;
    return runs ? RULE_RUNS : skips ? RULE_SKIPS : RULE_WAITS;
}

/* Returns whether the condition of the step is evaluated (13.3). */
static enum rule_sure is_due(const struct gen_step *step, const struct targets *t)
{
    if (step->any ? t->settled > 0 : t->settled == t->count)
        return RULE_YES;
    return step->any ? (t->unsure ? RULE_PERHAPS : RULE_NO)
                     : (t->settled + t->unsure == t->count ? RULE_PERHAPS : RULE_NO);
}

/* Returns whether a failure of the step that is to be retried may be final already, because the
 * flow may be ending. */
static bool may_be_final(const struct rules *rules, uint32_t at)
{
    for (uint32_t k = 0; rules->perhaps_ending && k < GEN_LOOP_JOBS_MAX; k++)
        if (rules->steps[at].jobs[k].again)
            return true;
    return false;
}

static bool is_unclear(const struct rules *rules, const struct gen_condition *condition)
{
    for (uint32_t i = 0; i < condition->count; i++) {
        const uint32_t target = condition->terms[i].target;

        if (condition->terms[i].about != GEN_PARAMETER &&
            (rules->steps[target].end == RULE_UNSURE || may_be_final(rules, target)))
            return true;
    }
    return false;
}

/* Notes which answers the condition of a step may have got. A step that waits for any target is
 * evaluated while other targets may be ending. */
static void note_answers(struct rules *rules, uint32_t at)
{
    const struct gen_step *spec = &rules->flow->steps[at];
    struct rule_step *step = &rules->steps[at];
    bool answer = holds(rules, &spec->condition, AFTER);
    bool other = spec->any ? holds(rules, &spec->condition, DURING) : answer;

    step->held |= answer || other;
    step->held_not |= !answer || !other;
}

static enum rule_verdict ask(struct rules *rules, uint32_t at, const struct targets *t)
{
    const struct gen_step *spec = &rules->flow->steps[at];
    struct rule_step *step = &rules->steps[at];
    enum rule_sure due = is_due(spec, t);

    if (due == RULE_NO)
        return RULE_WAITS;
    if (due == RULE_PERHAPS || (t->unsure && !spec->any) || is_unclear(rules, &spec->condition))
        step->held = step->held_not = true;
    else if (t->skipped == t->count && t->count && !asks_for_end_of(&spec->condition, UINT32_MAX))
        step->held_not = true;
    else
        note_answers(rules, at);
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

/* Returns the verdict of the switch that lists the step (13.3). */
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
    if (rules->steps[at].was_skipped)
        return RULE_SKIPS;
    if (let == RULE_SKIPS || let == RULE_WAITS)
        return let;
    t = count_targets(rules, at);
    own = spec->condition.count ? ask(rules, at, &t) : depend(rules, at, &t);
    return let == RULE_EITHER && (own != RULE_SKIPS || spec->final) ? RULE_EITHER : own;
}

/* Returns whether a loop cannot begin because its items are unknown or too many. */
bool rule_items_are_refused(const struct rules *rules, uint32_t at)
{
    const struct rule_step *step = &rules->steps[at];

    return step->begun && (step->items < 0 || step->items > (int)rules->flow->steps[at].iterations);
}

/* Records the number of iterations when the loop begins. */
static void begin_items(struct rules *rules, uint32_t at)
{
    struct rule_step *step = &rules->steps[at];
    uint32_t source = rules->flow->steps[at].items_of;
    const struct rule_job *job = results_of(rules, source);

    if (step->begun || rules->flow->steps[at].loop != GEN_ITEMS_FROM ||
        (step->verdict != RULE_RUNS && step->verdict != RULE_EITHER))
        return;
    step->begun = step->verdict == RULE_RUNS;
    step->items = job ? job->items : GEN_NO_ITEMS;
    if (rules->steps[source].end == RULE_SKIPPED)
        step->items = 0;
}

uint32_t rule_iterations(const struct rules *rules, uint32_t at)
{
    const struct rule_step *step = &rules->steps[at];

    if (rules->flow->steps[at].loop == GEN_ITEMS_FROM)
        return step->begun && !rule_items_are_refused(rules, at) ? (uint32_t)step->items : 0;
    return rules->flow->steps[at].iterations + step->more + step->perhaps_more;
}

/* Returns the number of iterations that certainly exist: all, once any but the first was created.
 */
uint32_t rule_sure_iterations(const struct rules *rules, uint32_t at)
{
    const struct rule_step *step = &rules->steps[at];
    uint32_t all = rule_iterations(rules, at), sure = all - step->perhaps_more;

    for (uint32_t k = sure; k < all; k++)
        if (step->jobs[k].made)
            return all;
    return sure;
}

/* Returns whether a loop starts further iterations after one has failed (13.5). */
static enum rule_sure goes_on(const struct rules *rules, uint32_t at)
{
    const struct gen_step *spec = &rules->flow->steps[at];

    if ((!spec->ignored && rules->flow->policy != GEN_CONTINUE) ||
        (rules->closed && !rules->unsure && !spec->final))
        return RULE_NO;
    return (rules->unsure || rules->seen_late || rules->perhaps_ending) && !spec->final
               ? RULE_PERHAPS
               : RULE_YES;
}

/* Returns whether the condition of an `until` holds after the newest iteration that has ended. */
static bool has_arrived(const struct rules *rules, uint32_t at)
{
    const struct rule_job *newest = results_of(rules, at);

    return rules->flow->steps[at].loop == GEN_UNTIL && newest && newest->k > 1;
}

enum rule_end rule_end_of_loop(const struct rules *rules, uint32_t at)
{
    const struct gen_step *spec = &rules->flow->steps[at];
    const struct rule_step *step = &rules->steps[at];
    const enum rule_sure on = goes_on(rules, at);
    uint32_t ended = 0, failed = 0;
    bool unsure = false, busy = false;

    if (rule_items_are_refused(rules, at))
        return RULE_FAILED;
    for (uint32_t k = 0; k < rule_iterations(rules, at); k++) {
        const struct rule_job *job = &step->jobs[k];

        failed += rule_has_failed(job->end);
        ended += rule_has_failed(job->end) || job->end == RULE_COMPLETED;
        unsure |= job->end == RULE_UNSURE;
        busy |= job->made && job->end == RULE_OPEN;
    }
    if (failed && on == RULE_NO)
        return RULE_FAILED;
    if (has_arrived(rules, at) && !busy && !unsure)
        return failed ? RULE_FAILED : RULE_COMPLETED;
    if (unsure || (failed && on == RULE_PERHAPS && ended < rule_iterations(rules, at)))
        return RULE_UNSURE;
    if (ended < rule_sure_iterations(rules, at))
        return RULE_OPEN;
    if (ended < rule_iterations(rules, at))
        return RULE_UNSURE;
    return spec->loop == GEN_UNTIL || failed ? RULE_FAILED : RULE_COMPLETED;
}

bool rule_any_made(const struct rule_step *step)
{
    for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++)
        if (step->jobs[k].made && !step->jobs[k].kept)
            return true;
    return false;
}

static enum rule_end end_of(const struct rules *rules, uint32_t at)
{
    const struct gen_step *spec = &rules->flow->steps[at];
    const struct rule_step *step = &rules->steps[at];

    if (step->unclear)
        return RULE_UNSURE;
    if (!spec->chooses && rule_any_made(step))
        return spec->loop ? rule_end_of_loop(rules, at) : step->jobs[0].end;
    switch (step->verdict) {
    case RULE_SKIPS:
        return RULE_SKIPPED;
    case RULE_EITHER:
        return RULE_UNSURE;
    case RULE_RUNS:
        if (spec->loop && (spec->loop != GEN_ITEMS_FROM || step->begun))
            return rule_end_of_loop(rules, at);
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
    if (holds(rules, &rules->flow->steps[at].case_condition, AFTER))
        step->took_case = true;
    else
        step->took_default = true;
}

/* Notes which choices a switch may make. One that is evaluated before all its targets ended may
 * have been evaluated at any moment since, so each choice is possible. */
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

void rule_judge_steps(struct rules *rules)
{
    for (uint32_t i = 0; i < rules->flow->count; i++)
        rules->steps[i].before = rules->steps[i].end;
    for (uint32_t i = 0; i < rules->flow->count; i++) {
        struct rule_step *step = &rules->steps[i];

        if (step->pinned)
            continue;
        step->verdict = judge(rules, i);
        if (rules->flow->steps[i].chooses) {
            choose(rules, i);
            choose_again(rules, i);
        }
        begin_items(rules, i);
        step->end = end_of(rules, i);
    }
}
