#pragma once
/*
 * Writes the inline template of a step out as a JobTemplate of its own. References stay in it where
 * a template may have them (DC-26). What a template cannot have, such as a reference where a number
 * is expected, goes to the step's patch. Ref: spec/everyday.md 3.4.
 */
#include "api/types/kinds/jobflow/jobflow.h"

struct expanded_step {
    json_t *spec;  /* spec of the template; owned */
    json_t *patch; /* patch of the step; owned; NULL: as it was */
};

/** Returns what the step becomes, which has an inline template. False with INVALID at a member of the
 * step ("jobTemplate.spec.queue") when a template and a patch cannot mean the same. */
bool expand_step(const struct object *flow, size_t step, struct expanded_step *out,
                 struct error *err);
