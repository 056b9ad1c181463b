/*
 * Preparation: before the first pod is created, the queue, claims, plugin objects and the PodGroup
 * must exist. Once they do, they are checked again only when an object they depend on has changed.
 * When the job ends, PodGroup and plugin objects are removed. Ref: spec/job.md 9, O-39.
 */
#include "job/prepare.h"

#include <string.h>

#include "api/types/kinds/scheduling/queue.h"
#include "base/mem.h"
#include "job/model/names.h"
#include "job/objects/podgroup.h"

/* A write in flight that preparation waits for. */
struct prep_op {
    struct cluster_call call;
    struct job_run *run;
    const char *reason; /* reason of the event when the write fails */
};

static void prep_done(struct cluster_call *call, const struct object *result,
                      const struct error *err)
{
    struct prep_op *op = container_of(call, struct prep_op, call);
    struct job_run *run = op->run;
    const char *reason = op->reason;

    mem_free(op);
    run->ops--;
    run->prep_ops--;
    if (run->gone) {
        job_run_free_if_done(run);
        return;
    }
    if (err && err->code == ERR_EXISTS) { /* the cache will show its owner */
        if (!job_run_holding(run))
            work_add_backoff(&run->work);
    } else if (err && err->code != ERR_NOT_FOUND) {
        job_write_failed(run, reason, "prepare the job", err);
        if (err->code != ERR_CONFLICT)
            job_status_waits(run, reason, err->message);
    } else if (result && result->kind == &kind_job) {
        job_run_job(run, result);
    }
    job_run_sync(run);
}

struct cluster_call *job_prepare_write(struct job_run *run, const char *reason)
{
    struct prep_op *op = mem_alloc(sizeof *op);

    *op = (struct prep_op){{.done = prep_done}, run, reason};
    run->ops++;
    run->prep_ops++;
    return &op->call;
}

struct object *job_owned_object(const struct job_run *run, const struct kind *kind,
                                const char *name, struct blob *body)
{
    const struct object *job = run->model.job;
    struct owner_ref owner = {JOB_API_VERSION, "Job", object_name(job), run->uid, true, true};
    struct kv label = {LABEL_MANAGED_BY, MANAGED_BY_US};
    struct meta *meta = meta_new(&(struct meta){.namespace = object_namespace(job),
                                                .name = name,
                                                .uid = "",
                                                .deletion_grace_s = -1,
                                                .labels = &label,
                                                .n_labels = run->ctl->options.label_objects,
                                                .owners = &owner,
                                                .n_owners = 1});

    return object_new(kind, meta, body, NULL);
}

/* Returns true when the queue exists and, if the PodGroup is still to be created, is open. */
static bool ensure_queue(struct job_run *run)
{
    const char *name = run->model.compiled->spec->queue;
    const struct object *queue = cluster_get(run->ctl->cluster, &kind_queue, "", name);
    scoped_str message = NULL;

    if (queue && (run->model.group || strcmp(queue_state_of(queue), "Open") == 0))
        return true;
    message = queue ? mem_printf("queue %s is %s; the job continues when it is open", name,
                                 *queue_state_of(queue) ? queue_state_of(queue) : "not open yet")
                    : mem_printf("queue %s does not exist; the job continues when it does", name);
    job_status_waits(run, queue ? "QueueNotOpen" : "QueueNotFound", message);
    job_wait_for(run, &kind_queue, "", name);
    return false;
}

/* When the queue forwards jobs to other clusters, the job gets Volcano's annotation (9.1 step 3).
 * No other cluster is reachable here, so the job runs locally, and an event says so. False while
 * the annotation is being written. */
static bool ensure_forwarding_annotation(struct job_run *run)
{
    const struct object *job = run->model.job;
    const char *queue = run->model.compiled->spec->queue;
    const struct queue_spec *spec =
        queue_spec_of(cluster_get(run->ctl->cluster, &kind_queue, "", queue));
    const char *noted = meta_annotation(job->meta, ANNOTATION_JOB_FORWARDING);

    if (!spec->clusters.count || (noted && strcmp(noted, "true") == 0))
        return true;
    job_run_event(
        run, EVENT_WARNING, "JobForwarding",
        "queue %s forwards jobs to cluster %s%s, and no other cluster can be reached: the "
        "job runs here",
        queue, spec->clusters.items[0] ? spec->clusters.items[0] : "",
        spec->clusters.count > 1 ? " and others" : "");
    cluster_update(run->ctl->cluster, job_prepare_write(run, "JobForwarding"),
                   job_annotated(job, (const struct kv[]){{ANNOTATION_JOB_FORWARDING, "true"}}, 1));
    return false;
}

/* Says once, while a job has not begun, which of its fields mean nothing without queues and without
 * Volcano's scheduler. */
static void report_ignored(struct job_run *run)
{
    const struct job_compiled_spec *compiled = run->model.compiled;
    bool has_begun = run->model.state.phase != JOB_PENDING || run->model.state.version > 0;

    if (run->warned_ignored || has_begun)
        return;
    run->warned_ignored = true;
    if (!run->ctl->gang->has_queues && strcmp(compiled->spec->queue, "default") != 0)
        job_run_event(run, EVENT_WARNING, "QueueIgnored",
                      "queue %s is ignored: this cluster has no queues", compiled->spec->queue);
    if (compiled->lacking)
        job_run_event(run, EVENT_WARNING, "SchedulerReplaced",
                      "scheduler %s does not run in this cluster: pods get %s", compiled->lacking,
                      run->ctl->options.scheduler_name);
}

/* Returns true when the job's queue lets it begin. */
static bool ensure_place_in_queue(struct job_run *run)
{
    if (run->ctl->options.gang == JOB_GANG_VOLCANO)
        return ensure_queue(run) && ensure_forwarding_annotation(run);
    report_ignored(run);
    return true;
}

bool job_prepare(struct job_run *run)
{
    if (run->prep_ops > 0)
        return false;
    if (!run->prepared) {
        if (!ensure_place_in_queue(run) || !job_claims_ensure(run) ||
            !job_plugin_objects_ensure(run))
            return false;
        run->prepared = true;
    }
    return !run->ctl->gang->kind || job_podgroup_ensure(run);
}

bool job_prepare_admitted(const struct job_run *run)
{
    return !run->ctl->gang->kind || job_podgroup_admitted(&run->model);
}

void job_prepare_undo(struct job_run *run, enum job_prepare_scope scope)
{
    run->prepared = false;
    if (run->model.group)
        job_podgroup_remove(run);
    if (scope == UNDO_PODGROUP_AND_PLUGIN_OBJECTS && run->prep_ops == 0 &&
        job_plugin_objects_recorded(run))
        job_plugin_objects_remove(run);
}
