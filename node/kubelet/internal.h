#pragma once
/*
 * The kubelet's records and the functions its files share. A pod has one record, struct
 * kubelet_pod, from the moment its object or its processes are seen until neither is left; its
 * states are in pod_state.h.
 */
#include <sys/queue.h>

#include "base/collections/hash.h"
#include "node/devices/device_pool.h"
#include "node/kubelet/hosts_files.h"
#include "node/kubelet/kubelet.h"
#include "node/kubelet/pod_state.h"
#include "node/kubelet/services.h"
#include "node/machine/address_pool.h"
#include "node/machine/backfill.h"
#include "node/machine/fit_queue.h"
#include "probes/address.h"

#define HOST_IP "127.0.0.1"

/* Reason of a pod that was bound to a node which cannot have it, as in Kubernetes. */
#define KUBELET_UNEXPECTED "UnexpectedAdmissionError"

/* A missing object or a busy port, and the pods that wait for it. */
struct blocker {
    UT_hash_handle hh;
    STAILQ_HEAD(blocked_pods, kubelet_pod) pods;
    char key[];
};

struct pod_probes;      /* defined in probes.c */
struct tracked_sources; /* defined in config_refresh.c */

struct kubelet_pod {
    UT_hash_handle hh; /* links the pods in a hash table by uid */
    struct kubelet *kubelet;
    struct meta *meta;
    const struct object *object; /* the newest version of the Pod; NULL: only the runtime knows the
                                  * pod */
    enum pod_step step; /* this member and the next three change through pod_state.h only */
    enum pod_write write;
    enum pod_commit commit;
    enum pod_object existence;
    enum pod_phase phase; /* phase last written; it only moves forward */
    struct amount need;
    const char *qos;
    int64_t start_ms, scheduled_ms, ready_ms;

    struct fit_item start_item; /* element of kubelet.queue */
    uint64_t start_order;    /* the pod's place in the queue, which it keeps while it is blocked */
    struct blocker *blocker; /* STEP_BLOCKED: what the pod waits for */
    STAILQ_ENTRY(kubelet_pod) next_blocked;

    bool in_runtime; /* the runtime may keep something of the pod, so release and purge it there */
    bool uses_capacity;  /* the pod is counted in kubelet.used */
    uint64_t uses_since; /* stamp of the moment at which it was counted, see kubelet.stamp */
    struct device_grant *devices; /* the devices that the pod has; NULL: none */
    bool keeps_devices;    /* its status names devices of resources that the machine has not now */
    bool owns_ports;       /* the pod's declared ports are in kubelet.ports */
    int64_t stop_grace_ms; /* grace period last given to the runtime; -1: it was not asked to stop
                            * the pod */

    uint32_t address;
    char address_text[ADDRESS_TEXT_MAX];
    struct host_entry hosts; /* entry in the hosts files, whose texts are owned by this struct */
    char *hostname, *subdomain, *aliases;

    struct tracked_sources *sources; /* what the pod takes from other objects; NULL: nothing */
    struct pod_probes *probes;       /* probes of the pod; NULL: its containers have none, or do not
                                      * run yet */

    struct blob *to_write; /* the status to be written next, or NULL */
    bool to_delete;        /* delete the object once there is no status to write */
    bool run_again;        /* a decision to stop the pod was lost, so its job makes another one */
    bool to_mark;          /* run_again: first write the mark that says so to the job */
    struct blob *written;  /* the status that is being written (WRITE_STATUS) */
    struct kubelet_pod *next_dirty, *next_accepted;
    struct cluster_call call;
};

/* The content of a plain status: that of a pod with at most one container and no special fields.
 * Equal keys give equal statuses. */
struct plain_status {
    int64_t numbers[13];
    char texts[160];
};
struct shared_status {
    struct plain_status key;
    struct blob *blob;
};

/* Pods with accepted changes that become durable together. */
struct kubelet_batch {
    struct task task;
    LIST_ENTRY(kubelet_batch) all;
    struct kubelet *kubelet;
    struct kubelet_pod *first;
    bool durable; /* false: the task runs before the changes are on disk (simulation) */
};

struct port_owner; /* defined in host_ports.c */

struct kubelet {
    struct cluster *cluster;
    struct runtime *runtime;
    struct kubelet_options options;
    struct kubelet_pod *pods;
    struct amount used; /* amount used by pods that the runtime runs */
    bool adopted;
    struct task adoption_done;

    struct fit_queue queue;          /* pods that wait for their start, in order */
    uint64_t last_order;             /* start_order of the pod that joined the queue last */
    struct fit_item *unlooked;       /* all pods before this one have an intent; NULL: all pods have
                                      * one */
    int64_t intents;                 /* number of intents in the queue, written or durable */
    struct backfill backfill;        /* room that is kept for the first pod of the queue */
    const struct kubelet_pod *waits; /* the first pod of the queue, if it found no room */
    int64_t waits_since_ms;          /* wall time since when that pod waits */
    uint64_t stamp;                  /* logical time, which increases with each reservation */
    struct task starts;
    struct shared_status shared[POD_PHASE_N]; /* the last plain status of each phase */

    struct blocker *blockers;
    struct config_object *config_objects; /* objects from which running pods take files and
                                           * variables */
    STAILQ_HEAD(stale_sources, tracked_sources) stale;
    struct task refresh;
    struct device_pool *devices;    /* devices of the machine; NULL: it has none */
    struct port_owner *ports;       /* ports in use by pods that share the machine's ports */
    struct probe_http_client *http; /* HTTP client of probes; NULL until one is needed */
    struct probe_sockets sockets;   /* makes sockets that lead to pods */
    struct address_pool addresses;
    int range_fd; /* descriptor of the lock on the pods' range of addresses; -1: none yet */
    struct hosts *hosts;
    struct services *services; /* Services with addresses; NULL: no Service has one on this node */
    bool low_ports_move;       /* connections to low ports of Services are redirected
                                * (machine/sockaddr_rules.h) */

    struct kubelet_pod *dirty, **dirty_tail;
    struct task flush;
    struct kubelet_pod *accepted, **accepted_tail;
    size_t ahead; /* number of pods that went on before their writes were durable (simulation) */
    struct task collect;
    LIST_HEAD(kubelet_batches, kubelet_batch) batches; /* batches on the way to the disk */
    struct timer retry;

    struct cluster_watcher pod_watcher, config_watcher, secret_watcher, claim_watcher,
        service_watcher;
    size_t calls; /* number of calls in flight; the last one frees a stopped kubelet */
    bool stopped;
};

static inline bool kubelet_pod_gone(const struct kubelet_pod *pod)
{
    return pod->existence != OBJECT_PRESENT;
}

/* Functions of kubelet.c: pods as their objects and the runtime's reports arrive. */
/** Returns NULL when there is no such pod. */
struct kubelet_pod *kubelet_find_pod(struct kubelet *kubelet, const char *uid);
struct kubelet_pod *kubelet_pod_new(struct kubelet *kubelet, const struct meta *meta);
bool kubelet_pod_ended(const struct kubelet_pod *pod);
/** Queues a pod that was never started, or refuses it. */
void kubelet_admit(struct kubelet_pod *pod);
/** Handles a pod whose object is being deleted: stops the pod, or deletes the object at once if the
 * pod was never started. */
void kubelet_terminate(struct kubelet_pod *pod);
void kubelet_stop_started(struct kubelet_pod *pod, int64_t grace_ms);
void kubelet_call_done(struct kubelet *kubelet);
bool kubelet_is_ours(const struct kubelet *kubelet, const struct object *pod);
/** Frees the record of a pod if nothing is in flight for it and nothing more can arrive. */
void kubelet_free_if_done(struct kubelet_pod *pod);

/* Functions of adopt.c: pods of a previous run. */
void kubelet_pod_found(void *ctx, const char *uid);
void kubelet_adoption_done(struct task *task);
/** Lets the runtime forget a pod whose end is durable and was reported by the runtime. */
void kubelet_release_ended(struct kubelet_pod *pod);
/** Returns whether a previous process stopped the pod and the decision to do so was lost. */
bool kubelet_stop_was_lost(const struct kubelet_pod *pod, const struct runtime_report *report);
/** Writes the end of a pod whose stop was lost so that its job runs it again, and deletes its
 * object. */
void kubelet_run_again(struct kubelet_pod *pod, const struct pod_status *status);

/* Functions of start_queue.c: start intents, free capacity, blocked pods. */
void kubelet_enqueue(struct kubelet_pod *pod); /* sets step QUEUED */
/** Sets step READY; the pod is put before those without an intent. */
void kubelet_enqueue_ready(struct kubelet_pod *pod);
/** Takes a pod that waits for its start out of the queue or its blocker, and sets step DELETING. A
 * pod in any other step stays as it is. */
void kubelet_dequeue(struct kubelet_pod *pod);
void kubelet_post_starts(struct kubelet *kubelet); /* runs the queue later in this turn */
/** Returns whether item `a` of the start queue comes before item `b`. */
bool kubelet_starts_before(const struct fit_item *a, const struct fit_item *b);
void kubelet_run_starts(struct task *task);
/** Returns whether there is capacity for a pod of the queue whose intent is not durable yet. */
bool kubelet_slot_waits_for_intent(struct kubelet *kubelet);
void kubelet_take_capacity(struct kubelet_pod *pod);
void kubelet_give_capacity(struct kubelet_pod *pod);
/** Blocks the pod until the object that `problem` names is created or changed. */
void kubelet_block_on_object(struct kubelet_pod *pod, const struct resolve_problem *problem);
void kubelet_unblock_object(struct kubelet *kubelet, const struct object *object);
/** Blocks the pod until `key` is unblocked. The key must not begin with the plural of a kind. */
void kubelet_block(struct kubelet_pod *pod, const char *key);
void kubelet_unblock(struct kubelet *kubelet, const char *key);
void kubelet_free_blocker(struct kubelet *kubelet, struct blocker *blocker);

/* Functions of pod_devices.c: devices that pods get by their ids. */
/** Counts what the pod requests of named resources. */
void kubelet_count_extras(struct kubelet_pod *pod, const struct pod_spec *spec);
/** Gives a pod with step READY its devices, if it requests any. Returns false when it does not.
 * Otherwise the pod has step DEVICES and its capacity, and starts when the ids are durable; or it
 * has failed. */
bool kubelet_take_devices(struct kubelet_pod *pod);
/** Takes the devices of a pod that the runtime found. Those of a pod without object are not known,
 * so it counts as if it had all. */
void kubelet_restore_devices(struct kubelet_pod *pod);
void kubelet_give_back_devices(
    struct kubelet_pod *pod); /* does nothing for a pod without devices */
/** Returns an owned message about a pod that requests more devices than there are; NULL: it does
 * not. */
char *kubelet_too_many_devices(const struct kubelet_pod *pod);
/** Returns whether the pod's status names devices. */
bool kubelet_has_devices(const struct kubelet_pod *pod);
/** Sets the ids of devices in a status. The texts live in the arena. */
void kubelet_fill_devices(const struct kubelet_pod *pod, struct pod_status *status,
                          struct arena *arena);

/* Functions of host_ports.c: ports that pods share with the machine. */
/** Claims the ports that the pod declares, if it shares them with the machine. Returns false when
 * one of them is in use; the pod is then blocked until it is free, and its status says so. */
bool kubelet_claim_ports(struct kubelet_pod *pod);
void kubelet_adopt_ports(struct kubelet_pod *pod); /* takes the ports of a pod that runs already */
void kubelet_release_ports(struct kubelet_pod *pod); /* does nothing when the pod has no ports */

/* Functions of config_refresh.c: files and variables of running pods follow their sources. */
void kubelet_track_sources(struct kubelet_pod *pod);   /* called when the pod is started */
void kubelet_untrack_sources(struct kubelet_pod *pod); /* does nothing when nothing is tracked */
/** Tells the running pod what changed in its own Pod object since `before`: the deadline goes to the
 * runtime, labels and annotations to the files and variables that show them. */
void kubelet_pod_updated(struct kubelet_pod *pod, const struct object *before);
void kubelet_send_deadline(struct kubelet_pod *pod);
/** Handles a change of the content of a ConfigMap or Secret. */
void kubelet_config_changed(struct kubelet *kubelet, const struct object *object);
/** Resolves the pod's files and variables again later in this turn. */
void kubelet_refresh_later(struct kubelet_pod *pod);
void kubelet_refresh_run(struct task *task);

/* Functions of start.c: one pod from its spec to the runtime. */
/** Gives the pod to the runtime. Its step is STARTED, BLOCKED or ENDED afterwards. */
void kubelet_start_pod(struct kubelet_pod *pod);
/** Returns what the runtime gets of the pod, without containers and volumes. Borrowed from the
 * pod. */
struct runtime_pod kubelet_runtime_pod(const struct kubelet_pod *pod);
/** Returns where the pod's references are looked up. `problem` is borrowed. */
struct value_source kubelet_value_source(struct kubelet_pod *pod, struct arena *arena,
                                         struct resolve_problem *problem);
/** Returns NULL when the pod can run on this node. Otherwise returns an owned message, and sets its
 * `reason`. */
char *kubelet_unrunnable(const struct kubelet_pod *pod, const char **reason);

/* Functions of pod_network.c: addresses and names of pods, and what Services need of the
 * kubelet. */
/** Locks the range of addresses `wanted` (0 = any) if it is free. It is called before the first
 * address is given. */
void kubelet_lock_range(struct kubelet *kubelet, uint8_t wanted);
/** Gives a new record its address and its entry in the hosts files, if the pod needs them. */
void kubelet_assign_address(struct kubelet_pod *pod, const struct pod_spec *spec);
/** Gives the pod a hosts file of its own. */
void kubelet_join_hosts(struct kubelet_pod *pod, const struct pod_spec *spec);
/** Returns whether the pod gets addresses in its texts where others get names. */
bool kubelet_hosts_as_addresses(const struct kubelet_pod *pod);
/** Returns whether the pod has no hosts file yet and its programs could look up a Service. */
bool kubelet_may_look_up(const struct kubelet_pod *pod, const struct pod_spec *spec);
void kubelet_hosts_changed(void *ctx, struct host_entry *entry, const char *text);
/** Gives Services addresses. It is called before pods are read: some pods have an address only
 * because a Service leads to them. */
void kubelet_start_services(struct kubelet *kubelet);

/* Functions of status.c: the contents of statuses. */
void kubelet_write_intent(struct kubelet_pod *pod);
void kubelet_write_devices(struct kubelet_pod *pod); /* writes the ids before the pod starts */
void kubelet_write_waiting(struct kubelet_pod *pod, const char *reason, const char *message);
/** Ends a pod without the runtime: phase Failed, step ENDED. */
void kubelet_write_failed(struct kubelet_pod *pod, const char *reason, const char *message);
void kubelet_write_report(struct kubelet_pod *pod, const struct pod_status *status);

/* Functions of probes.c: probes of containers. */
/** Handles a report of the runtime on a running pod: starts and stops its probes, and corrects in
 * `status` which containers are ready and started. A pod without probes costs one look at its
 * containers. */
void kubelet_probes_update(struct kubelet_pod *pod, struct pod_status *status);
/** Keeps `status`, the one written last, which is written again when a probe changes something. */
void kubelet_probes_status_written(struct kubelet_pod *pod, struct blob *status);
void kubelet_probes_stop(struct kubelet_pod *pod); /* does nothing for a pod without probes */
void kubelet_exec_done(void *ctx, const struct runtime_exec_result *executed);

/* Functions of write.c: writes to pod objects, and what follows once they are durable. */
/** `status` replaces one that was not written yet, and is freed later. */
void kubelet_write(struct kubelet_pod *pod, struct blob *status);
void kubelet_delete_object(struct kubelet_pod *pod);
/** Looks at the pod again once everything accepted so far is durable. */
void kubelet_await_durable(struct kubelet_pod *pod);
void kubelet_flush_run(struct task *task);
void kubelet_collect_run(struct task *task);
void kubelet_forget_batches(struct kubelet *kubelet);
void kubelet_retry(struct timer *timer);
