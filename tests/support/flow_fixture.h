#pragma once
/*
 * The flow and template controllers on a registry in memory and a virtual clock. The test plays the
 * user, the job controller and the kubelet.
 */
#include "api/cluster_embedded.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/pod.h"
#include "flow/controller.h"
#include "template/controller.h"
#include "tests/support/dice.h"

struct flow_fixture {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct cluster *cluster;
    struct flow_options options;
    struct flow_controller *flows;
    struct template_controller *templates;
    struct cluster_watcher flow_watcher, job_watcher;
    struct buf phases;    /* "f:Pending f:Running …": phases as stored, in order */
    struct buf created;   /* "f-a f-b …": jobs created, in order */
    unsigned flow_writes; /* versions of flows seen */
};

/** `options` NULL: the defaults. The second form has a real clock, for tests with sockets. */
struct flow_fixture *flow_fixture_new(const struct flow_options *options);
struct flow_fixture *flow_fixture_new_real(const struct flow_options *options);
void flow_fixture_free(struct flow_fixture *fixture);
SCOPED_DEFINE_PTR(flow_fixture, struct flow_fixture *, flow_fixture_free)

/* Stop and start the controllers; the stored objects stay. */
void flow_fixture_stop(struct flow_fixture *fixture);
void flow_fixture_start(struct flow_fixture *fixture);
void flow_fixture_restart(struct flow_fixture *fixture);
/** For tests that are run with and without restarts. */
void flow_fixture_restart_if(struct flow_fixture *fixture, bool wanted);

void flow_fixture_settle(struct flow_fixture *fixture);
void flow_fixture_advance(struct flow_fixture *fixture, int64_t ms);

/** Creates or replaces objects from YAML (several documents), as a user would. An error fails the
 * test. Settles. */
void flow_fixture_apply(struct flow_fixture *fixture, const char *yaml);
/** The same; returns false when an object was refused. */
bool flow_fixture_try(struct flow_fixture *fixture, const char *yaml);
/** Creates templates with one task "main" of one replica; `names` is like "a b c". */
void flow_fixture_templates(struct flow_fixture *fixture, const char *names);
/** Creates a flow from a short form: "a, b<-a, c<-a+b". Its templates need not exist. `extra` are
 * further members of its spec in flow style ("jobRetainPolicy: delete"), or NULL. */
void flow_fixture_flow(struct flow_fixture *fixture, const char *name, const char *steps,
                       const char *extra);
/** Creates the templates that the steps name, and the flow. */
void flow_fixture_run(struct flow_fixture *fixture, const char *name, const char *steps);

const struct object *flow_fixture_get(struct flow_fixture *fixture, const struct kind *kind,
                                      const char *name);
bool flow_fixture_has_job(struct flow_fixture *fixture, const char *name);

/** Stores a phase with its condition, as the job controller would. Settles. */
void flow_fixture_phase(struct flow_fixture *fixture, const char *job, enum job_phase phase);
/** The same without settling, for several changes in one turn. */
void flow_fixture_phase_soon(struct flow_fixture *fixture, const char *job, enum job_phase phase);
/** Stores a whole status (borrowed). Settles. */
void flow_fixture_status(struct flow_fixture *fixture, const char *job,
                         const struct job_status *status);
/** Takes the job through Pending and Running to Completed. */
void flow_fixture_complete(struct flow_fixture *fixture, const char *job);

/** Sets one annotation, as kubectl annotate --overwrite does. Does not settle. */
void flow_fixture_annotate(struct flow_fixture *fixture, const char *flow, const char *key,
                           const char *value);

/** Deletes an object as a user does with --force. Settles. */
void flow_fixture_delete(struct flow_fixture *fixture, const struct kind *kind, const char *name,
                         enum registry_propagation how);

/** Creates a pod of a job's task, or moves it to `phase`; `ip` may be NULL. Settles. */
void flow_fixture_pod(struct flow_fixture *fixture, const char *job, const char *task, int index,
                      enum pod_phase phase, const char *ip);

/** Ends a pod of a job's task with an exit code and a termination message (may be NULL). */
void flow_fixture_end_pod(struct flow_fixture *fixture, const char *job, const char *task,
                          int index, int exit_code, const char *message);
/** Ends pod 0 of task main in this way, and then the job: Completed or Failed. */
void flow_fixture_end(struct flow_fixture *fixture, const char *job, int exit_code,
                      const char *message);
/** Creates a flow from its spec in YAML flow style: "flows: [{name: a}], maxRetry: 1", with
 * templates of the names in `templates`. Updates are allowed on it. */
void flow_fixture_spec(struct flow_fixture *fixture, const char *name, const char *templates,
                       const char *spec);

enum { JOB_NAME_ROOM = 64 };
/** Chooses one unfinished job at random; false when there is none. */
bool flow_fixture_pick_unfinished(struct flow_fixture *fixture, struct dice *dice,
                                  char out[JOB_NAME_ROOM]);

/** The stored status of a flow, owned. */
/** The names of all jobs created so far, in order: "f-a f-b". */
const char *flow_fixture_created(const struct flow_fixture *fixture);
/** How many of these jobs exist and have not ended. */
int flow_fixture_unfinished(struct flow_fixture *fixture, const char *const *jobs, size_t count);
json_t *flow_fixture_flow_status(struct flow_fixture *fixture, const char *flow);
/** The value at a path of a flow's status as compact JSON text ("" when absent), strings
 * bare; valid until the next call. List elements by index: "nodes/0/phase". */
const char *flow_fixture_at(struct flow_fixture *fixture, const char *flow, const char *path);
/** How many events of that reason were written: the sum of their counts. */
int flow_fixture_events(struct flow_fixture *fixture, const char *reason);
/** The text of the first event of that reason, or "". */
const char *flow_fixture_event_text(struct flow_fixture *fixture, const char *reason);
