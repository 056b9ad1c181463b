/*
 * Field tables of a pod's status. They check what clients write; status.c reads and writes it.
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
    {"type",               FIELD_STR,  FIELD_PASS, .required = true, .doc = "The type of the condition."},
    {"status",             FIELD_STR,  FIELD_PASS, .required = true, .one_of = condition_status_values,
     .doc = "The status of the condition."},
    {"lastProbeTime",      FIELD_TIME, FIELD_PASS, .doc = "Last time we probed the condition."},
    {"lastTransitionTime", FIELD_TIME, FIELD_PASS,
     .doc = "Last time the condition transitioned from one status to another."},
    {"reason",             FIELD_STR,  FIELD_PASS,
     .doc = "Unique, one-word, CamelCase reason for the condition's last transition."},
    {"message",            FIELD_STR,  FIELD_PASS,
     .doc = "Human-readable message indicating details about last transition."},
    {0},
};
static const struct schema pod_condition_schema = {"PodCondition", pod_condition_fields};

static const struct field host_ip_fields[] = {
    {"ip", FIELD_STR, FIELD_PASS, .doc = "The IP address assigned to the host."},
    {0},
};
static const struct schema host_ip_schema = {"HostIP", host_ip_fields};

static const struct field pod_ip_fields[] = {
    {"ip", FIELD_STR, FIELD_PASS, .doc = "The IP address assigned to the pod."},
    {0},
};
static const struct schema pod_ip_schema = {"PodIP", pod_ip_fields};

static const struct field container_state_waiting_fields[] = {
    {"reason",  FIELD_STR, FIELD_PASS, .doc = "(brief) reason the container is not yet running."},
    {"message", FIELD_STR, FIELD_PASS, .doc = "Message regarding why the container is not yet running."},
    {0},
};
static const struct schema container_state_waiting_schema = {"ContainerStateWaiting", container_state_waiting_fields};

static const struct field container_state_running_fields[] = {
    {"startedAt", FIELD_TIME, FIELD_PASS, .doc = "Time at which the container was last (re-)started."},
    {0},
};
static const struct schema container_state_running_schema = {"ContainerStateRunning", container_state_running_fields};

static const struct field container_state_terminated_fields[] = {
    {"exitCode",    FIELD_I32,  FIELD_PASS, .required = true,
     .doc = "Exit status from the last termination of the container."},
    {"signal",      FIELD_I32,  FIELD_PASS, .doc = "Signal from the last termination of the container."},
    {"reason",      FIELD_STR,  FIELD_PASS, .doc = "(brief) reason from the last termination of the container."},
    {"message",     FIELD_STR,  FIELD_PASS, .doc = "Message regarding the last termination of the container."},
    {"startedAt",   FIELD_TIME, FIELD_PASS, .doc = "Time at which previous execution of the container started."},
    {"finishedAt",  FIELD_TIME, FIELD_PASS, .doc = "Time at which the container last terminated."},
    {"containerID", FIELD_STR,  FIELD_PASS, .doc = "Container's ID in the format '<type>://<container_id>'."},
    {0},
};
static const struct schema container_state_terminated_schema = {
    "ContainerStateTerminated", container_state_terminated_fields};

static const struct field container_state_fields[] = {
    {"waiting",    FIELD_OBJECT, FIELD_PASS, &container_state_waiting_schema,
     .doc = "Details about a waiting container."},
    {"running",    FIELD_OBJECT, FIELD_PASS, &container_state_running_schema,
     .doc = "Details about a running container."},
    {"terminated", FIELD_OBJECT, FIELD_PASS, &container_state_terminated_schema,
     .doc = "Details about a terminated container."},
    {0},
};
static const struct schema container_state_schema = {"ContainerState", container_state_fields};

static const struct field volume_mount_status_fields[] = {
    {"name",              FIELD_STR,  FIELD_PASS, .required = true,
     .doc = "Name corresponds to the name of the original VolumeMount."},
    {"mountPath",         FIELD_STR,  FIELD_PASS, .required = true,
     .doc = "MountPath corresponds to the original VolumeMount."},
    {"readOnly",          FIELD_BOOL, FIELD_PASS, .doc = "ReadOnly corresponds to the original VolumeMount."},
    {"recursiveReadOnly", FIELD_STR,  FIELD_PASS, .one_of = recursive_read_only_mode_values,
     .doc = "RecursiveReadOnly must be set to Disabled, Enabled, or unspecified (for non-readonly mounts)."},
    {0},
};
static const struct schema volume_mount_status_schema = {"VolumeMountStatus", volume_mount_status_fields};

static const struct field container_usage_fields[] = {
    {"cpuMillis",       FIELD_I64, FIELD_PASS,
     .doc = "CPU time the run has used, all processes together, in milliseconds."},
    {"memoryPeakBytes", FIELD_I64, FIELD_PASS, .doc = "The most memory its largest process has used at once."},
    {0},
};
static const struct schema container_usage_schema = {"ContainerUsage", container_usage_fields};

static const struct field container_status_fields[] = {
    {"name",               FIELD_STR,          FIELD_PASS,
     .doc = "A DNS_LABEL representing the unique name of the container."},
    {"state",              FIELD_OBJECT,       FIELD_PASS, &container_state_schema,
     .doc = "State holds details about the container's current condition."},
    {"lastState",          FIELD_OBJECT,       FIELD_PASS, &container_state_schema,
     .doc = "LastTerminationState holds the last termination state of the container to help debug container crashes "
            "and restarts."},
    {"ready",              FIELD_BOOL,         FIELD_PASS,
     .doc = "Specifies whether the container is currently passing its readiness check."},
    {"restartCount",       FIELD_I32,          FIELD_PASS,
     .doc = "RestartCount holds the number of times the container has been restarted."},
    {"image",              FIELD_STR,          FIELD_PASS,
     .doc = "The name of container image that the container is running."},
    {"imageID",            FIELD_STR,          FIELD_PASS, .doc = "The image ID of the container's image."},
    {"containerID",        FIELD_STR,          FIELD_PASS,
     .doc = "The ID of the container in the format '<type>://<container_id>'."},
    {"started",            FIELD_OPT_BOOL,     FIELD_PASS,
     .doc = "Indicates whether the container has finished its postStart lifecycle hook and passed its startup probe."},
    {"allocatedResources", FIELD_QUANTITY_MAP, FIELD_PASS,
     .doc = "Represents the compute resources allocated for this container by the node."},
    {"resources",          FIELD_OBJECT,       FIELD_PASS, &resource_requirements_schema,
     .doc = "Represents the compute resource requests and limits that have been successfully enacted on the running "
            "container after it has been started or has been successfully resized."},
    {"volumeMounts",       FIELD_LIST,         FIELD_PASS, &volume_mount_status_schema, .merge_key = "mountPath",
     .doc = "Status of volume mounts."},
    {"usage",              FIELD_OBJECT,       FIELD_PASS, &container_usage_schema,
     .doc = "What the container's last run has used; local mode, once it has ended."},
    {0},
};
static const struct schema container_status_schema = {"ContainerStatus", container_status_fields};

static const struct field pod_resource_claim_status_fields[] = {
    {"name",              FIELD_STR, FIELD_PASS, .required = true,
     .doc = "Name uniquely identifies this resource claim inside the pod."},
    {"resourceClaimName", FIELD_STR, FIELD_PASS,
     .doc = "The name of the ResourceClaim that was generated for the Pod in the namespace of the Pod."},
    {0},
};
static const struct schema pod_resource_claim_status_schema = {
    "PodResourceClaimStatus", pod_resource_claim_status_fields};

static const struct field pod_status_fields[] = {
    {"phase",                      FIELD_STR,  FIELD_PASS, .one_of = pod_phase_values,
     .doc = "The phase of a Pod is a simple, high-level summary of where the Pod is in its lifecycle."},
    {"conditions",                 FIELD_LIST, FIELD_PASS, &pod_condition_schema, .merge_key = "type",
     .doc = "Current service state of pod."},
    {"message",                    FIELD_STR,  FIELD_PASS,
     .doc = "A human readable message indicating details about why the pod is in this condition."},
    {"reason",                     FIELD_STR,  FIELD_PASS,
     .doc = "A brief CamelCase message indicating details about why the pod is in this state."},
    {"nominatedNodeName",          FIELD_STR,  FIELD_PASS,
     .doc = "Set only when this pod preempts other pods on the node, but it cannot be scheduled right away as "
            "preemption victims receive their graceful termination periods."},
    {"hostIP",                     FIELD_STR,  FIELD_PASS,
     .doc = "HostIP holds the IP address of the host to which the pod is assigned."},
    {"hostIPs",                    FIELD_LIST, FIELD_PASS, &host_ip_schema, .merge_key = "ip",
     .doc = "HostIPs holds the IP addresses allocated to the host."},
    {"podIP",                      FIELD_STR,  FIELD_PASS, .doc = "PodIP address allocated to the pod."},
    {"podIPs",                     FIELD_LIST, FIELD_PASS, &pod_ip_schema, .merge_key = "ip",
     .doc = "PodIPs holds the IP addresses allocated to the pod."},
    {"startTime",                  FIELD_TIME, FIELD_PASS,
     .doc = "RFC 3339 date and time at which the object was acknowledged by the Kubelet."},
    {"initContainerStatuses",      FIELD_LIST, FIELD_PASS, &container_status_schema,
     .doc = "The list has one entry per init container in the manifest."},
    {"containerStatuses",          FIELD_LIST, FIELD_PASS, &container_status_schema,
     .doc = "The list has one entry per container in the manifest."},
    {"qosClass",                   FIELD_STR,  FIELD_PASS, .one_of = pod_q_os_class_values,
     .doc = "The Quality of Service (QOS) classification assigned to the pod based on resource requirements See "
            "PodQOSClass type for available QOS classes."},
    {"ephemeralContainerStatuses", FIELD_LIST, FIELD_PASS, &container_status_schema,
     .doc = "Status for any ephemeral containers that have run in this pod."},
    {"resize",                     FIELD_STR,  FIELD_PASS,
     .doc = "Status of resources resize desired for pod's containers."},
    {"resourceClaimStatuses",      FIELD_LIST, FIELD_PASS, &pod_resource_claim_status_schema, .merge_key = "name",
     .doc = "Status of resource claims."},
    {0},
};
const struct schema pod_status_schema = {"PodStatus", pod_status_fields};
/* clang-format on */
