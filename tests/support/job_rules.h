#pragma once
/*
 * The rules of a Job's life once more, written down from spec/job.md without a look at job/: plain,
 * slow and without caches. What the controller decides is compared with this.
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

/** 8.5, with ours. */
bool rule_edge(enum job_phase from, enum job_phase to);

/** 8.2 and 8.4: what an action asks of a phase. `to` is NONE when the phase stays. */
struct rule_effect {
    enum job_phase to;
    bool version, retry, targeted;
};
struct rule_effect rule_effect(enum job_phase phase, enum job_action action);

/** 6: what answers an event; task -1 for events of the job. `exit_code` 0 = none. False: a sync. */
struct rule_answer {
    enum job_action action;
    int timeout_s; /* -1 or 0: at once */
};
bool rule_match(const struct gen_job *job, enum job_event event, int task, int exit_code,
                struct rule_answer *out);

void rule_count(struct rule_counts *counts, const struct rule_pod *pods, int n_pods);

/** 8.1, 8.3: where a sync leads. */
enum job_phase rule_verdict(const struct gen_job *job, const struct rule_counts *counts,
                            enum job_phase phase, int failures, int status_min_available);

/** 13: may pods of the task be made? */
bool rule_unlocked(const struct gen_job *job, const struct rule_counts *counts, int task);
