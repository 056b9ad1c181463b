#pragma once
/*
 * An independent implementation of the rules of a Job's life cycle, written from spec/job.md
 * without use of job/: simple, slow and without caches. Tests compare the controller's decisions
 * with it.
 */
#include "tests/support/job_gen.h"

/* One pod as every client can see it. */
struct rule_pod {
    int task, index;
    enum pod_phase phase;
    bool deleting, marked, ready;
    int version, restarts;
};

struct rule_counts {
    int pending, running, succeeded, failed, unknown, terminating;
    int succeeded_of[GEN_TASKS], ready_of[GEN_TASKS], known_of[GEN_TASKS], restarts_of[GEN_TASKS];
};

/** Returns whether the change of phase is allowed (8.5 and the documented additions). */
bool rule_edge(enum job_phase from, enum job_phase to);

/** The effect of an action in a phase (8.2, 8.4). `to` is NONE when the phase stays. */
struct rule_effect {
    enum job_phase to;
    bool version, retry, targeted;
};
struct rule_effect rule_effect(enum job_phase phase, enum job_action action);

/** The policy that applies to an event (6). `task` is -1 for events of the job, `exit_code` 0 =
 * none. rule_answer returns false when no policy applies and the job is only synchronized. */
struct rule_answer {
    enum job_action action;
    int timeout_s; /* delay of the action; -1 or 0: at once */
};
bool rule_match(const struct gen_job *job, enum job_event event, int task, int exit_code,
                struct rule_answer *out);

void rule_count(struct rule_counts *counts, const struct rule_pod *pods, int n_pods);

/** Returns the phase that a sync leads to (8.1, 8.3). */
enum job_phase rule_verdict(const struct gen_job *job, const struct rule_counts *counts,
                            enum job_phase phase, int failures, int status_min_available);

/** Returns whether pods of the task may be created: its dependencies are satisfied (13). */
bool rule_unlocked(const struct gen_job *job, const struct rule_counts *counts, int task);
