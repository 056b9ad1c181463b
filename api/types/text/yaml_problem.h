#pragma once
/*
 * Turns libyaml's syntax errors into messages that say what to change.
 */
#include <stddef.h>

#include "base/error.h"

struct yaml_problem {
    const char *text; /* text of the whole stream */
    size_t len;
    const char *problem, *context;       /* libyaml's messages; may be NULL */
    size_t line, column;                 /* position where libyaml stopped, from 1 */
    size_t context_line, context_column; /* position where the construct began, from 1; 0 =
                                          * unknown */
};

/** Sets BAD_REQUEST with "line L, column C: …" and returns false. */
bool yaml_explain(const struct yaml_problem *problem, struct error *err);
