/*
 * The field table of PodLogs, and how their status is written.
 */
#include "api/types/kinds/pod/pod_log.h"

#include "api/types/arenacopy.h"
#include "api/types/decoded.h"
#include "api/types/kinds/pod/core_schema.h"
#include "base/mem.h"

#define LOG(member)       offsetof(struct pod_log, member)
#define CONTAINER(member) offsetof(struct pod_log_container, member)

/* clang-format off */
static const struct field container_fields[] = {
    {"name",     FIELD_STR, CONTAINER(name), .pb = 1, .doc = "Name of the container."},
    {"ended",    FIELD_BOOL, CONTAINER(has_code), .pb = 2, .doc = "Whether the container had ended when the pod was deleted."},
    {"init",     FIELD_BOOL, CONTAINER(init), .pb = 3, .doc = "Whether it is an init container."},
    {"restarts", FIELD_I32, CONTAINER(restarts), .pb = 4, .doc = "Number of runs before the last one."},
    {"exitCode", FIELD_I32, CONTAINER(exit_code), .pb = 5, .doc = "Exit code of the container's last run."},
    {0},
};
static const struct schema container_schema_of_log = {"PodLogContainer", container_fields, sizeof(struct pod_log_container)};

static const struct field status_fields[] = {
    {"pod",        FIELD_STR,  LOG(pod), .pb = 1, .doc = "Name of the pod."},
    {"uid",        FIELD_STR,  LOG(uid), .pb = 2, .doc = "UID of the pod, which names its log files."},
    {"nodeName",   FIELD_STR,  LOG(node), .pb = 3, .doc = "Node that has the log files."},
    {"phase",      FIELD_STR,  LOG(phase), .pb = 4, .doc = "Phase in which the pod was deleted."},
    {"reason",     FIELD_STR,  LOG(reason), .pb = 5, .doc = "Reason in the last status of the pod."},
    {"job",        FIELD_STR,  LOG(job), .pb = 6, .doc = "Job that made the pod."},
    {"jobUID",     FIELD_STR,  LOG(job_uid), .pb = 7, .doc = "UID of that Job; each attempt of a step is a Job of its own."},
    {"flow",       FIELD_STR,  LOG(flow), .pb = 8, .doc = "JobFlow that made the Job."},
    {"step",       FIELD_STR,  LOG(step), .pb = 9, .doc = "Step of the JobFlow."},
    {"attempt",    FIELD_I32,  LOG(attempt), .pb = 10, .doc = "Attempt of the step, counted from 1."},
    {"task",       FIELD_STR,  LOG(task), .pb = 11, .doc = "Task of the Job."},
    {"index",      FIELD_I32,  LOG(index), .pb = 12, .doc = "Position of the pod in its task."},
    {"startTime",  FIELD_TIME, LOG(start_ms), .pb = 13, .doc = "Time when the pod was started."},
    {"endTime",    FIELD_TIME, LOG(end_ms), .pb = 14, .doc = "Time when the pod ended."},
    {"complete",   FIELD_BOOL, LOG(complete), .pb = 15, .doc = "Whether the pod is gone, so that nothing is written to the log any more."},
    {"bytes",      FIELD_I64,  LOG(bytes), .pb = 16, .doc = "Size of the log files."},
    {"containers", FIELD_LIST, LOG(containers), &container_schema_of_log, .pb = 17, .doc = "Containers of the pod, init containers first."},
    {0},
};
static const struct schema status_schema = {"PodLogStatus", status_fields, sizeof(struct pod_log)};

static const struct field pod_log_fields[] = {
    {"status", FIELD_OBJECT, FIELD_PASS, &status_schema, .pb = 2, .doc = "What is known of the pod and its log."},
    {0},
};
static const struct schema pod_log_schema = {"PodLog", pod_log_fields, .doc = "The kept log of a pod that is gone. It is made by the node and read with jobflow logs."};

static const struct column columns[] = {
    {"POD",     "string",  "status.pod",                 0, "Name of the pod."},
    {"ATTEMPT", "integer", "status.attempt",             0, "Attempt of the step."},
    {"PHASE",   "string",  "status.phase",               0, "Phase in which the pod was deleted."},
    {"BYTES",   "integer", "status.bytes",               0, "Size of the log files."},
    {"AGE",     "date",    "metadata.creationTimestamp", 0, "Time since the log was kept."},
    {"JOB",     "string",  "status.job",                 1, "Job that made the pod."},
    {"UID",     "string",  "status.uid",                 1, "UID of the pod."},
    {0},
};
/* clang-format on */

static const struct decoded_type status_type = {.schema = &status_schema};

const struct pod_log *pod_log_of(const struct object *log)
{
    static const struct pod_log nothing;

    return log->status ? decoded_of(log->status, &status_type) : &nothing;
}

static void write_containers(struct jsonw *w, const struct pod_log *log)
{
    jsonw_member_open_list(w, "containers");
    for (size_t i = 0; i < log->containers.count; i++) {
        const struct pod_log_container *container = &log->containers.items[i];

        jsonw_open(w);
        jsonw_member_str(w, "name", container->name);
        if (container->init)
            jsonw_member_bool(w, "init", true);
        jsonw_member_int_opt(w, "restarts", container->restarts);
        if (container->has_code) {
            jsonw_member_bool(w, "ended", true);
            jsonw_member_int(w, "exitCode", container->exit_code);
        }
        jsonw_close(w);
    }
    jsonw_close_list(w);
}

static void write_status(struct jsonw *w, const void *value)
{
    const struct pod_log *log = value;

    jsonw_open(w);
    jsonw_member_str(w, "pod", log->pod);
    jsonw_member_str(w, "uid", log->uid);
    jsonw_member_str_opt(w, "nodeName", log->node);
    jsonw_member_str_opt(w, "phase", log->phase);
    jsonw_member_str_opt(w, "reason", log->reason);
    jsonw_member_str_opt(w, "job", log->job);
    jsonw_member_str_opt(w, "jobUID", log->job_uid);
    jsonw_member_str_opt(w, "flow", log->flow);
    jsonw_member_str_opt(w, "step", log->step);
    jsonw_member_int_opt(w, "attempt", log->attempt);
    jsonw_member_str_opt(w, "task", log->task);
    jsonw_member_int(w, "index", log->index);
    jsonw_member_time_opt(w, "startTime", log->start_ms);
    jsonw_member_time_opt(w, "endTime", log->end_ms);
    jsonw_member_bool(w, "complete", log->complete);
    jsonw_member_int(w, "bytes", log->bytes);
    write_containers(w, log);
    jsonw_close(w);
}

static void *copy_status(struct arena *arena, const void *value)
{
    const struct pod_log *from = value;
    struct pod_log *to = arena_alloc(arena, sizeof *to);
    const char **const texts[] = {&to->pod, &to->uid,  &to->node, &to->phase, &to->reason,
                                  &to->job, &to->flow, &to->step, &to->task,  &to->job_uid};

    *to = *from;
    for (size_t i = 0; i < countof(texts); i++)
        *texts[i] = arena_copy_str(arena, *texts[i]);
    to->containers.items = arena_copy(arena, from->containers.items,
                                      from->containers.count * sizeof *from->containers.items);
    for (size_t i = 0; i < to->containers.count; i++)
        to->containers.items[i].name = arena_copy_str(arena, from->containers.items[i].name);
    return to;
}

struct blob *pod_log_blob(const struct pod_log *log)
{
    return decoded_write(&status_type, log, write_status, copy_status);
}

char *pod_log_name(const char *pod, const char *uid)
{
    return mem_printf("%s.%s", pod, uid);
}

const struct kind kind_pod_log = {
    .id = KIND_POD_LOG,
    .group = "jobflow.dev",
    .version = "v1",
    .name = "PodLog",
    .plural = "podlogs",
    .singular = "podlog",
    .namespaced = true,
    .no_generation = true,
    .schema = &pod_log_schema,
    .columns = columns,
};
