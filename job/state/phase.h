#pragma once
/*
 * The phase of a job and everything that moves with it: the head of status, as the controller has
 * decided it.
 *
 *              ┌──────────────► Aborting ──► Aborted
 *              │                   │ ▲          │
 *   Pending ◄──┼──► Running        ▼ │          ▼
 *      ▲       │       │ └────► Restarting ◄────┘
 *      └───────┼───────┼───────────┘ │
 *              ▼       ▼             ▼
 *        Terminating  Completed    Failed          Completing ──► Completed, Terminating ──►
 * Terminated
 *
 * job_phase_set is the only writer of a phase. It checks the edge, keeps the condition list (one
 * entry a phase, newest last), the transition time and the running time. Ref: spec/job.md 8.5,
 * O-02, O-03, O-63.
 */
#include "api/types/kinds/job/job.h"

enum { JOB_REASON_MAX = 48 };

struct job_state {
    enum job_phase phase;
    char reason[JOB_REASON_MAX];
    char *message; /* owned, or NULL */
    int64_t transition_ms;
    int32_t min_available; /* spec.minAvailable as of the last admitted sync */
    int32_t version;       /* kill epoch */
    int32_t retry_count;
    int64_t running_ns; /* time spent in Running; -1 = never ran */
    struct job_condition conditions[JOB_PHASE_N];
    size_t n_conditions;
    struct str_pair *controlled; /* controlledResources, in the order they were made; owned text */
    size_t n_controlled, cap_controlled;
};

/** Take the stored state over; the previous content of `state` is released. Unknown phases act as
 * none. */
void job_state_load(struct job_state *state, const struct job_status *stored);
void job_state_release(struct job_state *state);

/** Why a phase changes. All borrowed. */
struct job_transition {
    const char *reason;  /* CamelCase: the deciding event or rule */
    const char *message; /* one line for people */
    int64_t now_ms;
};

/** Is the edge in the table? Staying is not an edge. */
bool job_phase_edge(enum job_phase from, enum job_phase to);

/** Move to `to`. The edge must be legal: an illegal one is a bug and ends the process. */
void job_phase_set(struct job_state *state, enum job_phase to, const struct job_transition *why);

/** Reason and message without a change of phase: what the job waits for. True when anything
 * changed. */
bool job_state_explain(struct job_state *state, const char *reason, const char *message);

/* Phases fall into two classes: in the active ones the job wants its pods, in the others none that
 * live. */
static inline bool job_phase_active(enum job_phase phase)
{
    return phase == JOB_NONE || phase == JOB_PENDING || phase == JOB_RUNNING ||
           phase == JOB_RESTARTING;
}
/** Finished or aborted: nothing moves any more by itself. */
static inline bool job_phase_at_rest(enum job_phase phase)
{
    return phase == JOB_ABORTED || job_phase_finished(phase);
}

/** controlledResources. */
const char *job_state_resource(const struct job_state *state, const char *key); /* NULL if absent */
bool job_state_control(struct job_state *state, const char *key,
                       const char *value);                     /* true: changed */
bool job_state_drop(struct job_state *state, const char *key); /* true: it was there */
