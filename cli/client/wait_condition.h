#pragma once
/*
 * Conditions of `wait`: parsing, and evaluation against an object. Has no side effects.
 */
#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

enum condition_kind {
    CONDITION_END, /* without --for: the flow, job or pod has ended, successfully or not */
    CONDITION_DELETE,
    CONDITION_STATUS, /* --for condition=NAME[=VALUE] */
    CONDITION_PHASE,  /* --for phase=NAME */
    CONDITION_PATH,   /* --for jsonpath={…}[=VALUE] */
};

struct condition {
    enum condition_kind kind;
    char *name;  /* condition, phase or path; owned */
    char *value; /* value that is waited for, owned; NULL = any */
};

enum condition_verdict {
    CONDITION_NOT_YET,
    CONDITION_MET,
    CONDITION_NEVER, /* the object has ended without meeting the condition */
};

/** Parses the value of --for; NULL means CONDITION_END. Returns false with BAD_REQUEST when it is
 * invalid. */
bool condition_parse(const char *text, struct condition *out, struct error *err);
void condition_release(struct condition *condition);

/** Evaluates a condition. `object` is NULL when it has been deleted. An invalid JSONPath sets
 * BAD_REQUEST and returns NOT_YET. */
enum condition_verdict condition_evaluate(const struct condition *condition, const json_t *object,
                                          struct error *err);
/** Returns status.state.phase, status.phase or status.state of an object, or "" when it has none.
 * Borrowed. */
const char *condition_phase(const json_t *object);
