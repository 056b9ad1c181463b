#pragma once
/*
 * What a person following a run wants to know, kept up to date from durable changes: the flows,
 * their steps, and when all is over.
 *
 * The model of every output form: the forms (live, plain, json, quiet) get told which step or flow
 * changed and read the rest here. Bare Jobs are followed as flows of one step. Iterations of a loop
 * are steps of their own behind it; what became of loops and switches, which have no job, is read
 * from the flow's status.
 */
#include "api/store/store.h"
#include "api/types/kinds/jobflow/jobflow.h"

struct follow;
struct follow_flow;

struct follow_step {
    const char *name; /* of the step; of the Job itself for a bare one */
    struct follow_flow *flow;
    size_t index;                             /* in spec order; of an iteration, its loop's */
    enum job_phase phase;                     /* JOB_NONE: no job yet */
    int32_t ready, total;                     /* pods running or succeeded; of all */
    int32_t retries;                          /* restarts within the job */
    int32_t attempts;                         /* jobs made for this step, or its iterations */
    int64_t created_ms, started_ms, ended_ms; /* 0 = not yet; as seen by this process */
    const char *reason;                       /* why it failed, restarts or waits; owned; NULL */
    char job_uid[37];
    bool resumed;                                    /* was already over when this process began */
    bool stopped;                                    /* its job was deleted before it was over */
    bool jobless;                                    /* a loop or a switch: no job is its own */
    struct follow_step *loop;                        /* of an iteration: the loop's; else NULL */
    struct follow_step *iterations;                  /* of a loop: those begun, newest first */
    struct follow_step *next_iteration;              /* the one that began before it */
    struct follow_step *next_running, *prev_running; /* private */
};

struct follow_flow {
    const char *name, *namespace_, *uid; /* owned */
    bool bare_job;
    enum flow_phase phase;
    const char *reason; /* why it stands still or has failed, where no step says so; owned; NULL */
    struct follow_step *steps;          /* [n_steps] */
    size_t n_steps, n_jobless;          /* of them, loops and switches */
    size_t n_done, n_failed, n_started; /* steps; a loop is one */
    int64_t started_ms, ended_ms;
    const struct object *object; /* owned reference: the newest version */
    struct step_name *names;     /* private: hash of steps by name */
    struct follow_flow *next;
};

struct follow_events {
    /** A step's phase, pods or reason changed; `before` is the phase it had. */
    void (*step)(void *ctx, const struct follow_step *step, enum job_phase before);
    /** A flow's phase or reason changed. */
    void (*flow)(void *ctx, const struct follow_flow *flow, enum flow_phase before);
    /** Every flow is over and no job of theirs is still at work. */
    void (*finished)(void *ctx);
    void *ctx;
};

struct follow *follow_new(struct loop *loop, struct store *store,
                          const struct follow_events *events);
void follow_free(struct follow *follow);
/** Follow a JobFlow or Job object (already in the store). Its present state is taken in without
 * events. */
void follow_add(struct follow *follow, const struct object *flow_or_job);
/** Begin to receive changes; call after the last follow_add. */
bool follow_start(struct follow *follow, struct error *err);

const struct follow_flow *follow_flows(const struct follow *follow); /* list in the order added */
/** The JobFlow or Job of that uid, or NULL when it is not followed. */
const struct follow_flow *follow_find_flow(const struct follow *follow, const char *uid);
bool follow_finished(const struct follow *follow);
/** Did every flow succeed? Meaningful once finished. */
bool follow_succeeded(const struct follow *follow);
/** Steps at work now (a job exists and is not over), in the order they came; NULL ends. */
const struct follow_step *follow_running(const struct follow *follow);
size_t follow_working(const struct follow *follow); /* their number */
/** The step of a flow by its name; NULL if there is none. O(1). */
const struct follow_step *follow_find_step(const struct follow_flow *flow, const char *name);
const char *
follow_step_state(const struct follow_step *step); /* "Waiting", "Running", … for people */
bool follow_step_over(const struct follow_step *step);
bool follow_step_failed(const struct follow_step *step); /* over, and not completed */
/** What a step that has a job and does not run yet waits for; appends nothing when unknown. */
void follow_step_waits(const struct follow *follow, const struct follow_step *step,
                       struct buf *out);
