#pragma once
/*
 * Finds the fields in which two documents differ, for plans and for messages about refused edits.
 */
#include "api/types/text/json_text.h"

/** Returns a list of {path, from, to}: first in the order of `to`, then the fields that are only in
 * `from`. An entry lacks `from` or `to` when the field is absent on that side. The list's length
 * is bounded. Owned. */
json_t *difference_of(const json_t *from, const json_t *to);
