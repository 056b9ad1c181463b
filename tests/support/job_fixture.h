#pragma once
/*
 * A cluster in memory for tests of the job controller: embedded registry and store, virtual clock,
 * and a player for the parts of scheduler and kubelet. By itself the player admits PodGroups and
 * binds pods; pods run, end and disappear when the test says so, or at once with the switches.
 */
#include "api/cluster_embedded.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "job/controller.h"

enum { STAGE_TRACE_MAX = 1024 };

struct stage_options {
    bool hold_groups;   /* PodGroups stay as they are made */
    bool run_pods;      /* bound pods run at once */
    bool finish_pods;   /* and succeed at once */
    bool slow_deletion; /* pods under deletion stay until stage_let_go */
    bool no_limit;      /* max_requeue -1 */
    bool whole_gang;
    bool gc_aborted;
    bool elsewhere;        /* pods run on other machines, as in a cluster */
    const char *directory; /* the store's; a restart reads it back. NULL: in memory */
};

struct faulty_rule;

struct stage {
    struct stage_options options;
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct cluster *backend; /* the embedded one */
    struct cluster *cluster; /* what the controller sees: the backend behind tests/fake/faulty */
    struct job_controller *controller;
    struct cluster_watcher pods, groups, jobs;
    char phases[STAGE_TRACE_MAX];  /* phases of jobs as watchers saw them: "Pending Running …" */
    char created[STAGE_TRACE_MAX]; /* names of pods as they appeared */
    char deleted[STAGE_TRACE_MAX]; /* names of pods as they began to go */
    unsigned job_writes;           /* changes of jobs seen */
    unsigned group_creations, group_deletions;
};

/** A fault for every stage made from now on, beside those the test plans; NULL: none. */
void stage_fault(const struct faulty_rule *rule);
bool stage_has_fault(void);
/** The most writes a controller has made on any stage freed since this was called last. */
int stage_count_writes(void);

/** Names in the order things happened. A fault puts one of them off: then they are the same names.
 */
void stage_check_order(const char *name, const char *got, const char *want);

struct stage *stage_new(const struct stage_options *options);
void stage_free(struct stage *stage);

/** Stop the controller and start it again, as a new process would. */
void stage_restart(struct stage *stage);
void stage_stop_controller(struct stage *stage);
void stage_start_controller(struct stage *stage);

/** Create or update what the manifest says, as a user would, and let things settle. */
void stage_apply(struct stage *stage, const char *yaml);
/** Merge-patch an object. */
void stage_patch(struct stage *stage, const struct kind *kind, const char *name, const char *json);
/** The task at that position has so many pods and needs all of them, the job `min_available`. */
void stage_scale(struct stage *stage, const char *job, size_t task, int replicas,
                 int min_available);
void stage_delete(struct stage *stage, const struct kind *kind, const char *name);
void stage_settle(struct stage *stage); /* without moving time, but status writes are flushed */
void stage_advance(struct stage *stage, int64_t ms);

const struct object *stage_get(struct stage *stage, const struct kind *kind, const char *name);
const struct job_status *stage_job(struct stage *stage, const char *name);
const char *stage_phase(struct stage *stage, const char *name); /* "" when the job is gone */
size_t stage_count(struct stage *stage, const struct kind *kind);
bool stage_has_event(struct stage *stage, const char *reason);
int stage_count_events(struct stage *stage, const char *reason); /* repetitions included */

/** What the kubelet reports. Phases: Pending Running Succeeded Failed Unknown. */
void stage_pod(struct stage *stage, const char *name, enum pod_phase phase);
void stage_pod_failed(struct stage *stage, const char *name, int exit_code);
void stage_pod_restarts(struct stage *stage, const char *name, int restarts);
void stage_pods(struct stage *stage, enum pod_phase phase); /* all that live */
/** The same in full, without settling: a single container with that exit code and restarts. */
void stage_report(struct stage *stage, const char *name, enum pod_phase phase, int exit_code,
                  int restarts);
void stage_not_ready(struct stage *stage, const char *name);
/** Pods under deletion disappear. */
void stage_let_go(struct stage *stage);
void stage_let_one_go(struct stage *stage, const char *name);
void stage_group_phase(struct stage *stage, enum podgroup_phase phase); /* of all PodGroups */

/** A job in one line: tasks "a*2 b*3", extra members of spec as lines of YAML, split at semicolons.
 */
void stage_job_simple(struct stage *stage, const char *name, const char *tasks, const char *extra);
