#pragma once
/*
 * What the full status shows of a step beyond its job's phase: running history, attempts, and the
 * last words of a job that is gone.
 *
 * While the job exists, its newest version is kept and everything is read from it when the status
 * is written. When it goes, the three entries it had in the status are kept as text.
 */
#include "api/types/kinds/job/job.h"
#include "base/jsonw.h"
#include "probes/results.h"

struct step_span {
    enum job_phase phase;
    int64_t start_ms;
    int64_t end_ms; /* 0 = open */
};

enum {
    STEP_HISTORY_MAX = 100, /* spans of one step; the oldest go first */
    STEP_ATTEMPTS_MAX = 10  /* earlier attempts of one step: the first and the newest nine */
};

struct step_history {
    struct object *job;     /* newest version, while the job exists */
    struct object *counted; /* newest version that had pod counts, or NULL */
    struct step_span *spans;
    size_t n_spans, cap_spans;
    char **attempts; /* finished attempts as JSON objects */
    size_t n_attempts;
    char *kept_status;           /* entry of jobStatusList of a job that is gone */
    char *kept_condition;        /* entry of conditions */
    char *kept_attempt;          /* entry of nodes[].attempts */
    char *reason, *message;      /* of a failure without a job */
    struct job_results *results; /* of the last job, once it is finished; or NULL */
    uint64_t spec_hash;          /* of what its job was made from; 0 = not known */
    int64_t next_retry_ms;       /* between two attempts; else 0 */
    int32_t restarts;            /* of jobs of earlier attempts */
};

struct step_history *step_history_new(void);
void step_history_free(struct step_history *history); /* NULL is fine */

/** It failed without a job; `message` may be NULL. */
void step_history_set_failure(struct step_history *history, const char *reason,
                              const char *message);
/** What the job's pods left behind; consumed. */
void step_history_set_results(struct step_history *history, struct job_results *results);
/** A new version of the step's job: keep it, extend the history. */
void step_history_job_changed(struct step_history *history, const struct object *job,
                              int64_t now_ms);
/** The job is gone with a result: keep its entries as text. */
void step_history_freeze(struct step_history *history, unsigned attempt);
/** The attempt is over, another one follows: with a job that is gone without a result, or of which
 * only the result is left. */
void step_history_end_attempt(struct step_history *history, unsigned attempt, int64_t now_ms);
/** Keep an attempt that is over; consumes `json`. */
void step_history_add_attempt(struct step_history *history, char *json);
/** Add a span that is known to have been; for restoring. */
void step_history_add_span(struct step_history *history, const struct step_span *span);

/* Entries of the status, as values. */
void step_history_write_status(const struct step_history *history, const char *job_name,
                               struct jsonw *w);
void step_history_write_condition(const struct step_history *history, struct jsonw *w);
/** The list of all attempts. */
void step_history_write_attempts(const struct step_history *history, unsigned attempt,
                                 struct jsonw *w);
/** Why the job is in its phase, from its status; NULL when it does not say. */
const char *step_history_reason(const struct step_history *history);
const char *step_history_message(const struct step_history *history);
