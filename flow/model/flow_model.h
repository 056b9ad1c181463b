#pragma once
/*
 * The model of an open flow: what is known of each step, updated with every change of a job.
 *
 *   WAITING ─ targets met ─► READY ──► CREATING ──► STARTED
 *      │                     (an approval: ASKING ──────┘)
 *      │                     │  ▲         │            │
 *      └► SKIPPED            ▼  │         │            ├─ job removed unfinished ─► READY
 *                           BLOCKED ◄─────┘            └─ retried ─► BACKOFF ─► READY
 *
 * A step whose finished job is removed stays STARTED and keeps the result.
 *
 * A change of a job touches its step and, when the step completes, its dependents: O(out-degree).
 * Counters and ordered sets are kept beside the steps, so the phase of the flow, the lists of its
 * status and the next step to start are known at any time without a scan. The model does not use
 * the cluster; the controller carries out what follows from it.
 *
 * A job belongs to a step if its controller reference has the flow's uid and its name is
 * `<flow>-<step>`. Other jobs are foreign and never get here (INV-F3).
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "flow/graph/graph.h"
#include "flow/graph/ready_queue.h"
#include "flow/model/step_history.h"
#include "flow/model/step_reuse.h"

/* Phases of a step that are not phases of its job, as the status shows them. */
#define STEP_RETRYING_TEXT "Retrying" /* the step failed and will run again */
#define STEP_SKIPPED_TEXT  "Skipped"  /* the step does not run */
#define STEP_BLOCKED_TEXT  "Blocked"  /* the job of the step cannot be created */
#define STEP_WAITING_TEXT  "Waiting"  /* the step has no job for any other reason */

enum step_state {
    STEP_WAITING,
    STEP_READY,
    STEP_CHECKING, /* its inputs are looked at, or a job that does the same is waited for */
    STEP_CREATING,
    STEP_BLOCKED,
    STEP_ASKING,  /* waits for its approval */
    STEP_STARTED, /* has a job, or had one; a switch or a loop has begun; an approval has ended */
    STEP_BACKOFF, /* the job has failed, and another attempt follows */
    STEP_SKIPPED, /* the step does not run */
    STEP_DORMANT, /* an iteration of an open-ended loop that may never be needed */
};

/* The lists of the status, in the order in which they are written. */
/* clang-format off */
#define FLOW_LISTS(X)                   \
    X(PENDING,    "pendingJobs")        \
    X(RUNNING,    "runningJobs")        \
    X(FAILED,     "failedJobs")         \
    X(COMPLETED,  "completedJobs")      \
    X(TERMINATED, "terminatedJobs")     \
    X(UNKNOWN,    "unKnowJobs")         \
    X(WAITING,    "waitingJobs")        \
    X(SKIPPED,    "skippedJobs")
/* clang-format on */
#define FLOW_LIST_ENUM(name, text) FLOW_LIST_##name,
enum flow_list { FLOW_LISTS(FLOW_LIST_ENUM) FLOW_LIST_N, FLOW_LIST_NONE = FLOW_LIST_N };
#undef FLOW_LIST_ENUM

/* What a step contributes to the end of its flow. */
enum step_outcome { OUTCOME_OPEN, OUTCOME_DONE, OUTCOME_FAILED, OUTCOME_N };

struct step_block;
struct step_timeout;
struct step_server;
struct flow_control;
struct step_backoff;
struct step_probe;
struct flow_controller;

struct step {
    uint64_t job;                 /* hash of the uid of its job; 0 = none exists */
    int64_t revision;             /* newest version of that job seen */
    struct step_block *block;     /* why its job could not be created, until it is; or NULL */
    struct step_probe *probe;     /* probes of the step, and which targets have satisfied them; or
                                   * NULL */
    struct step_history *history; /* what the full status shows beyond the job's phase; or NULL */
    struct step_backoff *backoff; /* delay before the next attempt; or NULL */
    struct step_server *server;   /* follows the pods of a step that serves others; or NULL */
    struct step_timeout *timeout; /* time to answer a question that has been asked; or NULL */
    uint32_t waiting;             /* targets still to be met before it may start */
    union {
        uint32_t ready_tick;    /* tick at which the step became ready, until it has started */
        uint32_t result_change; /* afterwards: value of `changes` at which its result was known */
    };
    uint16_t attempt;             /* jobs created for it so far */
    uint16_t retries;             /* number of attempts that the retry policy asked for */
    uint8_t state;                /* an enum step_state */
    uint8_t phase;                /* enum job_phase: of its job, or the result of a removed job */
    uint8_t failed_as;            /* enum job_phase: result of the attempt that is to be retried */
    bool completion_notified : 1; /* dependents were notified of the completion */
    bool handled : 1;             /* another step handles the failure */
    bool recreate : 1;            /* the next job replaces one that was deleted by hand */
    bool retry : 1;               /* the next job is a new attempt after a failure */
    bool restored : 1;            /* the pending retry was counted before a restart */
    bool failure_undecided : 1;   /* the failure may still be handled: control.c */
    bool is_iteration : 1;        /* an iteration; other steps see its loop instead */
    bool jobless : 1;             /* a switch, an approval or a loop */
    bool serves : 1;              /* ends with the steps that depend on it: serving.h */
    bool ready : 1;               /* it serves, and the pods of its job have become ready */
    bool approval : 1;            /* waits until it is approved: approval.h */
    bool final : 1;               /* runs when the flow ends */
    bool tolerated : 1;           /* iteration of a loop that completed: its failure is none */
    bool ignored : 1;             /* failurePolicy of the step ignores its failure */
    bool ran : 1;                 /* the step has had a job in this attempt of the flow */
    bool judged_again : 1;        /* a manual retry judges it again: restart.c */
    bool kept : 1;                /* a rerun of other steps left it as it was: restart.c */
    bool reusable : 1;            /* it may be reused instead of run: step_reuse.h */
    bool look_up : 1;             /* it is looked up before it is queued for a job */
    bool held : 1;                /* its job has completed, and its result is being recorded */
    bool cached : 1;              /* it has completed without a job: earlier work stands for it */
    bool results_wanted : 1;      /* another step refers to its outputs or exit codes */
};

enum { FLOW_TICKS_PER_SECOND = 10000 };

/* Flows beyond this many steps have a compact status (DC-05). */
enum { FLOW_FULL_STEPS = 1000 };

struct flow_model {
    struct flow_graph *graph; /* names point into `body` */
    struct blob *body;
    struct step *steps; /* the steps, [graph->steps] */
    struct step_set lists[FLOW_LIST_N];
    struct ready_queue ready_queue; /* steps whose job is to be created */
    struct step_set to_check;   /* ready steps that are to be looked up before they are queued */
    struct step_set to_ask;     /* approvals whose question is to be asked */
    struct step_set asking;     /* steps in state ASKING */
    struct step_set servers;    /* steps that serve others and are to be looked at */
    struct step_set blocked;    /* steps whose job could not be created */
    struct step_set probing;    /* steps whose probes are to be evaluated */
    struct step_set retried;    /* steps with more than one attempt */
    struct step_set completed;  /* exactly Completed: the list also has Completing */
    struct step_set to_command; /* steps whose job is to be commanded: flow/job_commands.c */
    uint32_t by_phase[JOB_PHASE_N]; /* started steps, by phase of the job */
    uint32_t started;
    uint32_t creating;
    uint32_t checking;               /* steps that are looked up */
    uint32_t cached;                 /* steps that were reused */
    uint32_t cached_change;          /* value of `changes` when the last of them was */
    uint32_t outcomes[2][OUTCOME_N]; /* numbers of ordinary and of final steps */
    uint32_t backing_off;
    uint32_t finals_unfinished; /* final steps that have started and not ended */
    uint32_t unlisted;          /* steps that are in no list of the status */
    uint32_t failed_jobs;   /* jobs that a manual retry removes: of failures, of final steps, and of
                           * steps that it judges again */
    uint32_t serving;       /* unfinished jobs of steps that serve others */
    uint32_t serving_ready; /* those of them that are ready */
    uint32_t handled_failures; /* failures of ordinary steps that other steps handle */
    uint32_t kept_failures;    /* failures of ordinary steps that a rerun of others has kept */
    uint32_t probed;           /* number of steps with probes */
    uint32_t changes;          /* grows with every change of a step */
    uint32_t tick;             /* the loop's clock at the last event */
    uint32_t name_len;
    char *name;                   /* name of the flow */
    uint64_t *spec_hashes;        /* hashes of the entries of the spec; NULL until needed */
    struct step_reuse *reuse;     /* reuse of steps, [graph->steps]; NULL: no step may be reused */
    struct flow_control *control; /* control of steps; NULL: steps depend on completed targets
                                   * only */
    bool has_servers;             /* a step of the flow serves others */
    bool retrying;                /* the spec lets some step have another attempt */
    bool continues;               /* the flow has failurePolicy: continue */
    bool handled_succeed;         /* the flow has handledFailures: succeed */
    bool retry_prepared;          /* flow_model_prepare_retry has been called */
    bool selective, only;         /* of the retry that is prepared: struct retry_request */
    bool partial;                 /* the latest retry named its steps: some may be `kept` */
    bool retries_ended;           /* the flow is ending: only final steps are retried */
    bool has_references;          /* a patch may contain references `$(…)` */
    bool counted;                 /* sets and counters are complete: flow_model_recount has run */
    bool compact;                 /* more than FLOW_FULL_STEPS steps */
    bool upstream;                /* upstream's semantics: no probes, no strategy, no section 13 */
};

/* flow_model_counts.c, for the files of the model */

/** Adds a step to the counters and sets that its state and phase put it in. */
void flow_model_count(struct flow_model *m, uint32_t step);
/** Takes a step out of the counters and sets, before its state or phase changes. */
void flow_model_uncount(struct flow_model *m, uint32_t step);
/** Changes state and phase of a step, and all counters and sets with them. */
void flow_model_move_step(struct flow_model *m, uint32_t step, enum step_state state,
                          enum job_phase phase);
void flow_model_init_sets(struct flow_model *m);
void flow_model_release_sets(struct flow_model *m);
static inline bool phase_failed(unsigned phase)
{
    return phase == JOB_FAILED || phase == JOB_TERMINATED;
}
/** Returns whether a failure of the step does not fail the flow. */
static inline bool flow_model_forgives(const struct flow_model *m, const struct step *step)
{
    return step->handled && (step->ignored || m->handled_succeed);
}

/* Defined in flow_model.c. */

struct flow_model_options {
    bool upstream;         /* upstream's semantics, see the member of the model */
    const uint32_t *extra; /* further iterations of loops, see graph.h; NULL: none */
    enum reuse_scope reuse;
};
/** Fills a zeroed model from a flow's spec: no step has started. False with `err` when the graph is
 * unusable (INV-F7); the model is then empty. `flow` is borrowed, a reference to its body is kept.
 */
bool flow_model_init(struct flow_model *m, const struct object *flow,
                     const struct flow_model_options *options, struct error *err);
/** Takes over the failure policy of the flow, which an annotation may change at any time. */
void flow_model_read_policy(struct flow_model *m, const struct object *flow);
void flow_model_release(struct flow_model *m); /* zeroed is fine; blocks must be gone */

/** Returns the step that a job of this flow belongs to; STEP_NONE if its name is not
 * `<flow>-<step>`. */
uint32_t flow_model_step_of_job(const struct flow_model *m, const struct object *job);
/** Returns the step as flow_model_step_of_job does, by the job's name. */
uint32_t flow_model_step_of_job_name(const struct flow_model *m, const char *job_name);
/** Appends the name of the step's job. */
void flow_model_job_name(const struct flow_model *m, uint32_t step, struct buf *out);

/** Takes over a version of the step's job. Returns false if it is not newer than the one known.
 * `results`: what the pods of a finished job left behind (consumed), or NULL. `now_ms` stands in
 * where the job carries no time. */
bool flow_model_job_changed(struct flow_model *m, uint32_t step, const struct object *job,
                            struct job_results *results, int64_t now_ms);
/** The job was removed. `results`: what the pods of an unfinished job leave behind (consumed), or
 * NULL. `open`: further jobs may be created, so an unfinished step becomes ready again. Returns
 * false if the step has another job by now. */
bool flow_model_job_removed(struct flow_model *m, uint32_t step, const struct object *job,
                            struct job_results *results, bool open, int64_t now_ms);

void flow_model_set_state(struct flow_model *m, uint32_t step, enum step_state state);
/** The result of a held step is recorded, or will not be: the next version of its job that the model
 * is told of, also one that it has seen, counts as it is. */
void flow_model_release_hold(struct flow_model *m, uint32_t step);
/** Returns whether the results of the step's job, which has come to `phase`, are needed. */
bool flow_model_wants_results(const struct flow_model *m, uint32_t step, enum job_phase phase);
/** Returns whether decisions depend on these results. Otherwise they are only shown. */
bool flow_model_depends_on_results(const struct flow_model *m, uint32_t step, enum job_phase phase);
/** Another step refers to outputs of the step, which was not known so far. Returns whether it has
 * ended without its results being known; they are then to be taken from its job. */
bool flow_model_wants_outputs(struct flow_model *m, uint32_t step);
void flow_model_take_outputs(struct flow_model *m, uint32_t step, struct job_results *results);
/** Counts one more target of the step as met. */
void flow_model_target_met(struct flow_model *m, uint32_t step);
/** Marks the failure of a step as handled by another step: it no longer fails the flow. */
void flow_model_mark_handled(struct flow_model *m, uint32_t step);
/** Fails a ready step without a job, because it can never have one. */
void flow_model_fail_step(struct flow_model *m, uint32_t step, const char *reason,
                          const char *message);

/** Returns whether the step failed finally, its failure is not ignored and no other step handles
 * it. */
bool flow_model_step_failed(const struct flow_model *m, uint32_t step);
/** Returns whether the step failed finally, and its failure fails the flow: it is not ignored, and
 * no other step handles it, or failures that are handled fail the flow. */
bool flow_model_step_fails_flow(const struct flow_model *m, uint32_t step);
/** The step has changed: updates the steps that depend on it. */
void flow_model_notify_dependents(struct flow_model *m, uint32_t step);
/** Returns whether one met target is enough for the step (strategy: any). */
bool flow_model_waits_for_any(const struct flow_model *m, uint32_t step);

/* Defined in flow_model_retries.c. */

/** Makes a step in back-off ready for its next attempt. Its job must be gone. */
void flow_model_end_backoff(struct flow_model *m, uint32_t step);
/** Returns whether the step waits for its next attempt, because its retry policy asked for one. */
bool flow_model_retry_pending(const struct flow_model *m, uint32_t step);
/** Returns as what an attempt ends that came to `phase` and is not retried after all: a job that
 * was aborted has been Terminated. */
static inline enum job_phase flow_attempt_end(enum job_phase phase)
{
    return phase == JOB_ABORTED ? JOB_TERMINATED : phase;
}
/** The flow is ending: failures to be retried are final now, except those of final steps and of
 * blocked ones. */
void flow_model_end_retries(struct flow_model *m);

/* Defined in flow_model_rebuild.c. */

/** Takes over what `old`, the model of another spec, knows of steps that both have by name. */
void flow_model_take_over(struct flow_model *m, struct flow_model *old);
/** Forgets which failures are handled; the recount that follows finds out again. */
void flow_model_clear_handled(struct flow_model *m);
/** Computes sets, counters and readiness from the steps. O(steps + edges). */
void flow_model_recount(struct flow_model *m);

/* Defined in restart.c. */

/* What a manual retry asks for. */
struct retry_request {
    /* Steps that begin again whatever became of them (selection.h); borrowed. */
    const struct step_set *selected;
    bool selective; /* only these begin again; otherwise also all that failed */
    bool only;      /* nothing else starts; otherwise also what has never run may start */
};

/** A manual retry of the flow is requested: finds the steps that it judges again. Until it begins
 * their jobs count as failed_jobs, as do those of failed steps. O(steps + edges) once. */
void flow_model_prepare_retry(struct flow_model *m, const struct retry_request *request);
/** A request was replaced by another one, which is to be prepared. */
void flow_model_forget_retry(struct flow_model *m);
/** Prepares a step that may have failed after that, or an iteration of it. Returns whether more
 * steps are judged again. */
bool flow_model_prepare_failed(struct flow_model *m, uint32_t step);
/** Begins the manual retry that was prepared: steps that failed, that are judged again or that
 * never ran wait as at the start of the flow; their attempts are over. A selective retry marks the
 * steps that it keeps. The jobs must be gone (failed_jobs is 0). Returns how many steps begin again:
 * of a selective retry, those with a result; of any other, those that had failed. O(steps + edges). */
uint32_t flow_model_restart(struct flow_model *m, int64_t now_ms);

/* Defined in flow_model_counts.c. */

/** Jobs that have started and not ended, of all steps and of those that are not final. */
uint32_t flow_model_unfinished(const struct flow_model *m);
uint32_t flow_model_ordinary_unfinished(const struct flow_model *m);
/** Ordinary steps that failed finally and unhandled. */
uint32_t flow_model_failed_steps(const struct flow_model *m);
/** Returns whether the flow fails because of its steps. A failure that a rerun has kept counts when
 * nothing is left that can start; so does a step that never runs because it was not named. */
bool flow_model_has_failed(const struct flow_model *m);
/** Returns whether every ordinary step has completed, is skipped, or failed and was handled. */
bool flow_model_all_done(const struct flow_model *m);
/** Returns the number of started jobs that are past Pending. */
uint32_t flow_model_jobs_past_pending(const struct flow_model *m);
/** Returns whether some ordinary step is unfinished, ready, blocked or in back-off. If none is, no
 * waiting step can ever start. */
bool flow_model_active(const struct flow_model *m);
/** Returns the same, leaving out the steps that serve others and are ready: what waits for no other
 * than these has been told. */
bool flow_model_active_beside_servers(const struct flow_model *m);
