#pragma once
/*
 * The simple part of kubectl's JSONPath: text with {.a.b[0]['c.d']} in it. A path gives one value;
 * [*] gives all of a list or object, with a space between them.
 */
#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

/** Append what `expression` gives for `doc`: "{.status.state.phase}", or a bare path (".status").
 * A member that is not there gives nothing. BAD_REQUEST for an expression beyond this. */
bool jsonpath_print(const json_t *doc, const char *expression, struct buf *out, struct error *err);
