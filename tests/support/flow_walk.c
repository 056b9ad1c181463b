/*
 * Runs one random test of a flow until nothing changes any more, and its twin without disturbances.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "tests/fake/faulty.h"
#include "tests/support/flow_attempts.h"
#include "tests/support/flow_walk_impl.h"

enum { EVENTS = 40, QUIET_ROUNDS = 400, CALM_MS = 31000 };

static void remove_strangers(struct flow_walk *w)
{
    for (uint32_t i = 0; i < w->n_seen; i++)
        if (w->seen[i].foreign)
            flow_fixture_delete(w->fixture, &kind_job, w->seen[i].name, REGISTRY_BACKGROUND);
}

/* Lets the flow run until it ends. It must end once no fault occurs any more (LIV-1). */
static void run_out(struct flow_walk *w)
{
    walk_settle_writes(w);
    remove_strangers(w);
    if (w->no_template)
        walk_toggle_template(w);
    if (w->suspended)
        walk_suspend(w);
    for (int i = 0; i < QUIET_ROUNDS && !*w->violation; i++) {
        if (!w->exists ||
            (!walk_some_job(w, true) && flow_phase_finished(w->phase) && !w->retry_asked))
            return;
        if (walk_some_job(w, true))
            walk_end_a_job(w);
        else if (!walk_resume_all(w))
            walk_did(w, "time passes", ""), flow_fixture_advance(w->fixture, CALM_MS);
        walk_execute_commands(w);
    }
    walk_violated(w, "LIV-1: the flow does not end: %s",
                  flow_fixture_at(w->fixture, "f", "conditions"));
}

/* Retries half of the flows that failed by hand, and lets them run out. */
static void run_out_again(struct flow_walk *w)
{
    for (int i = 0; i < GEN_RETRIES_MAX && !*w->violation && w->exists && w->phase == FLOW_FAILED &&
                    dice_chance(&w->dice, 50);
         i++) {
        walk_retry_flow(w);
        run_out(w);
    }
}

static bool begin(struct flow_walk *w, uint64_t seed, struct flow_fixture *fixture)
{
    gen_flow(seed, &w->flow);
    w->seed = seed;
    w->fixture = fixture;
    w->event = "the start";
    w->templates[0].version = w->templates[1].version = 1;
    walk_forget(w);
    flow_tries_begin();
    flow_controller_stop(take(fixture->flows));
    w->faulty = faulty_new(fixture->cluster);
    walk_watch(w);
    walk_write_template(w, false);
    walk_write_template(w, true);
    walk_start(w);
    return walk_apply(w, false);
}

static void end(struct flow_walk *w)
{
    walk_stop(w);
    walk_unwatch(w);
    flow_fixture_settle(w->fixture);
    faulty_free(w->faulty);
}

/* Returns how the flow ended: its phase and the steps by list; owned. */
static char *summary(struct flow_walk *w)
{
    static const char *const lists[] = {"failedJobs", "completedJobs", "terminatedJobs",
                                        "skippedJobs"};
    struct buf text = {0};

    buf_printf(&text, "%s", flow_phase_text(w->phase));
    for (size_t i = 0; i < countof(lists); i++)
        buf_printf(&text, " %s %s", lists[i], flow_fixture_at(w->fixture, "f", lists[i]));
    return buf_take(&text);
}

static char *twin(uint64_t seed, char violation[FLOW_WALK_TEXT])
{
    struct flow_walk w = {.violation = violation};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    char *text = NULL;

    if (begin(&w, seed, fixture)) {
        run_out(&w);
        flow_fixture_advance(fixture, CALM_MS);
        text = w.exists ? summary(&w) : NULL;
    }
    end(&w);
    return text;
}

/* Returns whether the twin must have the same result. The order of events decides which jobs a
 * stopped flow has started, when a condition is evaluated, and whether the deadline comes first. */
static bool comparable(const struct flow_walk *w)
{
    return w->flow.policy == GEN_CONTINUE && !w->flow.early && !w->flow.deadline_s &&
           w->flow.ttl_s < 0 && !w->disturbed && w->exists;
}

static void compare(struct flow_walk *w)
{
    scoped_str wanted = comparable(w) ? twin(w->seed, w->violation) : NULL;
    scoped_str got = wanted ? summary(w) : NULL;

    if (wanted && strcmp(wanted, got) != 0)
        walk_violated(w, "P-12: it ended as %s; undisturbed as %s", got, wanted);
}

bool walk_flow(uint64_t seed, const struct flow_walk_options *options,
               char violation[FLOW_WALK_TEXT])
{
    struct flow_walk w = {.violation = violation,
                          .trace = options && options->trace,
                          .syncs = options ? options->syncs : NULL,
                          .reruns = options && options->reruns};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    *violation = '\0';
    w.dice.state = ~seed;
    if (begin(&w, seed, fixture)) {
        walk_tell_flow(&w);
        for (int i = 0; i < EVENTS && !*violation && w.exists; i++)
            walk_random_event(&w);
        if (!*violation)
            run_out(&w);
        run_out_again(&w);
        if (!*violation)
            walk_check_rest(&w);
        if (!*violation)
            compare(&w);
    }
    end(&w);
    if (options && options->hash)
        *options->hash = w.hash;
    return !*violation;
}
