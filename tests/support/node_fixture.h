#pragma once
/*
 * A cluster in memory on a virtual clock with the parts of a node that a test asks for (scheduler,
 * kubelet), and a runtime that does what the test says.
 */
#include "api/cluster_embedded.h"
#include "node/kubelet/kubelet.h"
#include "node/node.h"
#include "node/scheduler/podgroup_controller.h"
#include "node/scheduler/queue_state.h"
#include "node/scheduler/queue_usage.h"
#include "node/scheduler/scheduler.h"

enum { NODE_FIXTURE_PODS_MAX = 400 };

/* A pod that the kubelet started in the scripted runtime. */
struct scripted_pod {
    char uid[64], name[64];
    int starts;   /* number of starts, restarts of the node included: never more than 1 */
    bool running; /* the pod was started, and no final report was made yet */
    bool stopped; /* the pod was asked to end while it ran */
    bool released, purged;
    int stops;
    int64_t grace_ms; /* grace period of the last stop request */
    char hosts[2048]; /* content of the last hosts file */
    char ip[64], hostname[64];
    char ports[64];    /* the ports at which Services reach the pod */
    char env[1024];    /* variables of the first container, as "A=1;B=2;" */
    char argv[512];    /* the command of the first container, words separated by spaces */
    char files[1024];  /* files of the volumes, as "volume:path=content;" */
    char volumes[512]; /* the volumes, as "name:kind:host path;" */
    uint64_t exec_id;  /* id of the last exec request; 0: it was answered */
    int execs;
    char exec_argv[128];
    int kills; /* number of requests to kill the pod's container */
    char kill_why[256];
    char renewed[512];   /* the last update of a program, as "container words of command and
                          * variables;" */
    int64_t deadline_ms; /* the deadline, when it was set while the pod ran */
    int passed;          /* number of sidecars whose startup probe was reported as passed */
    int restarts;        /* restart count that the next report contains */
    int64_t log_bytes;   /* size of the pod's log in bytes */
};

struct node_fixture {
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
    struct log_keeper *logs;
    struct node *node;
    struct runtime *runtime; /* the scripted runtime */
    struct runtime_capabilities capabilities;
    struct scripted_pod pods[NODE_FIXTURE_PODS_MAX]; /* the pods in the order in which they were
                                                      * started */
    size_t n_pods, running, peak;
    const char *found[NODE_FIXTURE_PODS_MAX]; /* uids of the pods that the runtime's adopt finds */
    size_t n_found;
};

struct node_fixture *node_fixture_new(void);
void node_fixture_free(struct node_fixture *fixture);
/** Starts the scheduler; the functions below stop and start scheduler and kubelet, as a restart of
 * the daemon does. */
void node_fixture_start_scheduler(struct node_fixture *fixture, struct amount capacity);
void node_fixture_start_scheduler_on(struct node_fixture *fixture,
                                     const struct scheduler_options *options);
/** Creates a fixture with the scheduler of one node: 4 CPUs, 8 GiB, at most `pods` pods. */
struct node_fixture *node_fixture_with_scheduler(int64_t pods);
void node_fixture_start_kubelet(struct node_fixture *fixture,
                                const struct kubelet_options *options);
/** Starts a kubelet that leaves logs to a keeper with these limits. */
void node_fixture_start_logs(struct node_fixture *fixture, const struct kubelet_options *options,
                             const struct log_limits *limits);
void node_fixture_stop(struct node_fixture *fixture);

void node_fixture_settle(struct node_fixture *fixture);
void node_fixture_advance(struct node_fixture *fixture, int64_t ms);

/** Creates an object from JSON with ' in place of ", formatted like printf. Fails the test when the
 * object is refused. */
void node_fixture_create(struct node_fixture *fixture, const char *format, ...) PRINTF_LIKE(2, 3);
/** Replaces the status with formatted JSON, as node_fixture_create takes it. */
void node_fixture_set_status(struct node_fixture *fixture, const struct kind *kind,
                             const char *name, const char *format, ...) PRINTF_LIKE(4, 5);
/** Changes the spec with a merge patch in formatted JSON, as node_fixture_create takes it. */
void node_fixture_patch(struct node_fixture *fixture, const struct kind *kind, const char *name,
                        const char *format, ...) PRINTF_LIKE(4, 5);
void node_fixture_delete(struct node_fixture *fixture, const struct kind *kind, const char *name,
                         int64_t grace_s);

const struct object *node_fixture_get(struct node_fixture *fixture, const struct kind *kind,
                                      const char *name);
/** Returns the object's status as JSON text, "" without one; owned by the fixture until the next
 * call. */
const char *node_fixture_status(struct node_fixture *fixture, const struct kind *kind,
                                const char *name);
enum pod_phase node_fixture_pod_phase(struct node_fixture *fixture, const char *name);
/** Returns whether an event with this reason exists; `text` is a part of its message. */
bool node_fixture_has_event(struct node_fixture *fixture, const char *reason, const char *text);
bool node_fixture_bound(struct node_fixture *fixture, const char *name);
const char *node_fixture_group_phase(struct node_fixture *fixture, const char *name);
/** Returns how many pods of the namespace have a node. */
size_t node_fixture_count_bound(struct node_fixture *fixture);

/** Creates a PodGroup and its pods as the job controller does. The pods are named GROUP-<from> to
 * GROUP-<to - 1>. */
void node_fixture_group(struct node_fixture *fixture, const char *name, int min_member,
                        const char *more_spec);
void node_fixture_pods(struct node_fixture *fixture, const char *group, int from, int to,
                       const char *more_spec);
/** The members of a pod's spec that request this amount of CPU. */
#define NODE_FIXTURE_CPU(amount)                                                                   \
    ",'containers':[{'name':'c','image':'i','command':['true'],'resources':{'requests':{'cpu':"    \
    "'" amount "'}}}]"
/** Stores a pod's phase, as a kubelet does, and settles the loop. */
void node_fixture_set_phase(struct node_fixture *fixture, const char *pod, const char *phase);

struct scripted_pod *node_fixture_started(struct node_fixture *fixture,
                                          const char *name); /* returns NULL if the pod was not
                                                              * started */
/** Each of these functions makes the scripted runtime report that a container runs, or that the pod
 * ended with `exit_code`. */
void node_fixture_report_sidecar(struct node_fixture *fixture,
                                 const char *name); /* reports that the init container runs */
void node_fixture_report_running(struct node_fixture *fixture, const char *name);
void node_fixture_report_ended(struct node_fixture *fixture, const char *name, int exit_code);
/** Answers the last exec request with this exit code. */
void node_fixture_answer_exec(struct node_fixture *fixture, const char *name, int code);
/** Ends every running pod, again and again, until no pod is left that could start. */
void node_fixture_run_all(struct node_fixture *fixture);
