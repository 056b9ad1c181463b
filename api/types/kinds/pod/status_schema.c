/*
 * Field tables of a pod's status. They check statuses that clients write; status.c decodes them.
 *
 * Ref: k8s.io/api core/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const char *const condition_status_values[] = {"True", "False", "Unknown", NULL};
static const char *const recursive_read_only_mode_values[] = {"Disabled", "IfPossible", "Enabled", NULL};
static const char *const pod_phase_values[] = {"Pending", "Running", "Succeeded", "Failed", "Unknown", NULL};
static const char *const pod_q_os_class_values[] = {"Guaranteed", "Burstable", "BestEffort", NULL};

static const struct field pod_condition_fields[] = {
    {"type",               FIELD_STR,  FIELD_PASS, .pb = 1, .required = true, .doc = "Type of the condition."},
    {"status",             FIELD_STR,  FIELD_PASS, .pb = 2, .required = true, .one_of = condition_status_values,
     .doc = "Status of the condition: True, False or Unknown."},
    {"lastProbeTime",      FIELD_TIME, FIELD_PASS, .pb = 3, .doc = "Time when the condition was last checked."},
    {"lastTransitionTime", FIELD_TIME, FIELD_PASS, .pb = 4,
     .doc = "Time when the status last changed."},
    {"reason",             FIELD_STR,  FIELD_PASS, .pb = 5,
     .doc = "One-word reason in CamelCase for the last change of the status."},
    {"message",            FIELD_STR,  FIELD_PASS, .pb = 6,
     .doc = "Text that explains the last change of the status."},
    {0},
};
static const struct schema pod_condition_schema = {"PodCondition", pod_condition_fields};

static const struct field host_ip_fields[] = {
    {"ip", FIELD_STR, FIELD_PASS, .pb = 1, .keeps_zero = true, .doc = "IP address of the host."},
    {0},
};
static const struct schema host_ip_schema = {"HostIP", host_ip_fields};

static const struct field pod_ip_fields[] = {
    {"ip", FIELD_STR, FIELD_PASS, .pb = 1, .keeps_zero = true, .doc = "IP address of the pod."},
    {0},
};
static const struct schema pod_ip_schema = {"PodIP", pod_ip_fields};

static const struct field container_state_waiting_fields[] = {
    {"reason",  FIELD_STR, FIELD_PASS, .pb = 1, .doc = "One-word reason why the container does not run yet."},
    {"message", FIELD_STR, FIELD_PASS, .pb = 2, .doc = "Text that explains why the container does not run yet."},
    {0},
};
static const struct schema container_state_waiting_schema = {"ContainerStateWaiting", container_state_waiting_fields};

static const struct field container_state_running_fields[] = {
    {"startedAt", FIELD_TIME, FIELD_PASS, .pb = 1, .doc = "Time when the container was last started."},
    {0},
};
static const struct schema container_state_running_schema = {"ContainerStateRunning", container_state_running_fields};

static const struct field container_state_terminated_fields[] = {
    {"exitCode",    FIELD_I32,  FIELD_PASS, .pb = 1, .required = true,
     .doc = "Exit code of the container."},
    {"signal",      FIELD_I32,  FIELD_PASS, .pb = 2, .doc = "Signal that ended the container."},
    {"reason",      FIELD_STR,  FIELD_PASS, .pb = 3, .doc = "One-word reason for the end of the container."},
    {"message",     FIELD_STR,  FIELD_PASS, .pb = 4, .doc = "Text that explains the end of the container; its termination message."},
    {"startedAt",   FIELD_TIME, FIELD_PASS, .pb = 5, .doc = "Time when the container was started."},
    {"finishedAt",  FIELD_TIME, FIELD_PASS, .pb = 6, .doc = "Time when the container ended."},
    {"containerID", FIELD_STR,  FIELD_PASS, .pb = 7, .doc = "Identifier of the container."},
    {0},
};
static const struct schema container_state_terminated_schema = {
    "ContainerStateTerminated", container_state_terminated_fields};

static const struct field container_state_fields[] = {
    {"waiting",    FIELD_OBJECT, FIELD_PASS, &container_state_waiting_schema, .pb = 1,
     .doc = "Details of a container that waits to run."},
    {"running",    FIELD_OBJECT, FIELD_PASS, &container_state_running_schema, .pb = 2,
     .doc = "Details of a container that runs."},
    {"terminated", FIELD_OBJECT, FIELD_PASS, &container_state_terminated_schema, .pb = 3,
     .doc = "Details of a container that has ended."},
    {0},
};
static const struct schema container_state_schema = {"ContainerState", container_state_fields};

static const struct field volume_mount_status_fields[] = {
    {"name",              FIELD_STR,  FIELD_PASS, .pb = 1, .required = true,
     .doc = "Name of the mounted volume."},
    {"mountPath",         FIELD_STR,  FIELD_PASS, .pb = 2, .required = true,
     .doc = "Path in the container at which the volume is mounted."},
    {"readOnly",          FIELD_BOOL, FIELD_PASS, .pb = 3, .doc = "Says whether the mount is read-only."},
    {"recursiveReadOnly", FIELD_STR,  FIELD_PASS, .pb = 4, .keeps_zero = true, .one_of = recursive_read_only_mode_values,
     .doc = "Says whether mounts below a read-only mount are read-only as well."},
    {0},
};
static const struct schema volume_mount_status_schema = {"VolumeMountStatus", volume_mount_status_fields};

static const struct field container_usage_fields[] = {
    {"cpuMillis",       FIELD_I64, FIELD_PASS,
     .doc = "CPU time of all processes of the run together, in milliseconds."},
    {"memoryPeakBytes", FIELD_I64, FIELD_PASS, .doc = "Largest amount of memory that one process of the run has used, in bytes."},
    {0},
};
static const struct schema container_usage_schema = {"ContainerUsage", container_usage_fields};

static const struct field resource_health_fields[] = {
    {"resourceID", FIELD_STR, FIELD_PASS, .pb = 1, .required = true,
     .doc = "Identifier of the device, unique within its resource."},
    {"health",     FIELD_STR, FIELD_PASS, .pb = 2,
     .doc = "Health of the device, such as Healthy."},
    {0},
};
static const struct schema resource_health_schema = {"ResourceHealth", resource_health_fields};

static const struct field resource_status_fields[] = {
    {"name",      FIELD_STR,  FIELD_PASS, .pb = 1, .required = true,
     .doc = "Name of the resource."},
    {"resources", FIELD_LIST, FIELD_PASS, &resource_health_schema, .pb = 2, .merge_key = "resourceID",
     .doc = "Devices that the container has."},
    {0},
};
static const struct schema resource_status_schema = {"ResourceStatus", resource_status_fields};

static const struct field container_status_fields[] = {
    {"name",               FIELD_STR,          FIELD_PASS, .pb = 1, .keeps_zero = true,
     .doc = "Name of the container."},
    {"state",              FIELD_OBJECT,       FIELD_PASS, &container_state_schema, .pb = 2,
     .doc = "Current state of the container."},
    {"lastState",          FIELD_OBJECT,       FIELD_PASS, &container_state_schema, .pb = 3,
     .doc = "State in which the previous run of the container ended."},
    {"ready",              FIELD_BOOL,         FIELD_PASS, .pb = 4, .keeps_zero = true,
     .doc = "Says whether the container is ready."},
    {"restartCount",       FIELD_I32,          FIELD_PASS, .pb = 5, .keeps_zero = true,
     .doc = "Number of restarts of the container."},
    {"image",              FIELD_STR,          FIELD_PASS, .pb = 6, .keeps_zero = true,
     .doc = "Name of the container's image."},
    {"imageID",            FIELD_STR,          FIELD_PASS, .pb = 7, .keeps_zero = true, .doc = "Identifier of the container's image."},
    {"containerID",        FIELD_STR,          FIELD_PASS, .pb = 8,
     .doc = "Identifier of the container."},
    {"started",            FIELD_OPT_BOOL,     FIELD_PASS, .pb = 9,
     .doc = "Says whether the container has passed its startup probe."},
    {"allocatedResources", FIELD_QUANTITY_MAP, FIELD_PASS, .pb = 10,
     .doc = "Resources that the node has allocated to the container."},
    {"resources",          FIELD_OBJECT,       FIELD_PASS, &resource_requirements_schema, .pb = 11,
     .doc = "Requests and limits in force for the container."},
    {"volumeMounts",       FIELD_LIST,         FIELD_PASS, &volume_mount_status_schema, .pb = 12, .merge_key = "mountPath",
     .doc = "State of the container's mounts."},
    {"allocatedResourcesStatus", FIELD_LIST,   FIELD_PASS, &resource_status_schema, .pb = 14, .merge_key = "name",
     .doc = "Devices that the node has given to the container."},
    {"usage",              FIELD_OBJECT,       FIELD_PASS, &container_usage_schema,
     .doc = "Resources that the container's last run has used. The local runtime sets it when the run has ended."},
    {0},
};
static const struct schema container_status_schema = {"ContainerStatus", container_status_fields};

static const struct field pod_resource_claim_status_fields[] = {
    {"name",              FIELD_STR, FIELD_PASS, .pb = 1, .required = true,
     .doc = "Name of the claim, unique within the pod."},
    {"resourceClaimName", FIELD_STR, FIELD_PASS, .pb = 2, .keeps_zero = true,
     .doc = "Name of the ResourceClaim that was created for the pod."},
    {0},
};
static const struct schema pod_resource_claim_status_schema = {
    "PodResourceClaimStatus", pod_resource_claim_status_fields};

static const struct field pod_status_fields[] = {
    {"phase",                      FIELD_STR,  FIELD_PASS, .pb = 1, .one_of = pod_phase_values,
     .doc = "Phase of the pod."},
    {"conditions",                 FIELD_LIST, FIELD_PASS, &pod_condition_schema, .pb = 2, .merge_key = "type",
     .doc = "Conditions of the pod."},
    {"message",                    FIELD_STR,  FIELD_PASS, .pb = 3,
     .doc = "Text that explains the pod's phase."},
    {"reason",                     FIELD_STR,  FIELD_PASS, .pb = 4,
     .doc = "One-word reason in CamelCase for the pod's phase."},
    {"nominatedNodeName",          FIELD_STR,  FIELD_PASS, .pb = 11,
     .doc = "Name of the node on which the pod waits for evicted pods to end."},
    {"hostIP",                     FIELD_STR,  FIELD_PASS, .pb = 5,
     .doc = "IP address of the host that the pod runs on."},
    {"hostIPs",                    FIELD_LIST, FIELD_PASS, &host_ip_schema, .pb = 16, .merge_key = "ip",
     .doc = "All IP addresses of the host that the pod runs on."},
    {"podIP",                      FIELD_STR,  FIELD_PASS, .pb = 6, .doc = "IP address of the pod."},
    {"podIPs",                     FIELD_LIST, FIELD_PASS, &pod_ip_schema, .pb = 12, .merge_key = "ip",
     .doc = "All IP addresses of the pod."},
    {"startTime",                  FIELD_TIME, FIELD_PASS, .pb = 7,
     .doc = "Time when the node accepted the pod."},
    {"initContainerStatuses",      FIELD_LIST, FIELD_PASS, &container_status_schema, .pb = 10,
     .doc = "State of each init container."},
    {"containerStatuses",          FIELD_LIST, FIELD_PASS, &container_status_schema, .pb = 8,
     .doc = "State of each container."},
    {"qosClass",                   FIELD_STR,  FIELD_PASS, .pb = 9, .one_of = pod_q_os_class_values,
     .doc = "Quality of service class that follows from the containers' resources."},
    {"ephemeralContainerStatuses", FIELD_LIST, FIELD_PASS, &container_status_schema, .pb = 13,
     .doc = "State of each ephemeral container."},
    {"resize",                     FIELD_STR,  FIELD_PASS, .pb = 14,
     .doc = "State of a requested change of resources."},
    {"resourceClaimStatuses",      FIELD_LIST, FIELD_PASS, &pod_resource_claim_status_schema, .pb = 15, .merge_key = "name",
     .doc = "State of the pod's resource claims."},
    {0},
};
const struct schema pod_status_schema = {"PodStatus", pod_status_fields};
/* clang-format on */
