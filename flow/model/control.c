/*
 * Judging steps, and the failures they may handle.
 */
#include "flow/model/control.h"

#include <string.h>

#include "base/mem.h"
#include "flow/model/condition.h"
#include "flow/model/items.h"
#include "flow/model/step_probe.h"

enum outcome { MET, LOST, SKIPPED };
enum verdict { WAITS, RUNS, IS_SKIPPED };

static bool is_any(const struct flow_record *r, uint32_t i)
{
    return flow_graph_targets(r->graph, i) && flow_record_waits_for_any(r, i);
}

/* ---- telling dependents ---- */

static bool names(const struct flow_depends *depends, size_t target, const char *name)
{
    return strcmp(depends->targets.items[target], name) == 0;
}

/* A step with probes has latches for its targets; what was met stays met. Whether a target that
 * completed is met is for its probes to say; a failure that is ignored is as good as that. */
static void tell_prober(struct flow_record *r, uint32_t i, uint32_t dependent, enum outcome outcome)
{
    struct step_control *ctl = &r->control->steps[dependent];
    struct step_probe *probe = r->steps[dependent].probe;
    bool asked = outcome == MET && r->steps[i].phase == JOB_COMPLETED;

    step_set_add(&r->probing, dependent);
    for (size_t t = 0; !asked && t < probe->depends->targets.count; t++) {
        if (!names(probe->depends, t, flow_graph_name(r->graph, i)))
            continue;
        ctl->skipped += outcome == SKIPPED; /* also one whose latch was restored */
        if (probe->met[t])
            continue;
        ctl->lost += outcome == LOST;
        if (outcome == MET || (outcome == SKIPPED && !is_any(r, dependent))) {
            step_probe_meet(probe, t);
            r->steps[dependent].waiting -= r->steps[dependent].waiting > 0;
        }
    }
}

static void tell_one(struct flow_record *r, uint32_t i, uint32_t dependent, enum outcome outcome)
{
    struct step_control *ctl = &r->control->steps[dependent];

    if (r->steps[dependent].probe) {
        tell_prober(r, i, dependent, outcome);
    } else {
        r->steps[dependent].waiting -= r->steps[dependent].waiting > 0;
        ctl->met += outcome == MET;
        ctl->lost += outcome == LOST;
        ctl->skipped += outcome == SKIPPED;
    }
    step_set_add(&r->control->judge, dependent);
}

static void tell(struct flow_record *r, uint32_t i, enum outcome outcome, enum step_told whom)
{
    struct step_control *ctl = &r->control->steps[i];
    uint8_t before = ctl->told;

    if (before >= whom)
        return;
    ctl->told = (uint8_t)whom;
    flow_graph_each_dependent(r->graph, i, dependent)
    {
        bool asks = flow_graph_step(r->graph, dependent)->condition != NULL;

        if (asks ? before == TOLD_NOBODY : whom == TOLD_ALL)
            tell_one(r, i, dependent, outcome);
    }
}

/* ---- failures ---- */

static void set_judging(struct flow_record *r, uint32_t i, bool judging)
{
    flow_record_count(r, i, false);
    r->steps[i].judging = judging;
    flow_record_count(r, i, true);
    r->changes++;
}

/* Those whose conditions speak of the failure: has one of them run, does one wait still? */
static bool ask_rescuers(const struct flow_record *r, uint32_t i, uint32_t *out_undecided)
{
    const struct dag *dag = &r->control->rescues;

    *out_undecided = 0;
    for (uint32_t at = dag->first[i]; at < dag->first[i + 1]; at++) {
        const struct step *rescuer = &r->steps[dag->next[at]];

        if (rescuer->state == STEP_WAITING)
            ++*out_undecided;
        else if (rescuer->state != STEP_SKIPPED)
            return true;
    }
    return false;
}

static bool is_ignored(const struct flow_record *r, uint32_t i)
{
    const char *policy = flow_graph_step(r->graph, i)->failure_policy;

    return policy && strcmp(policy, "ignore") == 0;
}

static bool has_rescuers(const struct flow_record *r, uint32_t i)
{
    return r->control->rescues.first[i] < r->control->rescues.first[i + 1];
}

static void failed(struct flow_record *r, uint32_t i)
{
    struct step_control *ctl = &r->control->steps[i];
    bool ignored = is_ignored(r, i);

    if (ctl->told != TOLD_NOBODY)
        return;
    if (ignored || r->steps[i].handled || ask_rescuers(r, i, &ctl->undecided)) {
        tell(r, i, ignored ? MET : LOST, TOLD_ALL);
        flow_record_handle_failure(r, i);
        return;
    }
    if (ctl->undecided)
        set_judging(r, i, true);
    tell(r, i, LOST, has_rescuers(r, i) || r->steps[i].final ? TOLD_ALL : TOLD_CONDITIONS);
}

void flow_control_handled(struct flow_record *r, uint32_t i)
{
    const struct step *step = &r->steps[i];
    uint32_t iterations = flow_graph_iterations(r->graph, i);

    if (!r->control->live)
        return;
    if (step->judging)
        set_judging(r, i, false);
    for (uint32_t k = 1; k <= iterations; k++)
        if (r->steps[i + k].state == STEP_STARTED)
            flow_record_handle_failure(r, i + k);
    if (!step->inner && step->state == STEP_STARTED &&
        (step->phase == JOB_FAILED || step->phase == JOB_TERMINATED))
        tell(r, i, LOST, TOLD_ALL);
}

/* A condition has been asked: the failures it speaks of are handled, or wait for one less. */
static void decided(struct flow_record *r, uint32_t i, bool runs)
{
    const struct dag *dag = &r->control->handles;

    if (r->control->steps[i].decided)
        return;
    r->control->steps[i].decided = true;
    for (uint32_t at = dag->first[i]; at < dag->first[i + 1]; at++) {
        uint32_t target = dag->next[at];

        if (!r->steps[target].judging)
            continue;
        if (runs)
            flow_record_handle_failure(r, target);
        else if (!--r->control->steps[target].undecided)
            set_judging(r, target, false);
    }
}

/* ---- switches ---- */

static const struct str_list *steps_of_case(const struct flow_switch *choice, const char *name)
{
    for (size_t k = 0; *name && k < choice->cases.count; k++)
        if (strcmp(choice->cases.items[k].name, name) == 0)
            return &choice->cases.items[k].steps;
    return &choice->default_steps;
}

static const char *choose(const struct flow_record *r, const struct flow_switch *choice)
{
    for (size_t k = 0; k < choice->cases.count; k++)
        if (flow_condition_holds(r, choice->cases.items[k].condition))
            return choice->cases.items[k].name;
    return "";
}

/* Everybody listed is refused, then the chosen ones are let through. */
static void open_gates(struct flow_record *r, uint32_t i, const struct str_list *chosen)
{
    flow_graph_each_choice(r->graph, i, listed)
    {
        r->control->steps[listed].gate = GATE_REFUSED;
        step_set_add(&r->control->judge, listed);
    }
    for (size_t k = 0; chosen && k < chosen->count; k++) {
        uint32_t step = flow_graph_find(r->graph, chosen->items[k]);

        if (step != STEP_NONE)
            r->control->steps[step].gate = GATE_OPEN;
    }
}

static void run_switch(struct flow_record *r, uint32_t i)
{
    const struct flow_switch *choice = flow_graph_step(r->graph, i)->choice;
    struct step_control *ctl = &r->control->steps[i];

    if (!ctl->chosen)
        ctl->chosen = mem_strdup(choose(r, choice));
    flow_record_move_step(r, i, STEP_STARTED, JOB_COMPLETED);
    open_gates(r, i, steps_of_case(choice, ctl->chosen));
    tell(r, i, MET, TOLD_ALL);
}

/* ---- judging ---- */

static bool condition_is_due(const struct flow_record *r, uint32_t i)
{
    const struct step_control *ctl = &r->control->steps[i];
    const struct step *step = &r->steps[i];

    if (is_any(r, i))
        return ctl->met + ctl->lost + ctl->skipped > 0 || !step->waiting;
    return step->waiting <= (step->probe ? ctl->lost : 0);
}

/* The step, or of a loop its first iteration, had a job before. */
static bool has_run(const struct flow_record *r, uint32_t i)
{
    return r->steps[i].attempt || (flow_graph_iterations(r->graph, i) && r->steps[i + 1].attempt);
}

static enum verdict ask(const struct flow_record *r, uint32_t i)
{
    const struct flow_condition *condition = flow_graph_step(r->graph, i)->condition;
    const struct step_control *ctl = &r->control->steps[i];
    size_t targets = flow_graph_targets(r->graph, i);

    if (!condition_is_due(r, i))
        return WAITS;
    if (has_run(r, i))
        return RUNS; /* it was true before */
    if (targets && ctl->skipped == targets && !flow_condition_handles(condition))
        return IS_SKIPPED;
    return flow_condition_holds(r, condition) ? RUNS : IS_SKIPPED;
}

static enum verdict verdict_of(const struct flow_record *r, uint32_t i)
{
    const struct step_control *ctl = &r->control->steps[i];
    const struct step *step = &r->steps[i];
    size_t targets = flow_graph_targets(r->graph, i);

    if (ctl->gate == GATE_REFUSED)
        return IS_SKIPPED;
    if (ctl->gate == GATE_CLOSED)
        return WAITS;
    if (flow_graph_step(r->graph, i)->condition)
        return ask(r, i);
    if (is_any(r, i)) {
        if (step->probe ? !step->waiting : ctl->met)
            return RUNS;
        return ctl->lost + ctl->skipped >= targets ? IS_SKIPPED : WAITS;
    }
    if (ctl->lost)
        return IS_SKIPPED;
    if (step->waiting)
        return WAITS;
    return targets && ctl->skipped >= targets ? IS_SKIPPED : RUNS;
}

static void skip(struct flow_record *r, uint32_t i)
{
    if (flow_graph_iterations(r->graph, i))
        flow_loop_skip(r, i);
    flow_record_move_step(r, i, STEP_SKIPPED, JOB_NONE);
    flow_queue_skip(&r->queue, i);
    step_set_add(&r->control->news, i);
    if (flow_graph_step(r->graph, i)->choice)
        open_gates(r, i, NULL);
    tell(r, i, SKIPPED, TOLD_ALL);
}

static void run(struct flow_record *r, uint32_t i)
{
    if (flow_graph_step(r->graph, i)->choice)
        run_switch(r, i);
    else if (r->steps[i].jobless)
        flow_loop_start(r, i);
    else
        flow_record_set_state(r, i, STEP_READY);
}

static void judge(struct flow_record *r, uint32_t i)
{
    enum verdict verdict;

    if (r->steps[i].state != STEP_WAITING || r->steps[i].inner)
        return;
    verdict = verdict_of(r, i);
    if (verdict == RUNS)
        run(r, i);
    else if (verdict == IS_SKIPPED)
        skip(r, i);
    if (verdict != WAITS)
        decided(r, i, verdict == RUNS);
}

static void drain(struct flow_record *r)
{
    struct flow_control *c = r->control;

    if (c->draining)
        return;
    c->draining = true;
    while (c->judge.count) {
        uint32_t step = step_set_next(&c->judge, 0);

        step_set_remove(&c->judge, step);
        judge(r, step);
    }
    c->draining = false;
}

/* ---- what happens ---- */

/* The step has an end of its own: tell it. */
void flow_control_settle(struct flow_record *r, uint32_t i)
{
    const struct step *step = &r->steps[i];

    if (step->state == STEP_SKIPPED) {
        tell(r, i, SKIPPED, TOLD_ALL);
    } else if (step->state == STEP_STARTED && job_phase_finished((enum job_phase)step->phase)) {
        if (step->inner)
            flow_loop_child_ended(r, i);
        else if (step->phase == JOB_COMPLETED)
            tell(r, i, MET, TOLD_ALL);
        else
            failed(r, i);
    }
}

static void tell_probers(struct flow_record *r, uint32_t i)
{
    flow_graph_each_dependent(r->graph, i, dependent)
    {
        if (r->steps[dependent].probe)
            step_set_add(&r->probing, dependent);
    }
}

void flow_control_changed(struct flow_record *r, uint32_t i)
{
    if (!r->control->live)
        return;
    if (r->probed)
        tell_probers(r, i);
    flow_control_settle(r, i);
    drain(r);
}

void flow_control_target_met(struct flow_record *r, uint32_t i)
{
    r->control->steps[i].met++;
    r->steps[i].waiting -= r->steps[i].waiting > 0;
    step_set_add(&r->control->judge, i);
    drain(r);
}

void flow_control_attempt(struct flow_record *r, uint32_t i)
{
    r->control->steps[i].told = TOLD_NOBODY;
}

static void open_end(struct flow_record *r)
{
    for (uint32_t i = 0; i < r->control->count; i++)
        if (r->steps[i].final && !r->steps[i].inner) {
            r->control->steps[i].gate = GATE_OPEN;
            step_set_add(&r->control->judge, i);
        }
}

void flow_control_end(struct flow_record *r)
{
    if (!r->control || r->control->ended)
        return;
    r->control->ended = true;
    if (r->control->finals)
        open_end(r);
    drain(r);
}

bool flow_control_finals_open(const struct flow_record *r)
{
    return r->control && r->fates[1][FATE_OPEN];
}

bool flow_control_finals_failed(const struct flow_record *r)
{
    return r->control && r->fates[1][FATE_FAILED];
}

/* ---- counting anew ---- */

void flow_control_reset(struct flow_record *r, uint32_t i)
{
    struct step_control *ctl = &r->control->steps[i];
    struct step *step = &r->steps[i];
    char *chosen = ctl->chosen;

    r->control->live = false;
    flow_items_free(ctl->items);
    *ctl = (struct step_control){.chosen = chosen};
    ctl->gate = step->final && !step->inner && !r->control->ended ? GATE_CLOSED : GATE_NONE;
    if (step->jobless && step->state == STEP_STARTED &&
        !job_phase_finished((enum job_phase)step->phase))
        step->state = STEP_WAITING; /* a loop takes up what its iterations show */
    if (step->inner && flow_loop_is_open(flow_graph_step(r->graph, i)->loop) &&
        step->state == STEP_WAITING && !step->attempt)
        step->state = STEP_DORMANT;
}

static void close_gates(struct flow_record *r)
{
    for (uint32_t i = 0; r->graph->choices.vertices && i < r->control->count; i++) {
        flow_graph_each_choice(r->graph, i, listed) r->control->steps[listed].gate = GATE_CLOSED;
    }
}

static void recount_one(struct flow_record *r, uint32_t i)
{
    const struct step *step = &r->steps[i];
    const struct flow_switch *choice = flow_graph_step(r->graph, i)->choice;
    const struct step_control *ctl = &r->control->steps[i];

    if (step->inner)
        return; /* its loop asks for it */
    if (step->state == STEP_SKIPPED)
        flow_queue_skip(&r->queue, i);
    if (choice && step->state == STEP_SKIPPED)
        open_gates(r, i, NULL);
    if (choice && step->state == STEP_STARTED)
        open_gates(r, i, steps_of_case(choice, ctl->chosen ? ctl->chosen : ""));
    flow_control_settle(r, i);
}

void flow_control_recount(struct flow_record *r)
{
    struct flow_control *c = r->control;

    close_gates(r);
    c->live = c->draining = true; /* first everybody tells, then it is judged */
    for (uint32_t i = 0; i < c->count; i++)
        recount_one(r, i);
    for (uint32_t i = 0; i < c->count; i++)
        if (r->steps[i].state == STEP_WAITING && !r->steps[i].inner)
            step_set_add(&c->judge, i);
    c->draining = false;
    drain(r);
}

void flow_control_move(struct flow_record *r, struct flow_record *old)
{
    r->control->ended = old->control->ended;
    for (uint32_t i = 0; i < r->control->count; i++) {
        uint32_t from = flow_graph_find(old->graph, flow_graph_name(r->graph, i));

        if (from != STEP_NONE)
            r->control->steps[i].chosen = take(old->control->steps[from].chosen);
    }
}
