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

struct flow_bed {
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

/** `options` NULL: the defaults. A real clock instead of the virtual one for tests with sockets. */
struct flow_bed *flow_bed_new(const struct flow_options *options);
struct flow_bed *flow_bed_new_real(const struct flow_options *options);
void flow_bed_free(struct flow_bed *bed);
SCOPED_DEFINE_PTR(flow_bed, struct flow_bed *, flow_bed_free)

/* The controllers go and come back; what is stored stays. */
void flow_bed_stop(struct flow_bed *bed);
void flow_bed_start(struct flow_bed *bed);
void flow_bed_restart(struct flow_bed *bed);
/** For tests that are run with and without restarts. */
void flow_bed_restart_if(struct flow_bed *bed, bool wanted);

void flow_bed_settle(struct flow_bed *bed);
void flow_bed_advance(struct flow_bed *bed, int64_t ms);

/** Create or replace from YAML (several documents), as a user would. The first error is a failure
 * of the test. Settles. */
void flow_bed_apply(struct flow_bed *bed, const char *yaml);
/** The same; false when it was refused. */
bool flow_bed_try(struct flow_bed *bed, const char *yaml);
/** Templates of one task "main" with one replica: "a b c". */
void flow_bed_templates(struct flow_bed *bed, const char *names);
/** A flow in short: "a, b<-a, c<-a+b". Its templates must be there, or not. `extra` are further
 * members of its spec in flow style ("jobRetainPolicy: delete"), or NULL. */
void flow_bed_flow(struct flow_bed *bed, const char *name, const char *steps, const char *extra);
/** Both at once: the templates the steps name, and the flow. */
void flow_bed_run(struct flow_bed *bed, const char *name, const char *steps);

const struct object *flow_bed_get(struct flow_bed *bed, const struct kind *kind, const char *name);
bool flow_bed_has_job(struct flow_bed *bed, const char *name);

/** What the job controller would store: the phase, with its condition. Settles. */
void flow_bed_phase(struct flow_bed *bed, const char *job, enum job_phase phase);
/** The same without settling: several in one turn. */
void flow_bed_phase_soon(struct flow_bed *bed, const char *job, enum job_phase phase);
/** A whole status; borrowed. Settles. */
void flow_bed_status(struct flow_bed *bed, const char *job, const struct job_status *status);
/** Through Pending and Running to Completed. */
void flow_bed_complete(struct flow_bed *bed, const char *job);

/** Set one annotation, as kubectl annotate --overwrite does. Does not settle. */
void flow_bed_annotate(struct flow_bed *bed, const char *flow, const char *key, const char *value);

/** Delete as a user does with --force. Settles. */
void flow_bed_delete(struct flow_bed *bed, const struct kind *kind, const char *name,
                     enum registry_propagation how);

/** A pod of a job's task, created or moved to `phase`; `ip` may be NULL. Settles. */
void flow_bed_pod(struct flow_bed *bed, const char *job, const char *task, int index,
                  enum pod_phase phase, const char *ip);

/** A pod of a job's task ends with an exit code and a termination message (may be NULL). */
void flow_bed_end_pod(struct flow_bed *bed, const char *job, const char *task, int index,
                      int exit_code, const char *message);
/** Pod 0 of task main ends so, then the job: Completed or Failed. */
void flow_bed_end(struct flow_bed *bed, const char *job, int exit_code, const char *message);
/** A flow from its spec in YAML flow style: "flows: [{name: a}], maxRetry: 1", with templates of
 * the names in `templates`. Updates are allowed on it. */
void flow_bed_spec(struct flow_bed *bed, const char *name, const char *templates, const char *spec);

enum { JOB_NAME_ROOM = 64 };
/** The name of one of the jobs that are not finished, by chance; false when there is none. */
bool flow_bed_pick_unfinished(struct flow_bed *bed, struct dice *dice, char out[JOB_NAME_ROOM]);

/** The stored status of a flow, owned. */
/** The names of all jobs created so far, in order: "f-a f-b". */
const char *flow_bed_created(const struct flow_bed *bed);
/** How many of these jobs exist and have not ended. */
int flow_bed_unfinished(struct flow_bed *bed, const char *const *jobs, size_t count);
json_t *flow_bed_flow_status(struct flow_bed *bed, const char *flow);
/** The value at a path of a flow's status as compact JSON text ("" when absent), strings
 * bare; good until the next call. List elements by index: "nodes/0/phase". */
const char *flow_bed_at(struct flow_bed *bed, const char *flow, const char *path);
/** How often an event of that reason was written about anything: the sum of the counts. */
int flow_bed_events(struct flow_bed *bed, const char *reason);
/** The text of the first event of that reason, or "". */
const char *flow_bed_event_text(struct flow_bed *bed, const char *reason);
