#pragma once
/*
 * Finds the fields in which two documents differ, for plans and for refused edits.
 */
#include "api/types/text/json_text.h"

/** [{path, from, to}], in the order of `to`, then what is only in `from`; `from` or `to` is absent
 * where the path is. Bounded. Owned. */
json_t *difference_of(const json_t *from, const json_t *to);
