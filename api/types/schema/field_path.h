#pragma once
/*
 * Inside the schema files: where in a document a finding is, and how findings are worded.
 *
 * A place is a chain of stack frames; it becomes text only when there is something to report. Texts
 * follow kube-apiserver, so that clients and people recognise them.
 */
#include <jansson.h>

#include "base/error.h"

struct place {
    const struct place *up; /* NULL: `name` is the path given by the caller */
    const char *name;       /* member; NULL for a list entry */
    size_t index;
    bool map_key; /* written [key] */
};

/** "spec.flows[0].name"; owned, never NULL. */
char *place_text(const struct place *place);

enum { SHOWN_MAX = 128 };
/** The value as a finding shows it: a number, or text quoted, cut and without control characters.
 */
const char *place_shown(const json_t *value, char out[SHOWN_MAX + 8]);

/** An INVALID finding at the place. */
void place_report(const struct place *place, struct error_list *errors, const char *format, ...)
    PRINTF_LIKE(3, 4);

/** "Invalid value: 0: spec.port in body should be at least 1": `format` says what it should. */
void place_report_should(const struct place *place, struct error_list *errors, const json_t *value,
                         const char *format, ...) PRINTF_LIKE(4, 5);

/** "Invalid value: \"integer\": spec.name in body must be of type string: \"integer\"" */
void place_report_type(const struct place *place, struct error_list *errors, const json_t *value,
                       const char *expected);
