/*
 * Field tables of a Job's spec. JobTemplates use them as they are, patches of flow steps as a
 * partial schema.
 *
 * The bounds are those that the structural schema of Volcano's CRD enforces before any admission
 * rule.
 * Ref: spec/job.md 2.1; Volcano config/crd/volcano/bases/batch.volcano.sh_jobs.yaml.
 */
#include "api/types/kinds/job/job.h"

#include <assert.h>
#include <string.h>

#include "api/types/kinds/pod/core_schema.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "api/types/labels.h"
#include "api/types/limits.h"

#define POLICY(member)    offsetof(struct job_policy, member)
#define VOLUME(member)    offsetof(struct job_volume, member)
#define PARTITION(member) offsetof(struct job_partition, member)
#define TASK(member)      offsetof(struct job_task, member)
#define JOB(member)       offsetof(struct job_spec, member)

/* Enough for one policy on each event and each exit code. */
enum { POLICIES_MAX = 512 };

static bool has_no_colon(const char *value, struct error *err)
{
    return !strchr(value, ':') ||
           error_set(err, ERR_INVALID, "", "a mount path must not contain ':'");
}

/* An empty name passes, because admission replaces it. */
static bool is_empty_or_label(const char *value, struct error *err)
{
    if (!*value || name_is_dns_label(value, err))
        return true;
    if (err)
        error_prefix(err, "should match '[a-z0-9]([-a-z0-9]*[a-z0-9])?': ");
    return false;
}

/* clang-format off */
/* JobUnknown is the design document's name of Unknown. */
static const char *const event_values[] = {
    "*", "PodPending", "PodRunning", "PodFailed", "PodEvicted", "Unknown", "TaskCompleted", "OutOfSync", "CommandIssued",
    "JobUpdated", "TaskFailed", "JobUnknown", NULL};
static const char *const topology_policy_values[] = {"none", "best-effort", "restricted", "single-numa-node", "", NULL};

static const struct field policy_fields[] = {
    {"action",   FIELD_STR,      POLICY(action), .doc = "Action to take: RestartJob, AbortJob, CompleteJob and others."},
    {"event",    FIELD_STR,      POLICY(event), .one_of = event_values, .doc = "Event that triggers the action."},
    {"events",   FIELD_STR_LIST, POLICY(events), .one_of = event_values, .doc = "Events that trigger the action."},
    {"exitCode", FIELD_OPT_I32,  POLICY(exit_code),
     .doc = "Exit code of a pod's first container that triggers the action. It excludes event and events."},
    {"timeout",  FIELD_DURATION, POLICY(timeout_ns), BOUNDS(0, INT64_MAX), .doc = "Delay between the event and the action."},
    {0},
};
static const struct schema job_policy_schema = {"LifecyclePolicy", policy_fields, sizeof(struct job_policy)};

static const struct field volume_fields[] = {
    {"mountPath",       FIELD_STR,    VOLUME(mount_path), .required = true, .min_length = 1, .check = has_no_colon,
     .doc = "Path at which all containers mount the volume."},
    {"volumeClaimName", FIELD_STR,    VOLUME(claim_name), .max_length = NAME_BYTES_MAX,
     .doc = "Name of an existing PersistentVolumeClaim."},
    {"volumeClaim",     FIELD_OBJECT, VOLUME(claim), &pvc_spec_schema, .as_json = true, .doc = "Specification of a PersistentVolumeClaim that is created for the job."},
    {0},
};
static const struct schema job_volume_schema = {"VolumeSpec", volume_fields, sizeof(struct job_volume)};

static const struct field partition_fields[] = {
    {"totalPartitions", FIELD_I32,    PARTITION(total), .doc = "Number of groups that the task's pods form."},
    {"partitionSize",   FIELD_I32,    PARTITION(size), .required = true, .doc = "Number of pods in one group."},
    {"minPartitions",   FIELD_I32,    PARTITION(min), NOT_NEGATIVE, .default_json = "0", .doc = "Number of groups that must be able to start together."},
    {"networkTopology", FIELD_OBJECT, FIELD_PASS, &network_topology_schema, .doc = "Network topology of each group."},
    {0},
};
static const struct schema partition_schema = {"PartitionPolicySpec", partition_fields, sizeof(struct job_partition)};

/* Overlays depends_on and depends_iteration of struct job_task, so that the table of dependsOn
 * fills them in place. */
struct task_depends {
    struct str_list names;
    const char *iteration;
};
static_assert(TASK(depends_iteration) - TASK(depends_on) == offsetof(struct task_depends, iteration),
              "dependsOn is read as one struct task_depends");
static const struct field depends_fields[] = {
    {"name",      FIELD_STR_LIST, offsetof(struct task_depends, names), .doc = "Names of the tasks that this task waits for."},
    {"iteration", FIELD_STR,      offsetof(struct task_depends, iteration),
     .doc = "Says whether any or all of the named tasks must be ready."},
    {0},
};
static const struct schema depends_schema = {"TaskDependsOn", depends_fields, sizeof(struct task_depends)};

static const struct field task_fields[] = {
    {"name",            FIELD_STR,     TASK(name), .max_length = LABEL_BYTES_MAX, .check = is_empty_or_label,
     .doc = "Name of the task. When absent it is the word default followed by the position, for example default0."},
    {"replicas",        FIELD_I32,     TASK(replicas), NOT_NEGATIVE, .doc = "Number of pods of the task."},
    {"minAvailable",    FIELD_OPT_I32, TASK(min_available), .incidental = true, NOT_NEGATIVE,
     .doc = "Number of pods that must be placed together; replicas when absent."},
    {"template",        FIELD_OBJECT,  TASK(template), &pod_template_schema, .as_json = true, .doc = "Template of the task's pods."},
    {"policies",        FIELD_LIST,    TASK(policies), &job_policy_schema, .incidental = true, .max_length = POLICIES_MAX,
     .doc = "Actions on events of this task. They take precedence over the job's policies."},
    {"topologyPolicy",  FIELD_STR,     TASK(topology_policy), .one_of = topology_policy_values,
     .doc = "NUMA placement of the pods."},
    {"maxRetry",        FIELD_I32,     TASK(max_retry), .incidental = true, BOUNDS(-1, INT32_MAX),
     .doc = "Number of container restarts after which the task has failed; 3 when absent, -1 for no limit."},
    {"dependsOn",       FIELD_INLINE,  TASK(depends_on), &depends_schema, .doc = "Tasks that must be ready before this task starts."},
    {"partitionPolicy", FIELD_OBJECT,  TASK(partition), &partition_schema, .doc = "Division of the task's pods into groups of equal size."},
    {0},
};
static const struct schema task_schema = {"TaskSpec", task_fields, sizeof(struct job_task)};

static const struct field job_fields[] = {
    {"schedulerName",           FIELD_STR,          JOB(scheduler_name), .incidental = true, .max_length = LABEL_BYTES_MAX,
     .immutable_doc = true, .doc = "Scheduler of the pods whose template names none; volcano when absent."},
    {"minAvailable",            FIELD_I32,          JOB(min_available), .incidental = true, NOT_NEGATIVE,
     .doc = "Number of pods that must be placed together; the sum over the tasks when absent."},
    {"volumes",                 FIELD_LIST,         JOB(volumes), &job_volume_schema, .merge_key = "mountPath",
     .immutable_doc = true, .doc = "Volumes that all pods mount."},
    {"tasks",                   FIELD_LIST,         JOB(tasks), &task_schema, .merge_key = "name",
     .doc = "Tasks of the job, at least one. The pods of one task have the same template."},
    {"policies",                FIELD_LIST,         JOB(policies), &job_policy_schema, .incidental = true, .max_length = POLICIES_MAX, .immutable_doc = true,
     .doc = "Actions on events of the job's pods."},
    {"plugins",                 FIELD_STR_LIST_MAP, JOB(plugins), .immutable_doc = true,
     .doc = "Plugins by name, with their arguments: svc, ssh, env, mpi, pytorch, tensorflow, ray, hcclrank."},
    {"runningEstimate",         FIELD_DURATION,     JOB(running_estimate_ns), .incidental = true, .immutable_doc = true,
     .doc = "Expected running time of the job."},
    {"queue",                   FIELD_STR,          JOB(queue), .incidental = true, .max_length = NAME_BYTES_MAX,
     .check = name_is_empty_or_subdomain, .default_json = "\"default\"", .immutable_doc = true, .doc = "Queue of the job."},
    {"maxRetry",                FIELD_I32,          JOB(max_retry), .incidental = true, NOT_NEGATIVE, .default_json = "3",
     .immutable_doc = true, .doc = "Number of restarts after which the job has failed."},
    {"ttlSecondsAfterFinished", FIELD_OPT_I32,      JOB(ttl_s), .incidental = true, NOT_NEGATIVE, .immutable_doc = true,
     .doc = "Seconds after its end when a finished job is deleted."},
    {"priorityClassName",       FIELD_STR,          JOB(priority_class), .incidental = true, .max_length = NAME_BYTES_MAX,
     .check = name_is_empty_or_subdomain, .doc = "Priority class of the job, and of its pods that name none."},
    {"minSuccess",              FIELD_OPT_I32,      JOB(min_success), BOUNDS(1, INT32_MAX), .immutable_doc = true,
     .doc = "Number of succeeded pods that complete the job."},
    {"networkTopology",         FIELD_OBJECT,       JOB(network_topology), &network_topology_schema, .incidental = true, .as_json = true,
     .immutable_doc = true, .doc = "Network distance within which the pods must be placed."},
    {0},
};
/* clang-format on */

const struct schema job_spec_schema = {"JobSpec", job_fields, sizeof(struct job_spec)};
const struct schema job_patch_schema = {
    .name = "JobSpecPatch",
    .fields = job_fields,
    .size = sizeof(struct job_spec),
    .partial = true,
    .doc = "A JobSpec that contains only the changes.",
};
