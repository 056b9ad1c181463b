#pragma once
/*
 * Pod (v1) as the program reads it: the part of the spec that the node needs to start a pod, the
 * part of the status that controllers need, and the labels and annotations of pods.
 */
#include "api/types/object.h"
#include "api/types/schema/schema.h"
#include "api/types/text/quantity.h"

enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_UNKNOWN, POD_PHASE_N };

struct env_var {
    const char *name;
    const char *value;  /* value of the variable; NULL = "" unless value_from is set */
    json_t *value_from; /* source of the value: fieldRef, resourceFieldRef, configMapKeyRef or
                         * secretKeyRef; NULL = none */
};
struct volume_mount {
    const char *name, *mount_path, *sub_path;
    bool read_only;
    const char *sub_path_expr; /* instead of sub_path; $(VAR) are variables of the container */
};
struct container_port {
    int32_t port;
    const char *protocol; /* protocol of the port; NULL = TCP */
    const char *name;     /* name of the port; NULL = none */
};
struct pod_container {
    const char *name, *image, *working_dir;
    struct str_list command, args;
    struct {
        struct env_var *items;
        size_t count;
    } env;
    json_t *env_from;
    struct {
        struct volume_mount *items;
        size_t count;
    } mounts;
    struct {
        struct container_port *items;
        size_t count;
    } ports;
    struct str_map requests, limits;
    const char *restart_policy; /* Always on an init container = sidecar */
    const char *termination_message_path, *termination_message_policy;
    json_t *liveness, *readiness, *startup, *lifecycle, *security_context;
};
struct pod_volume {
    const char *name;
    json_t *source; /* the whole volume object: emptyDir, configMap, secret, hostPath,
                     * persistentVolumeClaim, downwardAPI, projected */
};

struct pod_spec {
    struct {
        struct pod_container *items;
        size_t count;
    } init_containers, containers;
    struct {
        struct pod_volume *items;
        size_t count;
    } volumes;
    const char *restart_policy; /* restartPolicy; NULL = Always */
    const char *node_name, *scheduler_name, *hostname, *subdomain, *priority_class, *dns_policy;
    bool host_network;
    int8_t service_links;   /* enableServiceLinks: 0 = no, 1 = yes, -1 = absent */
    struct opt_i64 grace_s; /* member terminationGracePeriodSeconds */
    struct opt_i64 active_deadline_s;
    struct str_map overhead; /* added to the requests of the containers */
    struct str_map requests,
        limits; /* those of the pod as a whole; they win over those of containers */
    json_t *security_context, *host_aliases, *node_selector, *affinity, *tolerations;
    json_t *scheduling_gates; /* the pod is not placed while it has any */
    bool claims_of_pod;       /* resources.claims is given, which no pod may have */
};

/* clang-format off */
#define CONTAINER_STATES(X) X(WAITING, "waiting") X(RUNNING, "running") X(TERMINATED, "terminated")
/* clang-format on */
#define CONTAINER_ENUM(name, text) CONTAINER_##name,
enum container_state { CONTAINER_STATES(CONTAINER_ENUM) CONTAINER_STATE_N };
#undef CONTAINER_ENUM

struct container_status {
    const char *name, *image;
    enum container_state state;
    const char *reason, *message;
    int32_t exit_code, signal;
    int64_t started_ms, finished_ms;
    int32_t restart_count;
    bool ready;
    bool starting_up;          /* the startup probe has not passed yet */
    int64_t cpu_ms;            /* CPU time of all reaped processes of the ended run */
    int64_t memory_peak_bytes; /* peak of the largest process of the ended run */
    bool has_last;             /* the previous run is known */
    int32_t last_exit_code, last_signal;
    const char *last_reason;
    const char *devices; /* ids of its devices, like "nvidia.com/gpu=0,1;example.com/fpga=left";
                          * NULL: none */
};

struct pod_status {
    enum pod_phase phase;
    const char *reason, *message;
    const char *pod_ip, *host_ip;
    int64_t start_ms; /* time of the start intent (D-09) */
    struct {
        struct container_status *items;
        size_t count;
    } init_containers, containers;
    bool scheduled, initialized, ready; /* conditions of the pod that are true */
    const char *unschedulable;          /* message of PodScheduled=False, or NULL */
    bool gated;                         /* the pod is unschedulable because of schedulingGates */
    const char *limits_note;            /* message of ResourceLimits=False, or NULL */
    int64_t ready_ms, scheduled_ms;
    const char *qos_class; /* pod_qos_class of the spec; NULL = not set */
};

#define POD_REASON_GATED "SchedulingGated"

const char *pod_phase_text(enum pod_phase phase);
bool pod_phase_parse(const char *text, enum pod_phase *out);

extern const struct schema pod_spec_schema;
extern const struct schema pod_template_schema;

/** Returns the decoded spec, borrowed from the object's blob. */
const struct pod_spec *pod_spec_of(const struct object *pod);
/** Returns the decoded status, borrowed until the turn ends; phase Pending without status. */
const struct pod_status *pod_status_of(const struct object *pod);
/** Returns the phase. It is faster than pod_status_of, because a status that this program wrote
 * need not be decoded. */
enum pod_phase pod_status_phase(const struct object *pod);
/** Returns whether the phase is Succeeded or Failed. */
static inline bool pod_phase_ended(enum pod_phase phase)
{
    return phase == POD_SUCCEEDED || phase == POD_FAILED;
}
const struct pod_status *pod_status_of_blob(const struct blob *status);
/** Writes a status and attaches a decoded copy. The blob is owned by the caller. */
struct blob *pod_status_blob(const struct pod_status *status);

/** The requests of the whole pod as the scheduler counts them: the larger one of the init
 * containers' peak and the sum of the regular containers, plus overhead. */
struct pod_resources {
    int64_t cpu_milli, memory_bytes;
};
struct pod_resources pod_spec_requests(const struct pod_spec *spec);

/** Returns the pod's request of one resource, counted like pod_spec_requests, in whole units. */
int64_t pod_spec_request(const struct pod_spec *spec, const char *name);
/** Returns how much of a countable resource the container requests. `*out_before` is what those have
 * that run beside it and were started before it: units that are given out in this order are enough
 * for the pod's request. */
int64_t pod_container_share(const struct pod_spec *spec, const struct pod_container *container,
                            const char *name, int64_t *out_before);
/** Calls `visit` for every resource name in the pod's requests, limits and overhead. A name may
 * come several times. */
void pod_spec_each_resource(const struct pod_spec *spec, void (*visit)(void *arg, const char *name),
                            void *arg);

/** Returns the text of an entry of requests or limits, NULL when there is none. */
const char *pod_amount_text(const struct str_map *map, const char *name);
/** Returns the value of an entry of requests or limits, 0 when there is none. */
quantity_nano pod_amount(const struct str_map *map, const char *name);

/** Guaranteed, Burstable or BestEffort, by the requests and limits of cpu and memory. */
const char *pod_qos_class(const struct pod_spec *spec);

/* Labels and annotations the job controller puts on pods. Ref: spec/job.md section 3. */
#define LABEL_JOB_NAME             "volcano.sh/job-name"
#define LABEL_JOB_NAMESPACE        "volcano.sh/job-namespace"
#define LABEL_TASK_SPEC            "volcano.sh/task-spec"
#define LABEL_TASK_INDEX           "volcano.sh/task-index"
#define LABEL_QUEUE_NAME           "volcano.sh/queue-name"
#define LABEL_PARTITION_ID         "volcano.sh/partition-id"
#define ANNOTATION_GROUP_NAME      "scheduling.k8s.io/group-name"
#define ANNOTATION_JOB_VERSION     "volcano.sh/job-version"
#define ANNOTATION_JOB_RETRY_COUNT "volcano.sh/job-retry-count"
#define ANNOTATION_OUT_OF_SYNC     "volcano.sh/controller-out-of-sync"
#define ANNOTATION_TEMPLATE_UID    "volcano.sh/template-uid"

/* Annotation of pod templates: programs that the containers need of the machine, separated by
 * blanks or commas. node/machine/programs.h says how a need is written. */
#define ANNOTATION_NEEDS "jobflow.dev/needs"

/* What a container may ask of the kernel: the profile that its securityContext or that of its pod
 * names. */
enum seccomp_profile {
    SECCOMP_UNSET,
    SECCOMP_UNCONFINED,
    SECCOMP_RUNTIME_DEFAULT,
    SECCOMP_LOCALHOST
};
enum seccomp_profile pod_seccomp_profile(const struct pod_spec *spec,
                                         const struct pod_container *container);

/* Annotation of a namespace: its pods are confined, because not only administrators write there. */
#define ANNOTATION_CONFINED "jobflow.dev/confined"

/* Annotations of pod templates for `--runtime sim`: they script the containers on the virtual
 * clock. */
#define ANNOTATION_SIM_DURATION                                                                    \
    "sim.jobflow.dev/duration" /* Go duration, default 0s; "c1=5s,c2=1s" per container */
#define ANNOTATION_SIM_EXIT_CODE                                                                   \
    "sim.jobflow.dev/exit-code" /* default 0; "1,1,0": by attempt of the container or pod name */
#define ANNOTATION_SIM_MESSAGE                                                                     \
    "sim.jobflow.dev/message" /* the termination message, which holds the outputs of a step */
