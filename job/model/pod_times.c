/*
 * Reads start and end of a pod from its containers.
 */
#include "job/model/pod_times.h"

enum { SECOND_MS = 1000 };

static void take_newest(int64_t *newest_ms, int64_t at_ms)
{
    if (at_ms > *newest_ms)
        *newest_ms = at_ms;
}

int64_t job_pod_ended_ms(const struct pod_status *status)
{
    int64_t ended_ms = 0;

    for (size_t i = 0; i < status->init_containers.count; i++)
        take_newest(&ended_ms, status->init_containers.items[i].finished_ms);
    for (size_t i = 0; i < status->containers.count; i++)
        take_newest(&ended_ms, status->containers.items[i].finished_ms);
    return ended_ms > 0 && ended_ms % SECOND_MS == 0 ? ended_ms + SECOND_MS - 1 : ended_ms;
}

static int64_t started_ms_of(const struct pod_status *status)
{
    int64_t started_ms = 0;

    for (size_t i = 0; i < status->containers.count; i++)
        take_newest(&started_ms, status->containers.items[i].started_ms);
    return started_ms;
}

/* Returns when the pod came to its phase; 0 when it does not say. */
static int64_t entered_ms_of(const struct object *pod)
{
    const struct pod_status *status = pod_status_of(pod);

    if (pod_phase_ended(status->phase))
        return job_pod_ended_ms(status);
    if (status->phase == POD_RUNNING)
        return started_ms_of(status);
    return status->phase == POD_PENDING ? meta_created_ms(pod->meta) : 0;
}

void job_pod_times_note(struct job_pod_times *times, const struct object *pod, int64_t now_ms)
{
    int64_t at_ms = pod ? entered_ms_of(pod) : 0;
    int64_t started_ms = pod ? started_ms_of(pod_status_of(pod)) : 0;

    take_newest(&times->changed_ms, at_ms > 0 && at_ms <= now_ms ? at_ms : now_ms);
    if (started_ms <= now_ms)
        take_newest(&times->started_ms, started_ms);
}

int64_t job_pod_times_of_change(const struct job_pod_times *times, int64_t now_ms)
{
    return times->changed_ms > 0 && times->changed_ms < now_ms ? times->changed_ms : now_ms;
}

int64_t job_pod_times_of_start(const struct job_pod_times *times, int64_t entered_ms)
{
    bool is_same_second = entered_ms % SECOND_MS == 0 && times->started_ms > entered_ms &&
                          times->started_ms - entered_ms < SECOND_MS;

    return is_same_second ? times->started_ms : entered_ms;
}
