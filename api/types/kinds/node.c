/*
 * Node (v1): one for each machine that runs pods.
 *
 * Ref: k8s.io/api core/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const char *const taint_effect_values[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", "", NULL};
static const char *const condition_status_values[] = {"True", "False", "Unknown", NULL};

static const struct field taint_fields[] = {
    {"key",       FIELD_STR,  FIELD_PASS, .required = true, .doc = "Required."},
    {"value",     FIELD_STR,  FIELD_PASS, .doc = "The taint value corresponding to the taint key."},
    {"effect",    FIELD_STR,  FIELD_PASS, .required = true, .one_of = taint_effect_values,
     .doc = "What happens to pods that do not tolerate the taint."},
    {"timeAdded", FIELD_TIME, FIELD_PASS, .doc = "Represents the time at which the taint was added."},
    {0},
};
static const struct schema taint_schema = {"Taint", taint_fields};

static const struct field config_map_node_config_source_fields[] = {
    {"namespace",        FIELD_STR, FIELD_PASS, .required = true,
     .doc = "The metadata.namespace of the referenced ConfigMap."},
    {"name",             FIELD_STR, FIELD_PASS, .required = true,
     .doc = "The metadata.name of the referenced ConfigMap."},
    {"uid",              FIELD_STR, FIELD_PASS, .doc = "The metadata.UID of the referenced ConfigMap."},
    {"resourceVersion",  FIELD_STR, FIELD_PASS, .doc = "The metadata.ResourceVersion of the referenced ConfigMap."},
    {"kubeletConfigKey", FIELD_STR, FIELD_PASS, .required = true,
     .doc = "KubeletConfigKey declares which key of the referenced ConfigMap corresponds to the KubeletConfiguration "
            "structure This field is required in all cases."},
    {0},
};
static const struct schema config_map_node_config_source_schema = {
    "ConfigMapNodeConfigSource", config_map_node_config_source_fields};

static const struct field node_config_source_fields[] = {
    {"configMap", FIELD_OBJECT, FIELD_PASS, &config_map_node_config_source_schema,
     .doc = "A reference to a Node's ConfigMap."},
    {0},
};
static const struct schema node_config_source_schema = {"NodeConfigSource", node_config_source_fields};

static const struct field node_spec_fields[] = {
    {"podCIDR",       FIELD_STR,      FIELD_PASS, .doc = "Represents the pod IP range assigned to the node."},
    {"podCIDRs",      FIELD_STR_LIST, FIELD_PASS, .merge_key = "",
     .doc = "Represents the IP ranges assigned to the node for usage by Pods on that node."},
    {"providerID",    FIELD_STR,      FIELD_PASS,
     .doc = "ID of the node assigned by the cloud provider in the format: <ProviderName>://<ProviderSpecificNodeID>."},
    {"unschedulable", FIELD_BOOL,     FIELD_PASS, .doc = "Unschedulable controls node schedulability of new pods."},
    {"taints",        FIELD_LIST,     FIELD_PASS, &taint_schema, .doc = "If specified, the node's taints."},
    {"configSource",  FIELD_OBJECT,   FIELD_PASS, &node_config_source_schema, .doc = "Deprecated and ignored."},
    {"externalID",    FIELD_STR,      FIELD_PASS, .doc = "Deprecated."},
    {0},
};
static const struct schema node_spec_schema = {"NodeSpec", node_spec_fields};

static const struct field node_condition_fields[] = {
    {"type",               FIELD_STR,  FIELD_PASS, .doc = "Type of node condition."},
    {"status",             FIELD_STR,  FIELD_PASS, .one_of = condition_status_values,
     .doc = "Status of the condition, one of True, False, Unknown."},
    {"lastHeartbeatTime",  FIELD_TIME, FIELD_PASS, .doc = "Last time we got an update on a given condition."},
    {"lastTransitionTime", FIELD_TIME, FIELD_PASS,
     .doc = "Last time the condition transit from one status to another."},
    {"reason",             FIELD_STR,  FIELD_PASS, .doc = "(brief) reason for the condition's last transition."},
    {"message",            FIELD_STR,  FIELD_PASS,
     .doc = "Human readable message indicating details about last transition."},
    {0},
};
static const struct schema node_condition_schema = {"NodeCondition", node_condition_fields};

static const struct field node_address_fields[] = {
    {"type",    FIELD_STR, FIELD_PASS, .required = true,
     .doc = "Node address type, one of Hostname, ExternalIP or InternalIP."},
    {"address", FIELD_STR, FIELD_PASS, .required = true, .doc = "The node address."},
    {0},
};
static const struct schema node_address_schema = {"NodeAddress", node_address_fields};

static const struct field daemon_endpoint_fields[] = {
    {"Port", FIELD_I32, FIELD_PASS, .doc = "Port number of the given endpoint."},
    {0},
};
static const struct schema daemon_endpoint_schema = {"DaemonEndpoint", daemon_endpoint_fields};

static const struct field node_daemon_endpoints_fields[] = {
    {"kubeletEndpoint", FIELD_OBJECT, FIELD_PASS, &daemon_endpoint_schema,
     .doc = "Endpoint on which Kubelet is listening."},
    {0},
};
static const struct schema node_daemon_endpoints_schema = {"NodeDaemonEndpoints", node_daemon_endpoints_fields};

static const struct field node_system_info_fields[] = {
    {"machineID",               FIELD_STR, FIELD_PASS, .doc = "MachineID reported by the node."},
    {"systemUUID",              FIELD_STR, FIELD_PASS, .doc = "SystemUUID reported by the node."},
    {"bootID",                  FIELD_STR, FIELD_PASS, .doc = "Boot ID reported by the node."},
    {"kernelVersion",           FIELD_STR, FIELD_PASS,
     .doc = "Kernel Version reported by the node from 'uname -r' (e.g. 3.16.0-0.bpo.4-amd64)."},
    {"osImage",                 FIELD_STR, FIELD_PASS,
     .doc = "OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 (wheezy))."},
    {"containerRuntimeVersion", FIELD_STR, FIELD_PASS,
     .doc = "ContainerRuntime Version reported by the node through runtime remote API (e.g. containerd://1.4.2)."},
    {"kubeletVersion",          FIELD_STR, FIELD_PASS, .doc = "Kubelet Version reported by the node."},
    {"kubeProxyVersion",        FIELD_STR, FIELD_PASS, .doc = "KubeProxy Version reported by the node."},
    {"operatingSystem",         FIELD_STR, FIELD_PASS, .doc = "The Operating System reported by the node."},
    {"architecture",            FIELD_STR, FIELD_PASS, .doc = "The Architecture reported by the node."},
    {0},
};
static const struct schema node_system_info_schema = {"NodeSystemInfo", node_system_info_fields};

static const struct field container_image_fields[] = {
    {"names",     FIELD_STR_LIST, FIELD_PASS, .doc = "Names by which this image is known."},
    {"sizeBytes", FIELD_I64,      FIELD_PASS, .doc = "The size of the image in bytes."},
    {0},
};
static const struct schema container_image_schema = {"ContainerImage", container_image_fields};

static const struct field attached_volume_fields[] = {
    {"name",       FIELD_STR, FIELD_PASS, .required = true, .doc = "Name of the attached volume."},
    {"devicePath", FIELD_STR, FIELD_PASS, .required = true,
     .doc = "Represents the device path where the volume should be available."},
    {0},
};
static const struct schema attached_volume_schema = {"AttachedVolume", attached_volume_fields};

static const struct field node_config_status_fields[] = {
    {"assigned",      FIELD_OBJECT, FIELD_PASS, &node_config_source_schema,
     .doc = "Assigned reports the checkpointed config the node will try to use."},
    {"active",        FIELD_OBJECT, FIELD_PASS, &node_config_source_schema,
     .doc = "Active reports the checkpointed config the node is actively using."},
    {"lastKnownGood", FIELD_OBJECT, FIELD_PASS, &node_config_source_schema,
     .doc = "LastKnownGood reports the checkpointed config the node will fall back to when it encounters an error "
            "attempting to use the Assigned config."},
    {"error",         FIELD_STR,    FIELD_PASS,
     .doc = "Error describes any problems reconciling the Spec.ConfigSource to the Active config."},
    {0},
};
static const struct schema node_config_status_schema = {"NodeConfigStatus", node_config_status_fields};

static const struct field node_runtime_handler_features_fields[] = {
    {"recursiveReadOnlyMounts", FIELD_OPT_BOOL, FIELD_PASS,
     .doc = "Set to true if the runtime handler supports RecursiveReadOnlyMounts."},
    {0},
};
static const struct schema node_runtime_handler_features_schema = {
    "NodeRuntimeHandlerFeatures", node_runtime_handler_features_fields};

static const struct field node_runtime_handler_fields[] = {
    {"name",     FIELD_STR,    FIELD_PASS, .doc = "Runtime handler name."},
    {"features", FIELD_OBJECT, FIELD_PASS, &node_runtime_handler_features_schema, .doc = "Supported features."},
    {0},
};
static const struct schema node_runtime_handler_schema = {"NodeRuntimeHandler", node_runtime_handler_fields};

static const struct field node_status_fields[] = {
    {"capacity",        FIELD_QUANTITY_MAP, FIELD_PASS, .doc = "Represents the total resources of a node."},
    {"allocatable",     FIELD_QUANTITY_MAP, FIELD_PASS,
     .doc = "Represents the resources of a node that are available for scheduling."},
    {"phase",           FIELD_STR,          FIELD_PASS,
     .doc = "NodePhase is the recently observed lifecycle phase of the node."},
    {"conditions",      FIELD_LIST,         FIELD_PASS, &node_condition_schema, .merge_key = "type",
     .doc = "An array of current observed node conditions."},
    {"addresses",       FIELD_LIST,         FIELD_PASS, &node_address_schema, .merge_key = "type",
     .doc = "List of addresses reachable to the node."},
    {"daemonEndpoints", FIELD_OBJECT,       FIELD_PASS, &node_daemon_endpoints_schema,
     .doc = "Endpoints of daemons running on the Node."},
    {"nodeInfo",        FIELD_OBJECT,       FIELD_PASS, &node_system_info_schema,
     .doc = "Set of ids/uuids to uniquely identify the node."},
    {"images",          FIELD_LIST,         FIELD_PASS, &container_image_schema,
     .doc = "List of container images on this node."},
    {"volumesInUse",    FIELD_STR_LIST,     FIELD_PASS,
     .doc = "List of attachable volumes in use (mounted) by the node."},
    {"volumesAttached", FIELD_LIST,         FIELD_PASS, &attached_volume_schema,
     .doc = "List of volumes that are attached to the node."},
    {"config",          FIELD_OBJECT,       FIELD_PASS, &node_config_status_schema,
     .doc = "Status of the config assigned to the node via the dynamic Kubelet config feature."},
    {"runtimeHandlers", FIELD_LIST,         FIELD_PASS, &node_runtime_handler_schema,
     .doc = "The available runtime handlers."},
    {0},
};
static const struct schema node_status_schema = {"NodeStatus", node_status_fields};

static const struct field node_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &node_spec_schema, .doc = "Taints and whether pods may be placed."},
    {"status", FIELD_OBJECT, FIELD_PASS, &node_status_schema, .doc = "Capacity, conditions and addresses."},
    {0},
};
static const struct schema node_schema = {"Node", node_fields, .doc = "A machine that runs pods."};
/* clang-format on */

static const char *const short_names[] = {"no", NULL};

const struct kind kind_node = {
    .id = KIND_NODE,
    .group = "",
    .version = "v1",
    .name = "Node",
    .plural = "nodes",
    .singular = "node",
    .short_names = short_names,
    .has_status = true,
    .no_generation = true,
    .few = true,
    .schema = &node_schema,
};
