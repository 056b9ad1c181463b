/*
 * Field tables of a container: environment, mounts, ports, probes, hooks and security settings.
 * Rows with FIELD_PASS are checked and kept, but not decoded.
 *
 * Ref: k8s.io/api core/v1, release 1.30. Merge keys are its patchMergeKey.
 */
#include <assert.h>

#include "api/types/kinds/pod/core_schema.h"

#define ENV(member)       offsetof(struct env_var, member)
#define MOUNT(member)     offsetof(struct volume_mount, member)
#define PORT(member)      offsetof(struct container_port, member)
#define CONTAINER(member) offsetof(struct pod_container, member)

static_assert(CONTAINER(limits) - CONTAINER(requests) ==
                  offsetof(struct container_resources, limits),
              "requests and limits are read as one struct container_resources");

/* clang-format off */
static const char *const protocol_values[] = {"TCP", "UDP", "SCTP", "", NULL};
static const char *const resource_resize_restart_policy_values[] = {"NotRequired", "RestartContainer", NULL};
static const char *const recursive_read_only_mode_values[] = {"Disabled", "IfPossible", "Enabled", NULL};
static const char *const mount_propagation_mode_values[] = {"None", "HostToContainer", "Bidirectional", NULL};
static const char *const uri_scheme_values[] = {"HTTP", "HTTPS", "", NULL};
static const char *const proc_mount_type_values[] = {"Default", "Unmasked", NULL};
static const char *const container_restart_policy_values[] = {"Always", NULL};
static const char *const termination_message_policy_values[] = {"File", "FallbackToLogsOnError", "", NULL};
static const char *const pull_policy_values[] = {"Always", "Never", "IfNotPresent", "", NULL};

static const struct field container_port_fields[] = {
    {"name",          FIELD_STR, PORT(name), .pb = 1, .doc = "Name of the port, unique within the pod."},
    {"hostPort",      FIELD_I32, FIELD_PASS, .pb = 2, BOUNDS(0, 65535), .doc = "Number of the port on the host."},
    {"containerPort", FIELD_I32, PORT(port), .pb = 3, .required = true, BOUNDS(1, 65535),
     .doc = "Number of the port on the pod's address."},
    {"protocol",      FIELD_STR, PORT(protocol), .pb = 4, .one_of = protocol_values, .default_json = "\"TCP\"",
     .doc = "Protocol of the port: TCP, UDP or SCTP."},
    {"hostIP",        FIELD_STR, FIELD_PASS, .pb = 5, .doc = "Address of the host that the host port is bound to."},
    {0},
};
static const struct schema container_port_schema = {
    "ContainerPort", container_port_fields, sizeof(struct container_port)};

static const struct field config_map_env_source_fields[] = {
    {"name",     FIELD_STR,      FIELD_PASS, .pb_in = 1, .pb = 1, .doc = "Name of the object."},
    {"optional", FIELD_OPT_BOOL, FIELD_PASS, .pb = 2, .doc = "Says whether the pod may start without the ConfigMap."},
    {0},
};
static const struct schema config_map_env_source_schema = {"ConfigMapEnvSource", config_map_env_source_fields};

static const struct field secret_env_source_fields[] = {
    {"name",     FIELD_STR,      FIELD_PASS, .pb_in = 1, .pb = 1, .doc = "Name of the object."},
    {"optional", FIELD_OPT_BOOL, FIELD_PASS, .pb = 2, .doc = "Says whether the pod may start without the Secret."},
    {0},
};
static const struct schema secret_env_source_schema = {"SecretEnvSource", secret_env_source_fields};

static const struct field env_from_source_fields[] = {
    {"prefix",       FIELD_STR,    FIELD_PASS, .pb = 1,
     .doc = "Prefix of the variables' names."},
    {"configMapRef", FIELD_OBJECT, FIELD_PASS, &config_map_env_source_schema, .pb = 2, .doc = "ConfigMap whose keys become variables."},
    {"secretRef",    FIELD_OBJECT, FIELD_PASS, &secret_env_source_schema, .pb = 3, .doc = "Secret whose keys become variables."},
    {0},
};
static const struct schema env_from_source_schema = {"EnvFromSource", env_from_source_fields};

static const struct field config_map_key_selector_fields[] = {
    {"name",     FIELD_STR,      FIELD_PASS, .pb_in = 1, .pb = 1, .doc = "Name of the object."},
    {"key",      FIELD_STR,      FIELD_PASS, .pb = 2, .required = true, .doc = "Key of the ConfigMap."},
    {"optional", FIELD_OPT_BOOL, FIELD_PASS, .pb = 3, .doc = "Says whether the pod may start without the ConfigMap or its key."},
    {0},
};
static const struct schema config_map_key_selector_schema = {"ConfigMapKeySelector", config_map_key_selector_fields};

static const struct field secret_key_selector_fields[] = {
    {"name",     FIELD_STR,      FIELD_PASS, .pb_in = 1, .pb = 1, .doc = "Name of the object."},
    {"key",      FIELD_STR,      FIELD_PASS, .pb = 2, .required = true, .doc = "Key of the Secret."},
    {"optional", FIELD_OPT_BOOL, FIELD_PASS, .pb = 3, .doc = "Says whether the pod may start without the Secret or its key."},
    {0},
};
static const struct schema secret_key_selector_schema = {"SecretKeySelector", secret_key_selector_fields};

static const struct field env_var_source_fields[] = {
    {"fieldRef",         FIELD_OBJECT, FIELD_PASS, &object_field_selector_schema, .pb = 1,
     .doc = "Field of the pod, for example metadata.name, a label, spec.nodeName or status.podIP."},
    {"resourceFieldRef", FIELD_OBJECT, FIELD_PASS, &resource_field_selector_schema, .pb = 2,
     .doc = "Request or limit of a container: cpu, memory or ephemeral-storage."},
    {"configMapKeyRef",  FIELD_OBJECT, FIELD_PASS, &config_map_key_selector_schema, .pb = 3,
     .doc = "Key of a ConfigMap."},
    {"secretKeyRef",     FIELD_OBJECT, FIELD_PASS, &secret_key_selector_schema, .pb = 4,
     .doc = "Key of a Secret in the pod's namespace."},
    {0},
};
static const struct schema env_var_source_schema = {"EnvVarSource", env_var_source_fields};

static const struct field env_var_fields[] = {
    {"name",      FIELD_STR,    ENV(name), .pb = 1, .required = true, .doc = "Name of the environment variable."},
    {"value",     FIELD_STR,    ENV(value), .pb = 2, .expands = true, .doc = "Value of the variable. $(NAME) is replaced by the value of an earlier variable."},
    {"valueFrom", FIELD_OBJECT, ENV(value_from), &env_var_source_schema, .pb = 3, .as_json = true,
     .doc = "Source of the variable's value. It excludes value."},
    {0},
};
const struct schema env_var_schema = {"EnvVar", env_var_fields, sizeof(struct env_var)};

static const struct field container_resize_policy_fields[] = {
    {"resourceName",  FIELD_STR, FIELD_PASS, .pb = 1, .required = true,
     .doc = "Resource that the policy applies to."},
    {"restartPolicy", FIELD_STR, FIELD_PASS, .pb = 2, .required = true, .one_of = resource_resize_restart_policy_values,
     .doc = "Says whether the container is restarted when the resource is resized."},
    {0},
};
static const struct schema container_resize_policy_schema = {"ContainerResizePolicy", container_resize_policy_fields};

static const struct field volume_mount_fields[] = {
    {"name",              FIELD_STR,  MOUNT(name), .pb = 1, .required = true, .doc = "Name of a volume of the pod."},
    {"readOnly",          FIELD_BOOL, MOUNT(read_only), .pb = 2,
     .doc = "Mounts the volume read-only."},
    {"recursiveReadOnly", FIELD_STR,  FIELD_PASS, .pb = 7, .keeps_zero = true, .one_of = recursive_read_only_mode_values,
     .doc = "Says whether mounts below a read-only mount are read-only as well."},
    {"mountPath",         FIELD_STR,  MOUNT(mount_path), .pb = 3, .required = true,
     .doc = "Path in the container at which the volume is mounted."},
    {"subPath",           FIELD_STR,  MOUNT(sub_path), .pb = 4,
     .doc = "Path in the volume that is mounted; its root when absent."},
    {"mountPropagation",  FIELD_STR,  FIELD_PASS, .pb = 5, .keeps_zero = true, .one_of = mount_propagation_mode_values,
     .doc = "Says how later mounts propagate between the host and the container."},
    {"subPathExpr",       FIELD_STR,  MOUNT(sub_path_expr), .pb = 6, .expands = true,
     .doc = "Path in the volume that is mounted, in which $(NAME) is replaced by an environment variable. It excludes subPath."},
    {0},
};
static const struct schema volume_mount_schema = {"VolumeMount", volume_mount_fields, sizeof(struct volume_mount)};

static const struct field volume_device_fields[] = {
    {"name",       FIELD_STR, FIELD_PASS, .pb = 1, .required = true,
     .doc = "Name of a volume of the pod that is a PersistentVolumeClaim."},
    {"devicePath", FIELD_STR, FIELD_PASS, .pb = 2, .required = true,
     .doc = "Path of the device in the container."},
    {0},
};
static const struct schema volume_device_schema = {"VolumeDevice", volume_device_fields};

static const struct field exec_action_fields[] = {
    {"command", FIELD_STR_LIST, FIELD_PASS, .pb = 1,
     .doc = "Program and arguments that run in the container."},
    {0},
};
static const struct schema exec_action_schema = {"ExecAction", exec_action_fields};

static const struct field http_header_fields[] = {
    {"name",  FIELD_STR, FIELD_PASS, .pb = 1, .required = true, .doc = "Name of the header."},
    {"value", FIELD_STR, FIELD_PASS, .pb = 2, .required = true, .doc = "Value of the header."},
    {0},
};
static const struct schema http_header_schema = {"HTTPHeader", http_header_fields};

static const struct field http_get_action_fields[] = {
    {"path",        FIELD_STR,        FIELD_PASS, .pb = 1, .doc = "Path of the request."},
    {"port",        FIELD_INT_OR_STR, FIELD_PASS, .pb = 2, .required = true,
     .doc = "Number or name of a port of the container."},
    {"host",        FIELD_STR,        FIELD_PASS, .pb = 3, .doc = "Host to connect to; the pod's address when absent."},
    {"scheme",      FIELD_STR,        FIELD_PASS, .pb = 4, .one_of = uri_scheme_values,
     .doc = "Scheme of the request: HTTP (the default) or HTTPS."},
    {"httpHeaders", FIELD_LIST,       FIELD_PASS, &http_header_schema, .pb = 5,
     .doc = "Headers that are sent with the request."},
    {0},
};
static const struct schema http_get_action_schema = {"HTTPGetAction", http_get_action_fields};

static const struct field tcp_socket_action_fields[] = {
    {"port", FIELD_INT_OR_STR, FIELD_PASS, .pb = 1, .required = true,
     .doc = "Number or name of a port of the container."},
    {"host", FIELD_STR,        FIELD_PASS, .pb = 2, .doc = "Host to connect to; the pod's address when absent."},
    {0},
};
static const struct schema tcp_socket_action_schema = {"TCPSocketAction", tcp_socket_action_fields};

static const struct field grpc_action_fields[] = {
    {"port",    FIELD_I32, FIELD_PASS, .pb = 1, .required = true, .doc = "Number of the port of the gRPC service."},
    {"service", FIELD_STR, FIELD_PASS, .pb = 2, .keeps_zero = true,
     .doc = "Name of the service in the gRPC health check request."},
    {0},
};
static const struct schema grpc_action_schema = {"GRPCAction", grpc_action_fields};

static const struct field probe_fields[] = {
    {"exec",                          FIELD_OBJECT,  FIELD_PASS, &exec_action_schema, .pb_in = 1, .pb = 1,
     .doc = "Program that runs in the container."},
    {"httpGet",                       FIELD_OBJECT,  FIELD_PASS, &http_get_action_schema, .pb_in = 1, .pb = 2,
     .doc = "HTTP request to the container."},
    {"tcpSocket",                     FIELD_OBJECT,  FIELD_PASS, &tcp_socket_action_schema, .pb_in = 1, .pb = 3,
     .doc = "TCP connection to the container."},
    {"grpc",                          FIELD_OBJECT,  FIELD_PASS, &grpc_action_schema, .pb_in = 1, .pb = 4,
     .doc = "gRPC health check of the container."},
    {"initialDelaySeconds",           FIELD_I32,     FIELD_PASS, .pb = 2, NOT_NEGATIVE,
     .doc = "Seconds after the start of the container when the first probe runs."},
    {"timeoutSeconds",                FIELD_I32,     FIELD_PASS, .pb = 3, NOT_NEGATIVE,
     .doc = "Seconds that one probe may take."},
    {"periodSeconds",                 FIELD_I32,     FIELD_PASS, .pb = 4, NOT_NEGATIVE,
     .doc = "Seconds between two probes."},
    {"successThreshold",              FIELD_I32,     FIELD_PASS, .pb = 5, NOT_NEGATIVE,
     .doc = "Number of consecutive successes after which a failed probe counts as successful."},
    {"failureThreshold",              FIELD_I32,     FIELD_PASS, .pb = 6, NOT_NEGATIVE,
     .doc = "Number of consecutive failures after which a successful probe counts as failed."},
    {"terminationGracePeriodSeconds", FIELD_OPT_I64, FIELD_PASS, .pb = 7, NOT_NEGATIVE,
     .doc = "Seconds that the container gets to end after the probe has failed."},
    {0},
};
static const struct schema probe_schema = {"Probe", probe_fields};

static const struct field sleep_action_fields[] = {
    {"seconds", FIELD_I64, FIELD_PASS, .pb = 1, .required = true, .doc = "Number of seconds to sleep."},
    {0},
};
static const struct schema sleep_action_schema = {"SleepAction", sleep_action_fields};

static const struct field lifecycle_handler_fields[] = {
    {"exec",      FIELD_OBJECT, FIELD_PASS, &exec_action_schema, .pb = 1, .doc = "Program that runs in the container."},
    {"httpGet",   FIELD_OBJECT, FIELD_PASS, &http_get_action_schema, .pb = 2, .doc = "HTTP request to the container."},
    {"tcpSocket", FIELD_OBJECT, FIELD_PASS, &tcp_socket_action_schema, .pb = 3, .doc = "Deprecated field; ignored."},
    {"sleep",     FIELD_OBJECT, FIELD_PASS, &sleep_action_schema, .pb = 4,
     .doc = "Sleep before the container is stopped."},
    {0},
};
static const struct schema lifecycle_handler_schema = {"LifecycleHandler", lifecycle_handler_fields};

static const struct field lifecycle_fields[] = {
    {"postStart", FIELD_OBJECT, FIELD_PASS, &lifecycle_handler_schema, .pb = 1,
     .doc = "Handler that runs right after the container has started."},
    {"preStop",   FIELD_OBJECT, FIELD_PASS, &lifecycle_handler_schema, .pb = 2,
     .doc = "Handler that runs before the container is stopped. It does not run when the container ends by itself."},
    {0},
};
static const struct schema lifecycle_schema = {"Lifecycle", lifecycle_fields};

static const struct field capabilities_fields[] = {
    {"add",  FIELD_STR_LIST, FIELD_PASS, .pb = 1, .doc = "Capabilities that are added."},
    {"drop", FIELD_STR_LIST, FIELD_PASS, .pb = 2, .doc = "Capabilities that are removed."},
    {0},
};
static const struct schema capabilities_schema = {"Capabilities", capabilities_fields};

static const struct field security_context_fields[] = {
    {"capabilities",             FIELD_OBJECT,   FIELD_PASS, &capabilities_schema, .pb = 1,
     .doc = "Capabilities that are added to and removed from the container."},
    {"privileged",               FIELD_OPT_BOOL, FIELD_PASS, .pb = 2, .doc = "Runs the container with all privileges of the host."},
    {"seLinuxOptions",           FIELD_OBJECT,   FIELD_PASS, &selinux_options_schema, .pb = 3,
     .doc = "SELinux context of the container."},
    {"windowsOptions",           FIELD_OBJECT,   FIELD_PASS, &windows_security_context_options_schema, .pb = 10,
     .doc = "Settings for Windows."},
    {"runAsUser",                FIELD_OPT_I64,  FIELD_PASS, .pb = 4,
     .doc = "User id of the container's processes."},
    {"runAsGroup",               FIELD_OPT_I64,  FIELD_PASS, .pb = 8,
     .doc = "Group id of the container's processes."},
    {"runAsNonRoot",             FIELD_OPT_BOOL, FIELD_PASS, .pb = 5,
     .doc = "Refuses to run the container as root."},
    {"readOnlyRootFilesystem",   FIELD_OPT_BOOL, FIELD_PASS, .pb = 6,
     .doc = "Makes the root file system of the container read-only."},
    {"allowPrivilegeEscalation", FIELD_OPT_BOOL, FIELD_PASS, .pb = 7,
     .doc = "Says whether a process can gain more privileges than its parent."},
    {"procMount",                FIELD_STR,      FIELD_PASS, .pb = 9, .keeps_zero = true, .one_of = proc_mount_type_values,
     .doc = "Says which parts of /proc are masked in the container."},
    {"seccompProfile",           FIELD_OBJECT,   FIELD_PASS, &seccomp_profile_schema, .pb = 11,
     .doc = "Seccomp profile of the container."},
    {"appArmorProfile",          FIELD_OBJECT,   FIELD_PASS, &app_armor_profile_schema, .pb = 12,
     .doc = "AppArmor profile of the container."},
    {0},
};
static const struct schema security_context_schema = {"SecurityContext", security_context_fields};

static const struct field container_fields[] = {
    {"name",                     FIELD_STR,      CONTAINER(name), .pb = 1, .required = true,
     .doc = "Name of the container, unique within the pod."},
    {"image",                    FIELD_STR,      CONTAINER(image), .pb = 2,
     .doc = "Name of an image. It is kept but not used, because programs of this machine run."},
    {"command",                  FIELD_STR_LIST, CONTAINER(command), .pb = 3, .expands = true, .doc = "Program and its first arguments."},
    {"args",                     FIELD_STR_LIST, CONTAINER(args), .pb = 4, .expands = true, .doc = "Arguments that follow those of command."},
    {"workingDir",               FIELD_STR,      CONTAINER(working_dir), .pb = 5, .doc = "Working directory of the container."},
    {"ports",                    FIELD_LIST,     CONTAINER(ports), &container_port_schema, .pb = 6,
     .merge_key = "containerPort",
     .doc = "Ports of the container."},
    {"envFrom",                  FIELD_LIST,     CONTAINER(env_from), &env_from_source_schema, .pb = 19, .as_json = true,
     .doc = "Sources whose keys become environment variables."},
    {"env",                      FIELD_LIST,     CONTAINER(env), &env_var_schema, .pb = 7, .merge_key = "name",
     .doc = "Environment variables of the container."},
    {"resources",                FIELD_INLINE,   CONTAINER(requests), &resource_requirements_schema, .incidental = true, .pb = 8,
     .doc = "Resources that the container requests, and their limits."},
    {"resizePolicy",             FIELD_LIST,     FIELD_PASS, &container_resize_policy_schema, .pb = 23,
     .doc = "Policies for resizing the container's resources."},
    {"restartPolicy",            FIELD_STR,      CONTAINER(restart_policy), .pb = 24, .keeps_zero = true,
     .one_of = container_restart_policy_values,
     .doc = "Always makes an init container a sidecar, which runs beside the other containers."},
    {"volumeMounts",             FIELD_LIST,     CONTAINER(mounts), &volume_mount_schema, .pb = 9, .merge_key = "mountPath",
     .doc = "Volumes of the pod that are mounted in the container."},
    {"volumeDevices",            FIELD_LIST,     FIELD_PASS, &volume_device_schema, .pb = 21, .merge_key = "devicePath",
     .doc = "Block devices of the container."},
    {"livenessProbe",            FIELD_OBJECT,   CONTAINER(liveness), &probe_schema, .incidental = true, .pb = 10, .as_json = true,
     .doc = "Probe that restarts the container when it fails."},
    {"readinessProbe",           FIELD_OBJECT,   CONTAINER(readiness), &probe_schema, .incidental = true, .pb = 11, .as_json = true,
     .doc = "Probe that decides whether the container is ready."},
    {"startupProbe",             FIELD_OBJECT,   CONTAINER(startup), &probe_schema, .incidental = true, .pb = 22, .as_json = true,
     .doc = "Probe that must succeed before the other probes begin."},
    {"lifecycle",                FIELD_OBJECT,   CONTAINER(lifecycle), &lifecycle_schema, .incidental = true, .pb = 12, .as_json = true,
     .doc = "Handlers that run after the start and before the end of the container."},
    {"terminationMessagePath",   FIELD_STR,      CONTAINER(termination_message_path), .pb = 13,
     .doc = "Path of the file that the container writes its termination message to."},
    {"terminationMessagePolicy", FIELD_STR,      CONTAINER(termination_message_policy), .pb = 20,
      .one_of = termination_message_policy_values,
     .doc = "Says whether the end of the log replaces a missing termination message."},
    {"imagePullPolicy",          FIELD_STR,      FIELD_PASS, .incidental = true, .pb = 14, .one_of = pull_policy_values,
     .doc = "Says when the image is pulled; not used by the local runtime."},
    {"securityContext",          FIELD_OBJECT,   CONTAINER(security_context), &security_context_schema, .pb = 15,
     .as_json = true,
     .doc = "Security settings of the container."},
    {"stdin",                    FIELD_BOOL,     FIELD_PASS, .pb = 16,
     .doc = "Keeps the standard input of the container open."},
    {"stdinOnce",                FIELD_BOOL,     FIELD_PASS, .pb = 17,
     .doc = "Closes the standard input when the first client detaches."},
    {"tty",                      FIELD_BOOL,     FIELD_PASS, .pb = 18,
     .doc = "Gives the container a terminal. It requires stdin."},
    {0},
};
const struct schema container_schema = {"Container", container_fields, sizeof(struct pod_container)};

static const struct field ephemeral_container_fields[] = {
    {"name",                     FIELD_STR,      FIELD_PASS, .pb_in = 1, .pb = 1, .required = true,
     .doc = "Name of the container, unique within the pod."},
    {"image",                    FIELD_STR,      FIELD_PASS, .pb_in = 1, .pb = 2,
     .doc = "Name of an image. It is kept but not used, because programs of this machine run."},
    {"command",                  FIELD_STR_LIST, FIELD_PASS, .pb_in = 1, .pb = 3, .expands = true, .doc = "Program and its first arguments."},
    {"args",                     FIELD_STR_LIST, FIELD_PASS, .pb_in = 1, .pb = 4, .expands = true, .doc = "Arguments that follow those of command."},
    {"workingDir",               FIELD_STR,      FIELD_PASS, .pb_in = 1, .pb = 5, .doc = "Working directory of the container."},
    {"ports",                    FIELD_LIST,     FIELD_PASS, &container_port_schema, .pb_in = 1, .pb = 6, .merge_key = "containerPort",
     .doc = "Not allowed for ephemeral containers."},
    {"envFrom",                  FIELD_LIST,     FIELD_PASS, &env_from_source_schema, .pb_in = 1, .pb = 19,
     .doc = "Sources whose keys become environment variables."},
    {"env",                      FIELD_LIST,     FIELD_PASS, &env_var_schema, .pb_in = 1, .pb = 7, .merge_key = "name",
     .doc = "Environment variables of the container."},
    {"resources",                FIELD_OBJECT,   FIELD_PASS, &resource_requirements_schema, .incidental = true, .pb_in = 1, .pb = 8,
     .doc = "Not allowed for ephemeral containers."},
    {"resizePolicy",             FIELD_LIST,     FIELD_PASS, &container_resize_policy_schema, .pb_in = 1, .pb = 23,
     .doc = "Policies for resizing the container's resources."},
    {"restartPolicy",            FIELD_STR,      FIELD_PASS, .pb_in = 1, .pb = 24, .keeps_zero = true, .one_of = container_restart_policy_values,
     .doc = "Restart policy of the container; not allowed for ephemeral containers."},
    {"volumeMounts",             FIELD_LIST,     FIELD_PASS, &volume_mount_schema, .pb_in = 1, .pb = 9, .merge_key = "mountPath",
     .doc = "Volumes of the pod that are mounted in the container."},
    {"volumeDevices",            FIELD_LIST,     FIELD_PASS, &volume_device_schema, .pb_in = 1, .pb = 21, .merge_key = "devicePath",
     .doc = "Block devices of the container."},
    {"livenessProbe",            FIELD_OBJECT,   FIELD_PASS, &probe_schema, .incidental = true, .pb_in = 1, .pb = 10,
     .doc = "Probes are not allowed for ephemeral containers."},
    {"readinessProbe",           FIELD_OBJECT,   FIELD_PASS, &probe_schema, .incidental = true, .pb_in = 1, .pb = 11,
     .doc = "Probes are not allowed for ephemeral containers."},
    {"startupProbe",             FIELD_OBJECT,   FIELD_PASS, &probe_schema, .incidental = true, .pb_in = 1, .pb = 22,
     .doc = "Probes are not allowed for ephemeral containers."},
    {"lifecycle",                FIELD_OBJECT,   FIELD_PASS, &lifecycle_schema, .incidental = true, .pb_in = 1, .pb = 12,
     .doc = "Not allowed for ephemeral containers."},
    {"terminationMessagePath",   FIELD_STR,      FIELD_PASS, .pb_in = 1, .pb = 13,
     .doc = "Path of the file that the container writes its termination message to."},
    {"terminationMessagePolicy", FIELD_STR,      FIELD_PASS, .pb_in = 1, .pb = 20, .one_of = termination_message_policy_values,
     .doc = "Says whether the end of the log replaces a missing termination message."},
    {"imagePullPolicy",          FIELD_STR,      FIELD_PASS, .incidental = true, .pb_in = 1, .pb = 14, .one_of = pull_policy_values,
     .doc = "Says when the image is pulled; not used by the local runtime."},
    {"securityContext",          FIELD_OBJECT,   FIELD_PASS, &security_context_schema, .pb_in = 1, .pb = 15,
     .doc = "Security settings of the ephemeral container."},
    {"stdin",                    FIELD_BOOL,     FIELD_PASS, .pb_in = 1, .pb = 16,
     .doc = "Keeps the standard input of the container open."},
    {"stdinOnce",                FIELD_BOOL,     FIELD_PASS, .pb_in = 1, .pb = 17,
     .doc = "Closes the standard input when the first client detaches."},
    {"tty",                      FIELD_BOOL,     FIELD_PASS, .pb_in = 1, .pb = 18,
     .doc = "Gives the container a terminal. It requires stdin."},
    {"targetContainerName",      FIELD_STR,      FIELD_PASS, .pb = 2,
     .doc = "Name of the container whose namespaces the ephemeral container shares."},
    {0},
};
const struct schema ephemeral_container_schema = {"EphemeralContainer", ephemeral_container_fields};
/* clang-format on */
