/*
 * The queue of requests of a job, in order of arrival, and beside it the list of delayed actions
 * that came due while the job restarts.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "job/run.h"

struct job_request *job_request_of_pod(struct job_run *run, enum job_event event, struct slot_id at,
                                       const struct object *pod, const struct pod_facts *facts)
{
    struct job_request *request = mem_alloc(sizeof *request);

    *request = (struct job_request){
        .event = event,
        .has_task = true,
        .has_pod = true,
        .at = at,
        .partition = job_model_partition(&run->model, at),
        .exit_code = event == EVENT_POD_FAILED && facts ? facts->exit_code : 0,
        .version = facts ? facts->version : run->model.state.version,
        .pod = object_ref(pod),
    };
    return request;
}

void job_request_free(struct job_request *request)
{
    if (!request)
        return;
    object_unref(request->pod);
    object_unref(request->command);
    mem_free(request->message);
    mem_free(request);
}

void job_request_finish(struct job_run *run, struct job_request *request)
{
    if (request && request->command) {
        const char *noted = job_state_resource(&run->model.state, RESOURCE_COMMAND_UID);

        if (!object_deleting(run->model.job) &&
            (!noted || strcmp(noted, object_uid(request->command)) != 0)) {
            job_store_status(run, request); /* the answer calls this function again */
            return;
        }
        job_command_done(run, request->command);
    }
    job_request_free(request);
}

void job_request_terminate(struct job_run *run, const char *reason, const char *format, ...)
{
    struct job_request *request = mem_alloc(sizeof *request);
    char text[256];
    va_list args;

    *request = (struct job_request){.event = EVENT_COMMAND_ISSUED,
                                    .has_action = true,
                                    .action = ACT_TERMINATE_JOB,
                                    .partition = -1,
                                    .version = run->model.state.version,
                                    .cause_ms = job_run_now_ms(run),
                                    .reason = reason};
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    request->message = mem_strdup(text);
    job_request_post(run, request);
}

void job_request_post(struct job_run *run, struct job_request *request)
{
    if (run->gone) {
        job_request_free(request);
        return;
    }
    request->next = NULL;
    if (run->last)
        run->last->next = request;
    else
        run->first = request;
    run->last = request;
    if (run->activity != JOB_WORKING)
        work_add(&run->work);
}

void job_request_repeat(struct job_run *run, struct job_request *request)
{
    request->next = run->first;
    run->first = request;
    if (!run->last)
        run->last = request;
}

static bool drop_expired(struct job_request **link,
                         bool (*unwanted)(const struct job_request *due, const void *arg),
                         const void *arg, struct job_request **out_last)
{
    struct job_request *last = NULL;
    bool any = false;

    while (*link) {
        struct job_request *request = *link;

        if (request->expired && unwanted(request, arg)) {
            *link = request->next;
            job_request_free(request);
            any = true;
        } else {
            last = request;
            link = &request->next;
        }
    }
    if (out_last)
        *out_last = last;
    return any;
}

void job_request_drop_expired(struct job_run *run,
                              bool (*unwanted)(const struct job_request *due, const void *arg),
                              const void *arg)
{
    bool any = drop_expired(&run->first, unwanted, arg, &run->last);

    if (drop_expired(&run->postponed, unwanted, arg, NULL) || any)
        job_delayed_changed(run, DELAYS_CHANGED);
}

void job_request_postpone(struct job_run *run, struct job_request *request)
{
    struct job_request **link = &run->postponed;

    while (*link)
        link = &(*link)->next;
    request->next = NULL;
    *link = request;
}

void job_request_resume_postponed(struct job_run *run)
{
    while (run->postponed) {
        struct job_request *request = run->postponed;

        run->postponed = request->next;
        job_request_post(run, request);
    }
}

struct job_request *job_request_take(struct job_run *run)
{
    struct job_request *request = run->first;

    if (request) {
        run->first = request->next;
        if (!run->first)
            run->last = NULL;
        if (request->expired)
            job_delayed_changed(run, DELAYS_CHANGED);
    }
    return request;
}

void job_request_abandon(struct job_run *run, struct job_request *request)
{
    if (request && request->command && !run->ctl->stopping)
        job_command_done(run, request->command);
    job_request_free(request);
}
