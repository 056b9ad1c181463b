/*
 * The events of a random test. The flow controller sees the cluster through a layer that injects
 * faults; the test plays the job controller, the kubelet and the user.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/command.h"
#include "tests/fake/faulty.h"
#include "tests/support/flow_walk_impl.h"

enum {
    TERMINATED_CODE = 143,
    CALM_MS = 31000,
    SHORT_MS = 3000,
    STORED_MS = 5000 /* after this time a write is stored, unless writes fail */
};

/* Stops the controller. Results of probes may not be stored yet, and neither may the fact that one
 * job replaces another. */
void walk_stop(struct flow_walk *w)
{
    flow_controller_stop(take(w->fixture->flows));
    flow_fixture_settle(w->fixture);
    w->away = true;
    for (uint32_t i = 0; i < w->n_seen; i++) {
        struct seen_job *job = &w->seen[i];

        if (walk_fact(w, job)->passed == RULE_YES)
            walk_fact(w, job)->passed = RULE_PERHAPS;
        if (walk_fact(w, job)->polled == RULE_YES)
            walk_fact(w, job)->polled = RULE_PERHAPS;
        job->blurred |= job->replaces && walk_now_ms(w) < job->made_ms + STORED_MS;
        if (job->blurred && walk_fact(w, job)->again)
            walk_fact(w, job)->end = RULE_UNSURE;
    }
}

void walk_see_pods(struct flow_walk *w, enum rule_sure sees)
{
    for (uint32_t i = 0; i < w->n_seen; i++) {
        scoped_str name = mem_printf("%s-main-0", w->seen[i].name);
        const struct object *pod =
            w->seen[i].there ? flow_fixture_get(w->fixture, &kind_pod, name) : NULL;

        if (pod && (pod_status_of(pod)->phase == POD_RUNNING ||
                    pod_status_of(pod)->phase == POD_SUCCEEDED)) {
            walk_fact(w, &w->seen[i])->passed = sees;
            walk_fact(w, &w->seen[i])->polled = RULE_PERHAPS;
        }
    }
}

/* Starts the controller. Its probes see the present state of the pods, but a flow that has ended
 * has no probes. */
void walk_start(struct flow_walk *w)
{

    w->away = false;
    w->fixture->flows = flow_controller_start(w->faulty, &w->fixture->options);
    flow_fixture_settle(w->fixture);
    walk_see_pods(w, flow_phase_finished(w->phase) ? RULE_PERHAPS : RULE_YES);
    walk_judge(w);
}

void walk_restart(struct flow_walk *w)
{
    walk_stop(w);
    walk_start(w);
}

/* Records which template versions are pinned: copies of existing templates are made in the turn
 * that accepts the spec. */
static void note_pinned(struct flow_walk *w)
{
    for (uint32_t i = 0; i < w->flow.count; i++) {
        struct walk_template *template = walk_template_of(w, i);
        bool there = !w->no_template || w->flow.steps[i].other;
        bool sure =
            template->oldest == template->version; /* otherwise a pin may hold an older version */

        if (!w->flow.steps[i].chooses && there && sure && !template->pinned && !w->away &&
            !w->faults)
            template->pinned = template->version;
    }
}

bool walk_apply(struct flow_walk *w, bool suspend)
{
    scoped(buf) struct buf yaml = {0};
    bool accepted;

    buf_str(&yaml, "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, metadata: {name: f, "
                   "annotations: {flow.volcano.sh/allow-updates: \"true\"");
    if (w->aborted)
        buf_printf(&yaml, ", %s: \"1\"", ANNOTATION_FLOW_ABORT);
    if (w->retries)
        buf_printf(&yaml, ", %s: \"%d\"", ANNOTATION_FLOW_RETRY, w->retries);
    buf_str(&yaml, "}}, spec: {");
    gen_flow_write(&w->flow, suspend, &yaml);
    buf_str(&yaml, "}}\n");
    accepted = flow_fixture_try(w->fixture, yaml.data);
    if (accepted && w->flow.pinned)
        note_pinned(w);
    return accepted;
}

void walk_write_template(struct flow_walk *w, bool other)
{
    scoped(buf) struct buf yaml = {0};

    buf_printf(&yaml,
               "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobTemplate, metadata: {name: %s}, "
               "spec: {tasks: [{name: main, replicas: 1, template: {spec: {containers: [{name: c, "
               "image: i, command: [c], env: [{name: V, value: \"%d\"}",
               other ? "u" : "t", w->templates[other].version);
    if (other)
        gen_template_variable(&w->flow, &yaml);
    buf_str(&yaml, "]}]}}}]}}\n");
    flow_fixture_apply(w->fixture, yaml.data);
}

/* Ends a job: stores what the kubelet and then the job controller would. The output follows from
 * the seed. */
static void end_job(struct flow_walk *w, struct seen_job *job, int code, enum job_phase phase)
{
    scoped(buf) struct buf message = {0};

    if (job->phase != JOB_RUNNING && !walk_is_aborted(job))
        flow_fixture_phase(w->fixture, job->name, JOB_RUNNING);
    gen_end_message(&job->end, &message);
    job->end.code = code;
    if (job->there)
        flow_fixture_end_pod(w->fixture, job->name, "main", 0, code, message.data);
    if (job->there)
        flow_fixture_phase(w->fixture, job->name, phase);
}

static void roll_end(struct flow_walk *w, struct seen_job *job)
{
    job->end = gen_end_of(&w->flow, w->seed, job->step, job->name,
                          w->disturbed ? job->attempt : job->created);
}

/* Executes Commands, as the job controller does. */
void walk_execute_commands(struct flow_walk *w)
{
    for (uint32_t i = 0; i < w->n_seen; i++) {
        struct seen_job *job = &w->seen[i];
        scoped_str command = mem_printf("terminate-%s", job->uid);

        if (!job->there || !flow_fixture_get(w->fixture, &kind_command, command))
            continue;
        flow_fixture_delete(w->fixture, &kind_command, command, REGISTRY_BACKGROUND);
        if (!job_phase_finished(job->phase))
            roll_end(w, job), end_job(w, job, TERMINATED_CODE, JOB_TERMINATED);
    }
}

static bool is_at_work(struct flow_walk *w, const struct seen_job *job)
{
    scoped_str name = mem_printf("%s-main-0", job->name);
    const struct object *pod = job->there ? flow_fixture_get(w->fixture, &kind_pod, name) : NULL;

    return pod && !job_phase_finished(job->phase) && pod_status_of(pod)->phase == POD_RUNNING;
}

void walk_clear_faults(struct flow_walk *w)
{
    faulty_clear(w->faulty);
    w->faults = false;
    flow_fixture_advance(w->fixture, CALM_MS);
    for (uint32_t i = 0; i < w->n_seen; i++) /* a TCP probe may have tried its port meanwhile */
        if (walk_fact(w, &w->seen[i])->passed == RULE_YES && is_at_work(w, &w->seen[i]))
            walk_fact(w, &w->seen[i])->polled = RULE_YES;
    walk_execute_commands(w);
    flow_fixture_advance(w->fixture, SHORT_MS);
}

/* Waits until the writes in flight have ended. */
void walk_settle_writes(struct flow_walk *w)
{
    faulty_clear(w->faulty);
    w->faults = false;
    flow_fixture_advance(w->fixture, SHORT_MS);
}

struct seen_job *walk_some_job(struct flow_walk *w, bool unfinished)
{
    uint32_t from = w->n_seen ? (uint32_t)dice_roll(&w->dice, (int)w->n_seen) : 0;

    for (uint32_t i = 0; i < w->n_seen; i++) {
        struct seen_job *job = &w->seen[(from + i) % w->n_seen];

        if (job->there && job_phase_finished(job->phase) != unfinished &&
            !(unfinished && walk_is_aborted(job)))
            return job;
    }
    return NULL;
}

void walk_end_a_job(struct flow_walk *w)
{
    struct seen_job *job = walk_some_job(w, true);

    if (!job) {
        flow_fixture_advance(w->fixture, 1000);
        return;
    }
    roll_end(w, job);
    walk_did(w, job->end.code ? "fails:" : "completes:", job->name);
    end_job(w, job, job->end.code,
            !job->end.code        ? JOB_COMPLETED
            : job->end.terminated ? JOB_TERMINATED
                                  : JOB_FAILED);
}

static void pod_runs(struct flow_walk *w)
{
    struct seen_job *job = walk_some_job(w, true);

    if (!job)
        return;
    walk_did(w, "runs:", job->name);
    if (job->phase != JOB_RUNNING)
        flow_fixture_phase(w->fixture, job->name, JOB_RUNNING);
    if (job->there)
        flow_fixture_pod(w->fixture, job->name, "main", 0, POD_RUNNING, "10.0.0.1");
}

static void time_passes(struct flow_walk *w)
{
    walk_did(w, "time passes", "");
    flow_fixture_advance(w->fixture, 1 + dice_roll(&w->dice, 15000));
}

/* Restarts the controller, sometimes with events while none runs. */
static void controller_restarts(struct flow_walk *w)
{
    walk_did(w, "the controller restarts", "");
    walk_stop(w);
    for (int n = dice_chance(&w->dice, 40) ? 1 + dice_roll(&w->dice, 3) : 0; n > 0; n--) {
        if (dice_chance(&w->dice, 60))
            walk_end_a_job(w);
        else if (dice_chance(&w->dice, 50))
            pod_runs(w);
        else
            time_passes(w);
    }
    walk_start(w);
}

static void writes_go_wrong(struct flow_walk *w)
{
    static const enum faulty_way ways[] = {FAULTY_REFUSE, FAULTY_LOSE, FAULTY_DELAY};
    static const enum error_code codes[] = {ERR_CONFLICT, ERR_UNAVAILABLE, ERR_TIMEOUT};
    struct faulty_rule rule = {
        .ops = 1u << dice_roll(&w->dice, 4),
        .times = 1 + dice_roll(&w->dice, 3),
        .way = ways[dice_roll(&w->dice, 3)],
        .code = codes[dice_roll(&w->dice, 3)],
        .delay_ms = 1 + dice_roll(&w->dice, 2000),
    };

    if (rule.way == FAULTY_DELAY && rule.ops == FAULTY_CREATE)
        rule.way = FAULTY_LOSE; /* a delayed Command would belong to the previous run */
    walk_did(w, "writes go wrong", "");
    faulty_clear(w->faulty);
    faulty_plan(w->faulty, &rule);
    w->faults = true;
}

/* Deletes a job. A result that is not in the status yet would be lost with its job, so it is stored
 * first. */
static void job_is_deleted(struct flow_walk *w)
{
    struct seen_job *job;

    walk_settle_writes(w);
    job = walk_some_job(w, dice_chance(&w->dice, 50));
    if (!job)
        return;
    walk_did(w, "is deleted by hand:", job->name);
    if (!walk_has_ended(job) && job->since_retry)
        job->since_retry--;
    w->disturbed = true;
    flow_fixture_delete(w->fixture, &kind_job, job->name, REGISTRY_BACKGROUND);
}

void walk_suspend(struct flow_walk *w)
{
    if (flow_phase_finished(w->phase))
        return;
    if (!w->suspended) { /* wait for jobs that are being created */
        walk_settle_writes(w);
        if (flow_phase_finished(w->phase))
            return;
    }
    walk_did(w, w->suspended ? "is resumed:" : "is suspended:", "f");
    w->suspended = !w->suspended;
    walk_apply(w, w->suspended);
}

/* Returns whether the results of all steps are known and no job runs. */
static bool all_is_known(const struct flow_walk *w)
{
    for (uint32_t i = 0; i < w->flow.count; i++)
        if (w->rules.steps[i].end == RULE_UNSURE || w->rules.steps[i].unclear)
            return false;
    return !w->rules.unsure && !rule_unfinished(&w->rules);
}

/* Sets the annotations that name the steps of a rerun; 0: of a retry. */
static void name_steps(struct flow_walk *w, uint32_t named, bool only)
{
    scoped(buf) struct buf names = {0};

    buf_str(&names, "");
    for (uint32_t i = 0; i < w->flow.count; i++)
        if (named >> i & 1)
            buf_printf(&names, "%ss%u", names.len ? "," : "", i);
    flow_fixture_annotate(w->fixture, "f", ANNOTATION_FLOW_RETRY_FROM, "");
    flow_fixture_annotate(w->fixture, "f", ANNOTATION_FLOW_RETRY_ONLY, only ? names.data : "");
    flow_fixture_annotate(w->fixture, "f", ANNOTATION_FLOW_RETRY_FROM, only ? "" : names.data);
    w->named = named;
    w->only = only;
}

static bool run_some_again(struct flow_walk *w, const char *value)
{
    uint32_t named = 1 + dice_roll(&w->dice, (1u << w->flow.count) - 1);

    named &= dice_roll(&w->dice, 1u << w->flow.count) | 1u << dice_roll(&w->dice, w->flow.count);
    if (!named || w->flow.deadline_s || !all_is_known(w))
        return false;
    w->retry_asked = w->disturbed = true;
    name_steps(w, named, dice_chance(&w->dice, 40));
    walk_did(w, w->only ? "runs only some steps again:" : "runs again from some steps:", value);
    flow_fixture_annotate(w->fixture, "f", ANNOTATION_FLOW_RETRY, value);
    walk_settle_writes(w);
    return true;
}

void walk_retry_flow(struct flow_walk *w)
{
    char value[16];

    walk_settle_writes(w); /* jobs that end meanwhile count as ended before the edit */
    if (w->reruns && w->exists && flow_phase_finished(w->phase) && w->retries < GEN_RETRIES_MAX &&
        !w->aborted && !w->retry_asked && dice_chance(&w->dice, 60)) {
        snprintf(value, sizeof value, "%d", w->retries + 1);
        w->retries += run_some_again(w, value);
        return;
    }
    if (!w->exists || w->phase != FLOW_FAILED || w->retries == GEN_RETRIES_MAX || w->aborted)
        return;
    snprintf(value, sizeof value, "%d", ++w->retries);
    walk_did(w, "is retried:", value);
    if (w->reruns)
        name_steps(w, 0, false);
    w->retry_asked = w->disturbed = true;
    flow_fixture_annotate(w->fixture, "f", ANNOTATION_FLOW_RETRY, value);
    walk_settle_writes(w);
}

static void flow_is_aborted(struct flow_walk *w)
{
    if (flow_phase_finished(w->phase) || !dice_chance(&w->dice, 30))
        return;
    walk_settle_writes(w);
    if (flow_phase_finished(w->phase))
        return;
    walk_did(w, "is aborted:", "f");
    w->aborted = w->disturbed = true;
    walk_judge(w);
    flow_fixture_annotate(w->fixture, "f", ANNOTATION_FLOW_ABORT, "1");
    flow_fixture_settle(w->fixture);
}

void walk_tell_flow(const struct flow_walk *w)
{
    scoped(buf) struct buf yaml = {0};

    if (!w->trace)
        return;
    gen_flow_write(&w->flow, false, &yaml);
    fprintf(stderr, "%s\n", yaml.data);
}

/* Adds a step, or removes a last step that never ran; not in a flow that is ending (13.10). */
static void flow_is_edited(struct flow_walk *w)
{
    const struct gen_flow before = w->flow;
    uint32_t last = w->flow.count - 1;
    bool removes = dice_chance(&w->dice, 40), accepted, finished;

    walk_settle_writes(w);
    finished = flow_phase_finished(w->phase);
    if (!w->exists || w->rules.ending || w->retry_asked)
        return;
    if (removes && (last == 0 || w->flow.steps[last].final || w->flow.steps[last].loop ||
                    w->flow.steps[last].listed_by != GEN_NOWHERE || w->flow.gang >> last & 1 ||
                    w->rules.steps[last].jobs[0].made || w->rules.steps[last].ran_before))
        return;
    if (removes)
        w->flow.count--;
    else if (!gen_flow_append(&w->flow, &w->dice))
        return;
    else
        w->rules.steps[last + 1] = walk_new_step();
    accepted = walk_apply(w, w->suspended);
    walk_did(w, removes ? "a step is removed" : "a step is added", accepted ? "" : "(refused)");
    if (accepted && finished)
        walk_violated(w, "13.10: a flow that has ended was changed");
    if (!accepted)
        w->flow = before;
    else
        walk_tell_flow(w);
    for (uint32_t i = 0; i < w->flow.count && accepted; i++)
        w->rules.steps[i].was_skipped |= w->rules.steps[i].end == RULE_SKIPPED;
    w->disturbed |= accepted;
    walk_judge(w);
    flow_fixture_settle(w->fixture);
}

void walk_toggle_template(struct flow_walk *w)
{
    walk_did(w, w->no_template ? "the template is back" : "the template is deleted", "");
    if (!w->no_template)
        flow_fixture_delete(w->fixture, &kind_job_template, "t", REGISTRY_BACKGROUND);
    w->no_template = !w->no_template;
    if (!w->no_template)
        walk_write_template(w, false);
    flow_fixture_settle(w->fixture);
}

static void template_changes(struct flow_walk *w)
{
    bool other = w->no_template || dice_chance(&w->dice, 40);

    w->templates[other].version++;
    walk_did(w, "the template is changed:", other ? "u" : "t");
    walk_write_template(w, other);
}

/* Deletes the flow. A new flow of the same name does not own the jobs of the old one (INV-F3,
 * INV-S8). */
static void flow_is_deleted(struct flow_walk *w)
{
    static const enum registry_propagation ways[] = {REGISTRY_BACKGROUND, REGISTRY_FOREGROUND,
                                                     REGISTRY_ORPHAN};
    enum registry_propagation how = ways[dice_roll(&w->dice, 3)];

    if (!dice_chance(&w->dice, 30))
        return;
    walk_settle_writes(w);
    if (!w->exists)
        return;
    walk_did(w, "the flow is deleted", how == REGISTRY_ORPHAN ? "without its jobs" : "");
    w->disturbed = w->deleting = true;
    flow_fixture_delete(w->fixture, &kind_job_flow, "f", how);
    flow_fixture_advance(w->fixture, SHORT_MS);
    if (w->exists)
        walk_violated(w, "P-10: the flow is still there");
    for (uint32_t i = 0; i < w->n_seen; i++)
        if (w->seen[i].there != (how == REGISTRY_ORPHAN) && w->seen[i].there)
            walk_violated(w, "P-10: %s is left", w->seen[i].name);
    walk_forget(w);
    w->suspended = false;
    walk_apply(w, false);
}

static const struct {
    int weight;
    void (*happens)(struct flow_walk *w);
} happenings[] = {
    {48, walk_end_a_job},
    {8, pod_runs},
    {14, time_passes},
    {12, controller_restarts},
    {10, writes_go_wrong},
    {4, job_is_deleted},
    {4, walk_suspend},
    {4, walk_retry_flow},
    {2, flow_is_aborted},
    {3, flow_is_edited},
    {2, walk_toggle_template},
    {4, template_changes},
    {2, flow_is_deleted},
    {3, walk_abort_a_job},
    {3, walk_take_up_a_job},
    {3, walk_suspend_all},
    {4, NULL},
};

void walk_random_event(struct flow_walk *w)
{
    int total = 0, at;

    for (size_t i = 0; i < countof(happenings); i++)
        total += happenings[i].weight;
    at = dice_roll(&w->dice, total);
    for (size_t i = 0; i < countof(happenings); i++) {
        at -= happenings[i].weight;
        if (at >= 0)
            continue;
        if (happenings[i].happens) {
            happenings[i].happens(w);
        } else {
            walk_did(w, "nothing happens for a while", "");
            walk_clear_faults(w);
            walk_check_calm(w);
        }
        break;
    }
    walk_execute_commands(w);
    walk_judge(w);
}
