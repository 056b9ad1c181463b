/*
 * Checks of the status, the existing jobs and a finished flow that must hold when nothing is in
 * flight.
 */
#include "tests/unit.h"

#include "tests/support/flow_walk_impl.h"

enum { CALM_MS = 31000, MINUTE_MS = 60000, SYNCS_A_MINUTE = 20 };

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

void walk_check_gang(struct flow_walk *w, const struct seen_job *job, const struct object *object)
{
    const uint32_t gang = w->flow.gang, least = gen_gang_least(&w->flow);
    const bool member = gang >> job->step & 1;
    scoped_str enough = mem_printf("%u", least);
    const bool some = member && least && least < (uint32_t)__builtin_popcount(gang);

    if (!same_text(meta_annotation(object->meta, ANNOTATION_FLOW_GANG),
                   member ? "default.f.g" : NULL))
        walk_violated(w, "13.6: %s does not say which gang it is of", job->name);
    if (!same_text(meta_annotation(object->meta, ANNOTATION_FLOW_GANG_LEAST), some ? enough : NULL))
        walk_violated(w, "13.6: %s does not say how many of its gang start together", job->name);
}

static void mark_listed(struct flow_walk *w, const json_t *status, const char *list, int *counts)
{
    const json_t *name;
    size_t i;

    json_array_foreach(json_object_get(status, list), i, name)
    {
        struct seen_job *job = walk_seen(w, json_string_value(name));

        if (!job)
            walk_violated(w, "INV-F6: %s lists %s", list, json_string_value(name));
        else
            counts[job - w->seen]++;
    }
}

static void check_histories(struct flow_walk *w, const json_t *status)
{
    const json_t *entry, *span;
    size_t i, k;

    json_array_foreach(json_object_get(status, "jobStatusList"), i, entry)
    {
        const json_t *spans = json_object_get(entry, "runningHistories");
        struct seen_job *job = walk_seen(w, json_string_value(json_object_get(entry, "name")));

        if (job && job->there &&
            json_integer_value(json_object_get(entry, "restartCount")) !=
                (json_int_t)job->attempt - 1)
            walk_violated(w, "13.4: %s is attempt %u, and its restartCount another", job->name,
                          job->attempt);

        json_array_foreach(spans, k, span)
        {
            const char *start = json_string_value(json_object_get(span, "startTimestamp"));
            const char *end = json_string_value(json_object_get(span, "endTimestamp"));

            if (!end && k + 1 < json_array_size(spans))
                walk_violated(w, "INV-F8: an entry that is not the last is open");
            if (start && end && strcmp(end, start) < 0)
                walk_violated(w, "INV-F8: an entry ends before it starts");
        }
    }
}

static bool is_listed(const json_t *list, const char *name)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(list, i, entry)
    {
        if (strcmp(json_string_value(entry), name) == 0)
            return true;
    }
    return false;
}

/* Checks that a step is in the list of skipped steps exactly if it does not run (13.3). */
static void check_skipped(struct flow_walk *w, const json_t *status)
{
    const json_t *skipped = json_object_get(status, "skippedJobs");

    for (uint32_t i = 0; i < w->flow.count && !w->rules.closed && !w->rules.unsure; i++) {
        const struct gen_step *step = &w->flow.steps[i];
        char name[NAME_MAX_HERE];

        if (step->chooses || step->loop == GEN_UNTIL || step->loop == GEN_ITEMS_FROM)
            continue;
        if (step->loop && w->rules.steps[i].jobs[0].kept)
            continue; /* a retry keeps what the loop has completed, also when it skips the rest */
        snprintf(name, sizeof name, step->loop ? "f-s%u-0" : "f-s%u", i);
        if (w->rules.steps[i].end == RULE_SKIPPED && !is_listed(skipped, name))
            walk_violated(w, "13.3: %s is not skipped", name);
        if (!step->loop && w->rules.steps[i].end != RULE_SKIPPED && is_listed(skipped, name))
            walk_violated(w, "13.3: %s is skipped", name);
    }
}

/* Checks that the status has the hash of the content that each job was made from, and that the hash
 * stays (13.10). */
static void check_hashes(struct flow_walk *w, const json_t *status)
{
    const json_t *node;
    size_t i;

    json_array_foreach(json_object_get(status, "nodes"), i, node)
    {
        const char *text = json_string_value(json_object_get(node, "specHash"));
        const json_t *jobs = json_object_get(node, "jobs");
        struct seen_job *job =
            json_array_size(jobs) ? walk_seen(w, json_string_value(json_array_get(jobs, 0))) : NULL;
        uint64_t hash = text ? strtoull(text, NULL, 16) : 0;

        if (!job)
            continue;
        if (!hash || (w->hashes[job - w->seen] && w->hashes[job - w->seen] != hash))
            walk_violated(w, "13.10: %s has the specHash %s", job->name, text ? text : "none");
        w->hashes[job - w->seen] = hash;
    }
}

void walk_check_status(struct flow_walk *w)
{
    static const char *const lists[] = {"pendingJobs",   "runningJobs",    "failedJobs",
                                        "completedJobs", "terminatedJobs", "unKnowJobs",
                                        "waitingJobs",   "skippedJobs"};
    scoped(json) json_t *status = flow_fixture_flow_status(w->fixture, "f");
    int counts[WALK_JOBS_MAX] = {0};

    for (size_t i = 0; i < countof(lists); i++)
        mark_listed(w, status, lists[i], counts);
    for (uint32_t i = 0; i < w->n_seen; i++)
        if (counts[i] != 1 && w->seen[i].created)
            walk_violated(w, "INV-F6: %s is in %d lists", w->seen[i].name, counts[i]);
    check_histories(w, status);
    check_hashes(w, status);
    check_skipped(w, status);
}

/* Returns whether a foreign job has the name of the step's next job. The name may belong to another
 * iteration, which must come before this one. */
static bool name_is_taken(struct flow_walk *w, uint32_t step)
{
    for (uint32_t i = 0; i < w->n_seen; i++)
        if (w->seen[i].step == step && w->seen[i].foreign)
            return true;
    return false;
}

static bool retry_is_due(struct flow_walk *w, uint32_t step, uint32_t iteration)
{
    for (uint32_t i = 0; i < w->n_seen; i++)
        if (w->seen[i].step == step && w->seen[i].iteration == iteration)
            return w->seen[i].ended_ms + rule_delay_ms(&w->flow.steps[step], w->seen[i].retried) +
                       CALM_MS / 2 <
                   walk_now_ms(w);
    return false;
}

static bool template_is_missing(struct flow_walk *w, uint32_t step)
{
    bool kept = w->flow.pinned && walk_template_of(w, step)->pinned;

    return w->no_template && !w->flow.steps[step].other && !kept;
}

bool walk_is_due(struct flow_walk *w, uint32_t i, uint32_t k)
{
    const struct gen_step *spec = &w->flow.steps[i];
    const struct rule_step *step = &w->rules.steps[i];
    const struct rule_job *job = &step->jobs[k];

    if (spec->chooses || k >= (spec->loop ? rule_iterations(&w->rules, i) : 1) || job->unfinished ||
        job->end != RULE_OPEN || w->suspended || w->rules.unsure || flow_phase_finished(w->phase) ||
        w->deleting || template_is_missing(w, i) || name_is_taken(w, i) ||
        (w->rules.closed && !spec->final))
        return false;
    if (spec->loop && step->end != RULE_OPEN)
        return false;
    if (!job->made && (step->verdict != RULE_RUNS || !rule_iteration_due(&w->rules, i, k)))
        return false;
    if (job->again && !retry_is_due(w, i, k))
        return false;
    return rule_gang_forms(&w->rules, i);
}

static uint32_t room(const struct flow_walk *w)
{
    uint32_t there = rule_unfinished(&w->rules);

    if (!w->flow.max_running)
        return UINT32_MAX;
    return there < w->flow.max_running ? w->flow.max_running - there : 0;
}

/* Checks that every job that may be created exists. A gang waits until maxRunningJobs allows all of
 * it, and the steps after it wait as well. */
static void check_made(struct flow_walk *w)
{
    if (room(w) == 0 || (w->flow.max_running && w->flow.gang))
        return;
    for (uint32_t i = 0; i < w->flow.count; i++)
        for (uint32_t k = 0; k < GEN_LOOP_JOBS_MAX; k++)
            if (walk_is_due(w, i, k))
                walk_violated(w, "P-12: nothing holds up s%u, iteration %u, and it is not made", i,
                              k);
}

static void check_phase(struct flow_walk *w)
{
    bool finished = flow_phase_finished(w->phase);

    if (w->rules.unsure || w->suspended || w->no_template || w->deleting || w->retry_asked)
        return;
    if (!finished && w->rules.phase != RULE_GOES_ON && !rule_unfinished(&w->rules))
        walk_violated(w, "LIV-1: the flow has %s, and it is %s",
                      w->rules.phase == RULE_SUCCEEDS ? "succeeded" : "failed",
                      flow_phase_text(w->phase));
}

/* Lets a minute pass. Without a change from outside the controller must not sync (LIV-3). */
static void pass_minute(struct flow_walk *w)
{
    unsigned before = w->syncs ? w->syncs() : 0;

    flow_fixture_advance(w->fixture, MINUTE_MS);
    if (w->syncs && w->syncs() - before > SYNCS_A_MINUTE)
        walk_violated(w, "LIV-3: %u decisions in a minute", w->syncs() - before);
}

void walk_check_calm(struct flow_walk *w)
{
    if (!w->exists)
        return;
    walk_judge(w);
    check_made(w);
    check_phase(w);
    if (!w->deleting && !*w->violation)
        walk_check_status(w);
}

/* Reports the part at which two texts differ. */
static void check_same(struct flow_walk *w, const char *before, const char *after)
{
    size_t at = 0, from;

    while (before[at] && before[at] == after[at])
        at++;
    from = at < 80 ? 0 : at - 80;
    if (before[at] != after[at])
        walk_violated(w, "INV-F5: after a restart the status says …%.160s… instead of …%.160s…",
                      after + from, before + from);
}

static void check_jobs_gone(struct flow_walk *w, const char *invariant)
{
    for (uint32_t i = 0; i < w->n_seen; i++)
        if (w->seen[i].there)
            walk_violated(w, "%s: %s is left", invariant, w->seen[i].name);
}

/* Checks that the flow is deleted when its TTL has expired, and its jobs with it (13.11,
 * INV-J8). */
static void check_end_of_life(struct flow_walk *w)
{
    flow_fixture_advance(w->fixture, w->flow.ttl_s * INT64_C(1000) + MINUTE_MS);
    if (w->exists)
        walk_violated(w, "13.11: the flow is still there %lld ms after its end",
                      (long long)(walk_now_ms(w) - w->finished_ms));
    check_jobs_gone(w, "P-10");
}

static void check_nothing_is_done(struct flow_walk *w)
{
    scoped_str before = mem_strdup(flow_fixture_at(w->fixture, "f", ""));
    unsigned writes = w->fixture->flow_writes;

    for (int i = 0; i < 5; i++)
        pass_minute(w);
    if (!loop_drain(w->fixture->loop, 0))
        walk_violated(w, "LIV-2: at rest something still waits for its time");
    if (w->fixture->flow_writes != writes)
        walk_violated(w, "INV-F11: at rest the status is written");
    walk_restart(w);
    flow_fixture_advance(w->fixture, MINUTE_MS);
    check_same(w, before, flow_fixture_at(w->fixture, "f", ""));
    if (w->flow.deletes && w->phase == FLOW_SUCCEED)
        check_jobs_gone(w, "INV-F9");
}

void walk_check_rest(struct flow_walk *w)
{
    if (w->exists && w->flow.ttl_s >= 0)
        check_end_of_life(w);
    if (!w->exists)
        return;
    flow_fixture_advance(w->fixture, MINUTE_MS);
    walk_check_calm(w);
    check_nothing_is_done(w);
}
