/*
 * Walks. The world is a flow_bed whose flow controller sees the cluster through a faulty one; the
 * walk plays the job controller, the kubelet and the user, and watches.
 */
#include "tests/unit.h"

#include "tests/support/flow_walk.h"

#include "api/types/command.h"
#include "tests/fake/faulty.h"
#include "tests/support/flow_bed.h"
#include "tests/support/flow_gen.h"
#include <stdarg.h>
#include <stdio.h>

enum { JOBS_MAX = GEN_STEPS_MAX * (GEN_ITERATIONS_MAX + 1), EVENTS = 40, QUIET_ROUNDS = 400 };

struct seen_job {
    char name[24];
    char uid[40];
    unsigned attempt; /* newest */
    unsigned created, deleted_by_hand;
    unsigned since_retry; /* created, without what was deleted by hand, since the last retry */
    uint32_t step;
    enum job_phase phase; /* last seen */
    bool there, ended_well;
};

struct walk {
    uint64_t seed;
    struct gen_flow flow;
    struct flow_bed *bed;
    struct cluster *faulty;
    struct cluster_watcher flows, jobs;
    struct dice dice;
    struct seen_job seen[JOBS_MAX];
    uint32_t n_seen;
    enum flow_phase phase; /* as stored */
    bool retry_asked, disturbed;
    bool suspended, trace;
    int retries;
    char *violation;
    const char *event; /* what was done last */
    char about[64];
};

static void PRINTF_LIKE(2, 3) violated(struct walk *w, const char *format, ...)
{
    char text[512];
    va_list args;

    if (*w->violation)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(w->violation, FLOW_WALK_TEXT, "%s; after: %s %s", text, w->event, w->about);
}

static void did(struct walk *w, const char *event, const char *about)
{
    w->event = event;
    snprintf(w->about, sizeof w->about, "%s", about);
    if (w->trace)
        fprintf(stderr, "  %s %s\n", event, about);
}

/* ---- watching ---- */

static struct seen_job *seen_of(struct walk *w, const char *name)
{
    for (uint32_t i = 0; i < w->n_seen; i++)
        if (strcmp(w->seen[i].name, name) == 0)
            return &w->seen[i];
    assert_true(w->n_seen < JOBS_MAX);
    snprintf(w->seen[w->n_seen].name, sizeof w->seen->name, "%s", name);
    w->seen[w->n_seen].step = (uint32_t)strtoul(name + strlen("f-s"), NULL, 10);
    return &w->seen[w->n_seen++];
}

static unsigned attempt_of(const struct object *job)
{
    const char *text = meta_annotation(job->meta, ANNOTATION_FLOW_ATTEMPT);

    return text ? (unsigned)strtoul(text, NULL, 10) : 1;
}

/* Of the jobs of a step: is one unfinished, did one ever exist, did all that exist end well? */
struct standing {
    bool unfinished, exists, well, failed;
};

static struct standing standing_of(const struct walk *w, uint32_t step)
{
    struct standing s = {.well = true};

    for (uint32_t i = 0; i < w->n_seen; i++) {
        const struct seen_job *job = &w->seen[i];

        if (job->step != step || !job->created)
            continue;
        s.exists = true;
        s.unfinished |= !job_phase_finished(job->phase);
        s.failed |= job->phase == JOB_FAILED || job->phase == JOB_TERMINATED;
        s.well &= job->phase == JOB_COMPLETED;
    }
    return s;
}

/* INV-F2: what a plain step waits for has ended, as it must have. */
static void check_dependencies(struct walk *w, const struct seen_job *job)
{
    const struct gen_step *step = &w->flow.steps[job->step];
    bool one_well = !step->targets;

    if (step->conditional || step->listed)
        return;
    for (uint32_t t = 0; t < job->step; t++) {
        const struct gen_step *target = &w->flow.steps[t];
        struct standing s = standing_of(w, t);

        if (!(step->targets >> t & 1))
            continue;
        one_well |= target->chooses || (s.exists && s.well) || (target->ignored && s.failed);
        if (!step->any && s.unfinished && !(target->ignored && s.failed))
            violated(w, "INV-F2: %s was made before s%u ended", job->name, t);
        if (!step->any && s.failed && !target->ignored)
            violated(w, "INV-F2: %s was made although s%u failed", job->name, t);
    }
    if (!one_well && !w->retries)
        violated(w, "INV-F2: %s was made, and nothing it waits for was met", job->name);
}

/* The other way: nothing that waited for all its targets was made before this one. */
static void check_order(struct walk *w, const struct seen_job *job)
{
    for (uint32_t i = 0; i < w->n_seen && job->created == 1 && !w->retries; i++) {
        const struct gen_step *other = &w->flow.steps[w->seen[i].step];

        if (w->seen[i].created && other->targets >> job->step & 1 && !other->any &&
            !w->flow.steps[job->step].iterations)
            violated(w, "INV-F2: %s was made after %s, which waits for it", job->name,
                     w->seen[i].name);
    }
}

static uint32_t count_unfinished(const struct walk *w, uint32_t step)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < w->n_seen; i++)
        count += w->seen[i].there && !job_phase_finished(w->seen[i].phase) &&
                 (step == UINT32_MAX || w->seen[i].step == step);
    return count;
}

static void check_limits(struct walk *w, const struct seen_job *job)
{
    const struct gen_step *step = &w->flow.steps[job->step];

    if (w->flow.max_running && count_unfinished(w, UINT32_MAX) > w->flow.max_running)
        violated(w, "%s is one job more than maxRunningJobs", job->name);
    if (step->iterations && step->parallelism && count_unfinished(w, job->step) > step->parallelism)
        violated(w, "%s is one iteration more than parallelism", job->name);
    if (job->since_retry > 1u + (unsigned)step->max_retry)
        violated(w, "P-05: %s had %u attempts, %d retries are allowed", job->name, job->since_retry,
                 step->max_retry);
    if (w->suspended)
        violated(w, "%s was made although the flow is suspended", job->name);
}

static void job_made(struct walk *w, const struct object *object)
{
    struct seen_job *job = seen_of(w, object_name(object));
    unsigned attempt = attempt_of(object);

    if (job->created && attempt <= job->attempt)
        violated(w, "INV-F1: %s was made twice as attempt %u", job->name, attempt);
    if (flow_phase_finished(w->phase))
        violated(w, "INV-F4: %s was made although the flow had ended", job->name);
    if (job->created && job->ended_well && !w->flow.steps[job->step].final)
        violated(w, "P-05: %s had completed and was made again", job->name);
    job->attempt = attempt;
    job->created++;
    job->since_retry++;
    job->there = true;
    job->phase = JOB_NONE;
    snprintf(job->uid, sizeof job->uid, "%s", object_uid(object));
    check_limits(w, job);
    check_dependencies(w, job);
    check_order(w, job);
}

static void on_job(struct cluster_watcher *watcher, enum cluster_change change,
                   const struct object *old, const struct object *object)
{
    struct walk *w = container_of(watcher, struct walk, jobs);
    struct seen_job *job;

    if (strncmp(object_name(object), "f-s", 3) != 0)
        return;
    if (change == CHANGE_ADDED) {
        job_made(w, object);
        return;
    }
    job = seen_of(w, object_name(object));
    if (change == CHANGE_DELETED) {
        job->there = false;
        return;
    }
    job->phase = job_status_of(object)->phase;
    job->ended_well |= job->phase == JOB_COMPLETED;
}

static void on_flow(struct cluster_watcher *watcher, enum cluster_change change,
                    const struct object *old, const struct object *object)
{
    struct walk *w = container_of(watcher, struct walk, flows);
    enum flow_phase phase = jobflow_phase_of(object);

    if (change == CHANGE_DELETED || phase == w->phase)
        return;
    if (flow_phase_finished(w->phase) && !(w->phase == FLOW_FAILED && w->retry_asked))
        violated(w, "INV-F4: the phase went from %s to %s", flow_phase_text(w->phase),
                 flow_phase_text(phase));
    if (flow_phase_finished(w->phase) && phase == FLOW_RUNNING) {
        w->retry_asked = false;
        for (uint32_t i = 0; i < w->n_seen; i++)
            w->seen[i].since_retry = 0;
    }
    if (w->trace)
        fprintf(stderr, "    flow %s\n", flow_phase_text(phase));
    w->phase = phase;
}

/* ---- the status ---- */

static void mark_listed(struct walk *w, const json_t *status, const char *list, int *counts)
{
    const json_t *name;
    size_t i;

    json_array_foreach(json_object_get(status, list), i, name)
    {
        const char *text = json_string_value(name);

        if (strncmp(text, "f-s", 3) != 0)
            violated(w, "INV-F6: %s lists %s", list, text);
        else
            counts[seen_of(w, text) - w->seen]++;
    }
}

static void check_histories(struct walk *w, const json_t *status)
{
    const json_t *entry, *span;
    size_t i, k;

    json_array_foreach(json_object_get(status, "jobStatusList"), i, entry)
    {
        const json_t *spans = json_object_get(entry, "runningHistories");

        json_array_foreach(spans, k, span)
        {
            const char *start = json_string_value(json_object_get(span, "startTimestamp"));
            const char *end = json_string_value(json_object_get(span, "endTimestamp"));

            if (!end && k + 1 < json_array_size(spans))
                violated(w, "INV-F8: an entry that is not the last is open");
            if (start && end && strcmp(end, start) < 0)
                violated(w, "INV-F8: an entry ends before it starts");
        }
    }
}

/* When the status has been written. */
static void check_status(struct walk *w)
{
    static const char *const lists[] = {"pendingJobs",   "runningJobs",    "failedJobs",
                                        "completedJobs", "terminatedJobs", "unKnowJobs",
                                        "waitingJobs",   "skippedJobs"};
    scoped(json) json_t *status = flow_bed_flow_status(w->bed, "f");
    int counts[JOBS_MAX] = {0};

    for (size_t i = 0; i < countof(lists); i++)
        mark_listed(w, status, lists[i], counts);
    for (uint32_t i = 0; i < w->n_seen; i++)
        if (counts[i] != 1 && w->seen[i].created)
            violated(w, "INV-F6: %s is in %d lists", w->seen[i].name, counts[i]);
    check_histories(w, status);
}

/* ---- life ---- */

static void start(struct walk *w)
{
    w->bed->flows = flow_controller_start(w->faulty, &w->bed->options);
    flow_bed_settle(w->bed);
}

static void stop(struct walk *w)
{
    flow_controller_stop(take(w->bed->flows));
    flow_bed_settle(w->bed);
}

static void restart(struct walk *w)
{
    stop(w);
    start(w);
}

static bool apply(struct walk *w, bool suspend)
{
    scoped_str yaml = mem_printf(
        "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, metadata: {name: f, annotations: "
        "{flow.volcano.sh/allow-updates: \"true\"}}, spec: {%s%s}}\n",
        w->flow.spec.data, suspend ? ", suspend: true" : "");

    return flow_bed_try(w->bed, yaml);
}

static bool begin(struct walk *w, uint64_t seed, struct flow_bed *bed)
{
    gen_flow(seed, &w->flow);
    w->seed = seed;
    w->bed = bed;
    w->event = "the start";
    flow_controller_stop(take(bed->flows));
    w->faulty = faulty_new(bed->cluster);
    w->flows = (struct cluster_watcher){on_flow, &kind_job_flow};
    w->jobs = (struct cluster_watcher){on_job, &kind_job};
    cluster_watch(bed->cluster, &w->flows);
    cluster_watch(bed->cluster, &w->jobs);
    flow_bed_templates(bed, "t");
    start(w);
    return apply(w, false);
}

static void end(struct walk *w)
{
    stop(w);
    cluster_unwatch(w->bed->cluster, &w->flows);
    cluster_unwatch(w->bed->cluster, &w->jobs);
    flow_bed_settle(w->bed);
    faulty_free(w->faulty);
    gen_flow_release(&w->flow);
}

/* ---- what happens ---- */

/* The job controller carries out Commands. */
static void obey(struct walk *w)
{
    for (uint32_t i = 0; i < w->n_seen; i++) {
        struct seen_job *job = &w->seen[i];
        scoped_str command = mem_printf("terminate-%s", job->uid);

        if (!job->there || !flow_bed_get(w->bed, &kind_command, command))
            continue;
        flow_bed_delete(w->bed, &kind_command, command, REGISTRY_BACKGROUND);
        if (!job_phase_finished(job->phase))
            flow_bed_phase(w->bed, job->name, JOB_TERMINATED);
    }
}

static void end_job(struct walk *w, struct seen_job *job)
{
    struct gen_end end_ =
        gen_end_of(w->seed, job->name, w->disturbed ? job->attempt : job->created);

    did(w, end_.code ? "fails" : "completes", job->name);
    if (job->phase != JOB_RUNNING)
        flow_bed_phase(w->bed, job->name, JOB_RUNNING);
    if (!job->there)
        return;
    flow_bed_end_pod(w->bed, job->name, "main", 0, end_.code, *end_.message ? end_.message : NULL);
    flow_bed_phase(w->bed, job->name,
                   !end_.code        ? JOB_COMPLETED
                   : end_.terminated ? JOB_TERMINATED
                                     : JOB_FAILED);
}

static struct seen_job *some_job(struct walk *w, bool unfinished)
{
    uint32_t from = w->n_seen ? (uint32_t)dice_roll(&w->dice, (int)w->n_seen) : 0;

    for (uint32_t i = 0; i < w->n_seen; i++) {
        struct seen_job *job = &w->seen[(from + i) % w->n_seen];

        if (job->there && job_phase_finished(job->phase) != unfinished)
            return job;
    }
    return NULL;
}

static void fault(struct walk *w)
{
    static const enum faulty_way ways[] = {FAULTY_REFUSE, FAULTY_LOSE, FAULTY_DELAY};
    static const enum error_code codes[] = {ERR_CONFLICT, ERR_UNAVAILABLE, ERR_TIMEOUT};
    struct faulty_rule rule = {
        .ops = 1u << dice_roll(&w->dice, 4),
        .times = 1 + (int)dice_roll(&w->dice, 3),
        .way = ways[dice_roll(&w->dice, 3)],
        .code = codes[dice_roll(&w->dice, 3)],
        .delay_ms = 1 + dice_roll(&w->dice, 2000),
    };

    if (rule.way == FAULTY_DELAY && rule.ops == FAULTY_CREATE)
        rule.way = FAULTY_LOSE; /* a late one would belong to what the flow was */
    did(w, "writes go wrong", "");
    faulty_clear(w->faulty);
    faulty_plan(w->faulty, &rule);
}

/* A result of which the status knows nothing yet is lost with its job: it is stored first. */
static void remove_by_hand(struct walk *w)
{
    struct seen_job *job;

    faulty_clear(w->faulty);
    flow_bed_advance(w->bed, 3000);
    job = some_job(w, dice_chance(&w->dice, 50));
    if (!job)
        return;
    did(w, "is deleted by hand:", job->name);
    if (!job_phase_finished(job->phase) && job->since_retry)
        job->since_retry--;
    w->disturbed = true;
    flow_bed_delete(w->bed, &kind_job, job->name, REGISTRY_BACKGROUND);
}

static void suspend(struct walk *w)
{
    if (flow_phase_finished(w->phase))
        return;
    did(w, w->suspended ? "is resumed" : "is suspended", "f");
    if (!w->suspended) { /* jobs that are being made are there first */
        faulty_clear(w->faulty);
        flow_bed_advance(w->bed, 3000);
        if (flow_phase_finished(w->phase))
            return;
    }
    w->suspended = !w->suspended;
    apply(w, w->suspended);
}

static void ask_retry(struct walk *w)
{
    char value[16];

    if (w->phase != FLOW_FAILED || w->retries == 2)
        return;
    snprintf(value, sizeof value, "%d", ++w->retries);
    did(w, "is retried", value);
    w->retry_asked = w->disturbed = true;
    flow_bed_annotate(w->bed, "f", ANNOTATION_FLOW_RETRY, value);
    flow_bed_settle(w->bed);
}

static void happen(struct walk *w)
{
    int what = dice_roll(&w->dice, 100);
    struct seen_job *job = some_job(w, true);

    if (what < 50 && job)
        end_job(w, job);
    else if (what < 65)
        did(w, "time passes", ""), flow_bed_advance(w->bed, 1 + dice_roll(&w->dice, 15000));
    else if (what < 78)
        did(w, "restart", ""), restart(w);
    else if (what < 88)
        fault(w);
    else if (what < 92)
        remove_by_hand(w);
    else if (what < 96)
        suspend(w);
    else
        ask_retry(w);
    obey(w);
}

/* ---- the end ---- */

/* LIV-1: with nothing going wrong any more the flow comes to its end. */
static void run_out(struct walk *w)
{
    faulty_clear(w->faulty);
    flow_bed_advance(w->bed, 3000);
    if (w->suspended)
        suspend(w);
    for (int i = 0; i < QUIET_ROUNDS; i++) {
        struct seen_job *job = some_job(w, true);

        if (!job && flow_phase_finished(w->phase) && !w->retry_asked)
            return;
        if (job)
            end_job(w, job);
        else
            did(w, "time passes", ""), flow_bed_advance(w->bed, 31000);
        obey(w);
    }
    violated(w, "LIV-1: the flow does not end: %s", flow_bed_at(w->bed, "f", "conditions"));
}

/* Equal but for what they show of a place at which they differ. */
static void check_same(struct walk *w, const char *before, const char *after)
{
    size_t at = 0, from;

    while (before[at] && before[at] == after[at])
        at++;
    from = at < 80 ? 0 : at - 80;
    if (before[at] != after[at])
        violated(w, "INV-F5: after a restart the status says …%.160s… instead of …%.160s…",
                 after + from, before + from);
}

/* A flow without conditions succeeds when no failure counts, and fails only for one that does. */
static void check_end(struct walk *w)
{
    bool conditions = false, failed = w->flow.deadline;

    for (uint32_t i = 0; i < w->flow.count; i++) {
        conditions |= w->flow.steps[i].conditional;
        failed |= w->flow.steps[i].until && !w->flow.steps[i].ignored;
    }
    for (uint32_t i = 0; i < w->n_seen && !conditions; i++) {
        const struct seen_job *job = &w->seen[i];
        bool counts = (job->phase == JOB_FAILED || job->phase == JOB_TERMINATED) &&
                      !w->flow.steps[job->step].ignored;

        if (counts && job->since_retry && w->phase == FLOW_SUCCEED)
            violated(w, "the flow succeeded although %s failed", job->name);
        failed |= counts;
    }
    if (!conditions && !failed && w->phase == FLOW_FAILED)
        violated(w, "the flow failed although nothing did");
}

static void check_rest(struct walk *w)
{
    scoped_str before = NULL;
    unsigned writes;

    flow_bed_advance(w->bed, 60000);
    check_status(w);
    check_end(w);
    before = mem_strdup(flow_bed_at(w->bed, "f", ""));
    writes = w->bed->flow_writes;
    flow_bed_advance(w->bed, 600000);
    if (w->bed->flow_writes != writes)
        violated(w, "INV-F11: at rest the status is written");
    restart(w);
    flow_bed_advance(w->bed, 60000);
    check_same(w, before, flow_bed_at(w->bed, "f", ""));
    for (uint32_t i = 0; i < w->n_seen; i++)
        if (w->flow.deletes && w->phase == FLOW_SUCCEED && w->seen[i].there)
            violated(w, "INV-F9: %s is left", w->seen[i].name);
}

/* How the flow ended: its phase and the steps by list. */
static char *summary(struct walk *w)
{
    static const char *const lists[] = {"failedJobs", "completedJobs", "terminatedJobs",
                                        "skippedJobs"};
    struct buf text = {0};

    buf_printf(&text, "%s", flow_phase_text(w->phase));
    for (size_t i = 0; i < countof(lists); i++)
        buf_printf(&text, " %s %s", lists[i], flow_bed_at(w->bed, "f", lists[i]));
    return buf_take(&text);
}

static char *twin(uint64_t seed, char violation[FLOW_WALK_TEXT])
{
    struct walk w = {.violation = violation};
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    char *text = NULL;

    if (begin(&w, seed, bed)) {
        run_out(&w);
        flow_bed_advance(bed, 60000);
        text = summary(&w);
    }
    end(&w);
    return text;
}

/* The order of events changes what a stopped flow has started, whose condition is asked when, and
 * whether the deadline comes first. */
static bool comparable(const struct walk *w)
{
    return w->flow.goes_on && !w->flow.early && !w->flow.deadline && !w->disturbed;
}

static void compare(struct walk *w)
{
    scoped_str wanted = comparable(w) ? twin(w->seed, w->violation) : NULL;
    scoped_str got = summary(w);

    if (wanted && strcmp(wanted, got) != 0)
        violated(w, "P-12: it ended as %s; undisturbed as %s", got, wanted);
}

bool walk_flow(uint64_t seed, const struct flow_walk_options *options,
               char violation[FLOW_WALK_TEXT])
{
    struct walk w = {.violation = violation, .trace = options && options->trace};
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    *violation = '\0';
    w.dice.state = ~seed;
    if (begin(&w, seed, bed)) {
        if (w.trace)
            fprintf(stderr, "%s\n", w.flow.spec.data);
        for (int i = 0; i < EVENTS && !*violation; i++)
            happen(&w);
        if (!*violation)
            run_out(&w);
        if (!*violation)
            check_rest(&w);
        if (!*violation)
            compare(&w);
    }
    end(&w);
    return !*violation;
}
