/*
 * The kind Node: a machine that runs pods. Each node reports its own object.
 *
 * Ref: k8s.io/api core/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const char *const taint_effect_values[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", "", NULL};
static const char *const condition_status_values[] = {"True", "False", "Unknown", NULL};

static const struct field taint_fields[] = {
    {"key",       FIELD_STR,  FIELD_PASS, .pb = 1, .required = true, .doc = "Key of the taint."},
    {"value",     FIELD_STR,  FIELD_PASS, .pb = 2, .doc = "Value of the taint."},
    {"effect",    FIELD_STR,  FIELD_PASS, .pb = 3, .required = true, .one_of = taint_effect_values,
     .doc = "Effect on pods that do not tolerate the taint."},
    {"timeAdded", FIELD_TIME, FIELD_PASS, .pb = 4, .doc = "Time when the taint was added."},
    {0},
};
static const struct schema taint_schema = {"Taint", taint_fields};

static const struct field config_map_node_config_source_fields[] = {
    {"namespace",        FIELD_STR, FIELD_PASS, .pb = 1, .required = true,
     .doc = "Namespace of the ConfigMap."},
    {"name",             FIELD_STR, FIELD_PASS, .pb = 2, .required = true,
     .doc = "Name of the ConfigMap."},
    {"uid",              FIELD_STR, FIELD_PASS, .pb = 3, .doc = "UID of the ConfigMap."},
    {"resourceVersion",  FIELD_STR, FIELD_PASS, .pb = 4, .doc = "Resource version of the ConfigMap."},
    {"kubeletConfigKey", FIELD_STR, FIELD_PASS, .pb = 5, .required = true,
     .doc = "Key of the ConfigMap that holds the kubelet's configuration."},
    {0},
};
static const struct schema config_map_node_config_source_schema = {
    "ConfigMapNodeConfigSource", config_map_node_config_source_fields};

static const struct field node_config_source_fields[] = {
    {"configMap", FIELD_OBJECT, FIELD_PASS, &config_map_node_config_source_schema, .pb = 2,
     .doc = "ConfigMap with the kubelet's configuration."},
    {0},
};
static const struct schema node_config_source_schema = {"NodeConfigSource", node_config_source_fields};

static const struct field node_spec_fields[] = {
    {"podCIDR",       FIELD_STR,      FIELD_PASS, .pb = 1, .doc = "Range of addresses for the pods of the node."},
    {"podCIDRs",      FIELD_STR_LIST, FIELD_PASS, .pb = 7, .merge_key = "",
     .doc = "Ranges of addresses for the pods of the node, one for each IP family."},
    {"providerID",    FIELD_STR,      FIELD_PASS, .pb = 3,
     .doc = "Identifier that a cloud provider gives to the node."},
    {"unschedulable", FIELD_BOOL,     FIELD_PASS, .pb = 4, .doc = "Keeps new pods from being placed on the node."},
    {"taints",        FIELD_LIST,     FIELD_PASS, &taint_schema, .pb = 5, .doc = "Taints of the node."},
    {"configSource",  FIELD_OBJECT,   FIELD_PASS, &node_config_source_schema, .pb = 6, .doc = "Deprecated source of the kubelet's configuration; ignored."},
    {"externalID",    FIELD_STR,      FIELD_PASS, .pb = 2, .doc = "Deprecated field; ignored."},
    {0},
};
static const struct schema node_spec_schema = {"NodeSpec", node_spec_fields};

static const struct field node_condition_fields[] = {
    {"type",               FIELD_STR,  FIELD_PASS, .pb = 1, .keeps_zero = true, .doc = "Type of the condition."},
    {"status",             FIELD_STR,  FIELD_PASS, .pb = 2, .keeps_zero = true, .one_of = condition_status_values,
     .doc = "Status of the condition: True, False or Unknown."},
    {"lastHeartbeatTime",  FIELD_TIME, FIELD_PASS, .pb = 3, .doc = "Time when the condition was last reported."},
    {"lastTransitionTime", FIELD_TIME, FIELD_PASS, .pb = 4,
     .doc = "Time when the status last changed."},
    {"reason",             FIELD_STR,  FIELD_PASS, .pb = 5, .doc = "One-word reason for the last change of the status."},
    {"message",            FIELD_STR,  FIELD_PASS, .pb = 6,
     .doc = "Text that explains the last change of the status."},
    {0},
};
static const struct schema node_condition_schema = {"NodeCondition", node_condition_fields};

static const struct field node_address_fields[] = {
    {"type",    FIELD_STR, FIELD_PASS, .pb = 1, .required = true,
     .doc = "Type of the address: Hostname, ExternalIP or InternalIP."},
    {"address", FIELD_STR, FIELD_PASS, .pb = 2, .required = true, .doc = "Address of the node."},
    {0},
};
static const struct schema node_address_schema = {"NodeAddress", node_address_fields};

static const struct field daemon_endpoint_fields[] = {
    {"Port", FIELD_I32, FIELD_PASS, .pb = 1, .keeps_zero = true, .doc = "Port that the daemon listens on."},
    {0},
};
static const struct schema daemon_endpoint_schema = {"DaemonEndpoint", daemon_endpoint_fields};

static const struct field node_daemon_endpoints_fields[] = {
    {"kubeletEndpoint", FIELD_OBJECT, FIELD_PASS, &daemon_endpoint_schema, .pb = 1,
     .doc = "Port of the kubelet."},
    {0},
};
static const struct schema node_daemon_endpoints_schema = {"NodeDaemonEndpoints", node_daemon_endpoints_fields};

static const struct field node_system_info_fields[] = {
    {"machineID",               FIELD_STR, FIELD_PASS, .pb = 1, .keeps_zero = true, .doc = "Machine id of the node."},
    {"systemUUID",              FIELD_STR, FIELD_PASS, .pb = 2, .keeps_zero = true, .doc = "System UUID of the node."},
    {"bootID",                  FIELD_STR, FIELD_PASS, .pb = 3, .keeps_zero = true, .doc = "Boot id of the node."},
    {"kernelVersion",           FIELD_STR, FIELD_PASS, .pb = 4, .keeps_zero = true,
     .doc = "Kernel version of the node, as uname -r prints it."},
    {"osImage",                 FIELD_STR, FIELD_PASS, .pb = 5, .keeps_zero = true,
     .doc = "Operating system of the node, as /etc/os-release names it."},
    {"containerRuntimeVersion", FIELD_STR, FIELD_PASS, .pb = 6, .keeps_zero = true,
     .doc = "Name and version of the container runtime."},
    {"kubeletVersion",          FIELD_STR, FIELD_PASS, .pb = 7, .keeps_zero = true, .doc = "Version of the kubelet."},
    {"kubeProxyVersion",        FIELD_STR, FIELD_PASS, .pb = 8, .keeps_zero = true, .doc = "Version of kube-proxy."},
    {"operatingSystem",         FIELD_STR, FIELD_PASS, .pb = 9, .keeps_zero = true, .doc = "Operating system family of the node, for example linux."},
    {"architecture",            FIELD_STR, FIELD_PASS, .pb = 10, .keeps_zero = true, .doc = "Processor architecture of the node, for example amd64."},
    {0},
};
static const struct schema node_system_info_schema = {"NodeSystemInfo", node_system_info_fields};

static const struct field container_image_fields[] = {
    {"names",     FIELD_STR_LIST, FIELD_PASS, .pb = 1, .doc = "Names of the image."},
    {"sizeBytes", FIELD_I64,      FIELD_PASS, .pb = 2, .doc = "Size of the image in bytes."},
    {0},
};
static const struct schema container_image_schema = {"ContainerImage", container_image_fields};

static const struct field attached_volume_fields[] = {
    {"name",       FIELD_STR, FIELD_PASS, .pb = 1, .required = true, .doc = "Name of the attached volume."},
    {"devicePath", FIELD_STR, FIELD_PASS, .pb = 2, .required = true,
     .doc = "Path of the volume's device on the node."},
    {0},
};
static const struct schema attached_volume_schema = {"AttachedVolume", attached_volume_fields};

static const struct field node_config_status_fields[] = {
    {"assigned",      FIELD_OBJECT, FIELD_PASS, &node_config_source_schema, .pb = 1,
     .doc = "Configuration that the node will try to use."},
    {"active",        FIELD_OBJECT, FIELD_PASS, &node_config_source_schema, .pb = 2,
     .doc = "Configuration that the node uses."},
    {"lastKnownGood", FIELD_OBJECT, FIELD_PASS, &node_config_source_schema, .pb = 3,
     .doc = "Configuration that the node falls back to when the assigned one does not work."},
    {"error",         FIELD_STR,    FIELD_PASS, .pb = 4,
     .doc = "Problem with the assigned configuration."},
    {0},
};
static const struct schema node_config_status_schema = {"NodeConfigStatus", node_config_status_fields};

static const struct field node_runtime_handler_features_fields[] = {
    {"recursiveReadOnlyMounts", FIELD_OPT_BOOL, FIELD_PASS, .pb = 1,
     .doc = "Says whether the runtime handler supports recursive read-only mounts."},
    {0},
};
static const struct schema node_runtime_handler_features_schema = {
    "NodeRuntimeHandlerFeatures", node_runtime_handler_features_fields};

static const struct field node_runtime_handler_fields[] = {
    {"name",     FIELD_STR,    FIELD_PASS, .pb = 1, .keeps_zero = true, .doc = "Name of the runtime handler."},
    {"features", FIELD_OBJECT, FIELD_PASS, &node_runtime_handler_features_schema, .pb = 2, .doc = "Features that the runtime handler supports."},
    {0},
};
static const struct schema node_runtime_handler_schema = {"NodeRuntimeHandler", node_runtime_handler_fields};

static const struct field node_status_fields[] = {
    {"capacity",        FIELD_QUANTITY_MAP, FIELD_PASS, .pb = 1, .doc = "Total resources of the node."},
    {"allocatable",     FIELD_QUANTITY_MAP, FIELD_PASS, .pb = 2,
     .doc = "Resources of the node that pods may use."},
    {"phase",           FIELD_STR,          FIELD_PASS, .pb = 3,
     .doc = "Phase of the node; deprecated."},
    {"conditions",      FIELD_LIST,         FIELD_PASS, &node_condition_schema, .pb = 4, .merge_key = "type",
     .doc = "Conditions of the node."},
    {"addresses",       FIELD_LIST,         FIELD_PASS, &node_address_schema, .pb = 5, .merge_key = "type",
     .doc = "Addresses of the node."},
    {"daemonEndpoints", FIELD_OBJECT,       FIELD_PASS, &node_daemon_endpoints_schema, .pb = 6,
     .doc = "Ports of the daemons on the node."},
    {"nodeInfo",        FIELD_OBJECT,       FIELD_PASS, &node_system_info_schema, .pb = 7,
     .doc = "Identifiers and versions of the node."},
    {"images",          FIELD_LIST,         FIELD_PASS, &container_image_schema, .pb = 8,
     .doc = "Container images on the node."},
    {"volumesInUse",    FIELD_STR_LIST,     FIELD_PASS, .pb = 9,
     .doc = "Attached volumes that the node uses."},
    {"volumesAttached", FIELD_LIST,         FIELD_PASS, &attached_volume_schema, .pb = 10,
     .doc = "Volumes that are attached to the node."},
    {"config",          FIELD_OBJECT,       FIELD_PASS, &node_config_status_schema, .pb = 11,
     .doc = "State of the kubelet's dynamic configuration."},
    {"runtimeHandlers", FIELD_LIST,         FIELD_PASS, &node_runtime_handler_schema, .pb = 12,
     .doc = "Runtime handlers of the node."},
    {0},
};
static const struct schema node_status_schema = {"NodeStatus", node_status_fields};

static const struct field node_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &node_spec_schema, .pb = 2, .doc = "Taints of the node, and whether new pods may be placed on it."},
    {"status", FIELD_OBJECT, FIELD_PASS, &node_status_schema, .pb = 3, .doc = "Capacity, conditions and addresses of the node."},
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
