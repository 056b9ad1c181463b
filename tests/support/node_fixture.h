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

enum { NODE_FIXTURE_PODS_MAX = 64 };

/* A pod the scripted runtime was given. */
struct scripted_pod {
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
    struct node *node;
    struct runtime *runtime; /* scripted */
    struct runtime_capabilities capabilities;
    struct scripted_pod pods[NODE_FIXTURE_PODS_MAX]; /* in the order of their start */
    size_t n_pods, running, peak;
    const char *found[NODE_FIXTURE_PODS_MAX]; /* adopt finds these */
    size_t n_found;
};

struct node_fixture *node_fixture_new(void);
void node_fixture_free(struct node_fixture *fixture);
/** Another life of the daemon: scheduler and kubelet end and start again. */
void node_fixture_start_scheduler(struct node_fixture *fixture, struct amount capacity);
void node_fixture_start_scheduler_on(struct node_fixture *fixture,
                                     const struct scheduler_options *options);
/** A fixture with the scheduler of one node: 4 CPUs, 8 GiB, room for `pods` pods. */
struct node_fixture *node_fixture_with_scheduler(int64_t pods);
void node_fixture_start_kubelet(struct node_fixture *fixture,
                                const struct kubelet_options *options);
void node_fixture_stop(struct node_fixture *fixture);

void node_fixture_settle(struct node_fixture *fixture);
void node_fixture_advance(struct node_fixture *fixture, int64_t ms);

/** Create from JSON with ' in place of ", %-formatted. Fails the test when refused. */
void node_fixture_create(struct node_fixture *fixture, const char *format, ...) PRINTF_LIKE(2, 3);
/** Replace the status likewise. */
void node_fixture_set_status(struct node_fixture *fixture, const struct kind *kind,
                             const char *name, const char *format, ...) PRINTF_LIKE(4, 5);
/** Change a member of the spec by a merge patch, likewise. */
void node_fixture_patch(struct node_fixture *fixture, const struct kind *kind, const char *name,
                        const char *format, ...) PRINTF_LIKE(4, 5);
void node_fixture_delete(struct node_fixture *fixture, const struct kind *kind, const char *name,
                         int64_t grace_s);

const struct object *node_fixture_get(struct node_fixture *fixture, const struct kind *kind,
                                      const char *name);
/** The object's status as JSON text, "" without one; owned by the fixture until the next call. */
const char *node_fixture_status(struct node_fixture *fixture, const struct kind *kind,
                                const char *name);
enum pod_phase node_fixture_pod_phase(struct node_fixture *fixture, const char *name);
/** Has somebody been told? `text` is a part of the message. */
bool node_fixture_has_event(struct node_fixture *fixture, const char *reason, const char *text);
bool node_fixture_bound(struct node_fixture *fixture, const char *name);
const char *node_fixture_group_phase(struct node_fixture *fixture, const char *name);
/** How many pods of the namespace have a node. */
size_t node_fixture_count_bound(struct node_fixture *fixture);

/** A group and pods as the job controller makes them: `pods` of them named GROUP-0 … */
void node_fixture_group(struct node_fixture *fixture, const char *name, int min_member,
                        const char *more_spec);
void node_fixture_pods(struct node_fixture *fixture, const char *group, int from, int to,
                       const char *more_spec);
/** What their specification says to ask for so much of a CPU. */
#define NODE_FIXTURE_CPU(amount)                                                                   \
    ",'containers':[{'name':'c','image':'i','command':['true'],'resources':{'requests':{'cpu':"    \
    "'" amount "'}}}]"
/** A pod's phase, as a kubelet would write it, and what comes of it. */
void node_fixture_set_phase(struct node_fixture *fixture, const char *pod, const char *phase);

struct scripted_pod *node_fixture_started(struct node_fixture *fixture,
                                          const char *name); /* NULL = not started */
/** The scripted runtime tells: the pod runs; it ended with `exit_code`. */
void node_fixture_report_sidecar(struct node_fixture *fixture,
                                 const char *name); /* the init container runs */
void node_fixture_report_running(struct node_fixture *fixture, const char *name);
void node_fixture_report_ended(struct node_fixture *fixture, const char *name, int exit_code);
/** Answer the program that was asked for last. */
void node_fixture_answer_exec(struct node_fixture *fixture, const char *name, int code);
/** End whatever runs, again and again, until nothing is left that could start. */
void node_fixture_run_all(struct node_fixture *fixture);
