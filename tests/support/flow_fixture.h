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
#include "tests/support/api_transport.h"
#include "tests/support/dice.h"

/* An environment variable. With a value, the cluster of a fixture with a virtual clock is a remote
 * one, whose API server is in the same process. */
#define FLOW_FIXTURE_REMOTE "JOBFLOW_REMOTE_CLUSTER"

struct flow_fixture {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct cluster *cluster;
    /* The API server behind a remote cluster, and the way to it; NULL: the cluster is embedded. */
    struct api *api;
    struct api_transport *transport;
    struct remote *remote;
    struct flow_options options;
    struct flow_controller *flows;
    struct template_controller *templates;
    struct cluster_watcher flow_watcher, job_watcher;
    struct buf phases; /* phases of flows and jobs in the order stored: "f:Pending f:Running …" */
    struct buf created;   /* names of jobs in the order created: "f-a f-b …" */
    unsigned flow_writes; /* number of changes of flows that watchers have seen */
};

/** Creates the fixture; `options` NULL: the defaults. flow_fixture_new uses the virtual clock, the
 * function below it the real clock, for tests with sockets. */
struct flow_fixture *flow_fixture_new(const struct flow_options *options);
struct flow_fixture *flow_fixture_new_real(const struct flow_options *options);
void flow_fixture_free(struct flow_fixture *fixture);
SCOPED_DEFINE_PTR(flow_fixture, struct flow_fixture *, flow_fixture_free)

/* Stops or starts the controllers; the stored objects stay. */
void flow_fixture_stop(struct flow_fixture *fixture);
void flow_fixture_start(struct flow_fixture *fixture);
void flow_fixture_restart(struct flow_fixture *fixture);
/** Restarts the controllers if `wanted`; for tests that run with and without restarts. */
void flow_fixture_restart_if(struct flow_fixture *fixture, bool wanted);

/* Fences the writes of a remote cluster, as a process does that loses its lease, or opens them. */
void flow_fixture_fence(struct flow_fixture *fixture);
void flow_fixture_unfence(struct flow_fixture *fixture);

void flow_fixture_settle(struct flow_fixture *fixture);
void flow_fixture_advance(struct flow_fixture *fixture, int64_t ms);

/** Creates or replaces objects from YAML (several documents), as a user would, and settles the
 * loop. An error fails the test. */
void flow_fixture_apply(struct flow_fixture *fixture, const char *yaml);
/** Creates or replaces objects as flow_fixture_apply does, but returns false when one is
 * refused. */
bool flow_fixture_try(struct flow_fixture *fixture, const char *yaml);
/** Creates templates with one task "main" of one replica; `names` is like "a b c". */
void flow_fixture_templates(struct flow_fixture *fixture, const char *names);
/** Creates a flow from a short form: "a, b<-a, c<-a+b". Its templates need not exist. `extra` are
 * further members of its spec in flow style ("jobRetainPolicy: delete"), or NULL. */
void flow_fixture_flow(struct flow_fixture *fixture, const char *name, const char *steps,
                       const char *extra);
/** Creates the templates that the steps name, and the flow. */
void flow_fixture_run(struct flow_fixture *fixture, const char *name, const char *steps);
/** Creates the templates a, b, c, d and e, and a flow f. `steps` and `extra` are those of
 * flow_fixture_flow. */
void flow_fixture_run_f(struct flow_fixture *fixture, const char *steps, const char *extra);

const struct object *flow_fixture_get(struct flow_fixture *fixture, const struct kind *kind,
                                      const char *name);
/** Returns the annotation with the number of the attempt that a job is: "1" for a job without it, and
 * "none" when there is no such job. */
const char *flow_fixture_attempt(struct flow_fixture *fixture, const char *job);
bool flow_fixture_has_job(struct flow_fixture *fixture, const char *name);

/** Stores a job phase with its condition, as the job controller would. Then it settles the loop:
 * runs it until nothing is left to do, without making time pass. */
void flow_fixture_phase(struct flow_fixture *fixture, const char *job, enum job_phase phase);
/** Stores a job phase as flow_fixture_phase does, but without settling the loop, so that several
 * changes reach the controller in one turn. */
void flow_fixture_phase_soon(struct flow_fixture *fixture, const char *job, enum job_phase phase);
/** Replaces the stored status of a job by `status` (borrowed), then runs the loop until nothing is
 * left to do. */
void flow_fixture_status(struct flow_fixture *fixture, const char *job,
                         const struct job_status *status);
/** Takes the job through Pending and Running to Completed. */
void flow_fixture_complete(struct flow_fixture *fixture, const char *job);

/** Sets one annotation, as kubectl annotate --overwrite does. Does not settle the loop. */
void flow_fixture_annotate(struct flow_fixture *fixture, const char *flow, const char *key,
                           const char *value);

/** Deletes an object as kubectl delete --force does, and settles the loop. */
void flow_fixture_delete(struct flow_fixture *fixture, const struct kind *kind, const char *name,
                         enum registry_propagation how);

/** Creates a pod of a job's task or sets its phase, and settles the loop; `ip` may be NULL. */
void flow_fixture_pod(struct flow_fixture *fixture, const char *job, const char *task, int index,
                      enum pod_phase phase, const char *ip);

/** Lets pod 0 of task main of a job run and be ready, and settles the loop. */
void flow_fixture_ready(struct flow_fixture *fixture, const char *job);

/** Ends a pod of a job's task with an exit code and a termination message (may be NULL). */
void flow_fixture_end_pod(struct flow_fixture *fixture, const char *job, const char *task,
                          int index, int exit_code, const char *message);
/** Ends pod 0 of task main like flow_fixture_end_pod, then sets the job to Completed or Failed. */
void flow_fixture_end(struct flow_fixture *fixture, const char *job, int exit_code,
                      const char *message);
/** Creates a flow from its spec in YAML flow style, such as "flows: [{name: a}], maxRetry: 1", and
 * the templates named in `templates`. The flow permits updates of its spec. */
void flow_fixture_spec(struct flow_fixture *fixture, const char *name, const char *templates,
                       const char *spec);

enum { JOB_NAME_ROOM = 64 };
/** Selects one unfinished job at random; false when there is none. */
bool flow_fixture_pick_unfinished(struct flow_fixture *fixture, struct dice *dice,
                                  char out[JOB_NAME_ROOM]);

/** Returns the names of all jobs created so far, in order: "f-a f-b". */
const char *flow_fixture_created(const struct flow_fixture *fixture);
/** Returns how many of these jobs exist and have not ended. */
int flow_fixture_unfinished(struct flow_fixture *fixture, const char *const *jobs, size_t count);
/** Returns the stored status of a flow, owned by the caller. */
json_t *flow_fixture_flow_status(struct flow_fixture *fixture, const char *flow);
/** Returns the value at a path of a flow's status, such as "nodes/0/phase", as look_at_status does. */
const char *flow_fixture_at(struct flow_fixture *fixture, const char *flow, const char *path);
/** Returns how many events of that reason were recorded: the sum of their counts. */
int flow_fixture_events(struct flow_fixture *fixture, const char *reason);
/** Returns the message of the first event of that reason, or "". */
const char *flow_fixture_event_text(struct flow_fixture *fixture, const char *reason);
