/*
 * Field tables of a pod's spec and of pod templates, with security settings, DNS and claims.
 *
 * Ref: k8s.io/api core/v1, release 1.30, and pod-level resources of 1.32.
 */
#include <assert.h>

#include "api/types/kinds/pod/core_schema.h"
#include "api/types/labels.h"

#define POD(member) offsetof(struct pod_spec, member)

static_assert(POD(limits) - POD(requests) == offsetof(struct container_resources, limits),
              "requests and limits are read as one struct container_resources");

/* clang-format off */
static const char *const pod_f_s_group_change_policy_values[] = {"OnRootMismatch", "Always", NULL};
static const char *const os_name_values[] = {"linux", "windows", NULL};
static const char *const restart_policy_values[] = {"Always", "OnFailure", "Never", "", NULL};
static const char *const dns_policy_values[] = {
    "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None", "", NULL};
static const char *const preemption_policy_values[] = {"PreemptLowerPriority", "Never", NULL};

static const struct field sysctl_fields[] = {
    {"name",  FIELD_STR, FIELD_PASS, .pb = 1, .required = true, .doc = "Name of the kernel parameter."},
    {"value", FIELD_STR, FIELD_PASS, .pb = 2, .required = true, .doc = "Value of the kernel parameter."},
    {0},
};
static const struct schema sysctl_schema = {"Sysctl", sysctl_fields};

static const struct field pod_security_context_fields[] = {
    {"seLinuxOptions",      FIELD_OBJECT,   FIELD_PASS, &selinux_options_schema, .pb = 1,
     .doc = "SELinux context of all containers."},
    {"windowsOptions",      FIELD_OBJECT,   FIELD_PASS, &windows_security_context_options_schema, .pb = 8,
     .doc = "Settings for Windows."},
    {"runAsUser",           FIELD_OPT_I64,  FIELD_PASS, .pb = 2,
     .doc = "User id of the container's processes."},
    {"runAsGroup",          FIELD_OPT_I64,  FIELD_PASS, .pb = 6,
     .doc = "Group id of the container's processes."},
    {"runAsNonRoot",        FIELD_OPT_BOOL, FIELD_PASS, .pb = 3,
     .doc = "Refuses to run the container as root."},
    {"supplementalGroups",  FIELD_ANY,      FIELD_PASS, .pb = 4, .pb_as = PB_INTEGERS,
     .doc = "Supplementary group ids of the containers' processes."},
    {"fsGroup",             FIELD_OPT_I64,  FIELD_PASS, .pb = 5,
     .doc = "Group that owns the volumes, and a supplementary group of all containers."},
    {"sysctls",             FIELD_LIST,     FIELD_PASS, &sysctl_schema, .pb = 7,
     .doc = "Kernel parameters of the pod."},
    {"fsGroupChangePolicy", FIELD_STR,      FIELD_PASS, .pb = 9, .keeps_zero = true, .one_of = pod_f_s_group_change_policy_values,
     .doc = "Says when the ownership of the volumes is changed."},
    {"seccompProfile",      FIELD_OBJECT,   FIELD_PASS, &seccomp_profile_schema, .pb = 10,
     .doc = "Seccomp profile of the containers."},
    {"appArmorProfile",     FIELD_OBJECT,   FIELD_PASS, &app_armor_profile_schema, .pb = 11,
     .doc = "AppArmor profile of the containers."},
    {0},
};
static const struct schema pod_security_context_schema = {"PodSecurityContext", pod_security_context_fields};

static const struct field host_alias_fields[] = {
    {"ip",        FIELD_STR,      FIELD_PASS, .pb = 1, .required = true, .doc = "IP address of the entry."},
    {"hostnames", FIELD_STR_LIST, FIELD_PASS, .pb = 2, .doc = "Host names of the address."},
    {0},
};
static const struct schema host_alias_schema = {"HostAlias", host_alias_fields};

static const struct field pod_dns_config_option_fields[] = {
    {"name",  FIELD_STR, FIELD_PASS, .pb = 1, .doc = "Name of the option."},
    {"value", FIELD_STR, FIELD_PASS, .pb = 2, .keeps_zero = true, .doc = "Value of the option."},
    {0},
};
static const struct schema pod_dns_config_option_schema = {"PodDNSConfigOption", pod_dns_config_option_fields};

static const struct field pod_dns_config_fields[] = {
    {"nameservers", FIELD_STR_LIST, FIELD_PASS, .pb = 1, .doc = "Addresses of the name servers."},
    {"searches",    FIELD_STR_LIST, FIELD_PASS, .pb = 2, .doc = "Domains in which short names are looked up."},
    {"options",     FIELD_LIST,     FIELD_PASS, &pod_dns_config_option_schema, .pb = 3,
     .doc = "Options of the resolver."},
    {0},
};
static const struct schema pod_dns_config_schema = {"PodDNSConfig", pod_dns_config_fields};

static const struct field pod_readiness_gate_fields[] = {
    {"conditionType", FIELD_STR, FIELD_PASS, .pb = 1, .required = true,
     .doc = "Type of a condition of the pod."},
    {0},
};
static const struct schema pod_readiness_gate_schema = {"PodReadinessGate", pod_readiness_gate_fields};

static const struct field pod_os_fields[] = {
    {"name", FIELD_STR, FIELD_PASS, .pb = 1, .required = true, .one_of = os_name_values,
     .doc = "Name of the operating system: linux or windows."},
    {0},
};
static const struct schema pod_os_schema = {"PodOS", pod_os_fields};

static const struct field pod_scheduling_gate_fields[] = {
    {"name", FIELD_STR, FIELD_PASS, .pb = 1, .required = true, .check = label_key_valid, .doc = "Name of the scheduling gate."},
    {0},
};
static const struct schema pod_scheduling_gate_schema = {"PodSchedulingGate", pod_scheduling_gate_fields};

static const struct field claim_source_fields[] = {
    {"resourceClaimName",         FIELD_STR, FIELD_PASS, .pb = 1, .keeps_zero = true,
     .doc = "Name of a ResourceClaim in the pod's namespace."},
    {"resourceClaimTemplateName", FIELD_STR, FIELD_PASS, .pb = 2, .keeps_zero = true,
     .doc = "Name of a ResourceClaimTemplate in the pod's namespace."},
    {0},
};
static const struct schema claim_source_schema = {"ClaimSource", claim_source_fields};

static const struct field pod_resource_claim_fields[] = {
    {"name",   FIELD_STR,    FIELD_PASS, .pb = 1, .required = true,
     .doc = "Name of the claim, unique within the pod."},
    {"source", FIELD_OBJECT, FIELD_PASS, &claim_source_schema, .pb = 2,
     .doc = "ResourceClaim or template of the claim."},
    {0},
};
static const struct schema pod_resource_claim_schema = {"PodResourceClaim", pod_resource_claim_fields};

static const struct field pod_spec_fields[] = {
    {"volumes",                       FIELD_LIST,         POD(volumes), &volume_schema, .pb = 1, .merge_key = "name",
     .doc = "Volumes that the containers can mount."},
    {"initContainers",                FIELD_LIST,         POD(init_containers), &container_schema, .pb = 20,
     .merge_key = "name",
     .doc = "Containers that run one after the other before the others start."},
    {"containers",                    FIELD_LIST,         POD(containers), &container_schema, .pb = 2, .required = true,
     .merge_key = "name",
     .doc = "Containers of the pod."},
    {"ephemeralContainers",           FIELD_LIST,         FIELD_PASS, &ephemeral_container_schema, .pb = 34,
     .merge_key = "name",
     .doc = "Containers that were added to the running pod."},
    {"restartPolicy",                 FIELD_STR,          POD(restart_policy), .incidental = true, .pb = 3, .one_of = restart_policy_values,
     .doc = "Says when ended containers are restarted: Always (the default), OnFailure or Never."},
    {"terminationGracePeriodSeconds", FIELD_OPT_I64,      POD(grace_s), .incidental = true, .pb = 4, NOT_NEGATIVE,
     .doc = "Seconds that the containers get to end before they are killed."},
    {"activeDeadlineSeconds",         FIELD_OPT_I64,      POD(active_deadline_s), .incidental = true, .pb = 5, NOT_NEGATIVE,
     .doc = "Seconds that the pod may run before it is killed and has failed."},
    {"dnsPolicy",                     FIELD_STR,          POD(dns_policy), .pb = 6, .one_of = dns_policy_values,
     .doc = "Says how the pod resolves names."},
    {"nodeSelector",                  FIELD_STR_MAP,      POD(node_selector), .incidental = true, .pb = 7, .as_json = true,
     .doc = "Labels that the pod's node must have."},
    {"serviceAccountName",            FIELD_STR,          FIELD_PASS, .pb = 8,
     .doc = "Name of the pod's ServiceAccount."},
    {"serviceAccount",                FIELD_STR,          FIELD_PASS, .pb = 9,
     .doc = "Deprecated form of serviceAccountName."},
    {"automountServiceAccountToken",  FIELD_OPT_BOOL,     FIELD_PASS, .pb = 21,
     .doc = "Says whether a token of the ServiceAccount is mounted."},
    {"nodeName",                      FIELD_STR,          POD(node_name), .pb = 10,
     .doc = "Name of the node that the pod runs on. The scheduler sets it."},
    {"hostNetwork",                   FIELD_BOOL,         POD(host_network), .pb = 11,
     .doc = "Runs the pod in the network of the host."},
    {"hostPID",                       FIELD_BOOL,         FIELD_PASS, .pb = 12, .doc = "Runs the pod in the process namespace of the host."},
    {"hostIPC",                       FIELD_BOOL,         FIELD_PASS, .pb = 13, .doc = "Runs the pod in the IPC namespace of the host."},
    {"shareProcessNamespace",         FIELD_OPT_BOOL,     FIELD_PASS, .pb = 27,
     .doc = "Makes all containers share one process namespace."},
    {"securityContext",               FIELD_OBJECT,       POD(security_context), &pod_security_context_schema, .pb = 14,
     .as_json = true,
     .doc = "Security settings of all containers."},
    {"imagePullSecrets",              FIELD_LIST,         FIELD_PASS, &local_object_reference_schema, .incidental = true, .pb = 15,
     .merge_key = "name",
     .doc = "Secrets for pulling images; not used by the local runtime."},
    {"hostname",                      FIELD_STR,          POD(hostname), .pb = 16,
     .doc = "Host name of the pod; the pod's name when absent."},
    {"subdomain",                     FIELD_STR,          POD(subdomain), .pb = 17,
     .doc = "Subdomain of the pod's full host name."},
    {"affinity",                      FIELD_OBJECT,       POD(affinity), &affinity_schema, .incidental = true, .pb = 18, .as_json = true,
     .doc = "Rules for the place of the pod."},
    {"schedulerName",                 FIELD_STR,          POD(scheduler_name), .incidental = true, .pb = 19,
     .doc = "Name of the scheduler that places the pod."},
    {"tolerations",                   FIELD_LIST,         POD(tolerations), &toleration_schema, .incidental = true, .pb = 22, .as_json = true,
     .doc = "Taints that the pod tolerates."},
    {"hostAliases",                   FIELD_LIST,         POD(host_aliases), &host_alias_schema, .pb = 23, .as_json = true,
     .merge_key = "ip",
     .doc = "Entries that are added to the hosts file of the pod."},
    {"priorityClassName",             FIELD_STR,          POD(priority_class), .incidental = true, .pb = 24,
     .doc = "Name of the pod's PriorityClass."},
    {"priority",                      FIELD_OPT_I32,      FIELD_PASS, .pb = 25, .doc = "Priority of the pod."},
    {"dnsConfig",                     FIELD_OBJECT,       FIELD_PASS, &pod_dns_config_schema, .pb = 26,
     .doc = "Settings of the pod's resolver."},
    {"readinessGates",                FIELD_LIST,         FIELD_PASS, &pod_readiness_gate_schema, .pb = 28,
     .doc = "Conditions that must be true before the pod is ready."},
    {"runtimeClassName",              FIELD_STR,          FIELD_PASS, .pb = 29, .keeps_zero = true,
     .doc = "Name of the pod's RuntimeClass."},
    {"enableServiceLinks",            FIELD_OPT_BOOL,     POD(service_links), .pb = 30,
     .doc = "Says whether the containers get environment variables with the addresses of Services."},
    {"preemptionPolicy",              FIELD_STR,          FIELD_PASS, .pb = 31, .keeps_zero = true, .one_of = preemption_policy_values,
     .doc = "Says whether the pod may evict pods of lower priority."},
    {"overhead",                      FIELD_QUANTITY_MAP, POD(overhead), .pb = 32,
     .doc = "Resources that the pod needs besides those of its containers."},
    {"topologySpreadConstraints",     FIELD_LIST,         FIELD_PASS, &topology_spread_constraint_schema, .incidental = true, .pb = 33,
     .merge_key = "topologyKey",
     .doc = "Rules for spreading pods evenly over places."},
    {"setHostnameAsFQDN",             FIELD_OPT_BOOL,     FIELD_PASS, .pb = 35,
     .doc = "Makes the full name the pod's host name."},
    {"os",                            FIELD_OBJECT,       FIELD_PASS, &pod_os_schema, .pb = 36,
     .doc = "Operating system of the containers."},
    {"hostUsers",                     FIELD_OPT_BOOL,     FIELD_PASS, .pb = 37, .doc = "Runs the pod in the user namespace of the host."},
    {"schedulingGates",               FIELD_LIST,         POD(scheduling_gates), &pod_scheduling_gate_schema, .pb = 38, .as_json = true,
     .merge_key = "name",
     .doc = "Gates that keep the pod from being placed until they are removed."},
    {"resourceClaims",                FIELD_LIST,         FIELD_PASS, &pod_resource_claim_schema, .pb = 39,
     .merge_key = "name",
     .doc = "Resource claims that must be allocated before the pod starts."},
    {"resources",                     FIELD_INLINE,       POD(requests), &resource_requirements_schema, .incidental = true, .pb = 40,
     .doc = "Requests and limits of the pod as a whole."},
    {0},
};
const struct schema pod_spec_schema = {"PodSpec", pod_spec_fields, sizeof(struct pod_spec)};

static const struct field pod_template_fields[] = {
    {"metadata", FIELD_OBJECT, FIELD_PASS, &metadata_schema, .pb = 1, .doc = "Labels and annotations of the pods."},
    {"spec",     FIELD_OBJECT, FIELD_PASS, &pod_spec_schema, .pb = 2, .doc = "Specification of the pods."},
    {0},
};
const struct schema pod_template_schema = {"PodTemplateSpec", pod_template_fields};
/* clang-format on */
