#pragma once
/*
 * The phase of a job, and what changes with it: reason, times, conditions, counters of retries.
 * This is the part of the status that the controller decides; the other part is counted from pods.
 *
 *   Pending ◄───► Running ──────────► Completed, Failed
 *      ▲             │
 *      │             ▼
 *      └──────── Restarting ────────► Failed
 *                 │      ▲
 *                 ▼      │
 *                Aborting ──────────► Aborted ──► Restarting, Terminating
 *
 *   from Pending, Running, Restarting:   ──► Aborting, Completing, Terminating
 *   Completing ──► Completed             Terminating ──► Terminated, Failed
 *
 * The table in phase.c has every edge. job_phase_set is the only function that changes a phase: it
 * checks the edge and keeps the conditions (one a phase, newest last), the transition time and the
 * running time. job_state_load replaces the whole state by what is stored, which is no change: the
 * stored phase was reached along edges before. Ref: spec/job.md 8.5, O-02, O-03, O-63.
 */
#include "api/types/kinds/job/job.h"

enum { JOB_REASON_MAX = 48 };

struct job_state {
    enum job_phase phase;
    char reason[JOB_REASON_MAX];
    char *message; /* message of the state, owned, or NULL */
    int64_t transition_ms;
    int32_t min_available; /* spec.minAvailable as of the last admitted sync */
    int32_t version;       /* number of the kill epoch */
    int32_t retry_count;
    int64_t running_ns; /* time spent in Running; -1 = never ran */
    struct job_condition conditions[JOB_PHASE_N];
    size_t n_conditions;
    struct str_pair *controlled; /* controlledResources in order of creation; owned text */
    size_t n_controlled, cap_controlled;
};

/** Replaces the state by the stored one; the previous content is released. An unknown phase counts
 * as none. */
void job_state_load(struct job_state *state, const struct job_status *stored);
void job_state_release(struct job_state *state);

/** Why a phase changes. All borrowed. */
struct job_transition {
    const char *reason;  /* CamelCase: the deciding event or rule */
    const char *message; /* one line for users */
    int64_t at_ms;       /* time at which it happened */
    int64_t since_ms;    /* time at which the phase before was entered, if better known than stored;
                          * or 0 */
};

/** Returns whether the edge is in the table. Staying is not an edge. */
bool job_phase_edge(enum job_phase from, enum job_phase to);

/** Moves to `to`. The edge must be legal: an illegal one is a bug and ends the process. */
void job_phase_set(struct job_state *state, enum job_phase to, const struct job_transition *why);

/** Sets reason and message without a change of phase, to show what the job waits for. True when
 * they differed. */
bool job_state_explain(struct job_state *state, const char *reason, const char *message);

/** In an active phase the job wants its pods. In the other phases it wants no running pod. */
static inline bool job_phase_active(enum job_phase phase)
{
    return phase == JOB_NONE || phase == JOB_PENDING || phase == JOB_RUNNING ||
           phase == JOB_RESTARTING;
}
/** Finished or aborted: the phase changes no more by itself. */
static inline bool job_phase_at_rest(enum job_phase phase)
{
    return phase == JOB_ABORTED || job_phase_finished(phase);
}

/** An entry of controlledResources: get, set, remove. */
/** Returns NULL if absent. */
const char *job_state_resource(const struct job_state *state, const char *key);
bool job_state_control(struct job_state *state, const char *key,
                       const char *value); /* returns true if the value has changed */
bool job_state_drop(struct job_state *state, const char *key); /* true: it was there */
