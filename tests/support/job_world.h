#pragma once
/*
 * A cluster in memory for tests of the job controller: embedded registry and store, virtual clock,
 * and a player for the parts of scheduler and kubelet. By itself the player admits PodGroups and
 * binds pods; pods run, end and disappear when the test says so, or at once with the switches.
 */
#include "api/cluster_embedded.h"
#include "api/types/job.h"
#include "api/types/podgroup.h"
#include "job/controller.h"

enum { WORLD_TRACE_MAX = 1024 };

struct world_options {
    bool hold_groups;   /* PodGroups stay as they are made */
    bool run_pods;      /* bound pods run at once */
    bool finish_pods;   /* and succeed at once */
    bool slow_deletion; /* pods under deletion stay until world_let_go */
    bool no_limit;      /* max_requeue -1 */
    bool whole_gang;
};

struct world {
    struct world_options options;
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct cluster *backend; /* the embedded one */
    struct cluster *cluster; /* what the controller sees: backend, or a wrapper of it */
    struct job_controller *controller;
    struct cluster_watcher pods, groups, jobs;
    char phases[WORLD_TRACE_MAX];  /* phases of jobs as watchers saw them: "Pending Running …" */
    char created[WORLD_TRACE_MAX]; /* names of pods as they appeared */
    char deleted[WORLD_TRACE_MAX]; /* names of pods as they began to go */
    unsigned job_writes;           /* changes of jobs seen */
    unsigned group_creations, group_deletions;
};

struct world *world_new(const struct world_options *options);
void world_free(struct world *world);

/** Stop the controller and start it again, as a new process would. */
void world_restart(struct world *world);
void world_stop_controller(struct world *world);
void world_start_controller(struct world *world);

/** Create or update what the manifest says, as a user would, and let things settle. */
void world_apply(struct world *world, const char *yaml);
/** Merge-patch an object. */
void world_patch(struct world *world, const struct kind *kind, const char *name, const char *json);
void world_delete(struct world *world, const struct kind *kind, const char *name);
void world_settle(struct world *world); /* without moving time, but status writes are flushed */
void world_advance(struct world *world, int64_t ms);

const struct object *world_get(struct world *world, const struct kind *kind, const char *name);
const struct job_status *world_job(struct world *world, const char *name);
const char *world_phase(struct world *world, const char *name); /* "" when the job is gone */
size_t world_count(struct world *world, const struct kind *kind);
bool world_has_event(struct world *world, const char *reason);

/** What the kubelet reports. Phases: Pending Running Succeeded Failed Unknown. */
void world_pod(struct world *world, const char *name, enum pod_phase phase);
void world_pod_failed(struct world *world, const char *name, int exit_code);
void world_pod_restarts(struct world *world, const char *name, int restarts);
void world_pods(struct world *world, enum pod_phase phase); /* all that live */
void world_not_ready(struct world *world, const char *name);
/** Pods under deletion disappear. */
void world_let_go(struct world *world);
void world_group_phase(struct world *world, enum podgroup_phase phase); /* of all PodGroups */

/** A job in one line: tasks "a*2 b*3", extra members of spec as lines of YAML, split at semicolons.
 */
void world_job_simple(struct world *world, const char *name, const char *tasks, const char *extra);
