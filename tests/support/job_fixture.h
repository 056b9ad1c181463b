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

enum { JOB_FIXTURE_TRACE_MAX = 1024 };

struct job_fixture_options {
    bool hold_groups;   /* PodGroups stay as they are made */
    bool run_pods;      /* bound pods run at once */
    bool finish_pods;   /* and succeed at once */
    bool slow_deletion; /* pods under deletion stay until job_fixture_let_go */
    bool no_limit;      /* max_requeue -1 */
    bool whole_gang;
    bool gc_aborted;
    bool elsewhere;        /* pods run on other machines, as in a cluster */
    const char *directory; /* the store's; a restart reads it back. NULL: in memory */
};

struct faulty_rule;

struct job_fixture {
    struct job_fixture_options options;
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct cluster *backend; /* the embedded one */
    struct cluster *cluster; /* what the controller sees: the backend behind tests/fake/faulty */
    struct job_controller *controller;
    struct cluster_watcher pods, groups, jobs;
    char phases
        [JOB_FIXTURE_TRACE_MAX]; /* phases of jobs as watchers saw them: "Pending Running …" */
    char created[JOB_FIXTURE_TRACE_MAX]; /* names of pods as they appeared */
    char deleted[JOB_FIXTURE_TRACE_MAX]; /* names of pods as they began to go */
    unsigned job_writes;                 /* changes of jobs seen */
    unsigned group_creations, group_deletions;
};

/** A fault for every fixture made from now on, beside those the test plans; NULL: none. */
void job_fixture_fault(const struct faulty_rule *rule);
bool job_fixture_has_fault(void);
/** The most writes a controller has made on any fixture freed since this was called last. */
int job_fixture_count_writes(void);

/** Names in the order things happened. A fault puts one of them off: then they are the same names.
 */
void job_fixture_check_order(const char *name, const char *got, const char *want);

struct job_fixture *job_fixture_new(const struct job_fixture_options *options);
void job_fixture_free(struct job_fixture *fixture);

/** Stop the controller and start it again, as a new process would. */
void job_fixture_restart(struct job_fixture *fixture);
void job_fixture_stop_controller(struct job_fixture *fixture);
void job_fixture_start_controller(struct job_fixture *fixture);

/** Create or update what the manifest says, as a user would, and let things settle. */
void job_fixture_apply(struct job_fixture *fixture, const char *yaml);
/** Merge-patch an object. */
void job_fixture_patch(struct job_fixture *fixture, const struct kind *kind, const char *name,
                       const char *json);
/** The task at that position has so many pods and needs all of them, the job `min_available`. */
void job_fixture_scale(struct job_fixture *fixture, const char *job, size_t task, int replicas,
                       int min_available);
void job_fixture_delete(struct job_fixture *fixture, const struct kind *kind, const char *name);
void job_fixture_settle(
    struct job_fixture *fixture); /* without moving time, but status writes are flushed */
void job_fixture_advance(struct job_fixture *fixture, int64_t ms);

const struct object *job_fixture_get(struct job_fixture *fixture, const struct kind *kind,
                                     const char *name);
const struct job_status *job_fixture_job(struct job_fixture *fixture, const char *name);
const char *job_fixture_phase(struct job_fixture *fixture,
                              const char *name); /* "" when the job is gone */
size_t job_fixture_count(struct job_fixture *fixture, const struct kind *kind);
bool job_fixture_has_event(struct job_fixture *fixture, const char *reason);
int job_fixture_count_events(struct job_fixture *fixture,
                             const char *reason); /* repetitions included */

/** What the kubelet reports. Phases: Pending Running Succeeded Failed Unknown. */
void job_fixture_pod(struct job_fixture *fixture, const char *name, enum pod_phase phase);
void job_fixture_pod_failed(struct job_fixture *fixture, const char *name, int exit_code);
void job_fixture_pod_restarts(struct job_fixture *fixture, const char *name, int restarts);
void job_fixture_pods(struct job_fixture *fixture, enum pod_phase phase); /* all that live */
/** The same in full, without settling: a single container with that exit code and restarts. */
void job_fixture_report(struct job_fixture *fixture, const char *name, enum pod_phase phase,
                        int exit_code, int restarts);
void job_fixture_not_ready(struct job_fixture *fixture, const char *name);
/** Pods under deletion disappear. */
void job_fixture_let_go(struct job_fixture *fixture);
void job_fixture_let_one_go(struct job_fixture *fixture, const char *name);
void job_fixture_group_phase(struct job_fixture *fixture,
                             enum podgroup_phase phase); /* of all PodGroups */

/** A job in one line: tasks "a*2 b*3", extra members of spec as lines of YAML, split at semicolons.
 */
void job_fixture_job_simple(struct job_fixture *fixture, const char *name, const char *tasks,
                            const char *extra);
