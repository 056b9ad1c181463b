#pragma once
/*
 * Keeps records of earlier runs.
 *
 * A flow that is replaced by a new run of its file stays as a record: a JobFlow object of its own
 * with the spec and the status of that run, named `<flow>.<first eight digits of its uid>`. The
 * name of the flow itself always stands for the last run. A record never runs. Ref:
 * spec/everyday.md 10.
 */
#include "api/types/kinds/jobflow/jobflow.h"

/* This label of a record has the name of the flow whose earlier run it is. */
#define LABEL_FLOW_SERIES "flow.volcano.sh/series"
/* This annotation has the uid that the flow had when it ran. Only records have it. */
#define ANNOTATION_RECORD_OF "flow.volcano.sh/record-of"
/* These annotations of a flow say how many of its records are kept, and for how long (a duration
 * such as 720h). */
#define ANNOTATION_HISTORY_LIMIT   "flow.volcano.sh/history-limit"
#define ANNOTATION_HISTORY_MAX_AGE "flow.volcano.sh/history-max-age"

enum { HISTORY_LIMIT_DEFAULT = 10, HISTORY_LIMIT_MAX = 1000 };

/** Returns the name of the record of a flow with this uid (owned). */
char *jobflow_record_name(const char *flow, const char *uid);
/** Returns whether the flow is the record of an earlier run. */
bool jobflow_is_record(const struct object *flow);
/** Returns how many records of the flow are kept: HISTORY_LIMIT_DEFAULT when its annotation is
 * absent or invalid. */
int jobflow_history_limit(const struct object *flow);
/** Returns how long records of the flow are kept, in milliseconds; 0 means without limit. */
int64_t jobflow_history_max_age_ms(const struct object *flow);
/** Reads a value of ANNOTATION_HISTORY_LIMIT. Returns false when it is invalid. */
bool jobflow_read_history_limit(const char *text, int *out);
/** Reads a value of ANNOTATION_HISTORY_MAX_AGE. Returns false when it is invalid. */
bool jobflow_read_history_max_age(const char *text, int64_t *out_ms);
