/*
 * Field tables of the pod: spec, template, security, DNS.
 *
 * Ref: k8s.io/api core/v1, release 1.30, and pod-level resources of 1.32.
 */
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/labels.h"

#define POD(member) offsetof(struct pod_spec, member)

/* clang-format off */
static const char *const pod_f_s_group_change_policy_values[] = {"OnRootMismatch", "Always", NULL};
static const char *const os_name_values[] = {"linux", "windows", NULL};
static const char *const restart_policy_values[] = {"Always", "OnFailure", "Never", "", NULL};
static const char *const dns_policy_values[] = {
    "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None", "", NULL};
static const char *const preemption_policy_values[] = {"PreemptLowerPriority", "Never", NULL};

static const struct field sysctl_fields[] = {
    {"name",  FIELD_STR, FIELD_PASS, .required = true, .doc = "Name of a property to set."},
    {"value", FIELD_STR, FIELD_PASS, .required = true, .doc = "Value of a property to set."},
    {0},
};
static const struct schema sysctl_schema = {"Sysctl", sysctl_fields};

static const struct field pod_security_context_fields[] = {
    {"seLinuxOptions",      FIELD_OBJECT,   FIELD_PASS, &selinux_options_schema,
     .doc = "The SELinux context to be applied to all containers."},
    {"windowsOptions",      FIELD_OBJECT,   FIELD_PASS, &windows_security_context_options_schema,
     .doc = "The Windows specific settings applied to all containers."},
    {"runAsUser",           FIELD_OPT_I64,  FIELD_PASS,
     .doc = "The UID to run the entrypoint of the container process."},
    {"runAsGroup",          FIELD_OPT_I64,  FIELD_PASS,
     .doc = "The GID to run the entrypoint of the container process."},
    {"runAsNonRoot",        FIELD_OPT_BOOL, FIELD_PASS,
     .doc = "Indicates that the container must run as a non-root user."},
    {"supplementalGroups",  FIELD_ANY,      FIELD_PASS,
     .doc = "A list of groups applied to the first process run in each container, in addition to the container's "
            "primary GID, the fsGroup (if specified), and group memberships defined in the container image for the "
            "uid of the container process."},
    {"fsGroup",             FIELD_OPT_I64,  FIELD_PASS,
     .doc = "A special supplemental group that applies to all containers in a pod."},
    {"sysctls",             FIELD_LIST,     FIELD_PASS, &sysctl_schema,
     .doc = "Sysctls hold a list of namespaced sysctls used for the pod."},
    {"fsGroupChangePolicy", FIELD_STR,      FIELD_PASS, .one_of = pod_f_s_group_change_policy_values,
     .doc = "Defines behavior of changing ownership and permission of the volume before being exposed inside Pod."},
    {"seccompProfile",      FIELD_OBJECT,   FIELD_PASS, &seccomp_profile_schema,
     .doc = "The seccomp options to use by the containers in this pod."},
    {"appArmorProfile",     FIELD_OBJECT,   FIELD_PASS, &app_armor_profile_schema,
     .doc = "The AppArmor options to use by the containers in this pod."},
    {0},
};
static const struct schema pod_security_context_schema = {"PodSecurityContext", pod_security_context_fields};

static const struct field host_alias_fields[] = {
    {"ip",        FIELD_STR,      FIELD_PASS, .required = true, .doc = "IP address of the host file entry."},
    {"hostnames", FIELD_STR_LIST, FIELD_PASS, .doc = "Hostnames for the above IP address."},
    {0},
};
static const struct schema host_alias_schema = {"HostAlias", host_alias_fields};

static const struct field pod_dns_config_option_fields[] = {
    {"name",  FIELD_STR, FIELD_PASS, .doc = "Name of the option."},
    {"value", FIELD_STR, FIELD_PASS, .doc = "Value of the option."},
    {0},
};
static const struct schema pod_dns_config_option_schema = {"PodDNSConfigOption", pod_dns_config_option_fields};

static const struct field pod_dns_config_fields[] = {
    {"nameservers", FIELD_STR_LIST, FIELD_PASS, .doc = "A list of DNS name server IP addresses."},
    {"searches",    FIELD_STR_LIST, FIELD_PASS, .doc = "A list of DNS search domains for host-name lookup."},
    {"options",     FIELD_LIST,     FIELD_PASS, &pod_dns_config_option_schema,
     .doc = "A list of DNS resolver options."},
    {0},
};
static const struct schema pod_dns_config_schema = {"PodDNSConfig", pod_dns_config_fields};

static const struct field pod_readiness_gate_fields[] = {
    {"conditionType", FIELD_STR, FIELD_PASS, .required = true,
     .doc = "ConditionType refers to a condition in the pod's condition list with matching type."},
    {0},
};
static const struct schema pod_readiness_gate_schema = {"PodReadinessGate", pod_readiness_gate_fields};

static const struct field pod_os_fields[] = {
    {"name", FIELD_STR, FIELD_PASS, .required = true, .one_of = os_name_values,
     .doc = "The name of the operating system."},
    {0},
};
static const struct schema pod_os_schema = {"PodOS", pod_os_fields};

static const struct field pod_scheduling_gate_fields[] = {
    {"name", FIELD_STR, FIELD_PASS, .required = true, .check = label_key_valid, .doc = "Name of the scheduling gate."},
    {0},
};
static const struct schema pod_scheduling_gate_schema = {"PodSchedulingGate", pod_scheduling_gate_fields};

static const struct field claim_source_fields[] = {
    {"resourceClaimName",         FIELD_STR, FIELD_PASS,
     .doc = "The name of a ResourceClaim object in the same namespace as this pod."},
    {"resourceClaimTemplateName", FIELD_STR, FIELD_PASS,
     .doc = "The name of a ResourceClaimTemplate object in the same namespace as this pod."},
    {0},
};
static const struct schema claim_source_schema = {"ClaimSource", claim_source_fields};

static const struct field pod_resource_claim_fields[] = {
    {"name",   FIELD_STR,    FIELD_PASS, .required = true,
     .doc = "Name uniquely identifies this resource claim inside the pod."},
    {"source", FIELD_OBJECT, FIELD_PASS, &claim_source_schema,
     .doc = "Source describes where to find the ResourceClaim."},
    {0},
};
static const struct schema pod_resource_claim_schema = {"PodResourceClaim", pod_resource_claim_fields};

static const struct field pod_spec_fields[] = {
    {"volumes",                       FIELD_LIST,         POD(volumes), &volume_schema, .merge_key = "name",
     .doc = "List of volumes that can be mounted by containers belonging to the pod."},
    {"initContainers",                FIELD_LIST,         POD(init_containers), &container_schema,
     .merge_key = "name",
     .doc = "List of initialization containers belonging to the pod."},
    {"containers",                    FIELD_LIST,         POD(containers), &container_schema, .required = true,
     .merge_key = "name",
     .doc = "List of containers belonging to the pod."},
    {"ephemeralContainers",           FIELD_LIST,         FIELD_PASS, &ephemeral_container_schema,
     .merge_key = "name",
     .doc = "List of ephemeral containers run in this pod."},
    {"restartPolicy",                 FIELD_STR,          POD(restart_policy), .one_of = restart_policy_values,
     .doc = "Restart policy for all containers within the pod."},
    {"terminationGracePeriodSeconds", FIELD_OPT_I64,      POD(grace_s), NOT_NEGATIVE,
     .doc = "Optional duration in seconds the pod needs to terminate gracefully."},
    {"activeDeadlineSeconds",         FIELD_OPT_I64,      POD(active_deadline_s), NOT_NEGATIVE,
     .doc = "Optional duration in seconds the pod may be active on the node relative to StartTime before the system "
            "will actively try to mark it failed and kill associated containers."},
    {"dnsPolicy",                     FIELD_STR,          POD(dns_policy), .one_of = dns_policy_values,
     .doc = "Set DNS policy for the pod."},
    {"nodeSelector",                  FIELD_STR_MAP,      POD(node_selector), .as_json = true,
     .doc = "A selector which must be true for the pod to fit on a node."},
    {"serviceAccountName",            FIELD_STR,          FIELD_PASS,
     .doc = "The name of the ServiceAccount to use to run this pod."},
    {"serviceAccount",                FIELD_STR,          FIELD_PASS,
     .doc = "DeprecatedServiceAccount is a deprecated alias for ServiceAccountName."},
    {"automountServiceAccountToken",  FIELD_OPT_BOOL,     FIELD_PASS,
     .doc = "Indicates whether a service account token should be automatically mounted."},
    {"nodeName",                      FIELD_STR,          POD(node_name),
     .doc = "A request to schedule this pod onto a specific node."},
    {"hostNetwork",                   FIELD_BOOL,         POD(host_network),
     .doc = "Host networking requested for this pod."},
    {"hostPID",                       FIELD_BOOL,         FIELD_PASS, .doc = "Use the host's pid namespace."},
    {"hostIPC",                       FIELD_BOOL,         FIELD_PASS, .doc = "Use the host's ipc namespace."},
    {"shareProcessNamespace",         FIELD_OPT_BOOL,     FIELD_PASS,
     .doc = "Share a single process namespace between all of the containers in a pod."},
    {"securityContext",               FIELD_OBJECT,       POD(security_context), &pod_security_context_schema,
     .as_json = true,
     .doc = "SecurityContext holds pod-level security attributes and common container settings."},
    {"imagePullSecrets",              FIELD_LIST,         FIELD_PASS, &local_object_reference_schema,
     .merge_key = "name",
     .doc = "An optional list of references to secrets in the same namespace to use for pulling any of the images "
            "used by this PodSpec."},
    {"hostname",                      FIELD_STR,          POD(hostname),
     .doc = "Specifies the hostname of the Pod If not specified, the pod's hostname will be set to a system-defined "
            "value."},
    {"subdomain",                     FIELD_STR,          POD(subdomain),
     .doc = "If specified, the fully qualified Pod hostname will be \"<hostname>.<subdomain>.<pod "
            "namespace>.svc.<cluster domain>\"."},
    {"affinity",                      FIELD_OBJECT,       POD(affinity), &affinity_schema, .as_json = true,
     .doc = "If specified, the pod's scheduling constraints."},
    {"schedulerName",                 FIELD_STR,          POD(scheduler_name),
     .doc = "If specified, the pod will be dispatched by specified scheduler."},
    {"tolerations",                   FIELD_LIST,         POD(tolerations), &toleration_schema, .as_json = true,
     .doc = "If specified, the pod's tolerations."},
    {"hostAliases",                   FIELD_LIST,         POD(host_aliases), &host_alias_schema, .as_json = true,
     .merge_key = "ip",
     .doc = "An optional list of hosts and IPs that will be injected into the pod's hosts file if specified."},
    {"priorityClassName",             FIELD_STR,          POD(priority_class),
     .doc = "If specified, indicates the pod's priority."},
    {"priority",                      FIELD_OPT_I32,      FIELD_PASS, .doc = "The priority value."},
    {"dnsConfig",                     FIELD_OBJECT,       FIELD_PASS, &pod_dns_config_schema,
     .doc = "Specifies the DNS parameters of a pod."},
    {"readinessGates",                FIELD_LIST,         FIELD_PASS, &pod_readiness_gate_schema,
     .doc = "If specified, all readiness gates will be evaluated for pod readiness."},
    {"runtimeClassName",              FIELD_STR,          FIELD_PASS,
     .doc = "RuntimeClassName refers to a RuntimeClass object in the node.k8s.io group, which should be used to run "
            "this pod."},
    {"enableServiceLinks",            FIELD_OPT_BOOL,     POD(service_links),
     .doc = "Indicates whether information about services should be injected into pod's environment variables, "
            "matching the syntax of Docker links."},
    {"preemptionPolicy",              FIELD_STR,          FIELD_PASS, .one_of = preemption_policy_values,
     .doc = "The Policy for preempting pods with lower priority."},
    {"overhead",                      FIELD_QUANTITY_MAP, POD(overhead),
     .doc = "Represents the resource overhead associated with running a pod for a given RuntimeClass."},
    {"topologySpreadConstraints",     FIELD_LIST,         FIELD_PASS, &topology_spread_constraint_schema,
     .merge_key = "topologyKey",
     .doc = "How pods spread over failure domains."},
    {"setHostnameAsFQDN",             FIELD_OPT_BOOL,     FIELD_PASS,
     .doc = "If true the pod's hostname will be configured as the pod's FQDN, rather than the leaf name (the "
            "default)."},
    {"os",                            FIELD_OBJECT,       FIELD_PASS, &pod_os_schema,
     .doc = "Specifies the OS of the containers in the pod."},
    {"hostUsers",                     FIELD_OPT_BOOL,     FIELD_PASS, .doc = "Use the host's user namespace."},
    {"schedulingGates",               FIELD_LIST,         POD(scheduling_gates), &pod_scheduling_gate_schema, .as_json = true,
     .merge_key = "name",
     .doc = "An opaque list of values that if specified will block scheduling the pod."},
    {"resourceClaims",                FIELD_LIST,         FIELD_PASS, &pod_resource_claim_schema,
     .merge_key = "name",
     .doc = "Defines which ResourceClaims must be allocated and reserved before the Pod is allowed to start."},
    {"resources",                     FIELD_OBJECT,       FIELD_PASS, &resource_requirements_schema,
     .doc = "Requests and limits of the pod as a whole."},
    {0},
};
const struct schema pod_spec_schema = {"PodSpec", pod_spec_fields, sizeof(struct pod_spec)};

static const struct field pod_template_fields[] = {
    {"metadata", FIELD_OBJECT, FIELD_PASS, &metadata_schema, .doc = "Labels and annotations of the pods made."},
    {"spec",     FIELD_OBJECT, FIELD_PASS, &pod_spec_schema, .doc = "What the pods run."},
    {0},
};
const struct schema pod_template_schema = {"PodTemplateSpec", pod_template_fields};
/* clang-format on */
