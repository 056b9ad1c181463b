/*
 * The time of the first Running is an entry of controlledResources, because the conditions of a job
 * keep only the newest time of a phase. A job that gets its lifetime after it has started has no such
 * entry; then the newest Running counts as the first.
 */
#include "job/lifetime.h"

#include <stdio.h>
#include <stdlib.h>

#include "job/run.h"

#define RESOURCE_FIRST_RUNNING "first-running-ms"

static int64_t began_ms(const struct job_run *run)
{
    const char *text = job_state_resource(&run->model.state, RESOURCE_FIRST_RUNNING);

    return text ? strtoll(text, NULL, 10) : 0;
}

static void note(struct job_run *run, int64_t at_ms)
{
    char text[24];

    if (run->model.lifecycle.lifetime_s == 0 || began_ms(run) > 0)
        return;
    snprintf(text, sizeof text, "%lld", (long long)at_ms);
    job_state_control(&run->model.state, RESOURCE_FIRST_RUNNING, text);
}

void job_lifetime_begin(struct job_run *run)
{
    note(run, job_run_now_ms(run));
}

static void note_earlier(struct job_run *run)
{
    const struct job_state *state = &run->model.state;

    for (size_t i = 0; i < state->n_conditions; i++)
        if (state->conditions[i].phase == JOB_RUNNING)
            note(run, state->conditions[i].at_ms);
}

void job_lifetime_arm(struct job_run *run)
{
    int64_t lifetime_ms = run->model.lifecycle.lifetime_s * 1000, began, left_ms, due_ms;

    note_earlier(run);
    began = began_ms(run);
    left_ms = began + lifetime_ms - job_run_now_ms(run);
    due_ms = lifetime_ms > 0 && began > 0 && job_phase_active(run->model.state.phase)
                 ? began + lifetime_ms
                 : 0;
    if (due_ms == run->lifetime_due_ms)
        return;
    timer_stop(run->ctl->loop, &run->lifetime);
    run->lifetime_due_ms = due_ms;
    if (due_ms == 0)
        return;
    if (left_ms > lifetime_ms) /* the wall clock was set back */
        left_ms = lifetime_ms;
    run->lifetime.fire = job_lifetime_over;
    timer_start(run->ctl->loop, &run->lifetime, left_ms > 0 ? left_ms : 0);
}

bool job_lifetime_differs(const struct job_run *run, const struct object *job)
{
    return run->model.job->meta != job->meta &&
           job_lifecycle_of(job->meta, run->model.compiled->spec).lifetime_s !=
               run->model.lifecycle.lifetime_s;
}

void job_lifetime_over(struct timer *timer)
{
    struct job_run *run = container_of(timer, struct job_run, lifetime);

    job_request_terminate(run, "LifetimeExpired", "the job's lifetime of %lld s is over",
                          (long long)run->model.lifecycle.lifetime_s);
}
