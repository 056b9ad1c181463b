#pragma once
/*
 * A cluster in memory on a virtual clock, with as much of a node as a test asks for, and a runtime
 * that does what the test says.
 */
#include "api/cluster_embedded.h"
#include "node/kubelet/kubelet.h"
#include "node/node.h"
#include "node/scheduler/podgroup_controller.h"
#include "node/scheduler/queue_state.h"
#include "node/scheduler/queue_usage.h"
#include "node/scheduler/scheduler.h"

enum { RIG_PODS_MAX = 64 };

/* A pod the scripted runtime was given. */
struct rig_pod {
    char uid[64], name[64];
    int starts;   /* in all lives: never more than 1 */
    bool running; /* started, no final report yet */
    bool released, purged;
    int stops;
    int64_t grace_ms; /* of the last stop */
    char hosts[2048]; /* last hosts file */
    char ip[64], hostname[64];
    char ports[64];    /* at which Services expect it */
    char env[1024];    /* "A=1;B=2;" of the first container */
    char argv[512];    /* words joined by blanks */
    char files[1024];  /* "volume:path=content;" */
    char volumes[512]; /* "name:kind:host path;" */
    uint64_t exec_id;  /* of the program asked for last; 0: it was answered */
    int execs;
    char exec_argv[128];
    int kills; /* of its container */
    char kill_why[256];
    char renewed[512];   /* "container words of command and variables;" */
    int64_t deadline_ms; /* set while it ran */
    int passed;          /* startup probes of sidecars that were told */
    int restarts;        /* told with the next report */
};

struct rig {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct cluster *cluster;
    struct scheduler *scheduler;
    struct queue_states *queue_states;
    struct queue_usage *queue_usage;
    struct plain_groups *plain_groups;
    struct kubelet *kubelet;
    struct node *node;
    struct runtime *runtime; /* scripted */
    struct runtime_capabilities capabilities;
    struct rig_pod pods[RIG_PODS_MAX]; /* in the order of their start */
    size_t n_pods, running, peak;
    const char *found[RIG_PODS_MAX]; /* adopt finds these */
    size_t n_found;
};

struct rig *rig_new(void);
void rig_free(struct rig *rig);
/** Another life of the daemon: scheduler and kubelet end and start again. */
void rig_start_scheduler(struct rig *rig, struct amount capacity);
void rig_start_scheduler_on(struct rig *rig, const struct scheduler_options *options);
/** A rig with the scheduler of one node: 4 CPUs, 8 GiB, room for `pods` pods. */
struct rig *rig_with_scheduler(int64_t pods);
void rig_start_kubelet(struct rig *rig, const struct kubelet_options *options);
void rig_stop(struct rig *rig);

void rig_settle(struct rig *rig);
void rig_advance(struct rig *rig, int64_t ms);

/** Create from JSON with ' in place of ", %-formatted. Fails the test when refused. */
void rig_create(struct rig *rig, const char *format, ...) PRINTF_LIKE(2, 3);
/** Replace the status likewise. */
void rig_set_status(struct rig *rig, const struct kind *kind, const char *name, const char *format,
                    ...) PRINTF_LIKE(4, 5);
/** Change a member of the spec by a merge patch, likewise. */
void rig_patch(struct rig *rig, const struct kind *kind, const char *name, const char *format, ...)
    PRINTF_LIKE(4, 5);
void rig_delete(struct rig *rig, const struct kind *kind, const char *name, int64_t grace_s);

const struct object *rig_get(struct rig *rig, const struct kind *kind, const char *name);
/** The object's status as JSON text, "" without one; owned by the rig until the next call. */
const char *rig_status(struct rig *rig, const struct kind *kind, const char *name);
enum pod_phase rig_pod_phase(struct rig *rig, const char *name);
/** Has somebody been told? `text` is a part of the message. */
bool rig_has_event(struct rig *rig, const char *reason, const char *text);
bool rig_bound(struct rig *rig, const char *name);
const char *rig_group_phase(struct rig *rig, const char *name);
/** How many pods of the namespace have a node. */
size_t rig_count_bound(struct rig *rig);

/** A group and pods as the job controller makes them: `pods` of them named GROUP-0 … */
void rig_group(struct rig *rig, const char *name, int min_member, const char *more_spec);
void rig_pods(struct rig *rig, const char *group, int from, int to, const char *more_spec);
/** What their specification says to ask for so much of a CPU. */
#define RIG_CPU(amount)                                                                            \
    ",'containers':[{'name':'c','image':'i','command':['true'],'resources':{'requests':{'cpu':"    \
    "'" amount "'}}}]"
/** A pod's phase, as a kubelet would write it, and what comes of it. */
void rig_set_phase(struct rig *rig, const char *pod, const char *phase);

struct rig_pod *rig_started(struct rig *rig, const char *name); /* NULL = not started */
/** The scripted runtime tells: the pod runs; it ended with `exit_code`. */
void rig_tell_sidecar(struct rig *rig, const char *name); /* the init container runs */
void rig_tell_running(struct rig *rig, const char *name);
void rig_tell_ended(struct rig *rig, const char *name, int exit_code);
/** Answer the program that was asked for last. */
void rig_answer_exec(struct rig *rig, const char *name, int code);
/** End whatever runs, again and again, until nothing is left that could start. */
void rig_run_all(struct rig *rig);
