/*
 * Records what watchers see of the flow, and checks what must hold of every change.
 */
#include "tests/unit.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/collections/hash.h"
#include "base/timefmt.h"
#include "tests/support/flow_walk_impl.h"

enum {
    SOON_MS = 2500,   /* the deadline may be this much earlier than the rules know */
    SURELY_MS = 3000, /* the deadline may be this much later than the rules know */
    SECOND_MS = 1000  /* times in objects are whole seconds */
};

int64_t walk_now_ms(const struct flow_walk *w)
{
    return loop_wall_ms(w->fixture->loop);
}

static double seconds(const struct flow_walk *w)
{
    return (double)(walk_now_ms(w) - 1700000000000) / 1000;
}

void walk_violated(struct flow_walk *w, const char *format, ...)
{
    char text[512];
    va_list args;

    if (*w->violation)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(w->violation, FLOW_WALK_TEXT, "%s; after: %s %s", text, w->event, w->about);
    for (uint32_t i = 0; w->trace && i < w->flow.count; i++)
        fprintf(stderr, "            s%u: verdict %d, end %d%s%s\n", i,
                (int)w->rules.steps[i].verdict, (int)w->rules.steps[i].end,
                w->rules.steps[i].stays ? ", stays" : "",
                w->rules.steps[i].unclear ? ", unclear" : "");
    if (w->trace && w->exists)
        fprintf(stderr, "%8.1f      status %s\n", seconds(w), flow_fixture_at(w->fixture, "f", ""));
}

void walk_did(struct flow_walk *w, const char *event, const char *about)
{
    w->event = event;
    snprintf(w->about, sizeof w->about, "%s", about);
    if (w->trace)
        fprintf(stderr, "%8.1f  %s %s\n", seconds(w), event, about);
}

/* Adds each event, its time and its effect to the hash that identifies the walk (INV-R2). */
static void note(struct flow_walk *w, enum cluster_change change, const struct object *object)
{
    scoped(buf) struct buf text = {0};

    buf_printf(&text, "%llx %lld %d %s %lld %s", (unsigned long long)w->hash,
               (long long)walk_now_ms(w), (int)change, object_uid(object),
               (long long)object->revision, object->status ? object->status->text : "");
    w->hash = hash_stable(text.data, text.len);
}

struct rule_job *walk_fact(struct flow_walk *w, const struct seen_job *job)
{
    return &w->rules.steps[job->step].jobs[job->iteration];
}

struct seen_job *walk_seen(struct flow_walk *w, const char *name)
{
    const char *number = strncmp(name, "f-s", 3) == 0 ? name + 3 : "";
    char *end;
    unsigned long step = strtoul(number, &end, 10);
    unsigned long iteration = *end == '-' ? strtoul(end + 1, NULL, 10) : 0;

    if (end == number || step >= GEN_STEPS_MAX || iteration >= GEN_LOOP_JOBS_MAX)
        return NULL;
    for (uint32_t i = 0; i < w->n_seen; i++)
        if (strcmp(w->seen[i].name, name) == 0)
            return &w->seen[i];
    assert_true(w->n_seen < WALK_JOBS_MAX);
    snprintf(w->seen[w->n_seen].name, NAME_MAX_HERE, "%s", name);
    w->seen[w->n_seen].step = (uint32_t)step;
    w->seen[w->n_seen].iteration = (uint32_t)iteration;
    return &w->seen[w->n_seen++];
}

struct rule_step walk_new_step(void)
{
    struct rule_step step = {0};

    for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++)
        step.jobs[k].k = -1;
    return step;
}

void walk_forget(struct flow_walk *w)
{
    w->rules = (struct rules){.flow = &w->flow};
    for (uint32_t i = 0; i < GEN_STEPS_MAX; i++)
        w->rules.steps[i] = walk_new_step();
    w->phase = FLOW_NONE;
    w->first_made_ms = w->finished_ms = 0;
    w->retry_asked = w->aborted = w->deleting = false;
    w->named = 0;
    w->retries = 0;
    for (size_t i = 0; i < countof(w->templates); i++) {
        w->templates[i].pinned = 0;
        w->templates[i].oldest = w->templates[i].version;
    }
    memset(w->hashes, 0, sizeof w->hashes);
    for (uint32_t i = 0; i < w->n_seen; i++) {
        struct seen_job *job = &w->seen[i];

        job->foreign |= job->there;
        job->there = false;
        job->attempt = job->created = job->since_retry = 0;
        job->retried = 0;
        job->blurred = job->spent = false;
        job->ended_well = false;
    }
}

/* Returns whether the job is not retried because its flow is ending or its loop has ended. */
static bool is_over(const struct flow_walk *w, const struct seen_job *job)
{
    const struct gen_step *step = &w->flow.steps[job->step];

    if (step->loop && w->rules.steps[job->step].end != RULE_OPEN &&
        w->rules.steps[job->step].end != RULE_UNSURE)
        return true;
    return w->rules.closed && !step->final;
}

/* Makes failures final that were waiting for a retry. */
static bool close_retries(struct flow_walk *w)
{
    bool closed = false;

    for (uint32_t i = 0; i < w->n_seen; i++) {
        struct rule_job *fact = walk_fact(w, &w->seen[i]);

        if (!fact->again || !(is_over(w, &w->seen[i])))
            continue;
        fact->again = false;
        fact->stopped = true;
        fact->end = w->seen[i].end.terminated || w->seen[i].spent ? RULE_TERMINATED : RULE_FAILED;
        closed = true;
    }
    return closed;
}

void walk_judge(struct flow_walk *w)
{
    int64_t due_ms = w->first_made_ms + w->flow.deadline_s * INT64_C(1000);

    if (w->flow.deadline_s && w->first_made_ms && !flow_phase_finished(w->phase)) {
        w->rules.seen_late |= walk_now_ms(w) >= due_ms - SOON_MS;
        w->rules.late |= walk_now_ms(w) >= due_ms + SURELY_MS;
    }
    w->rules.aborted = w->aborted;
    rules_judge(&w->rules);
    if (close_retries(w))
        rules_judge(&w->rules);
}

static unsigned attempt_of(const struct object *job)
{
    const char *text = meta_annotation(job->meta, ANNOTATION_FLOW_ATTEMPT);

    return text ? (unsigned)strtoul(text, NULL, 10) : 1;
}

static uint32_t count_unfinished(const struct flow_walk *w, uint32_t step)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < w->n_seen; i++)
        count += w->seen[i].there && !walk_has_ended(&w->seen[i]) &&
                 (step == UINT32_MAX || w->seen[i].step == step);
    return count;
}

/* Checks the limits on running jobs; the new job itself counts as unfinished. */
static void check_limits(struct flow_walk *w, const struct seen_job *job)
{
    const struct gen_step *step = &w->flow.steps[job->step];

    if (w->flow.max_running && count_unfinished(w, UINT32_MAX) > w->flow.max_running &&
        !(w->flow.gang >> job->step & 1))
        walk_violated(w, "%s is one job more than maxRunningJobs", job->name);
    if (step->loop && step->parallelism && count_unfinished(w, job->step) > step->parallelism)
        walk_violated(w, "%s is one iteration more than parallelism", job->name);
    if (job->since_retry > 1u + (unsigned)step->max_retry)
        walk_violated(w, "P-05: %s had %u attempts, %d retries are allowed", job->name,
                      job->since_retry, step->max_retry);
    if (w->suspended)
        walk_violated(w, "%s was made although the flow is suspended", job->name);
}

/* Checks that the rules allow the created job (INV-F2). */
static void check_allowed(struct flow_walk *w, const struct seen_job *job)
{
    const struct rule_step *step = &w->rules.steps[job->step];
    const struct rule_job *fact = walk_fact(w, job);
    bool final = w->flow.steps[job->step].final;

    if (flow_phase_finished(w->phase) || !w->exists || w->deleting)
        walk_violated(w, "INV-F4: %s was made although the flow had ended", job->name);
    if (!fact->made && step->verdict != RULE_RUNS && step->verdict != RULE_EITHER)
        walk_violated(w, "INV-F2: %s was made, but its step %s", job->name,
                      step->verdict == RULE_SKIPS ? "is to be skipped" : "has to wait");
    if (fact->made && fact->end != RULE_OPEN && fact->end != RULE_UNSURE)
        walk_violated(w, "P-05: %s had ended and was made again", job->name);
    if (fact->made && fact->unfinished)
        walk_violated(w, "INV-F1: %s was made while it ran", job->name);
    if (!final && w->rules.closed && !w->rules.unsure)
        walk_violated(w, "13.4: %s was made although the flow is to end", job->name);
    if (!rule_gang_forms(&w->rules, job->step))
        walk_violated(w, "13.6: %s was made before its gang", job->name);
    if (!fact->again && !rule_iteration_due(&w->rules, job->step, job->iteration))
        walk_violated(w, "13.5: %s is not the next iteration", job->name);
    if (fact->again && walk_now_ms(w) + SECOND_MS <
                           job->ended_ms + rule_delay_ms(&w->flow.steps[job->step], job->retried))
        walk_violated(w, "13.4: %s was made %lld ms after its failure, back-off %lld", job->name,
                      (long long)(walk_now_ms(w) - job->ended_ms),
                      (long long)rule_delay_ms(&w->flow.steps[job->step], job->retried));
}

/* Checks that steps held back by maxRunningJobs start in order (13.7). */
static void check_order(struct flow_walk *w, const struct seen_job *job)
{
    if (!w->flow.max_running || w->flow.critical_path || w->flow.gang || w->faults ||
        walk_fact(w, job)->made)
        return;
    for (uint32_t i = 0; i < job->step; i++)
        if (!w->rules.steps[i].jobs[0].made && walk_is_due(w, i, 0))
            walk_violated(w, "13.7: %s was made before s%u, which waits", job->name, i);
}

static void job_made(struct flow_walk *w, struct seen_job *job, const struct object *object)
{
    struct rule_job *fact = walk_fact(w, job);
    unsigned attempt = attempt_of(object);

    if (job->created && attempt <= job->attempt)
        walk_violated(w, "INV-F1: %s was made twice as attempt %u", job->name, attempt);
    walk_judge(w);
    w->rules.steps[job->step].begun |= w->flow.steps[job->step].loop == GEN_ITEMS_FROM;
    check_allowed(w, job);
    check_order(w, job);
    walk_check_body(w, job, object);
    walk_check_gang(w, job, object);
    if (w->trace)
        fprintf(stderr, "%8.1f      %s is made, attempt %u\n", seconds(w), job->name, attempt);
    job->attempt = attempt;
    job->created++;
    job->since_retry++;
    job->there = true;
    job->phase = JOB_NONE;
    job->spent = false;
    snprintf(job->uid, sizeof job->uid, "%s", object_uid(object));
    if (!w->first_made_ms)
        w->first_made_ms = walk_now_ms(w);
    check_limits(w, job);
    w->rules.steps[job->step].unclear = false;
    job->replaces = fact->made && !fact->again;
    job->made_ms = walk_now_ms(w);
    *fact = (struct rule_job){.made = true,
                              .unfinished = true,
                              .k = -1,
                              .items = GEN_NO_ITEMS,
                              .passed = fact->passed,
                              .polled = fact->polled};
    walk_judge(w);
}

/* Determines whether another attempt follows the end of this one. */
static void follow(struct flow_walk *w, struct seen_job *job, enum rule_loss how)
{
    struct rule_job *fact = walk_fact(w, job);

    fact->again = !is_over(w, job) && !flow_phase_finished(w->phase) &&
                  rule_retries(&w->flow.steps[job->step], how, job->end.code, job->retried);
    job->retried += fact->again;
}

/* Records the results of an attempt that has ended; another attempt may follow. */
static void know_end(struct flow_walk *w, struct seen_job *job)
{
    struct rule_job *fact = walk_fact(w, job);

    job->ended_ms = walk_now_ms(w);
    fact->unfinished = false;
    fact->known = true;
    fact->code = job->end.code;
    fact->k = job->end.k;
    fact->items = job->end.items;
}

/* Handles an abort. An aborted job has not ended, unless its step retries aborted jobs. */
static void job_aborted(struct flow_walk *w, struct seen_job *job)
{
    struct rule_job *fact = walk_fact(w, job);

    follow(w, job, RULE_BY_ABORT);
    if (!fact->again)
        return;
    job->spent = true;
    know_end(w, job);
    if (job->blurred)
        fact->end = RULE_UNSURE;
}

/* Handles a job that was resumed before the next attempt was created. */
static void job_taken_up(struct flow_walk *w, struct seen_job *job)
{
    struct rule_job *fact = walk_fact(w, job);

    job->spent = false;
    job->retried--; /* the job is still in the same attempt */
    fact->unfinished = true;
    fact->again = fact->known = false;
    fact->end = RULE_OPEN;
}

static void job_ended(struct flow_walk *w, struct seen_job *job)
{
    struct rule_job *fact = walk_fact(w, job);
    bool terminated = job->phase == JOB_TERMINATED;

    if (job->phase != JOB_COMPLETED && !job->end.code) /* a Command ended the job */
        job->end = (struct gen_end){.k = -1, .items = GEN_NO_ITEMS};
    job->end.terminated = terminated;
    know_end(w, job);
    if (job->phase == JOB_COMPLETED) {
        job->ended_well = true;
        fact->end = RULE_COMPLETED;
        return;
    }
    follow(w, job, terminated ? RULE_BY_TERMINATION : RULE_BY_FAILURE);
    if (!fact->again)
        fact->end = terminated ? RULE_TERMINATED : RULE_FAILED;
    else if (job->blurred)
        fact->end = RULE_UNSURE;
}

static void job_changed(struct flow_walk *w, struct seen_job *job, const struct object *object)
{
    enum job_phase phase = job_status_of(object)->phase;

    if (phase == job->phase)
        return;
    job->phase = phase;
    if (job_phase_finished(phase))
        job_ended(w, job);
    else if (phase == JOB_ABORTED)
        job_aborted(w, job);
    else if (job->spent)
        job_taken_up(w, job);
    walk_judge(w);
}

static void job_gone(struct flow_walk *w, struct seen_job *job)
{
    job->there = false;
    walk_fact(w, job)->unfinished = false;
    walk_judge(w);
}

static void on_job(struct cluster_watcher *watcher, enum cluster_change change,
                   const struct object *old, const struct object *object)
{
    struct flow_walk *w = container_of(watcher, struct flow_walk, jobs);
    const struct owner_ref *owner = meta_controller(object->meta);
    struct seen_job *job = walk_seen(w, object_name(object));

    note(w, change, object);
    if (!job)
        return;
    if (!owner || strcmp(owner->uid, w->uid) != 0) {
        job->foreign = change != CHANGE_DELETED;
        return;
    }
    if (change == CHANGE_ADDED)
        job_made(w, job, object);
    else if (change == CHANGE_DELETED)
        job_gone(w, job);
    else
        job_changed(w, job, object);
}

static void on_pod(struct cluster_watcher *watcher, enum cluster_change change,
                   const struct object *old, const struct object *pod)
{
    struct flow_walk *w = container_of(watcher, struct flow_walk, pods);
    const struct owner_ref *owner = meta_controller(pod->meta);
    struct seen_job *job = owner ? walk_seen(w, owner->name) : NULL;
    enum pod_phase phase = pod_status_of(pod)->phase;

    if (!job || strcmp(owner->uid, job->uid) != 0 || change == CHANGE_DELETED ||
        (phase != POD_RUNNING && phase != POD_SUCCEEDED) || !walk_fact(w, job)->made)
        return;
    if (walk_fact(w, job)->passed != RULE_YES)
        walk_fact(w, job)->passed =
            w->away || flow_phase_finished(w->phase) ? RULE_PERHAPS : RULE_YES;
    if (walk_fact(w, job)->polled != RULE_YES)
        walk_fact(w, job)->polled = RULE_PERHAPS;
    walk_judge(w);
}

static void begin_again(struct flow_walk *w)
{
    w->retry_asked = false;
    if (w->named)
        rules_run_again(&w->rules, w->named, w->only);
    else
        rules_start_again(&w->rules);
    walk_see_pods(w, RULE_YES); /* probes were not asked while the flow was over */
    for (uint32_t i = 0; i < w->n_seen; i++) {
        w->seen[i].since_retry = 0;
        w->seen[i].retried = 0;
        w->seen[i].blurred = false;
    }
    w->first_made_ms = walk_now_ms(w);
    walk_judge(w);
}

static void flow_ended(struct flow_walk *w, enum flow_phase phase)
{
    enum rule_phase wanted = phase == FLOW_SUCCEED ? RULE_SUCCEEDS : RULE_FAILS;
    bool late;

    walk_judge(w);
    late = phase == FLOW_FAILED && w->rules.seen_late;
    w->rules.late |= late; /* the stored phase shows that the deadline has passed */
    walk_judge(w);
    if (w->rules.phase != wanted && !w->rules.unsure && !late)
        walk_violated(w, "8.3: the flow is %s, but it %s", flow_phase_text(phase),
                      w->rules.phase == RULE_GOES_ON    ? "has not ended"
                      : w->rules.phase == RULE_SUCCEEDS ? "has succeeded"
                                                        : "has failed");
    w->finished_ms = walk_now_ms(w);
}

static int64_t completion_of(const struct object *flow)
{
    scoped(json) json_t *status = object_status_json(flow);
    int64_t at_ms = 0;

    time_parse(json_string_value(json_object_get(status, "completionTime")), &at_ms, NULL);
    return at_ms;
}

static void flow_gone(struct flow_walk *w, const struct object *flow)
{
    if (!w->deleting && (w->flow.ttl_s < 0 || !flow_phase_finished(w->phase)))
        walk_violated(w, "the flow is gone");
    else if (!w->deleting && walk_now_ms(w) < completion_of(flow) + w->flow.ttl_s * INT64_C(1000))
        walk_violated(w, "13.11: deleted %lld ms after its end",
                      (long long)(walk_now_ms(w) - completion_of(flow)));
    w->exists = false;
}

static void on_flow(struct cluster_watcher *watcher, enum cluster_change change,
                    const struct object *old, const struct object *object)
{
    struct flow_walk *w = container_of(watcher, struct flow_walk, flows);
    enum flow_phase phase = jobflow_phase_of(object);

    if (strcmp(object_name(object), "f") != 0)
        return;
    note(w, change, object);
    if (change == CHANGE_ADDED) {
        snprintf(w->uid, sizeof w->uid, "%s", object_uid(object));
        w->exists = true;
    }
    if (change == CHANGE_DELETED) {
        flow_gone(w, object);
        return;
    }
    if (phase == w->phase)
        return;
    if (w->trace)
        fprintf(stderr, "%8.1f      flow %s\n", seconds(w), flow_phase_text(phase));
    if (flow_phase_finished(w->phase) && phase != FLOW_TERMINATING &&
        !((w->phase == FLOW_FAILED || w->named) && w->retry_asked))
        walk_violated(w, "INV-F4: the phase went from %s to %s", flow_phase_text(w->phase),
                      flow_phase_text(phase));
    if (flow_phase_finished(w->phase) && phase == FLOW_RUNNING)
        begin_again(w);
    if (flow_phase_finished(phase))
        flow_ended(w, phase);
    w->phase = phase;
}

void walk_watch(struct flow_walk *w)
{
    w->flows = (struct cluster_watcher){on_flow, &kind_job_flow};
    w->jobs = (struct cluster_watcher){on_job, &kind_job};
    w->pods = (struct cluster_watcher){on_pod, &kind_pod};
    cluster_watch(w->fixture->cluster, &w->flows);
    cluster_watch(w->fixture->cluster, &w->jobs);
    cluster_watch(w->fixture->cluster, &w->pods);
}

void walk_unwatch(struct flow_walk *w)
{
    cluster_unwatch(w->fixture->cluster, &w->flows);
    cluster_unwatch(w->fixture->cluster, &w->jobs);
    cluster_unwatch(w->fixture->cluster, &w->pods);
}
