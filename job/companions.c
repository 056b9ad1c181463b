/*
 * The ends of companions, by slot. The times of the last few ends are kept in memory; a process that
 * finds a pod with restarts takes them to have happened when the pod was created, which is never too
 * late.
 */
#include "job/companions.h"

#include <sys/queue.h>

#include "base/mem.h"
#include "job/model/names.h"
#include "job/run.h"

enum { ENDS_MAX = 5, WINDOW_MS = 10 * 60 * 1000 };

struct job_companion {
    LIST_ENTRY(job_companion) all;
    struct slot_id at;
    int64_t ends_ms[ENDS_MAX]; /* times of the last ends, in a ring */
    unsigned n_ends;           /* number of all ends */
};

static struct job_companion *find(struct job_run *run, struct slot_id at)
{
    struct job_companion *found;

    LIST_FOREACH(found, &run->companions, all)
    if (found->at.task == at.task && found->at.index == at.index)
        return found;
    found = mem_alloc(sizeof *found);
    found->at = at;
    LIST_INSERT_HEAD(&run->companions, found, all);
    return found;
}

static bool has_ended(const struct pod_facts *pod)
{
    return pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED;
}

/* Returns how often the pod's program has ended between the two versions of the pod. A pod that this
 * controller has removed itself is marked, and does not count. */
static int32_t ends_of(const struct pod_facts *before, const struct pod_facts *after)
{
    int32_t ends = 0;

    if (!after)
        return before && !before->marked && !has_ended(before);
    if (after->marked)
        return 0;
    ends = after->restarts - (before ? before->restarts : 0);
    if (has_ended(after) && !(before && has_ended(before)))
        ends++;
    return ends;
}

static void give_up(struct job_run *run, struct slot_id at)
{
    const struct job_task *task = &run->model.compiled->spec->tasks.items[at.task];
    scoped_str pod = job_pod_name(object_name(run->model.job), task->name, at.index);

    job_request_terminate(run, "ComponentLost",
                          "pod %s of task %s, which is kept alive, has ended %d times within %d "
                          "minutes",
                          pod, task->name, ENDS_MAX, WINDOW_MS / 60000);
}

void job_companion_changed(struct job_run *run, struct slot_id at, const struct pod_facts *before,
                           const struct pod_facts *after, int64_t created_ms)
{
    int32_t ends = ends_of(before, after);
    int64_t now_ms = job_run_now_ms(run);
    struct job_companion *companion;

    if (ends <= 0 || run->model.companions_leave || !job_phase_active(run->model.state.phase))
        return;
    companion = find(run, at);
    for (; ends > 0; ends--)
        companion->ends_ms[companion->n_ends++ % ENDS_MAX] = before ? now_ms : created_ms;
    if (companion->n_ends >= ENDS_MAX &&
        companion->ends_ms[companion->n_ends % ENDS_MAX] > now_ms - WINDOW_MS) {
        companion->n_ends = 0;
        give_up(run, at);
    }
}

void job_companions_release(struct job_run *run)
{
    struct job_companion *companion;

    while ((companion = LIST_FIRST(&run->companions))) {
        LIST_REMOVE(companion, all);
        mem_free(companion);
    }
}
