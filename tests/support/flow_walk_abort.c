/*
 * Aborts and resumes jobs (AbortJob, ResumeJob), one by one or with their flow.
 *
 * An aborted job has not ended, and its flow waits for it. If the step retries aborted jobs, the
 * abort ends the attempt instead, and no resume is needed.
 */
#include "tests/support/flow_walk_impl.h"

enum { KILLED_CODE = 137 };

bool walk_is_aborted(const struct seen_job *job)
{
    return job->phase == JOB_ABORTED;
}

bool walk_has_ended(const struct seen_job *job)
{
    return job_phase_finished(job->phase) || job->spent;
}

static void put_aside(struct flow_walk *w, struct seen_job *job)
{
    walk_did(w, "is put aside:", job->name);
    w->disturbed = true;
    job->end = (struct gen_end){.code = KILLED_CODE, .k = -1, .items = GEN_NO_ITEMS};
    flow_fixture_phase(w->fixture, job->name, JOB_ABORTING);
    if (job->there)
        flow_fixture_end_pod(w->fixture, job->name, "main", 0, KILLED_CODE, NULL);
    if (job->there)
        flow_fixture_phase(w->fixture, job->name, JOB_ABORTED);
}

static void take_up(struct flow_walk *w, struct seen_job *job)
{
    walk_did(w, "is taken up again:", job->name);
    flow_fixture_phase(w->fixture, job->name, JOB_RESTARTING);
    if (job->there)
        flow_fixture_phase(w->fixture, job->name, JOB_PENDING);
}

static bool may_be_taken_up(const struct seen_job *job)
{
    return job->there && walk_is_aborted(job);
}

void walk_abort_a_job(struct flow_walk *w)
{
    struct seen_job *job = walk_some_job(w, true);

    if (job)
        put_aside(w, job);
}

void walk_take_up_a_job(struct flow_walk *w)
{
    uint32_t from = w->n_seen ? (uint32_t)dice_roll(&w->dice, (int)w->n_seen) : 0;

    for (uint32_t i = 0; i < w->n_seen; i++) {
        struct seen_job *job = &w->seen[(from + i) % w->n_seen];

        if (!may_be_taken_up(job))
            continue;
        take_up(w, job);
        return;
    }
}

bool walk_resume_all(struct flow_walk *w)
{
    bool some = false;

    for (uint32_t i = 0; i < w->n_seen; i++) {
        if (!may_be_taken_up(&w->seen[i]) || (w->seen[i].spent && !w->seen[i].blurred))
            continue;
        take_up(w, &w->seen[i]);
        some = true;
    }
    return some;
}

void walk_suspend_all(struct flow_walk *w)
{
    const bool was = w->suspended;

    walk_suspend(w);
    if (w->suspended == was)
        return;
    if (was) {
        walk_resume_all(w);
        return;
    }
    for (uint32_t i = 0; i < w->n_seen; i++) {
        struct seen_job *job = &w->seen[i];

        if (job->there && !job_phase_finished(job->phase) && !walk_is_aborted(job))
            put_aside(w, job);
    }
}
