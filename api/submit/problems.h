#pragma once
/*
 * What is wrong with a request: every problem with the item and field it is about and a reason that
 * a program can act on. The reasons and their codes are those of armada-submit.md B.2.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

enum { SUBMIT_NO_INDEX = -1, SUBMIT_PROBLEMS_MAX = 1000 };

struct submit_problem {
    int index;          /* item that it is about, or SUBMIT_NO_INDEX */
    char *field;        /* path from the request, such as jobRequestItems[0].priority */
    const char *reason; /* static text */
    char *message;
};

struct submit_problems {
    struct submit_problem *items; /* [count] */
    size_t count, cap;
    size_t dropped; /* number of problems beyond SUBMIT_PROBLEMS_MAX */
    int index;      /* item that problems are added for */
};

/** Adds a problem of the current item at `field`. Returns false. */
bool submit_problem(struct submit_problems *problems, const char *reason, const char *field,
                    const char *format, ...) PRINTF_LIKE(4, 5);
void submit_problems_release(struct submit_problems *problems);
/** Returns the HTTP status of the answer: that of the first problem. */
int submit_problems_status(const struct submit_problems *problems);
/** Returns the body of the answer (owned): error, message, code, details. */
json_t *submit_problems_json(const struct submit_problems *problems);
