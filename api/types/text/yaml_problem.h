#pragma once
/*
 * Turns the parser's complaints into sentences that say what to do.
 */
#include <stddef.h>

#include "base/error.h"

struct yaml_problem {
    const char *text; /* the whole stream */
    size_t len;
    const char *problem, *context;       /* libyaml's words; may be NULL */
    size_t line, column;                 /* where it stopped, from 1 */
    size_t context_line, context_column; /* where the construct began, from 1; 0 = unknown */
};

/** Always false, with BAD_REQUEST: "line L, column C: …". */
bool yaml_explain(const struct yaml_problem *problem, struct error *err);
