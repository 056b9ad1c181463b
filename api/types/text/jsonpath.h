#pragma once
/*
 * The simple part of kubectl's JSONPath: text with expressions such as {.a.b[0]['c.d']}. A path
 * gives one value; [*] gives all values of a list or object, separated by spaces.
 */
#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

/** Appends the result of `expression` on `doc`. The expression is a template such as
 * "{.status.state.phase}" or a bare path (".status"). An absent member gives no text. Returns
 * false with BAD_REQUEST for an expression outside the supported part. */
bool jsonpath_print(const json_t *doc, const char *expression, struct buf *out, struct error *err);
