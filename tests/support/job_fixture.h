#pragma once
/*
 * A cluster in memory for tests of the job controller: embedded registry and store, virtual clock,
 * and a simulation of scheduler and kubelet. The simulation admits PodGroups and binds pods by
 * itself; pods run, end and disappear when the test says so, or at once with the switches below.
 */
#include "api/cluster_embedded.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "job/controller.h"

enum { JOB_FIXTURE_TRACE_MAX = 1024 };

struct job_fixture_options {
    bool hold_groups;   /* PodGroups are not admitted */
    bool run_pods;      /* bound pods run at once */
    bool finish_pods;   /* running pods succeed at once */
    bool slow_deletion; /* deleted pods stay until job_fixture_let_go */
    bool no_limit;      /* the controller runs with max_requeue -1: no limit */
    bool whole_gang;
    bool gc_aborted;
    bool elsewhere;     /* pods run on other machines, as in a cluster */
    bool collects_pods; /* finished pods may be collected, as in a cluster */
    enum job_gang gang;
    const char *directory; /* directory of the store, which a restart reads again; NULL: in
                            * memory */
};

struct faulty_rule;

struct job_fixture {
    struct job_fixture_options options;
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct cluster *backend; /* the embedded cluster */
    struct cluster *cluster; /* the cluster that the controller uses: the backend behind
                              * tests/fake/faulty */
    struct job_controller *controller;
    struct cluster_watcher pods, groups, jobs;
    char phases
        [JOB_FIXTURE_TRACE_MAX]; /* phases of each job as watchers saw them: "Pending Running …" */
    char created[JOB_FIXTURE_TRACE_MAX]; /* names of pods in the order created */
    char deleted[JOB_FIXTURE_TRACE_MAX]; /* names of pods in the order their deletion began */
    unsigned job_writes;                 /* number of changes of jobs that watchers saw */
    unsigned group_creations, group_deletions;
};

/** Sets a fault for every fixture created from now on, in addition to those the test plans; NULL:
 * none. */
void job_fixture_fault(const struct faulty_rule *rule);
bool job_fixture_has_fault(void);
/** Returns the most writes a controller has made on any fixture freed since the previous call. */
int job_fixture_count_writes(void);

/** Compares a list of names in the order of events. While a fault is injected only the set of names
 * is compared, because a fault may delay one of them. */
void job_fixture_check_order(const char *name, const char *got, const char *want);

struct job_fixture *job_fixture_new(const struct job_fixture_options *options);
void job_fixture_free(struct job_fixture *fixture);

/** Stops the controller and starts it again, as a new process would. */
void job_fixture_restart(struct job_fixture *fixture);
void job_fixture_stop_controller(struct job_fixture *fixture);
void job_fixture_start_controller(struct job_fixture *fixture);

/** Creates or updates the objects of a manifest, as a user would, and settles the loop. */
void job_fixture_apply(struct job_fixture *fixture, const char *yaml);
/** Applies a merge patch to an object. */
void job_fixture_patch(struct job_fixture *fixture, const struct kind *kind, const char *name,
                       const char *json);
/** Sets the replicas and minAvailable of the task at that position to `replicas`, and the job's
 * minAvailable to `min_available`. */
void job_fixture_scale(struct job_fixture *fixture, const char *job, size_t task, int replicas,
                       int min_available);
void job_fixture_delete(struct job_fixture *fixture, const struct kind *kind, const char *name);
void job_fixture_settle(
    struct job_fixture *fixture); /* does not advance the time beyond the flush of status writes */
void job_fixture_advance(struct job_fixture *fixture, int64_t ms);

const struct object *job_fixture_get(struct job_fixture *fixture, const struct kind *kind,
                                     const char *name);
const struct job_status *job_fixture_job(struct job_fixture *fixture, const char *name);
const char *job_fixture_phase(struct job_fixture *fixture,
                              const char *name); /* returns "" when the job does not exist */
size_t job_fixture_count(struct job_fixture *fixture, const struct kind *kind);
bool job_fixture_has_event(struct job_fixture *fixture, const char *reason);
int job_fixture_count_events(struct job_fixture *fixture,
                             const char *reason); /* counts repetitions, too */

/** Stores a pod phase as the kubelet does: Pending, Running, Succeeded, Failed or Unknown. */
void job_fixture_pod(struct job_fixture *fixture, const char *name, enum pod_phase phase);
void job_fixture_pod_failed(struct job_fixture *fixture, const char *name, int exit_code);
void job_fixture_pod_restarts(struct job_fixture *fixture, const char *name, int restarts);
void job_fixture_pods(struct job_fixture *fixture,
                      enum pod_phase phase); /* sets the phase of all pods
                                                                           * that have not ended */
/** Stores a pod status with a single container that has this exit code and number of restarts. Does
 * not settle the loop. */
void job_fixture_report(struct job_fixture *fixture, const char *name, enum pod_phase phase,
                        int exit_code, int restarts);
void job_fixture_not_ready(struct job_fixture *fixture, const char *name);
/** Removes the pods whose deletion has begun. */
void job_fixture_let_go(struct job_fixture *fixture);
void job_fixture_let_one_go(struct job_fixture *fixture, const char *name);
void job_fixture_group_phase(struct job_fixture *fixture,
                             enum podgroup_phase phase); /* sets the phase of all PodGroups */

/** Creates a job from a short form: tasks "a*2 b*3", and further members of its spec as lines of
 * YAML, separated by semicolons. */
void job_fixture_job_simple(struct job_fixture *fixture, const char *name, const char *tasks,
                            const char *extra);
