/*
 * Evaluates steps, chooses the cases of switches, and decides which failures are handled.
 */
#include "flow/model/control.h"

#include <string.h>

#include "base/mem.h"
#include "flow/model/approval.h"
#include "flow/model/condition.h"
#include "flow/model/loop_items.h"
#include "flow/model/step_probe.h"

enum outcome { MET, LOST, SKIPPED };      /* how a target ended */
enum verdict { WAITS, RUNS, IS_SKIPPED }; /* what an evaluated step does */

static bool is_any(const struct flow_model *m, uint32_t i)
{
    return flow_graph_targets(m->graph, i) && flow_model_waits_for_any(m, i);
}

static bool target_is(const struct flow_depends *depends, size_t target, const char *name)
{
    return strcmp(depends->targets.items[target], name) == 0;
}

/* Notifies a dependent with probes. Its probes decide whether a completed target is met; an ignored
 * failure counts as met at once. A target once met stays met. */
static void notify_probing_step(struct flow_model *m, uint32_t i, uint32_t dependent,
                                enum outcome outcome)
{
    struct step_control *ctl = &m->control->steps[dependent];
    struct step_probe *probe = m->steps[dependent].probe;
    bool asked = outcome == MET && m->steps[i].phase == JOB_COMPLETED;

    step_set_add(&m->probing, dependent);
    for (size_t t = 0; !asked && t < probe->depends->targets.count; t++) {
        if (!target_is(probe->depends, t, flow_graph_name(m->graph, i)))
            continue;
        ctl->skipped += outcome == SKIPPED; /* counts also if the target was restored as met */
        if (probe->met[t])
            continue;
        ctl->lost += outcome == LOST;
        if (outcome == MET || (outcome == SKIPPED && !is_any(m, dependent))) {
            step_probe_mark_met(probe, t);
            m->steps[dependent].waiting -= m->steps[dependent].waiting > 0;
        }
    }
}

/* Returns whether the step serves others now. */
static bool is_serving(const struct step *step)
{
    return step->serves && step->ready && step->state == STEP_STARTED &&
           !job_phase_finished((enum job_phase)step->phase);
}

static void notify_one(struct flow_model *m, uint32_t i, uint32_t dependent, enum outcome outcome)
{
    struct step_control *ctl = &m->control->steps[dependent];

    if (m->steps[dependent].probe) {
        if (!(outcome == MET && is_serving(&m->steps[i]))) /* its probes decide */
            notify_probing_step(m, i, dependent, outcome);
    } else {
        m->steps[dependent].waiting -= m->steps[dependent].waiting > 0;
        ctl->met += outcome == MET;
        ctl->lost += outcome == LOST;
        ctl->skipped += outcome == SKIPPED;
    }
    step_set_add(&m->control->to_evaluate, dependent);
}

static void notify(struct flow_model *m, uint32_t i, enum outcome outcome, enum notified targets)
{
    struct step_control *ctl = &m->control->steps[i];
    uint8_t before = ctl->notified;

    if (before >= targets)
        return;
    ctl->notified = (uint8_t)targets;
    flow_graph_each_dependent(m->graph, i, dependent)
    {
        bool conditional = flow_graph_step(m->graph, dependent)->condition != NULL;

        if (conditional ? before == NOTIFIED_NONE : targets == NOTIFIED_ALL)
            notify_one(m, i, dependent, outcome);
    }
}

/* Takes back that a step served its dependents: those that have not begun wait again. */
static void withdraw_service(struct flow_model *m, uint32_t i)
{
    m->control->steps[i].notified = NOTIFIED_NONE;
    m->control->steps[i].served = false;
    flow_graph_each_dependent(m->graph, i, dependent)
    {
        struct step_control *ctl = &m->control->steps[dependent];

        if (m->steps[dependent].probe)
            continue;
        ctl->met -= ctl->met > 0;
        m->steps[dependent].waiting++;
        if (m->steps[dependent].state == STEP_READY) {
            flow_model_set_state(m, dependent, STEP_WAITING);
            step_set_add(&m->control->to_evaluate, dependent);
        }
    }
}

/* The step serves its dependents from the time when it is ready until its job ends. */
static void server_changed(struct flow_model *m, uint32_t i)
{
    struct step *step = &m->steps[i];
    const bool completed = step->state == STEP_STARTED && step->phase == JOB_COMPLETED;
    const bool runs =
        step->state == STEP_STARTED && !job_phase_finished((enum job_phase)step->phase);

    step->ready &= runs;
    step_set_add(&m->servers, i);
    if (is_serving(step)) {
        notify(m, i, MET, NOTIFIED_ALL);
        m->control->steps[i].served = true;
    } else if (!completed && m->control->steps[i].served) {
        withdraw_service(m, i);
    }
}

/* Looks again at the steps that serve this one. */
static void look_at_targets(struct flow_model *m, uint32_t i)
{
    const uint32_t at = m->steps[i].is_iteration ? flow_graph_loop(m->graph, i) : i;
    const struct flow_depends *depends = flow_graph_step(m->graph, at)->depends;

    for (size_t t = 0; depends && t < depends->targets.count; t++) {
        uint32_t target = flow_graph_find(m->graph, depends->targets.items[t]);

        if (target != STEP_NONE && m->steps[target].serves)
            step_set_add(&m->servers, target);
    }
}

static void set_undecided(struct flow_model *m, uint32_t i, bool undecided)
{
    flow_model_uncount(m, i);
    m->steps[i].failure_undecided = undecided;
    flow_model_count(m, i);
    m->changes++;
}

/* Returns whether a step that may handle the failure has run. If none has, *out_undecided is the
 * number of those that have not decided. */
static bool ask_failure_handlers(const struct flow_model *m, uint32_t i, uint32_t *out_undecided)
{
    const struct dag *dag = &m->control->failure_handlers;

    *out_undecided = 0;
    for (uint32_t at = dag->first[i]; at < dag->first[i + 1]; at++) {
        const struct step *handler = &m->steps[dag->next[at]];

        if (handler->state == STEP_WAITING)
            *out_undecided += !handler->kept; /* a kept step never decides */
        else if (handler->state != STEP_SKIPPED)
            return true;
    }
    return false;
}

static bool has_failure_handlers(const struct flow_model *m, uint32_t i)
{
    return m->control->failure_handlers.first[i] < m->control->failure_handlers.first[i + 1];
}

/* The step has failed: notifies its dependents, and finds out whether the failure is handled. */
static void failed(struct flow_model *m, uint32_t i)
{
    struct step_control *ctl = &m->control->steps[i];
    bool ignored = m->steps[i].ignored;

    if (ctl->notified != NOTIFIED_NONE)
        return;
    if (ignored || m->steps[i].handled || ask_failure_handlers(m, i, &ctl->undecided)) {
        notify(m, i, ignored ? MET : LOST, NOTIFIED_ALL);
        flow_model_mark_handled(m, i);
        return;
    }
    if (ctl->undecided)
        set_undecided(m, i, true);
    notify(m, i, LOST,
           has_failure_handlers(m, i) || m->steps[i].final ? NOTIFIED_ALL : NOTIFIED_CONDITIONS);
}

void flow_control_failure_handled(struct flow_model *m, uint32_t i)
{
    const struct step *step = &m->steps[i];
    uint32_t iterations = flow_graph_iterations(m->graph, i);

    if (!m->control->live)
        return;
    if (step->failure_undecided)
        set_undecided(m, i, false);
    for (uint32_t k = 1; k <= iterations; k++)
        if (m->steps[i + k].state == STEP_STARTED)
            flow_model_mark_handled(m, i + k);
    if (!step->is_iteration && step->state == STEP_STARTED &&
        (step->phase == JOB_FAILED || step->phase == JOB_TERMINATED))
        notify(m, i, LOST, NOTIFIED_ALL);
}

/* The condition of a step has been evaluated. If the step runs, the failures that its condition is
 * about are handled; otherwise they wait for one handler less. */
static void decided(struct flow_model *m, uint32_t i, bool runs)
{
    const struct dag *dag = &m->control->handled_targets;

    if (m->control->steps[i].decided)
        return;
    m->control->steps[i].decided = true;
    for (uint32_t at = dag->first[i]; at < dag->first[i + 1]; at++) {
        uint32_t target = dag->next[at];

        if (!m->steps[target].failure_undecided)
            continue;
        if (runs)
            flow_model_mark_handled(m, target);
        else if (!--m->control->steps[target].undecided)
            set_undecided(m, target, false);
    }
}

static const struct str_list *steps_of_case(const struct flow_switch *choice, const char *name)
{
    for (size_t k = 0; *name && k < choice->cases.count; k++)
        if (strcmp(choice->cases.items[k].name, name) == 0)
            return &choice->cases.items[k].steps;
    return &choice->default_steps;
}

static const char *choose(const struct flow_model *m, const struct flow_switch *choice)
{
    for (size_t k = 0; k < choice->cases.count; k++)
        if (flow_condition_holds(m, choice->cases.items[k].condition))
            return choice->cases.items[k].name;
    return "";
}

/* Opens the gates of the chosen steps; all others that the switch lists are not chosen. */
static void open_gates(struct flow_model *m, uint32_t i, const struct str_list *chosen)
{
    flow_graph_each_choice(m->graph, i, listed)
    {
        m->control->steps[listed].gate = GATE_NOT_CHOSEN;
        step_set_add(&m->control->to_evaluate, listed);
    }
    for (size_t k = 0; chosen && k < chosen->count; k++) {
        uint32_t step = flow_graph_find(m->graph, chosen->items[k]);

        if (step != STEP_NONE)
            m->control->steps[step].gate = GATE_OPEN;
    }
}

static void run_switch(struct flow_model *m, uint32_t i)
{
    const struct flow_switch *choice = flow_graph_step(m->graph, i)->choice;
    struct step_control *ctl = &m->control->steps[i];

    mem_free(ctl->chosen);
    ctl->chosen = mem_strdup(choose(m, choice));
    flow_model_move_step(m, i, STEP_STARTED, JOB_COMPLETED);
    open_gates(m, i, steps_of_case(choice, ctl->chosen));
    notify(m, i, MET, NOTIFIED_ALL);
}

/* Returns whether enough targets have ended for the condition of a step to be evaluated. */
static bool condition_is_due(const struct flow_model *m, uint32_t i)
{
    const struct step_control *ctl = &m->control->steps[i];
    const struct step *step = &m->steps[i];

    if (is_any(m, i))
        return ctl->met + ctl->lost + ctl->skipped > 0 || !step->waiting;
    return step->waiting <= (step->probe ? ctl->lost : 0);
}

/* Returns the verdict on a step with `if`. */
static enum verdict evaluate_condition(const struct flow_model *m, uint32_t i)
{
    const struct flow_condition *condition = flow_graph_step(m->graph, i)->condition;
    const struct step_control *ctl = &m->control->steps[i];
    size_t targets = flow_graph_targets(m->graph, i);

    if (!condition_is_due(m, i))
        return WAITS;
    if (targets && ctl->skipped == targets && !flow_condition_handles(condition))
        return IS_SKIPPED;
    return flow_condition_holds(m, condition) ? RUNS : IS_SKIPPED;
}

/* Returns whether an approval had asked when the process ended, and waits for nothing but steps which
 * serve others and whose pods have not been seen yet. Such a question is still open: an answer may be
 * there before the pods are. */
static bool still_asks(const struct flow_model *m, uint32_t i)
{
    const struct flow_depends *depends = flow_graph_step(m->graph, i)->depends;
    uint32_t servers = 0;

    if (!m->has_servers || !m->steps[i].approval || m->steps[i].probe ||
        !flow_model_has_asked(m, i))
        return false;
    for (size_t t = 0; depends && t < depends->targets.count; t++) {
        const uint32_t target = flow_graph_find(m->graph, depends->targets.items[t]);
        const struct step *step = target == STEP_NONE ? NULL : &m->steps[target];

        servers += step && step->serves && !step->ready && step->state == STEP_STARTED &&
                   !job_phase_finished((enum job_phase)step->phase);
    }
    return servers == m->steps[i].waiting;
}

static enum verdict verdict_of(const struct flow_model *m, uint32_t i)
{
    const struct step_control *ctl = &m->control->steps[i];
    const struct step *step = &m->steps[i];
    size_t targets = flow_graph_targets(m->graph, i);

    if (ctl->gate == GATE_NOT_CHOSEN)
        return IS_SKIPPED;
    if (ctl->gate == GATE_CLOSED)
        return WAITS;
    if (step->ran)
        return RUNS; /* the step is not evaluated again before a manual retry */
    if (flow_graph_step(m->graph, i)->condition)
        return evaluate_condition(m, i);
    if (is_any(m, i)) {
        if (step->probe ? !step->waiting : ctl->met)
            return RUNS;
        return ctl->lost + ctl->skipped >= targets ? IS_SKIPPED : WAITS;
    }
    if (ctl->lost)
        return IS_SKIPPED;
    if (step->waiting)
        return still_asks(m, i) ? RUNS : WAITS;
    return targets && ctl->skipped >= targets ? IS_SKIPPED : RUNS;
}

static void drain(struct flow_model *m);

static void skip(struct flow_model *m, uint32_t i)
{
    if (flow_graph_iterations(m->graph, i))
        flow_loop_skip(m, i);
    flow_model_move_step(m, i, STEP_SKIPPED, JOB_NONE);
    ready_queue_skip(&m->ready_queue, i);
    step_set_add(&m->control->unannounced, i);
    if (flow_graph_step(m->graph, i)->choice)
        open_gates(m, i, NULL);
    notify(m, i, SKIPPED, NOTIFIED_ALL);
}

void flow_control_skip(struct flow_model *m, uint32_t i)
{
    skip(m, i);
    drain(m);
}

static void run(struct flow_model *m, uint32_t i)
{
    if (flow_graph_step(m->graph, i)->choice)
        run_switch(m, i);
    else if (m->steps[i].approval)
        flow_model_set_state(m, i, STEP_ASKING);
    else if (m->steps[i].jobless)
        flow_loop_start(m, i);
    else
        flow_model_set_state(m, i, STEP_READY);
}

static void evaluate(struct flow_model *m, uint32_t i)
{
    enum verdict verdict;

    if (m->steps[i].state != STEP_WAITING || m->steps[i].is_iteration || m->steps[i].kept)
        return;
    verdict = verdict_of(m, i);
    if (verdict == RUNS)
        run(m, i);
    else if (verdict == IS_SKIPPED)
        skip(m, i);
    if (verdict != WAITS)
        decided(m, i, verdict == RUNS);
}

static void drain(struct flow_model *m)
{
    struct flow_control *c = m->control;

    if (c->draining)
        return;
    c->draining = true;
    while (c->to_evaluate.count) {
        uint32_t step = step_set_next(&c->to_evaluate, 0);

        step_set_remove(&c->to_evaluate, step);
        evaluate(m, step);
    }
    c->draining = false;
}

void flow_control_step_ended(struct flow_model *m, uint32_t i)
{
    const struct step *step = &m->steps[i];

    if (step->state == STEP_SKIPPED) {
        notify(m, i, SKIPPED, NOTIFIED_ALL);
    } else if (step->state == STEP_STARTED && job_phase_finished((enum job_phase)step->phase)) {
        if (step->is_iteration)
            flow_loop_iteration_ended(m, i);
        else if (step->phase == JOB_COMPLETED)
            notify(m, i, MET, NOTIFIED_ALL);
        else
            failed(m, i);
    }
}

static void notify_probing_steps(struct flow_model *m, uint32_t i)
{
    flow_graph_each_dependent(m->graph, i, dependent)
    {
        if (m->steps[dependent].probe)
            step_set_add(&m->probing, dependent);
    }
}

void flow_control_step_changed(struct flow_model *m, uint32_t i)
{
    if (!m->control->live)
        return;
    if (m->probed)
        notify_probing_steps(m, i);
    if (m->has_servers)
        look_at_targets(m, i);
    if (m->steps[i].serves)
        server_changed(m, i);
    flow_control_step_ended(m, i);
    drain(m);
}

void flow_control_target_met(struct flow_model *m, uint32_t i)
{
    m->control->steps[i].met++;
    m->steps[i].waiting -= m->steps[i].waiting > 0;
    step_set_add(&m->control->to_evaluate, i);
    drain(m);
}

void flow_control_new_attempt(struct flow_model *m, uint32_t i)
{
    m->control->steps[i].notified = NOTIFIED_NONE;
}

void flow_control_flow_ends(struct flow_model *m)
{
    if (!m->graph->vertices)
        return; /* the flow has no loops */
    for (uint32_t i = 0; i < m->control->count; i++)
        if (m->steps[i].jobless)
            flow_loop_flow_ends(m, i);
    drain(m);
}

static void open_end(struct flow_model *m)
{
    for (uint32_t i = 0; i < m->control->count; i++)
        if (m->steps[i].final && !m->steps[i].is_iteration) {
            m->control->steps[i].gate = GATE_OPEN;
            step_set_add(&m->control->to_evaluate, i);
        }
}

void flow_control_run_finals(struct flow_model *m)
{
    if (!m->control || m->control->ended)
        return;
    m->control->ended = true;
    if (m->control->finals)
        open_end(m);
    drain(m);
}

bool flow_control_finals_open(const struct flow_model *m)
{
    return m->control && m->outcomes[1][OUTCOME_OPEN];
}

bool flow_control_finals_failed(const struct flow_model *m)
{
    return m->control && m->outcomes[1][OUTCOME_FAILED];
}

void flow_control_reset(struct flow_model *m, uint32_t i)
{
    struct step_control *ctl = &m->control->steps[i];
    struct step *step = &m->steps[i];
    char *chosen = ctl->chosen;

    m->control->live = false;
    loop_items_free(ctl->items);
    *ctl = (struct step_control){.chosen = chosen};
    ctl->gate = step->final && !step->is_iteration && !m->control->ended ? GATE_CLOSED : GATE_NONE;
    if (step->jobless && step->state == STEP_STARTED &&
        !job_phase_finished((enum job_phase)step->phase))
        step->state = STEP_WAITING; /* a loop continues from the states of its iterations */
    if (step->is_iteration && flow_loop_is_open(flow_graph_step(m->graph, i)->loop) &&
        step->state == STEP_WAITING && !step->attempt)
        step->state = STEP_DORMANT;
}

/* Every step that a switch lists waits for the switch. */
static void close_gates(struct flow_model *m)
{
    for (uint32_t i = 0; m->graph->choices.vertices && i < m->control->count; i++) {
        flow_graph_each_choice(m->graph, i, listed) m->control->steps[listed].gate = GATE_CLOSED;
    }
}

static void recount_one(struct flow_model *m, uint32_t i)
{
    const struct step *step = &m->steps[i];
    const struct flow_switch *choice = flow_graph_step(m->graph, i)->choice;
    const struct step_control *ctl = &m->control->steps[i];

    if (step->is_iteration)
        return; /* the loop accounts for its iteration */
    if (step->state == STEP_SKIPPED)
        ready_queue_skip(&m->ready_queue, i);
    if (choice && step->state == STEP_SKIPPED)
        open_gates(m, i, NULL);
    if (choice && step->state == STEP_STARTED)
        open_gates(m, i, steps_of_case(choice, ctl->chosen ? ctl->chosen : ""));
    if (step->serves)
        server_changed(m, i);
    flow_control_step_ended(m, i);
}

void flow_control_recount(struct flow_model *m)
{
    struct flow_control *c = m->control;

    close_gates(m);
    c->live = c->draining = true; /* all steps notify first; then all are evaluated */
    for (uint32_t i = 0; i < c->count; i++)
        recount_one(m, i);
    for (uint32_t i = 0; i < c->count; i++)
        if (m->steps[i].state == STEP_WAITING && !m->steps[i].is_iteration)
            step_set_add(&c->to_evaluate, i);
    c->draining = false;
    drain(m);
}

void flow_control_take_over(struct flow_model *m, struct flow_model *old)
{
    m->control->ended = old->control->ended;
    for (uint32_t i = 0; i < m->control->count; i++) {
        uint32_t from = flow_graph_find(old->graph, flow_graph_name(m->graph, i));

        if (from != STEP_NONE)
            m->control->steps[i].chosen = take(old->control->steps[from].chosen);
    }
}
