#pragma once
/*
 * A live flow in memory: what is known of each step, kept up to date change by change.
 *
 *   WAITING ──targets met──► READY ──► CREATING ──► STARTED ──job gone unfinished──► READY
 *      │                       ▲  └──► BLOCKED        │
 *      └► SKIPPED              └─────────┘            ├ job gone finished: the result stays
 *                              READY ◄─── BACKOFF ◄───┘ it failed and is to be tried again
 *
 * A change of a job touches its step and, when it completes, its dependents: O(out-degree), no
 * scan. Counters and ordered sets are kept beside the steps, so the flow's phase, the lists of its
 * status and the next step to start are at hand at any time. This file knows nothing of the
 * cluster; the controller carries out what follows from the record.
 *
 * A step's job is named by the flow's uid in its controller reference and by its name
 * `<flow>-<step>`; anything else is foreign and never gets here (INV-F3).
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "flow/model/graph.h"
#include "flow/model/ready_queue.h"
#include "flow/model/step_history.h"

#define STEP_RETRYING_TEXT "Retrying" /* phase of a step that failed and starts again */
#define STEP_SKIPPED_TEXT  "Skipped"  /* … that does not run */
#define STEP_BLOCKED_TEXT  "Blocked"  /* … whose job cannot be made */
#define STEP_WAITING_TEXT  "Waiting"  /* … that has none for any other reason */

enum step_state {
    STEP_WAITING,
    STEP_READY,
    STEP_CREATING,
    STEP_BLOCKED,
    STEP_STARTED, /* it has a job, or had one; of a switch or a loop: it has begun */
    STEP_BACKOFF, /* its job has failed, another attempt follows */
    STEP_SKIPPED, /* it does not run */
    STEP_DORMANT, /* an iteration that may never be: of a loop with until */
};

/* The lists of the status, in their order there. */
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

/* What a step means for the end of its flow. */
enum step_outcome { OUTCOME_OPEN, OUTCOME_DONE, OUTCOME_FAILED, OUTCOME_N };

struct step_block;
struct flow_control;
struct step_backoff;
struct step_probe;
struct flow_controller;

struct step {
    uint64_t job;                 /* hash of the uid of its job; 0 = none exists */
    int64_t revision;             /* newest version of that job seen */
    struct step_block *block;     /* why its job could not be created, until it is; or NULL */
    struct step_probe *probe;     /* its probes and which targets have met them; or NULL */
    struct step_history *history; /* what the full status shows beyond the job's phase; or NULL */
    struct step_backoff *backoff; /* until its next attempt; or NULL */
    uint32_t waiting;             /* targets still to be met before it may start */
    uint32_t finished_at;         /* change number at which its result became known; of one that is
                                     ready or being created: the tick at which it became so */
    uint16_t attempt;             /* jobs created for it so far */
    uint16_t retries;             /* of them, tried again by its retry policy */
    uint8_t state;                /* enum step_state */
    uint8_t phase;                /* enum job_phase: of its job, or the result of a job now gone */
    bool completion_notified : 1; /* its dependents know that it completed */
    bool handled : 1;             /* its failure is what a dependent waited for */
    bool recreate : 1;            /* its next job replaces one deleted by hand */
    bool retry : 1;               /* its next job is a new attempt after a failure */
    bool restored : 1;            /* its pending retry was counted before a restart */
    bool failure_undecided : 1;   /* its failure may be handled still: control.c */
    bool is_iteration : 1;        /* an iteration: its loop answers for it */
    bool jobless : 1;             /* a switch or a loop */
    bool final : 1;               /* runs when the flow ends */
    bool results_wanted : 1;      /* somebody asks for its outputs or exit codes */
};

enum { FLOW_TICKS_PER_SECOND = 10000 };

/* Flows beyond this many steps have a compact status (DC-05). */
enum { FLOW_FULL_STEPS = 1000 };

struct flow_model {
    struct flow_graph *graph; /* names point into `body` */
    struct blob *body;
    struct step *steps; /* [graph->steps] */
    struct step_set lists[FLOW_LIST_N];
    struct ready_queue ready_queue; /* to be created */
    struct step_set blocked;        /* could not be created */
    struct step_set probing;        /* a probe of theirs must be looked at */
    struct step_set retried;        /* more than one attempt */
    struct step_set completed;      /* exactly Completed: the list also has Completing */
    struct step_set to_command;     /* whose job is to be told something: flow/job_commands.c */
    uint32_t by_phase[JOB_PHASE_N]; /* started steps */
    uint32_t started;
    uint32_t creating;
    uint32_t outcomes[2][OUTCOME_N]; /* of ordinary and of final steps */
    uint32_t backing_off;
    uint32_t finals_unfinished; /* started and not finished */
    uint32_t hidden;            /* steps that are in no list: they make no job */
    uint32_t failed_jobs; /* jobs a manual retry removes: of unhandled failures, of final steps */
    uint32_t probed;      /* steps with probes */
    uint32_t changes;     /* grows with every change of a step */
    uint32_t tick;        /* of the loop's clock when somebody told of something last */
    uint32_t name_len;
    char *name;                   /* of the flow */
    uint64_t *spec_hashes;        /* of the entries of the spec; NULL until asked for */
    struct flow_control *control; /* NULL: a step depends on completed targets, and that is all */
    bool retrying;                /* a step may have another attempt */
    bool retries_ended;           /* … but no more: the flow is over */
    bool has_references;          /* a patch may have references */
    bool counted; /* recounted: steps' states are what follows from all that is known */
    bool compact;
    bool upstream; /* upstream's meaning where the two differ: no probes, no strategy */
};

/* count.c, for the files that work on the record: a step in or out of the counts, and to a
 * new state; all sets empty, all sets gone. */
void flow_model_count(struct flow_model *m, uint32_t step, bool in);
void flow_model_move_step(struct flow_model *m, uint32_t step, enum step_state state,
                          enum job_phase phase);
void flow_model_init_sets(struct flow_model *m);
void flow_model_release_sets(struct flow_model *m);
static inline bool phase_failed(unsigned phase)
{
    return phase == JOB_FAILED || phase == JOB_TERMINATED;
}

/** Fill a zeroed record from a flow's spec: every step waiting or ready, nothing started. False
 * with `err` when the graph is unusable (INV-F7); the record is then empty. `flow` is borrowed, its
 * body is kept. `extra` iterations: see graph.h. */
bool flow_model_init(struct flow_model *m, const struct object *flow, bool upstream,
                     const uint32_t *extra, struct error *err);
void flow_model_release(struct flow_model *m); /* zeroed is fine; blocks must be gone */

/** The step a job of this flow belongs to, or STEP_NONE when its name is not `<flow>-<step>`. */
uint32_t flow_model_step_of_job(const struct flow_model *m, const struct object *job);

/** The same by the job's name. */
uint32_t flow_model_step_of_job_name(const struct flow_model *m, const char *job_name);

/** Append the name of the step's job. */
void flow_model_job_name(const struct flow_model *m, uint32_t step, struct buf *out);

/* Both return whether anything changed. `now_ms` stands in where the job carries no time.
 * `results`: what the pods of a finished job left behind (consumed), or NULL. */
bool flow_model_job_changed(struct flow_model *m, uint32_t step, const struct object *job,
                            struct job_results *results, int64_t now_ms);
/** The job was removed. `open`: the flow goes on, so an unfinished step becomes ready again. */
bool flow_model_job_removed(struct flow_model *m, uint32_t step, const struct object *job,
                            bool open, int64_t now_ms);

void flow_model_set_state(struct flow_model *m, uint32_t step, enum step_state state);
/** The attempt's time is over and its job is gone: the next one. */
void flow_model_end_backoff(struct flow_model *m, uint32_t step);
/** The flow is over: failures that would be tried again are final, but for those of final steps. */
void flow_model_end_retries(struct flow_model *m);
/** Whether results of a job that has come to `phase` are worth gathering. */
bool flow_model_wants_results(const struct flow_model *m, uint32_t step, enum job_phase phase);
/** One more target of the step is met. */
void flow_model_target_met(struct flow_model *m, uint32_t step);
/** A dependent waited for this step's failure: it no longer fails the flow. */
void flow_model_mark_handled(struct flow_model *m, uint32_t step);
/** A ready step fails without a job: nothing can change what keeps it from having one. */
void flow_model_fail_step(struct flow_model *m, uint32_t step, const char *reason,
                          const char *message);

/** Whether the step failed finally and nobody waited for that. */
bool flow_model_step_failed(const struct flow_model *m, uint32_t step);
/** A step's job changed: those who wait for its completion, or for more than that. */
void flow_model_notify_dependents(struct flow_model *m, uint32_t step);

/* ---- rebuild.c ---- */

/** Manual retry: the attempts of failed steps are over, they and the steps that never ran wait and
 * start as if nothing had been. Their jobs must be gone (failed_jobs is 0). Returns how many had
 * failed. O(steps + edges). */
uint32_t flow_model_restart_failed(struct flow_model *m, int64_t now_ms);
/** Take over what `old` knows of steps that still exist by name; for a changed spec. */
void flow_model_take_over(struct flow_model *m, struct flow_model *old);
/** Whose failure is handled is to be found out anew, by the recount that follows. */
void flow_model_clear_handled(struct flow_model *m);
/** Work out sets, counters and readiness anew from the steps. O(steps + edges). */
void flow_model_recount(struct flow_model *m);

uint32_t flow_model_unfinished(const struct flow_model *m);          /* started and not finished */
uint32_t flow_model_ordinary_unfinished(const struct flow_model *m); /* … but final steps */
/* Of the steps that are not final: */
uint32_t flow_model_failed_steps(const struct flow_model *m); /* finally and unhandled */
bool flow_model_all_done(const struct flow_model *m);         /* completed, skipped or handled */
uint32_t flow_model_jobs_past_pending(const struct flow_model *m); /* past empty and Pending */
/** Something is under way or about to be: as long as nothing is, no waiting step can ever start. */
bool flow_model_active(const struct flow_model *m);
bool flow_model_waits_for_any(const struct flow_model *m, uint32_t step);
