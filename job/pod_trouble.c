/*
 * One pod in trouble is remembered for each job, so that a look costs nothing. When it has started,
 * the next change of another one takes its place.
 */
#include "job/pod_trouble.h"

#include <string.h>

#include "job/run.h"

enum { MESSAGE_BYTES = 256, SHOW_EVERY_MS = 10000 };

static bool is_stuck(const char *reason)
{
    static const char *const reasons[] = {"ErrImagePull",         "ImagePullBackOff",
                                          "InvalidImageName",     "CreateContainerConfigError",
                                          "CreateContainerError", "RunContainerError"};

    for (size_t i = 0; reason && i < countof(reasons); i++)
        if (strcmp(reason, reasons[i]) == 0)
            return true;
    return false;
}

static const struct container_status *stuck_container(const struct container_status *items,
                                                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].state == CONTAINER_WAITING && is_stuck(items[i].reason))
            return &items[i];
    return NULL;
}

const char *job_pod_trouble(const struct object *pod, struct buf *out)
{
    const struct pod_status *status = pod_status_of(pod);
    const struct container_status *stuck;

    if (status->phase != POD_PENDING || object_deleting(pod))
        return NULL;
    if (status->unschedulable && !status->gated) {
        buf_printf(out, "pod %s: %.*s", object_name(pod), MESSAGE_BYTES, status->unschedulable);
        return "Unschedulable";
    }
    stuck = stuck_container(status->init_containers.items, status->init_containers.count);
    if (!stuck)
        stuck = stuck_container(status->containers.items, status->containers.count);
    if (!stuck)
        return NULL;
    buf_printf(out, "pod %s: container %s: %s%s%.*s", object_name(pod), stuck->name, stuck->reason,
               stuck->message ? ": " : "", MESSAGE_BYTES, stuck->message ? stuck->message : "");
    return "PodNotStarting";
}

static const char *trouble_of(const struct job_run *run, struct buf *out)
{
    const struct job_slot *slot =
        run->trouble.known ? job_model_slot(&run->model, run->trouble.at) : NULL;

    return slot && slot->pod ? job_pod_trouble(slot->pod, out) : NULL;
}

void job_trouble_note(struct job_run *run, struct slot_id at, const struct object *pod)
{
    scoped(buf) struct buf text = {0};
    scoped(buf) struct buf known = {0};

    if (run->ctl->options.local_pods || !pod || pod_status_phase(pod) != POD_PENDING)
        return;
    if (!job_pod_trouble(pod, &text))
        return;
    if (!trouble_of(run, &known))
        run->trouble.at = at;
    run->trouble.known = true;
    job_run_sync(run);
}

static void on_next(struct timer *timer)
{
    job_run_sync(container_of(timer, struct job_run, trouble.next));
}

bool job_trouble_show(struct job_run *run)
{
    int64_t now_ms = job_run_now_ms(run), passed_ms = now_ms - run->trouble.shown_ms;
    scoped(buf) struct buf text = {0};
    const char *reason, *shown = run->model.state.message;

    if (!run->trouble.known || run->model.state.phase != JOB_PENDING)
        return false;
    reason = trouble_of(run, &text);
    run->trouble.known = reason != NULL;
    if (!reason)
        return false;
    if (strcmp(run->model.state.reason, reason) == 0 && shown && strcmp(shown, text.data) == 0)
        return true;
    if (run->trouble.shown_ms && passed_ms >= 0 && passed_ms < SHOW_EVERY_MS) {
        run->trouble.next.fire = on_next;
        if (!timer_armed(&run->trouble.next))
            timer_start(run->ctl->loop, &run->trouble.next, SHOW_EVERY_MS - passed_ms);
        return true;
    }
    run->trouble.shown_ms = now_ms;
    job_status_waits(run, reason, text.data);
    return true;
}

void job_trouble_stop(struct job_run *run)
{
    timer_stop(run->ctl->loop, &run->trouble.next);
}
