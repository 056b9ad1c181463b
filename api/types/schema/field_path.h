#pragma once
/*
 * Private to the schema files: the position of a finding in a document, and the texts of findings.
 *
 * A position is a chain of stack frames. It becomes text only when there is something to report.
 * The texts are those of kube-apiserver, so that clients and users recognise them.
 */
#include <jansson.h>

#include "base/error.h"

struct field_path {
    const struct field_path *up; /* path of the parent; NULL: `name` is the path given by the
                                  * caller */
    const char *name;            /* member; NULL for a list entry */
    size_t index;
    bool map_key; /* the name is a key of a map, which is written [key] */
};

/** Returns the position as text: "spec.flows[0].name"; owned, never NULL. */
char *field_path_text(const struct field_path *place);

enum { SHOWN_MAX = 128 };
/** Returns the value as a finding shows it: a number, or quoted text, shortened and without control
 * characters. */
const char *field_path_shown(const json_t *value, char out[SHOWN_MAX + 8]);

/** Adds an INVALID finding at the position. */
void field_path_report(const struct field_path *place, struct error_list *errors,
                       const char *format, ...) PRINTF_LIKE(3, 4);

/** Adds "Invalid value: 0: spec.port in body should be at least 1". `format` gives the text after
 * "should". */
void field_path_report_should(const struct field_path *place, struct error_list *errors,
                              const json_t *value, const char *format, ...) PRINTF_LIKE(4, 5);

/** Adds "Invalid value: \"integer\": spec.name in body must be of type string: \"integer\"". */
void field_path_report_type(const struct field_path *place, struct error_list *errors,
                            const json_t *value, const char *expected);
