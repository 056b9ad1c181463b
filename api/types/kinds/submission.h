#pragma once
/*
 * Submission (jobflow.dev/v1): remembers that a job was submitted with a deduplication id. It is
 * created in the commit of the job, outlives the job, and is found by its name in O(1). Ref:
 * armada-submit.md B.7.
 */
#include "api/types/object.h"

struct submission {
    const char *queue, *deduplication_id, *job_id;
    const char *ns; /* namespace of the job */
};

struct submission_end {
    const char *state; /* state of the job when it ended: SUCCEEDED, …; NULL: it has not ended */
    int64_t end_ms;
};

/** Returns the decoded spec, borrowed from the object's blob. */
const struct submission *submission_of(const struct object *object);
/** Returns the decoded status, borrowed until the turn ends. */
const struct submission_end *submission_end_of(const struct object *object);
/** Writes a status; the blob is owned by the caller. */
struct blob *submission_end_blob(const struct submission_end *end);
enum { SUBMISSION_NAME_MAX = 36 };
/** Writes the name of the Submission of a queue and a deduplication id. */
void submission_name(const char *queue, const char *id, char out[SUBMISSION_NAME_MAX]);
