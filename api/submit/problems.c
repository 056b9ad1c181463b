/*
 * The list of problems and its JSON form. The code is a number of gRPC.
 */
#include "api/submit/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* Reasons that are not answered with 400 and code 3 (invalid argument). */
static const struct {
    const char *reason;
    int status, code;
} special[] = {
    {"NamespacePermission", 403, 7}, {"QueueNotFound", 404, 5}, {"ObjectExists", 409, 6},
    {"BodyTooLarge", 413, 8},        {"TooManyItems", 413, 8},  {"UnsupportedMediaType", 415, 3},
    {"NotReady", 503, 14},
};

enum { STATUS = 400, CODE = 3 };

bool submit_problem(struct submit_problems *problems, const char *reason, const char *field,
                    const char *format, ...)
{
    char text[1024];
    va_list args;

    if (problems->count == SUBMIT_PROBLEMS_MAX) {
        problems->dropped++;
        return false;
    }
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mem_grow(problems->items, problems->count, problems->cap);
    problems->items[problems->count++] =
        (struct submit_problem){problems->index, mem_strdup(field), reason, mem_strdup(text)};
    return false;
}

void submit_problems_release(struct submit_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        mem_free(problems->items[i].field);
        mem_free(problems->items[i].message);
    }
    mem_free(problems->items);
    *problems = (struct submit_problems){0};
}

int submit_problems_status(const struct submit_problems *problems)
{
    for (size_t i = 0; i < countof(special); i++)
        if (problems->count > 0 && strcmp(problems->items[0].reason, special[i].reason) == 0)
            return special[i].status;
    return STATUS;
}

static int code_of(const struct submit_problems *problems)
{
    for (size_t i = 0; i < countof(special); i++)
        if (problems->count > 0 && strcmp(problems->items[0].reason, special[i].reason) == 0)
            return special[i].code;
    return CODE;
}

json_t *submit_problems_json(const struct submit_problems *problems)
{
    json_t *details = json_array(), *out = json_object(), *summary;
    const struct submit_problem *first = problems->items;
    size_t more = problems->count + problems->dropped;

    for (size_t i = 0; i < problems->count; i++) {
        const struct submit_problem *problem = &problems->items[i];
        json_t *detail = json_object();

        if (problem->index != SUBMIT_NO_INDEX)
            json_object_set_new(detail, "index", json_integer(problem->index));
        json_object_set_new(detail, "field", json_string(problem->field));
        json_object_set_new(detail, "reason", json_string(problem->reason));
        json_object_set_new(detail, "message", json_string(problem->message));
        json_array_append_new(details, detail);
    }
    if (!first)
        summary = json_string("");
    else if (more > 1)
        summary = json_sprintf("%s%s%s (and %zu more)", first->field, *first->field ? ": " : "",
                               first->message, more - 1);
    else
        summary = json_sprintf("%s%s%s", first->field, *first->field ? ": " : "", first->message);
    json_object_set_new(out, "error", json_copy(summary));
    json_object_set_new(out, "message", summary);
    json_object_set_new(out, "code", json_integer(code_of(problems)));
    json_object_set_new(out, "details", details);
    return out;
}
