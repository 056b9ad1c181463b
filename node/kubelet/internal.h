#pragma once
/*
 * The kubelet's inside, shared by its files:
 *
 *   kubelet.c         pods as their objects and reports come; start and stop
 *   adopt.c   the judgement of earlier lives
 *   start_queue.c   the start queue: intents, slots, what waits for a missing object
 *   config_refresh.c  files of running pods that follow their ConfigMaps and Secrets
 *   host_ports.c   ports of which this machine has but one
 *   start.c   one pod made ready for the runtime
 *   security_context.c  whose rights its programs have
 *   pod_services.c   what Services with addresses get (services.h)
 *   status.c  what statuses say
 *   probes.c  probes of containers: readiness, restarts
 *   write.c   statuses and removals, and what follows once they are durable
 */
#include <sys/queue.h>

#include "base/hash.h"
#include "node/kubelet/hosts_files.h"
#include "node/kubelet/kubelet.h"
#include "node/kubelet/services.h"
#include "node/machine/address_pool.h"
#include "probes/address.h"

#define HOST_IP "127.0.0.1"

/* clang-format off */
#define POD_STEPS(X)                                                       \
    X(ADOPTING) /* of an earlier life: not judged yet */                   \
    X(QUEUED)   /* in the start queue */                                   \
    X(INTENT)   /* in the queue; its intent is on the way to the disk */   \
    X(READY)    /* in the queue; its intent is durable */                  \
    X(HELD)     /* an object it refers to is missing */                    \
    X(STARTED)  /* the runtime has it */                                   \
    X(ENDED)    /* its final status is on the way to the disk */           \
    X(RELEASED) /* its final status is durable */
/* clang-format on */
#define STEP_ENUM(name) STEP_##name,
enum pod_step { POD_STEPS(STEP_ENUM) STEP_N };
#undef STEP_ENUM

/* An object that pods wait for. */
struct held {
    UT_hash_handle hh;
    STAILQ_HEAD(held_pods, kubelet_pod) pods;
    char key[];
};

struct probing;   /* probes.c */
struct following; /* config_refresh.c */

struct kubelet_pod {
    UT_hash_handle hh; /* by uid */
    struct kubelet *kubelet;
    struct meta *meta;
    const struct object *object; /* the newest version; NULL: only the runtime knows it */
    enum pod_step step;
    enum pod_phase phase; /* last told: moves forward only */
    struct amount need;
    const char *qos;
    int64_t start_ms, scheduled_ms, ready_ms;

    bool queued;
    TAILQ_ENTRY(kubelet_pod) queue; /* start queue */
    struct held *held;
    STAILQ_ENTRY(kubelet_pod) next_held;

    bool has_room;   /* counted in kubelet.used */
    bool has_ports;  /* its declared ports are in kubelet.ports */
    bool to_runtime; /* the runtime may know it: release and purge it */
    bool found;      /* by adopt */
    bool final;      /* the runtime's last report has come */
    bool stopping;
    int64_t stop_grace_ms;

    uint32_t address;
    char address_text[ADDRESS_TEXT_MAX];
    struct host_entry hosts; /* its texts are owned here: */
    char *hostname, *subdomain, *aliases;

    struct following *following; /* NULL: no volume of its comes from another object */
    STAILQ_ENTRY(kubelet_pod) next_stale;
    bool stale;
    struct probing *probing; /* NULL: its containers have no probes, or do not run yet */

    struct blob *to_write; /* the status to be written next, or NULL */
    bool to_remove;        /* the object, once there is nothing to write */
    struct blob *written;  /* under way */
    bool removing;         /* under way */
    bool retry;
    bool dirty, accepted, batched, accepted_again;
    struct kubelet_pod *next_dirty, *next_accepted;
    struct cluster_call call;

    bool gone;         /* the object is deleted, */
    bool gone_durable; /* durably */
};

/* All that the status of a pod with one container and nothing special says: equal keys, equal
 * statuses. */
struct plain_status {
    int64_t numbers[13];
    char texts[160];
};
struct shared_status {
    struct plain_status key;
    struct blob *blob;
};

/* Pods for which something accepted waits to be durable. */
struct kubelet_batch {
    struct task task;
    LIST_ENTRY(kubelet_batch) all;
    struct kubelet *kubelet;
    struct kubelet_pod *first;
    bool durable; /* its writes are, once it runs */
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

    TAILQ_HEAD(pod_queue, kubelet_pod) queue; /* those with an intent first */
    struct kubelet_pod *first_queued;         /* the first without one */
    int64_t intents;                          /* in the queue, written or durable */
    struct task pump;
    struct shared_status shared[POD_PHASE_N]; /* the last plain one of each phase */

    struct held *held;
    struct config_object *followed; /* what files of running pods come from */
    STAILQ_HEAD(stale_pods, kubelet_pod) stale;
    struct task refresh;
    struct port_owner *ports;       /* in use by pods that share them with all others */
    struct probe_http_client *http; /* of probes; NULL until one is needed */
    struct probe_sockets sockets;   /* that lead to pods */
    struct address_pool addresses;
    int range_fd; /* the lock on their range; -1: none yet */
    struct hosts *hosts;
    struct services *services; /* those with addresses; NULL: there are none here */
    bool low_ports_move;       /* of Services: programs are sent there (machine/sockaddr_rules.h) */

    struct kubelet_pod *dirty, **dirty_tail;
    struct task flush;
    struct kubelet_pod *accepted, **accepted_tail;
    size_t ahead; /* pods gone on with before their writes were durable (sim) */
    struct task collect;
    LIST_HEAD(kubelet_batches, kubelet_batch) batches; /* on the way to the disk */
    struct timer retry;

    struct cluster_watcher pod_watcher, config_watcher, secret_watcher, claim_watcher,
        service_watcher;
    size_t calls; /* under way; the last one frees a stopped kubelet */
    bool stopped;
};

/* kubelet.c */
struct kubelet_pod *kubelet_pod_of(struct kubelet *kubelet, const char *uid); /* or NULL */
struct kubelet_pod *kubelet_pod_new(struct kubelet *kubelet, const struct meta *meta);
bool kubelet_pod_ended(const struct kubelet_pod *pod);
void kubelet_arrive(struct kubelet_pod *pod); /* new here: queued, or refused */
void kubelet_doom(struct kubelet_pod *pod);   /* its object is being deleted */
void kubelet_stop_started(struct kubelet_pod *pod, int64_t grace_ms);
void kubelet_call_done(struct kubelet *kubelet);
bool kubelet_is_ours(const struct kubelet *kubelet, const struct object *pod);
/** Before the first address is given: the range of pods that are there already, if it is free. */
void kubelet_lock_range(struct kubelet *kubelet, uint8_t wanted);
/** Free the record if nothing can come for it any more. */
void kubelet_pod_settle(struct kubelet_pod *pod);

/* adopt.c */
void kubelet_pod_found(void *ctx, const char *uid);
void kubelet_adoption_done(struct task *task);
/** A pod whose end is written, and of which the runtime has told all: neither need keep it. */
void kubelet_let_go(struct kubelet_pod *pod);

/* start_queue.c */
void kubelet_enqueue(struct kubelet_pod *pod);       /* step QUEUED */
void kubelet_enqueue_ready(struct kubelet_pod *pod); /* step READY; ahead of those without intent */
void kubelet_dequeue(struct kubelet_pod *pod);       /* out of queue and hold, whichever it is in */
void kubelet_pump(struct kubelet *kubelet);          /* soon, in this turn */
void kubelet_pump_run(struct task *task);
/** A free slot waits for a start intent. */
bool kubelet_slot_waits(const struct kubelet *kubelet);
void kubelet_room_take(struct kubelet_pod *pod);
void kubelet_room_give(struct kubelet_pod *pod);
void kubelet_hold(struct kubelet_pod *pod, const struct resolve_problem *problem);
void kubelet_unhold(struct kubelet *kubelet, const struct object *object);
/** The same by a name of the caller's: it must be no plural of a kind. */
void kubelet_hold_for(struct kubelet_pod *pod, const char *key);
void kubelet_unhold_for(struct kubelet *kubelet, const char *key);
void kubelet_free_held(struct kubelet *kubelet, struct held *held);

/* host_ports.c */
/** Take the ports the pod declares, if it has to share them with all others. False: one of them is
 * in use, the pod is held until that is over, and says so. */
bool kubelet_ports_take(struct kubelet_pod *pod);
void kubelet_ports_take_over(struct kubelet_pod *pod); /* of an earlier life: it has them */
void kubelet_ports_give(struct kubelet_pod *pod);      /* no-op when it has none */

/* config_refresh.c */
void kubelet_follow(struct kubelet_pod *pod); /* it runs: its files follow from now on */
/* Its object has changed. */
void kubelet_follow_itself(struct kubelet_pod *pod, const struct object *before);
void kubelet_tell_deadline(struct kubelet_pod *pod);
void kubelet_follow_end(struct kubelet_pod *pod); /* no-op when nothing is followed */
/** A ConfigMap or Secret has another content. */
void kubelet_config_changed(struct kubelet *kubelet, const struct object *object);
void kubelet_stale(struct kubelet_pod *pod); /* its files may be old ones */
void kubelet_refresh_run(struct task *task);

/* start.c */
/** Give the pod to the runtime; its step is STARTED, HELD or ENDED afterwards. */
void kubelet_start_pod(struct kubelet_pod *pod);
/** The pod as the runtime is told of it, without its containers and volumes. Borrowed from it. */
struct runtime_pod kubelet_runtime_pod(const struct kubelet_pod *pod);
/** Where its look-ups go; `problem` is borrowed. */
struct value_source kubelet_value_source(struct kubelet_pod *pod, struct arena *arena,
                                         struct resolve_problem *problem);
/** A pod no start can help: NULL, or an owned message with `reason`. */
char *kubelet_unrunnable(const struct kubelet *kubelet, const struct pod_spec *spec,
                         const char **reason);
bool kubelet_needs_address(const struct kubelet *kubelet, const struct object *pod);
bool kubelet_needs_hosts(const struct kubelet *kubelet, const struct pod_spec *spec);
/** The pod gets a hosts file of its own. */
void kubelet_join_hosts(struct kubelet_pod *pod, const struct pod_spec *spec);
/** Is it told addresses where others are told names? */
bool kubelet_hosts_as_addresses(const struct kubelet_pod *pod);
/** Has none of its own, and could want to look up a Service. */
bool kubelet_may_look_up(const struct kubelet_pod *pod, const struct pod_spec *spec);

/* security_context.c */
/** It is started: tell by an event what its securityContext asks for in vain. */
void kubelet_check_security_context(const struct kubelet_pod *pod);

/* pod_services.c */
void kubelet_serve(struct kubelet *kubelet); /* before pods are looked at */

/* status.c */
void kubelet_write_intent(struct kubelet_pod *pod);
void kubelet_write_waiting(struct kubelet_pod *pod, const char *reason, const char *message);
/** The pod ends without the runtime: phase Failed. */
void kubelet_write_failed(struct kubelet_pod *pod, const char *reason, const char *message);
void kubelet_write_report(struct kubelet_pod *pod, const struct pod_status *status);

/* probes.c */
/** The runtime tells of a pod that runs: see to its probes, and correct what only they can know:
 * who is ready. Cost for pods without probes: a look at their containers. */
void kubelet_probe(struct kubelet_pod *pod, struct pod_status *status);
/** `status` is what is written last; told again when a probe changes something. */
void kubelet_probe_told(struct kubelet_pod *pod, struct blob *status);
void kubelet_probe_end(struct kubelet_pod *pod); /* no-op without probes */
void kubelet_exec_done(void *ctx, const struct runtime_exec_result *executed);

/* write.c */
void kubelet_write(struct kubelet_pod *pod, struct blob *status); /* consumed; replaces */
void kubelet_remove(struct kubelet_pod *pod);
void kubelet_accepted(struct kubelet_pod *pod); /* look at it once all accepted so far is durable */
void kubelet_flush_run(struct task *task);
void kubelet_collect_run(struct task *task);
void kubelet_forget_batches(struct kubelet *kubelet);
void kubelet_retry(struct timer *timer);
