/*
 * Reads what a PodLog says from a pod, its job and its flow.
 */
#include "node/logs/facts.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/record.h"
#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"

static const struct object *existing(struct cluster *cluster, const struct kind *kind,
                                     const char *ns, const struct owner_ref *owner)
{
    const struct object *object = owner && strcmp(owner->kind, kind->name) == 0
                                      ? cluster_get(cluster, kind, ns, owner->name)
                                      : NULL;

    return object && strcmp(object_uid(object), owner->uid) == 0 ? object : NULL;
}

static bool is_of_flow(const struct object *job)
{
    const struct owner_ref *owner = meta_controller(job->meta);

    return owner && strcmp(owner->kind, kind_job_flow.name) == 0;
}

/* Returns the record that is left of a flow, or NULL. */
static const struct object *record_of(struct cluster *cluster, const char *ns,
                                      const struct owner_ref *flow)
{
    scoped_str name = flow && strcmp(flow->kind, kind_job_flow.name) == 0
                          ? jobflow_record_name(flow->name, flow->uid)
                          : NULL;
    const struct object *record = name ? cluster_get(cluster, &kind_job_flow, ns, name) : NULL;
    const char *of = record ? meta_annotation(record->meta, ANNOTATION_RECORD_OF) : NULL;

    return of && strcmp(of, flow->uid) == 0 ? record : NULL;
}

/* Returns the flow of a job, or the record of the run that made it; NULL when both are gone or being
 * deleted. */
static const struct object *flow_of(struct cluster *cluster, const struct object *job)
{
    const struct owner_ref *owner = meta_controller(job->meta);
    const char *ns = object_namespace(job);
    const struct object *flow = existing(cluster, &kind_job_flow, ns, owner);

    if (!flow)
        flow = record_of(cluster, ns, owner);
    return flow && !object_deleting(flow) ? flow : NULL;
}

bool log_owners_of_pod(struct cluster *cluster, const struct object *pod, struct log_owners *out)
{
    const struct object *job =
        existing(cluster, &kind_job, object_namespace(pod), meta_controller(pod->meta));

    *out = (struct log_owners){job, job ? flow_of(cluster, job) : NULL};
    if (!job)
        return false;
    return is_of_flow(job) ? out->flow != NULL : !object_deleting(job);
}

bool log_owners_of_removed(struct cluster *cluster, const struct object *job,
                           struct log_owners *out)
{
    *out = (struct log_owners){NULL, flow_of(cluster, job)};
    return out->flow != NULL;
}

static bool has_run(const struct container_status *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].state != CONTAINER_WAITING || items[i].restart_count)
            return true;
    return false;
}

bool log_pod_has_run(const struct object *pod)
{
    const struct pod_status *status = pod_status_of(pod);

    return has_run(status->init_containers.items, status->init_containers.count) ||
           has_run(status->containers.items, status->containers.count);
}

static void add_containers(struct pod_log *log, const struct container_status *items, size_t count,
                           bool init)
{
    for (size_t i = 0; i < count; i++)
        log->containers.items[log->containers.count++] =
            (struct pod_log_container){items[i].name, items[i].restart_count, init,
                                       items[i].state == CONTAINER_TERMINATED, items[i].exit_code};
}

static int64_t last_end_ms(const struct container_status *items, size_t count, int64_t end_ms)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].finished_ms > end_ms)
            end_ms = items[i].finished_ms;
    return end_ms;
}

/* Copies what the Pod says into the PodLog. The list of containers is allocated; the caller frees
 * it. */
static void read_pod(struct pod_log *log, const struct object *pod, bool complete, int64_t now_ms)
{
    const struct pod_status *status = pod_status_of(pod);
    size_t count = status->init_containers.count + status->containers.count;

    log->pod = object_name(pod);
    log->uid = object_uid(pod);
    log->node = pod_spec_of(pod)->node_name;
    log->phase = pod_phase_text(status->phase);
    log->reason = status->reason;
    log->start_ms = status->start_ms;
    log->complete = complete;
    if (complete) {
        log->end_ms = last_end_ms(status->init_containers.items, status->init_containers.count, 0);
        log->end_ms = last_end_ms(status->containers.items, status->containers.count, log->end_ms);
        if (!log->end_ms || !pod_phase_ended(status->phase))
            log->end_ms = now_ms;
    }
    log->containers.items = mem_array(count + 1, sizeof *log->containers.items);
    log->containers.count = 0;
    add_containers(log, status->init_containers.items, status->init_containers.count, true);
    add_containers(log, status->containers.items, status->containers.count, false);
}

static void read_job(struct pod_log *log, const struct object *pod, const struct object *job,
                     const struct object *flow)
{
    const char *index = meta_label(pod->meta, LABEL_TASK_INDEX);

    log->job = object_name(job);
    log->job_uid = object_uid(job);
    log->task = meta_label(pod->meta, LABEL_TASK_SPEC);
    log->index = index ? (int32_t)strtol(index, NULL, 10) : 0;
    if (!flow)
        return;
    log->flow = object_name(flow);
    log->step = meta_annotation(job->meta, ANNOTATION_FLOW_STEP);
    log->attempt = (int32_t)jobflow_attempt_of(job);
}

static struct blob *status_of(struct pod_log *log)
{
    struct blob *blob = pod_log_blob(log);

    mem_free(log->containers.items);
    return blob;
}

struct object *log_facts_draft(const struct object *pod, const struct object *job,
                               const struct log_owners *owners, bool complete, int64_t bytes,
                               int64_t now_ms)
{
    static const char no_body[] = "{}";
    scoped_str name = pod_log_name(object_name(pod), object_uid(pod));
    struct owner_ref refs[2];
    struct pod_log log = {.bytes = bytes};
    struct meta meta = {
        .namespace = object_namespace(pod),
        .name = name,
        .uid = "",
        .deletion_grace_s = -1,
        .labels = pod->meta->labels,
        .n_labels = pod->meta->n_labels,
        .owners = refs,
    };

    if (owners->flow)
        refs[meta.n_owners++] = (struct owner_ref){kind_api_version(&kind_job_flow),
                                                   kind_job_flow.name,
                                                   object_name(owners->flow),
                                                   object_uid(owners->flow),
                                                   false,
                                                   false};
    if (owners->job && !object_deleting(owners->job))
        refs[meta.n_owners++] =
            (struct owner_ref){kind_api_version(&kind_job), kind_job.name, object_name(owners->job),
                               object_uid(owners->job),     false,         false};
    read_job(&log, pod, job, owners->flow);
    read_pod(&log, pod, complete, now_ms);
    return object_new(&kind_pod_log, meta_new(&meta), blob_intern(no_body, strlen(no_body)),
                      status_of(&log));
}

struct blob *log_facts_complete(const struct pod_log *before, const struct object *pod,
                                int64_t bytes, int64_t now_ms)
{
    struct pod_log log = *before;

    log.bytes = bytes;
    read_pod(&log, pod, true, now_ms);
    return status_of(&log);
}
