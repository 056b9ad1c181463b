#pragma once
/*
 * What `wait` waits for, and whether an object is there yet. Pure.
 */
#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

enum condition_kind {
    CONDITION_END, /* no --for: a flow, job or pod is over, well or not */
    CONDITION_DELETE,
    CONDITION_STATUS, /* condition=NAME[=VALUE] */
    CONDITION_PHASE,  /* phase=NAME */
    CONDITION_PATH,   /* jsonpath={…}[=VALUE] */
};

struct condition {
    enum condition_kind kind;
    char *name;  /* condition, phase or path; owned */
    char *value; /* owned; NULL = any */
};

enum condition_verdict {
    CONDITION_NOT_YET,
    CONDITION_MET,
    CONDITION_NEVER, /* the object has ended another way */
};

/** Read the text of --for; NULL is the end. BAD_REQUEST for what is none. */
bool condition_parse(const char *text, struct condition *out, struct error *err);
void condition_release(struct condition *condition);

/** `object` is NULL when it is gone. BAD_REQUEST (and NOT_YET) when the path is no path. */
enum condition_verdict condition_judge(const struct condition *condition, const json_t *object,
                                       struct error *err);
/** status.state.phase, status.phase or status.state of an object; "" when it has none. Borrowed. */
const char *condition_phase(const json_t *object);
