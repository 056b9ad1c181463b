#pragma once
/*
 * The kubelet's records and the functions its files share. A pod has one record, struct
 * kubelet_pod, from the moment its object or its processes are seen until neither is left; its
 * states are in pod_state.h.
 */
#include <sys/queue.h>

#include "base/hash.h"
#include "node/kubelet/hosts_files.h"
#include "node/kubelet/kubelet.h"
#include "node/kubelet/pod_state.h"
#include "node/kubelet/services.h"
#include "node/machine/address_pool.h"
#include "node/machine/backfill.h"
#include "node/machine/fit_queue.h"
#include "probes/address.h"

#define HOST_IP "127.0.0.1"

/* A missing object or a busy port, and the pods that wait for it. */
struct blocker {
    UT_hash_handle hh;
    STAILQ_HEAD(blocked_pods, kubelet_pod) pods;
    char key[];
};

struct pod_probes;      /* probes.c */
struct tracked_sources; /* config_refresh.c */

struct kubelet_pod {
    UT_hash_handle hh; /* by uid */
    struct kubelet *kubelet;
    struct meta *meta;
    const struct object *object; /* the newest version; NULL: only the runtime knows the pod */
    enum pod_step step;          /* these four change through pod_state.h only */
    enum pod_write write;
    enum pod_commit commit;
    enum pod_object existence;
    enum pod_phase phase; /* last written: moves forward only */
    struct amount need;
    const char *qos;
    int64_t start_ms, scheduled_ms, ready_ms;

    struct fit_item start_item; /* element of kubelet.queue */
    uint64_t start_order;       /* its place in the queue, which it keeps while it is blocked */
    struct blocker *blocker;    /* STEP_BLOCKED */
    STAILQ_ENTRY(kubelet_pod) next_blocked;

    bool in_runtime;       /* the runtime may keep something of it: release and purge it */
    bool uses_capacity;    /* counted in kubelet.used */
    uint64_t uses_since;   /* stamp of that moment, see kubelet.stamp */
    bool owns_ports;       /* its declared ports are in kubelet.ports */
    int64_t stop_grace_ms; /* the grace the runtime was last given; -1: it was not asked to stop */

    uint32_t address;
    char address_text[ADDRESS_TEXT_MAX];
    struct host_entry hosts; /* its texts are owned here: */
    char *hostname, *subdomain, *aliases;

    struct tracked_sources *sources; /* NULL: nothing of it comes from another object */
    struct pod_probes *probes;       /* NULL: its containers have no probes, or do not run yet */

    struct blob *to_write; /* the status to be written next, or NULL */
    bool to_delete;        /* delete the object once there is no status to write */
    bool run_again;        /* a decision to stop it was lost: its job makes another pod */
    bool to_mark;          /* run_again: the mark that says so to the job is to be written first */
    struct blob *written;  /* the status in flight (WRITE_STATUS) */
    struct kubelet_pod *next_dirty, *next_accepted;
    struct cluster_call call;
};

/* Everything that the status of a pod with at most one container and no special fields says. Equal
 * keys give equal statuses. */
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
    bool durable; /* false: the task runs ahead of the disk (sim) */
};

struct port_owner; /* host_ports.c */

struct kubelet {
    struct cluster *cluster;
    struct runtime *runtime;
    struct kubelet_options options;
    struct kubelet_pod *pods;
    struct amount used; /* by pods the runtime runs */
    bool adopted;
    struct task adoption_done;

    struct fit_queue queue;          /* pods that wait for their start, in order */
    uint64_t last_order;             /* start_order of the last that joined */
    struct fit_item *unlooked;       /* no pod before this one lacks an intent; NULL: none does */
    int64_t intents;                 /* in the queue, written or durable */
    struct backfill backfill;        /* room that is kept for the first one */
    const struct kubelet_pod *waits; /* the first one, which found no room, … */
    int64_t waits_since_ms;          /* … and since when */
    uint64_t stamp;                  /* logical time: increases with each reservation */
    struct task starts;
    struct shared_status shared[POD_PHASE_N]; /* the last plain one of each phase */

    struct blocker *blockers;
    struct config_object *config_objects; /* what running pods take files and variables from */
    STAILQ_HEAD(stale_sources, tracked_sources) stale;
    struct task refresh;
    struct port_owner *ports;       /* in use by pods that share the machine's ports */
    struct probe_http_client *http; /* of probes; NULL until one is needed */
    struct probe_sockets sockets;   /* that lead to pods */
    struct address_pool addresses;
    int range_fd; /* the lock on their range; -1: none yet */
    struct hosts *hosts;
    struct services *services; /* those with addresses; NULL: none has one on this node */
    bool low_ports_move;       /* connections to low Service ports are redirected
                                  (machine/sockaddr_rules.h) */

    struct kubelet_pod *dirty, **dirty_tail;
    struct task flush;
    struct kubelet_pod *accepted, **accepted_tail;
    size_t ahead; /* pods that went on before their writes were durable (sim) */
    struct task collect;
    LIST_HEAD(kubelet_batches, kubelet_batch) batches; /* on the way to the disk */
    struct timer retry;

    struct cluster_watcher pod_watcher, config_watcher, secret_watcher, claim_watcher,
        service_watcher;
    size_t calls; /* in flight; the last one frees a stopped kubelet */
    bool stopped;
};

static inline bool kubelet_pod_gone(const struct kubelet_pod *pod)
{
    return pod->existence != OBJECT_PRESENT;
}

/* kubelet.c: pods as their objects and the runtime's reports arrive */
struct kubelet_pod *kubelet_find_pod(struct kubelet *kubelet, const char *uid); /* or NULL */
struct kubelet_pod *kubelet_pod_new(struct kubelet *kubelet, const struct meta *meta);
bool kubelet_pod_ended(const struct kubelet_pod *pod);
/** Queue a pod that was never started, or refuse it. */
void kubelet_admit(struct kubelet_pod *pod);
/** Its object is being deleted: stop it, or delete the object at once if it was never started. */
void kubelet_terminate(struct kubelet_pod *pod);
void kubelet_stop_started(struct kubelet_pod *pod, int64_t grace_ms);
void kubelet_call_done(struct kubelet *kubelet);
bool kubelet_is_ours(const struct kubelet *kubelet, const struct object *pod);
/** Free the record if nothing is in flight for it and nothing more can arrive. */
void kubelet_free_if_done(struct kubelet_pod *pod);

/* adopt.c: pods of a previous run */
void kubelet_pod_found(void *ctx, const char *uid);
void kubelet_adoption_done(struct task *task);
/** The pod's end is durable and the runtime has reported it: the runtime may forget it. */
void kubelet_release_ended(struct kubelet_pod *pod);
/** Whether a previous process stopped the pod and the decision to do so was lost. */
bool kubelet_stop_was_lost(const struct kubelet_pod *pod, const struct runtime_report *report);
/** Write the end of such a pod so that its job runs it again, and delete its object. */
void kubelet_run_again(struct kubelet_pod *pod, const struct pod_status *status);

/* start_queue.c: start intents, free capacity, blocked pods */
void kubelet_enqueue(struct kubelet_pod *pod);       /* step QUEUED */
void kubelet_enqueue_ready(struct kubelet_pod *pod); /* step READY; ahead of those without intent */
/** Take a pod that waits for its start out of the queue or its blocker; step DELETING. A pod in
 * any other step stays as it is. */
void kubelet_dequeue(struct kubelet_pod *pod);
void kubelet_post_starts(struct kubelet *kubelet); /* run the queue later in this turn */
/** Orders the start queue. */
bool kubelet_starts_before(const struct fit_item *a, const struct fit_item *b);
void kubelet_run_starts(struct task *task);
/** True when there is capacity for a pod of the queue whose intent is not durable yet. */
bool kubelet_slot_waits_for_intent(struct kubelet *kubelet);
void kubelet_take_capacity(struct kubelet_pod *pod);
void kubelet_give_capacity(struct kubelet_pod *pod);
/** Block the pod until the object that `problem` names is created or changed. */
void kubelet_block_on_object(struct kubelet_pod *pod, const struct resolve_problem *problem);
void kubelet_unblock_object(struct kubelet *kubelet, const struct object *object);
/** The same for any other key; it must not begin with the plural of a kind. */
void kubelet_block(struct kubelet_pod *pod, const char *key);
void kubelet_unblock(struct kubelet *kubelet, const char *key);
void kubelet_free_blocker(struct kubelet *kubelet, struct blocker *blocker);

/* host_ports.c: ports that pods share with the machine */
/** Claim the ports the pod declares, if it shares them with the machine. False: one of them is in
 * use; the pod is blocked until it is free, and its status says so. */
bool kubelet_claim_ports(struct kubelet_pod *pod);
void kubelet_adopt_ports(struct kubelet_pod *pod);   /* of a pod that runs already */
void kubelet_release_ports(struct kubelet_pod *pod); /* no-op when it has none */

/* config_refresh.c: files and variables of running pods follow their sources */
void kubelet_track_sources(struct kubelet_pod *pod);   /* from the pod's start on */
void kubelet_untrack_sources(struct kubelet_pod *pod); /* no-op when nothing is tracked */
/** The pod's own object has changed from `before`: pass on its deadline, labels, annotations. */
void kubelet_pod_updated(struct kubelet_pod *pod, const struct object *before);
void kubelet_send_deadline(struct kubelet_pod *pod);
/** The content of a ConfigMap or Secret has changed. */
void kubelet_config_changed(struct kubelet *kubelet, const struct object *object);
/** Resolve the pod's files and variables again later in this turn. */
void kubelet_refresh_later(struct kubelet_pod *pod);
void kubelet_refresh_run(struct task *task);

/* start.c: one pod from its spec to the runtime */
/** Give the pod to the runtime; its step is STARTED, BLOCKED or ENDED afterwards. */
void kubelet_start_pod(struct kubelet_pod *pod);
/** What the runtime gets of the pod, without containers and volumes. Borrowed from the pod. */
struct runtime_pod kubelet_runtime_pod(const struct kubelet_pod *pod);
/** Where the pod's references are looked up; `problem` is borrowed. */
struct value_source kubelet_value_source(struct kubelet_pod *pod, struct arena *arena,
                                         struct resolve_problem *problem);
/** NULL when the spec can run on this node. Otherwise an owned message, and its `reason`. */
char *kubelet_unrunnable(const struct kubelet *kubelet, const struct pod_spec *spec,
                         const char **reason);

/* pod_network.c: addresses and names of pods, and what Services need of the kubelet */
/** Before the first address is given: lock the range `wanted` (0 = any) if it is free. */
void kubelet_lock_range(struct kubelet *kubelet, uint8_t wanted);
/** Give a new record its address and its entry in the hosts files, if the pod needs them. */
void kubelet_assign_address(struct kubelet_pod *pod, const struct pod_spec *spec);
/** Give the pod a hosts file of its own. */
void kubelet_join_hosts(struct kubelet_pod *pod, const struct pod_spec *spec);
/** True when the pod gets addresses in its texts where others get names. */
bool kubelet_hosts_as_addresses(const struct kubelet_pod *pod);
/** True when the pod has no hosts file yet and its programs could look up a Service. */
bool kubelet_may_look_up(const struct kubelet_pod *pod, const struct pod_spec *spec);
void kubelet_hosts_changed(void *ctx, struct host_entry *entry, const char *text);
/** Give Services addresses. Called before pods are read: some have an address only because a
 * Service leads to them. */
void kubelet_start_services(struct kubelet *kubelet);

/* status.c: the contents of statuses */
void kubelet_write_intent(struct kubelet_pod *pod);
void kubelet_write_waiting(struct kubelet_pod *pod, const char *reason, const char *message);
/** The pod ends without the runtime: phase Failed, step ENDED. */
void kubelet_write_failed(struct kubelet_pod *pod, const char *reason, const char *message);
void kubelet_write_report(struct kubelet_pod *pod, const struct pod_status *status);

/* probes.c: probes of containers */
/** The runtime reports on a running pod: start and stop its probes, and correct in `status` which
 * containers are ready and started. A pod without probes costs one look at its containers. */
void kubelet_probes_update(struct kubelet_pod *pod, struct pod_status *status);
/** `status` is the one written last; it is written again when a probe changes something. */
void kubelet_probes_status_written(struct kubelet_pod *pod, struct blob *status);
void kubelet_probes_stop(struct kubelet_pod *pod); /* no-op without probes */
void kubelet_exec_done(void *ctx, const struct runtime_exec_result *executed);

/* write.c: writes to pod objects, and what follows once they are durable */
void kubelet_write(struct kubelet_pod *pod, struct blob *status); /* consumed; replaces */
void kubelet_delete_object(struct kubelet_pod *pod);
/** Look at the pod again once everything accepted so far is durable. */
void kubelet_await_durable(struct kubelet_pod *pod);
void kubelet_flush_run(struct task *task);
void kubelet_collect_run(struct task *task);
void kubelet_forget_batches(struct kubelet *kubelet);
void kubelet_retry(struct timer *timer);
