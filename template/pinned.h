#pragma once
/*
 * The copy of a template that a flow keeps. It has the label of the flow's jobs, so whoever lists
 * templates can take the copies in or leave them out. Ref: api/types/kinds/jobflow/pin.h.
 */
#include "api/types/object.h"

/** A copy of template `name` for the flow, as a draft: its body as of that revision. Owned. */
struct object *template_pinned(const struct object *flow, const char *name, struct blob *body,
                               int64_t revision);
