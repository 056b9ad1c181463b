#pragma once
/*
 * Keeps what the full status shows of a step beyond the phase of its job: the running history,
 * attempts, and the last state of a removed job.
 *
 * While the job exists, its newest version is kept, and the status is rendered from it. When the
 * job is removed, the entries that it had in the status are kept as text.
 */
#include "api/types/kinds/job/job.h"
#include "base/encoding/jsonw.h"
#include "probes/results.h"

struct step_span {
    enum job_phase phase;
    int64_t start_ms;
    int64_t end_ms; /* end of the span; 0 = open */
};

enum {
    STEP_HISTORY_MAX = 100, /* spans of one step; the oldest go first */
    STEP_ATTEMPTS_MAX = 10  /* attempts kept of one step: the first and the newest nine */
};

struct step_history {
    struct object *job;     /* newest version, while the job exists */
    struct object *counted; /* newest version that had pod counts, or NULL */
    struct step_span *spans;
    size_t n_spans, cap_spans;
    char **attempts; /* past attempts as JSON objects */
    size_t n_attempts;
    char *kept_status;           /* entry of jobStatusList of a removed job */
    char *kept_condition;        /* the job's entry of conditions, as text */
    char *kept_attempt;          /* the job's entry of nodes[].attempts, as text */
    char *reason, *message;      /* why a step failed without a job, or what an approval asks and
                                  * how it has ended */
    struct job_results *results; /* results of the last job, once it is finished; or NULL */
    uint64_t spec_hash;          /* hash of the spec entry that the job was made from; 0 = not
                                  * known */
    int64_t next_retry_ms; /* time at which the next attempt starts; 0 = not between two attempts */
    int64_t asked_ms; /* time at which the step began to wait for its approval; 0 = it has not */
    int32_t restarts; /* restarts of jobs of earlier attempts */
};

struct step_history *step_history_new(void);
void step_history_free(struct step_history *history); /* NULL is ignored */

/** Sets why the step failed without a job. Both texts are copied; `message` may be NULL. */
void step_history_set_failure(struct step_history *history, const char *reason,
                              const char *message);
/** Sets the results of the pods of the job (consumed). */
void step_history_set_results(struct step_history *history, struct job_results *results);
/** Keeps a new version of the job and extends the history. */
void step_history_job_changed(struct step_history *history, const struct object *job,
                              int64_t now_ms);
/** Keeps the entries of the finished job as text, because the job was removed. */
void step_history_freeze(struct step_history *history, unsigned attempt);
/** Moves the present attempt to `attempts`, because another one follows. Its job was removed before
 * it had ended, or only its entries are left. */
void step_history_end_attempt(struct step_history *history, unsigned attempt, int64_t now_ms);
/** Keeps a past attempt; `json` is consumed. */
void step_history_add_attempt(struct step_history *history, char *json);
/** Appends a span that a stored history has. */
void step_history_add_span(struct step_history *history, const struct step_span *span);

/* These write entries of the status as JSON values: those of jobStatusList, of conditions and of
 * attempts. */
void step_history_write_status(const struct step_history *history, const char *job_name,
                               struct jsonw *w);
void step_history_write_condition(const struct step_history *history, struct jsonw *w);
void step_history_write_attempts(const struct step_history *history, unsigned attempt,
                                 struct jsonw *w);
/** These return reason and message of the phase of the job, or of a failure without a job; NULL =
 * none. */
const char *step_history_reason(const struct step_history *history);
const char *step_history_message(const struct step_history *history);
