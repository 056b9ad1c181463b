/*
 * A pod tells by an annotation that the scheduler has evicted it. A pod is lost when it is deleted,
 * or when the kubelet finds that it was started and nothing is left of it.
 */
#include "job/pod_loss.h"

#include <string.h>

#include "job/run.h"

static const char *evicted_by(const struct object *pod)
{
    return pod->meta->n_annotations > 0 ? meta_annotation(pod->meta, ANNOTATION_EVICTED) : NULL;
}

/* Returns whether the deletion of the pod begins, or the pod is gone without a begin. */
static bool begins_to_go(const struct object *before, const struct object *pod)
{
    return (pod ? object_deleting(pod) : before != NULL) && !(before && object_deleting(before));
}

/* Returns whether the kubelet has lost the pod: it does not know how it ended. */
static bool outcome_unknown(const struct object *pod)
{
    static const char *const reasons[] = {"SupervisorLost", "NodeRestarted"};
    const struct pod_status *status = pod_status_of(pod);

    for (size_t i = 0; status->phase == POD_FAILED && status->reason && i < countof(reasons); i++)
        if (strcmp(status->reason, reasons[i]) == 0)
            return true;
    return false;
}

void job_pod_loss(struct job_run *run, struct slot_id at, const struct object *before,
                  const struct object *pod)
{
    const struct job_lifecycle *lifecycle = &run->model.lifecycle;
    const struct object *known = pod ? pod : before;

    if (!known || !(lifecycle->fails_on_preempt || lifecycle->at_most_once) ||
        !job_phase_active(run->model.state.phase))
        return;
    if (begins_to_go(before, pod) && evicted_by(known))
        job_request_terminate(run, "Preempted", "pod %s: %s", object_name(known),
                              evicted_by(known));
    else if (!lifecycle->at_most_once)
        return;
    else if (pod ? outcome_unknown(pod) : !job_model_slot(&run->model, at)->kept)
        job_request_terminate(run, "RunLost",
                              "pod %s is lost, and the job runs at most once: it is not made again",
                              object_name(known));
}

const char *job_task_below_minimum(const struct job_run *run)
{
    const struct job_model *model = &run->model;

    for (size_t t = 0;
         model->lifecycle.fails_below_minimum && t < model->compiled->spec->tasks.count; t++) {
        const struct job_task_model *task = &model->tasks[t];
        const struct job_task *spec = &model->compiled->spec->tasks.items[t];

        if (!task->companion && spec->min_available.set &&
            task->replicas - task->by_class[SLOT_FAILED] < spec->min_available.value)
            return spec->name;
    }
    return NULL;
}
