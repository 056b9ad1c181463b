/*
 * Field tables of a container: environment, mounts, ports, probes, life cycle, security.
 *
 * Ref: k8s.io/api core/v1, release 1.30; merge keys as its patchMergeKey. FIELD_PASS rows are
 * checked and kept, not read.
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
    {"name",          FIELD_STR, PORT(name), .doc = "Name of the port, unique within the pod."},
    {"hostPort",      FIELD_I32, FIELD_PASS, BOUNDS(0, 65535), .doc = "Number of port to expose on the host."},
    {"containerPort", FIELD_I32, PORT(port), .required = true, BOUNDS(1, 65535),
     .doc = "Number of port to expose on the pod's IP address."},
    {"protocol",      FIELD_STR, PORT(protocol), .one_of = protocol_values, .default_json = "\"TCP\"",
     .doc = "Protocol for port."},
    {"hostIP",        FIELD_STR, FIELD_PASS, .doc = "What host IP to bind the external port to."},
    {0},
};
static const struct schema container_port_schema = {
    "ContainerPort", container_port_fields, sizeof(struct container_port)};

static const struct field config_map_env_source_fields[] = {
    {"name",     FIELD_STR,      FIELD_PASS, .doc = "Name of the referent."},
    {"optional", FIELD_OPT_BOOL, FIELD_PASS, .doc = "Specify whether the ConfigMap must be defined."},
    {0},
};
static const struct schema config_map_env_source_schema = {"ConfigMapEnvSource", config_map_env_source_fields};

static const struct field secret_env_source_fields[] = {
    {"name",     FIELD_STR,      FIELD_PASS, .doc = "Name of the referent."},
    {"optional", FIELD_OPT_BOOL, FIELD_PASS, .doc = "Specify whether the Secret must be defined."},
    {0},
};
static const struct schema secret_env_source_schema = {"SecretEnvSource", secret_env_source_fields};

static const struct field env_from_source_fields[] = {
    {"prefix",       FIELD_STR,    FIELD_PASS,
     .doc = "An optional identifier to prepend to each key in the ConfigMap."},
    {"configMapRef", FIELD_OBJECT, FIELD_PASS, &config_map_env_source_schema, .doc = "The ConfigMap to select from."},
    {"secretRef",    FIELD_OBJECT, FIELD_PASS, &secret_env_source_schema, .doc = "The Secret to select from."},
    {0},
};
static const struct schema env_from_source_schema = {"EnvFromSource", env_from_source_fields};

static const struct field config_map_key_selector_fields[] = {
    {"name",     FIELD_STR,      FIELD_PASS, .doc = "Name of the referent."},
    {"key",      FIELD_STR,      FIELD_PASS, .required = true, .doc = "The key to select."},
    {"optional", FIELD_OPT_BOOL, FIELD_PASS, .doc = "Specify whether the ConfigMap or its key must be defined."},
    {0},
};
static const struct schema config_map_key_selector_schema = {"ConfigMapKeySelector", config_map_key_selector_fields};

static const struct field secret_key_selector_fields[] = {
    {"name",     FIELD_STR,      FIELD_PASS, .doc = "Name of the referent."},
    {"key",      FIELD_STR,      FIELD_PASS, .required = true, .doc = "The key of the secret to select from."},
    {"optional", FIELD_OPT_BOOL, FIELD_PASS, .doc = "Specify whether the Secret or its key must be defined."},
    {0},
};
static const struct schema secret_key_selector_schema = {"SecretKeySelector", secret_key_selector_fields};

static const struct field env_var_source_fields[] = {
    {"fieldRef",         FIELD_OBJECT, FIELD_PASS, &object_field_selector_schema,
     .doc = "A field of the pod: metadata.name, metadata.namespace, labels, annotations, spec.nodeName, status.podIP "
            "and others."},
    {"resourceFieldRef", FIELD_OBJECT, FIELD_PASS, &resource_field_selector_schema,
     .doc = "A request or limit of the container: cpu, memory or ephemeral-storage."},
    {"configMapKeyRef",  FIELD_OBJECT, FIELD_PASS, &config_map_key_selector_schema,
     .doc = "Selects a key of a ConfigMap."},
    {"secretKeyRef",     FIELD_OBJECT, FIELD_PASS, &secret_key_selector_schema,
     .doc = "Selects a key of a secret in the pod's namespace."},
    {0},
};
static const struct schema env_var_source_schema = {"EnvVarSource", env_var_source_fields};

static const struct field env_var_fields[] = {
    {"name",      FIELD_STR,    ENV(name), .required = true, .doc = "Name of the environment variable."},
    {"value",     FIELD_STR,    ENV(value), .doc = "Text, in which $(NAME) of earlier variables is replaced."},
    {"valueFrom", FIELD_OBJECT, ENV(value_from), &env_var_source_schema, .as_json = true,
     .doc = "Source for the environment variable's value."},
    {0},
};
static const struct schema env_var_schema = {"EnvVar", env_var_fields, sizeof(struct env_var)};

static const struct field container_resize_policy_fields[] = {
    {"resourceName",  FIELD_STR, FIELD_PASS, .required = true,
     .doc = "Name of the resource to which this resource resize policy applies."},
    {"restartPolicy", FIELD_STR, FIELD_PASS, .required = true, .one_of = resource_resize_restart_policy_values,
     .doc = "Restart policy to apply when specified resource is resized."},
    {0},
};
static const struct schema container_resize_policy_schema = {"ContainerResizePolicy", container_resize_policy_fields};

static const struct field volume_mount_fields[] = {
    {"name",              FIELD_STR,  MOUNT(name), .required = true, .doc = "This must match the Name of a Volume."},
    {"readOnly",          FIELD_BOOL, MOUNT(read_only),
     .doc = "Mounted read-only if true, read-write otherwise (false or unspecified)."},
    {"recursiveReadOnly", FIELD_STR,  FIELD_PASS, .one_of = recursive_read_only_mode_values,
     .doc = "Specifies whether read-only mounts should be handled recursively."},
    {"mountPath",         FIELD_STR,  MOUNT(mount_path), .required = true,
     .doc = "Path within the container at which the volume should be mounted."},
    {"subPath",           FIELD_STR,  MOUNT(sub_path),
     .doc = "Path within the volume from which the container's volume should be mounted."},
    {"mountPropagation",  FIELD_STR,  FIELD_PASS, .one_of = mount_propagation_mode_values,
     .doc = "MountPropagation determines how mounts are propagated from the host to container and the other way "
            "around."},
    {"subPathExpr",       FIELD_STR,  MOUNT(sub_path_expr),
     .doc = "Expanded path within the volume from which the container's volume should be mounted."},
    {0},
};
static const struct schema volume_mount_schema = {"VolumeMount", volume_mount_fields, sizeof(struct volume_mount)};

static const struct field volume_device_fields[] = {
    {"name",       FIELD_STR, FIELD_PASS, .required = true,
     .doc = "Name must match the name of a persistentVolumeClaim in the pod."},
    {"devicePath", FIELD_STR, FIELD_PASS, .required = true,
     .doc = "The path inside of the container that the device will be mapped to."},
    {0},
};
static const struct schema volume_device_schema = {"VolumeDevice", volume_device_fields};

static const struct field exec_action_fields[] = {
    {"command", FIELD_STR_LIST, FIELD_PASS,
     .doc = "The command line to execute inside the container, the working directory for the command is root ('/') in "
            "the container's filesystem."},
    {0},
};
static const struct schema exec_action_schema = {"ExecAction", exec_action_fields};

static const struct field http_header_fields[] = {
    {"name",  FIELD_STR, FIELD_PASS, .required = true, .doc = "The header field name."},
    {"value", FIELD_STR, FIELD_PASS, .required = true, .doc = "The header field value."},
    {0},
};
static const struct schema http_header_schema = {"HTTPHeader", http_header_fields};

static const struct field http_get_action_fields[] = {
    {"path",        FIELD_STR,        FIELD_PASS, .doc = "Path to access on the HTTP server."},
    {"port",        FIELD_INT_OR_STR, FIELD_PASS, .required = true,
     .doc = "Name or number of the port to access on the container."},
    {"host",        FIELD_STR,        FIELD_PASS, .doc = "Host name to connect to, defaults to the pod IP."},
    {"scheme",      FIELD_STR,        FIELD_PASS, .one_of = uri_scheme_values,
     .doc = "Scheme to use for connecting to the host."},
    {"httpHeaders", FIELD_LIST,       FIELD_PASS, &http_header_schema,
     .doc = "Custom headers to set in the request."},
    {0},
};
static const struct schema http_get_action_schema = {"HTTPGetAction", http_get_action_fields};

static const struct field tcp_socket_action_fields[] = {
    {"port", FIELD_INT_OR_STR, FIELD_PASS, .required = true,
     .doc = "Number or name of the port to access on the container."},
    {"host", FIELD_STR,        FIELD_PASS, .doc = "Host name to connect to, defaults to the pod IP."},
    {0},
};
static const struct schema tcp_socket_action_schema = {"TCPSocketAction", tcp_socket_action_fields};

static const struct field grpc_action_fields[] = {
    {"port",    FIELD_I32, FIELD_PASS, .required = true, .doc = "Port number of the gRPC service."},
    {"service", FIELD_STR, FIELD_PASS,
     .doc = "The name of the service to place in the gRPC HealthCheckRequest (see "
            "https://github.com/grpc/grpc/blob/master/doc/health-checking.md)."},
    {0},
};
static const struct schema grpc_action_schema = {"GRPCAction", grpc_action_fields};

static const struct field probe_fields[] = {
    {"exec",                          FIELD_OBJECT,  FIELD_PASS, &exec_action_schema,
     .doc = "Specifies the action to take."},
    {"httpGet",                       FIELD_OBJECT,  FIELD_PASS, &http_get_action_schema,
     .doc = "Specifies the http request to perform."},
    {"tcpSocket",                     FIELD_OBJECT,  FIELD_PASS, &tcp_socket_action_schema,
     .doc = "Specifies an action involving a TCP port."},
    {"grpc",                          FIELD_OBJECT,  FIELD_PASS, &grpc_action_schema,
     .doc = "Specifies an action involving a GRPC port."},
    {"initialDelaySeconds",           FIELD_I32,     FIELD_PASS, NOT_NEGATIVE,
     .doc = "Number of seconds after the container has started before liveness probes are initiated."},
    {"timeoutSeconds",                FIELD_I32,     FIELD_PASS, NOT_NEGATIVE,
     .doc = "Number of seconds after which the probe times out."},
    {"periodSeconds",                 FIELD_I32,     FIELD_PASS, NOT_NEGATIVE,
     .doc = "How often (in seconds) to perform the probe."},
    {"successThreshold",              FIELD_I32,     FIELD_PASS, NOT_NEGATIVE,
     .doc = "Minimum consecutive successes for the probe to be considered successful after having failed."},
    {"failureThreshold",              FIELD_I32,     FIELD_PASS, NOT_NEGATIVE,
     .doc = "Minimum consecutive failures for the probe to be considered failed after having succeeded."},
    {"terminationGracePeriodSeconds", FIELD_OPT_I64, FIELD_PASS, NOT_NEGATIVE,
     .doc = "Optional duration in seconds the pod needs to terminate gracefully upon probe failure."},
    {0},
};
static const struct schema probe_schema = {"Probe", probe_fields};

static const struct field sleep_action_fields[] = {
    {"seconds", FIELD_I64, FIELD_PASS, .required = true, .doc = "The number of seconds to sleep."},
    {0},
};
static const struct schema sleep_action_schema = {"SleepAction", sleep_action_fields};

static const struct field lifecycle_handler_fields[] = {
    {"exec",      FIELD_OBJECT, FIELD_PASS, &exec_action_schema, .doc = "Specifies the action to take."},
    {"httpGet",   FIELD_OBJECT, FIELD_PASS, &http_get_action_schema, .doc = "Specifies the http request to perform."},
    {"tcpSocket", FIELD_OBJECT, FIELD_PASS, &tcp_socket_action_schema, .doc = "Deprecated."},
    {"sleep",     FIELD_OBJECT, FIELD_PASS, &sleep_action_schema,
     .doc = "Represents the duration that the container should sleep before being terminated."},
    {0},
};
static const struct schema lifecycle_handler_schema = {"LifecycleHandler", lifecycle_handler_fields};

static const struct field lifecycle_fields[] = {
    {"postStart", FIELD_OBJECT, FIELD_PASS, &lifecycle_handler_schema,
     .doc = "Called immediately after a container is created."},
    {"preStop",   FIELD_OBJECT, FIELD_PASS, &lifecycle_handler_schema,
     .doc = "Called immediately before a container is terminated due to an API request or management event such as "
            "liveness/startup probe failure, preemption, resource contention, etc. The handler is not called if the "
            "container crashes or exits."},
    {0},
};
static const struct schema lifecycle_schema = {"Lifecycle", lifecycle_fields};

static const struct field capabilities_fields[] = {
    {"add",  FIELD_STR_LIST, FIELD_PASS, .doc = "Added capabilities."},
    {"drop", FIELD_STR_LIST, FIELD_PASS, .doc = "Removed capabilities."},
    {0},
};
static const struct schema capabilities_schema = {"Capabilities", capabilities_fields};

static const struct field security_context_fields[] = {
    {"capabilities",             FIELD_OBJECT,   FIELD_PASS, &capabilities_schema,
     .doc = "The capabilities to add/drop when running containers."},
    {"privileged",               FIELD_OPT_BOOL, FIELD_PASS, .doc = "Run container in privileged mode."},
    {"seLinuxOptions",           FIELD_OBJECT,   FIELD_PASS, &selinux_options_schema,
     .doc = "The SELinux context to be applied to the container."},
    {"windowsOptions",           FIELD_OBJECT,   FIELD_PASS, &windows_security_context_options_schema,
     .doc = "The Windows specific settings applied to all containers."},
    {"runAsUser",                FIELD_OPT_I64,  FIELD_PASS,
     .doc = "The UID to run the entrypoint of the container process."},
    {"runAsGroup",               FIELD_OPT_I64,  FIELD_PASS,
     .doc = "The GID to run the entrypoint of the container process."},
    {"runAsNonRoot",             FIELD_OPT_BOOL, FIELD_PASS,
     .doc = "Indicates that the container must run as a non-root user."},
    {"readOnlyRootFilesystem",   FIELD_OPT_BOOL, FIELD_PASS,
     .doc = "Whether this container has a read-only root filesystem."},
    {"allowPrivilegeEscalation", FIELD_OPT_BOOL, FIELD_PASS,
     .doc = "AllowPrivilegeEscalation controls whether a process can gain more privileges than its parent process."},
    {"procMount",                FIELD_STR,      FIELD_PASS, .one_of = proc_mount_type_values,
     .doc = "ProcMount denotes the type of proc mount to use for the containers."},
    {"seccompProfile",           FIELD_OBJECT,   FIELD_PASS, &seccomp_profile_schema,
     .doc = "The seccomp options to use by this container."},
    {"appArmorProfile",          FIELD_OBJECT,   FIELD_PASS, &app_armor_profile_schema,
     .doc = "The AppArmor options to use by this container."},
    {0},
};
static const struct schema security_context_schema = {"SecurityContext", security_context_fields};

static const struct field container_fields[] = {
    {"name",                     FIELD_STR,      CONTAINER(name), .required = true,
     .doc = "Name of the container, unique within the pod."},
    {"image",                    FIELD_STR,      CONTAINER(image),
     .doc = "Name of an image; kept, not used by the local runtime."},
    {"command",                  FIELD_STR_LIST, CONTAINER(command), .doc = "Program and its first arguments."},
    {"args",                     FIELD_STR_LIST, CONTAINER(args), .doc = "Arguments after those of command."},
    {"workingDir",               FIELD_STR,      CONTAINER(working_dir), .doc = "Container's working directory."},
    {"ports",                    FIELD_LIST,     CONTAINER(ports), &container_port_schema,
     .merge_key = "containerPort",
     .doc = "List of ports to expose from the container."},
    {"envFrom",                  FIELD_LIST,     CONTAINER(env_from), &env_from_source_schema, .as_json = true,
     .doc = "List of sources to populate environment variables in the container."},
    {"env",                      FIELD_LIST,     CONTAINER(env), &env_var_schema, .merge_key = "name",
     .doc = "List of environment variables to set in the container."},
    {"resources",                FIELD_INLINE,   CONTAINER(requests), &resource_requirements_schema,
     .doc = "Compute Resources required by this container."},
    {"resizePolicy",             FIELD_LIST,     FIELD_PASS, &container_resize_policy_schema,
     .doc = "Resources resize policy for the container."},
    {"restartPolicy",            FIELD_STR,      CONTAINER(restart_policy),
     .one_of = container_restart_policy_values,
     .doc = "Defines the restart behavior of individual containers in a pod."},
    {"volumeMounts",             FIELD_LIST,     CONTAINER(mounts), &volume_mount_schema, .merge_key = "mountPath",
     .doc = "Pod volumes to mount into the container's filesystem."},
    {"volumeDevices",            FIELD_LIST,     FIELD_PASS, &volume_device_schema, .merge_key = "devicePath",
     .doc = "The list of block devices to be used by the container."},
    {"livenessProbe",            FIELD_OBJECT,   CONTAINER(liveness), &probe_schema, .as_json = true,
     .doc = "Periodic probe of container liveness."},
    {"readinessProbe",           FIELD_OBJECT,   CONTAINER(readiness), &probe_schema, .as_json = true,
     .doc = "Periodic probe of container service readiness."},
    {"startupProbe",             FIELD_OBJECT,   CONTAINER(startup), &probe_schema, .as_json = true,
     .doc = "Indicates that the Pod has successfully initialized."},
    {"lifecycle",                FIELD_OBJECT,   CONTAINER(lifecycle), &lifecycle_schema, .as_json = true,
     .doc = "Actions that the management system should take in response to container lifecycle events."},
    {"terminationMessagePath",   FIELD_STR,      CONTAINER(termination_message_path),
     .doc = "Path at which the file to which the container's termination message will be written is mounted into the "
            "container's filesystem."},
    {"terminationMessagePolicy", FIELD_STR,      CONTAINER(termination_message_policy),
      .one_of = termination_message_policy_values,
     .doc = "Indicate how the termination message should be populated."},
    {"imagePullPolicy",          FIELD_STR,      FIELD_PASS, .one_of = pull_policy_values,
     .doc = "Image pull policy."},
    {"securityContext",          FIELD_OBJECT,   CONTAINER(security_context), &security_context_schema,
     .as_json = true,
     .doc = "Defines the security options the container should be run with."},
    {"stdin",                    FIELD_BOOL,     FIELD_PASS,
     .doc = "Whether this container should allocate a buffer for stdin in the container runtime."},
    {"stdinOnce",                FIELD_BOOL,     FIELD_PASS,
     .doc = "Whether the container runtime should close the stdin channel after it has been opened by a single "
            "attach."},
    {"tty",                      FIELD_BOOL,     FIELD_PASS,
     .doc = "Whether this container should allocate a TTY for itself, also requires 'stdin' to be true."},
    {0},
};
const struct schema container_schema = {"Container", container_fields, sizeof(struct pod_container)};

static const struct field ephemeral_container_fields[] = {
    {"name",                     FIELD_STR,      FIELD_PASS, .required = true,
     .doc = "Name of the container, unique within the pod."},
    {"image",                    FIELD_STR,      FIELD_PASS,
     .doc = "Name of an image; kept, not used by the local runtime."},
    {"command",                  FIELD_STR_LIST, FIELD_PASS, .doc = "Program and its first arguments."},
    {"args",                     FIELD_STR_LIST, FIELD_PASS, .doc = "Arguments after those of command."},
    {"workingDir",               FIELD_STR,      FIELD_PASS, .doc = "Container's working directory."},
    {"ports",                    FIELD_LIST,     FIELD_PASS, &container_port_schema, .merge_key = "containerPort",
     .doc = "Not allowed for ephemeral containers."},
    {"envFrom",                  FIELD_LIST,     FIELD_PASS, &env_from_source_schema,
     .doc = "List of sources to populate environment variables in the container."},
    {"env",                      FIELD_LIST,     FIELD_PASS, &env_var_schema, .merge_key = "name",
     .doc = "List of environment variables to set in the container."},
    {"resources",                FIELD_OBJECT,   FIELD_PASS, &resource_requirements_schema,
     .doc = "Not allowed for ephemeral containers."},
    {"resizePolicy",             FIELD_LIST,     FIELD_PASS, &container_resize_policy_schema,
     .doc = "Resources resize policy for the container."},
    {"restartPolicy",            FIELD_STR,      FIELD_PASS, .one_of = container_restart_policy_values,
     .doc = "Restart policy for the container to manage the restart behavior of each container within a pod."},
    {"volumeMounts",             FIELD_LIST,     FIELD_PASS, &volume_mount_schema, .merge_key = "mountPath",
     .doc = "Pod volumes to mount into the container's filesystem."},
    {"volumeDevices",            FIELD_LIST,     FIELD_PASS, &volume_device_schema, .merge_key = "devicePath",
     .doc = "The list of block devices to be used by the container."},
    {"livenessProbe",            FIELD_OBJECT,   FIELD_PASS, &probe_schema,
     .doc = "Probes are not allowed for ephemeral containers."},
    {"readinessProbe",           FIELD_OBJECT,   FIELD_PASS, &probe_schema,
     .doc = "Probes are not allowed for ephemeral containers."},
    {"startupProbe",             FIELD_OBJECT,   FIELD_PASS, &probe_schema,
     .doc = "Probes are not allowed for ephemeral containers."},
    {"lifecycle",                FIELD_OBJECT,   FIELD_PASS, &lifecycle_schema,
     .doc = "Not allowed for ephemeral containers."},
    {"terminationMessagePath",   FIELD_STR,      FIELD_PASS,
     .doc = "Path at which the file to which the container's termination message will be written is mounted into the "
            "container's filesystem."},
    {"terminationMessagePolicy", FIELD_STR,      FIELD_PASS, .one_of = termination_message_policy_values,
     .doc = "Indicate how the termination message should be populated."},
    {"imagePullPolicy",          FIELD_STR,      FIELD_PASS, .one_of = pull_policy_values,
     .doc = "Image pull policy."},
    {"securityContext",          FIELD_OBJECT,   FIELD_PASS, &security_context_schema,
     .doc = "Defines the security options the ephemeral container should be run with."},
    {"stdin",                    FIELD_BOOL,     FIELD_PASS,
     .doc = "Whether this container should allocate a buffer for stdin in the container runtime."},
    {"stdinOnce",                FIELD_BOOL,     FIELD_PASS,
     .doc = "Whether the container runtime should close the stdin channel after it has been opened by a single "
            "attach."},
    {"tty",                      FIELD_BOOL,     FIELD_PASS,
     .doc = "Whether this container should allocate a TTY for itself, also requires 'stdin' to be true."},
    {"targetContainerName",      FIELD_STR,      FIELD_PASS,
     .doc = "If set, the name of the container from PodSpec that this ephemeral container targets."},
    {0},
};
const struct schema ephemeral_container_schema = {"EphemeralContainer", ephemeral_container_fields};
/* clang-format on */
