#pragma once
/*
 * Looks up the names of a flow's steps: an index of names, the steps that targets stand for, and
 * suggestions for mistyped names.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/collections/name_index.h"

/**
 * Indexes the names of all steps in `names`, which must be empty. A repeated name stands for the
 * last step that has it. Calls `repeated`, unless it is NULL, for every step whose name an earlier
 * step has.
 */
void jobflow_index_names(const struct jobflow_spec *spec, struct name_index *names,
                         void (*repeated)(void *ctx, size_t step), void *ctx);

/** Returns the text "; did you mean \"NAME\"?" with the name of the step or parameter nearest to a
 * mistyped one. "" when none is near, when the flow has too many, or when `errors` is full. Owned. */
char *jobflow_near_step(const struct jobflow_spec *spec, const char *name,
                        const struct error_list *errors);
char *jobflow_near_parameter(const struct jobflow_spec *spec, const char *name,
                             const struct error_list *errors);

/** Returns the number of targets of all steps together. */
size_t jobflow_count_targets(const struct jobflow_spec *spec);

/** Returns the positions of the steps that the targets name, one step's targets after another's;
 * NAME_NONE for a target that names no step. [jobflow_count_targets], owned, never NULL. */
uint32_t *jobflow_resolve_targets(const struct jobflow_spec *spec, const struct name_index *names);

/** Returns whether all names differ, every step is listed after its targets, no step is a switch,
 * and there are at most `max_targets` targets. The graph of such a flow is valid. It looks at every
 * step once. */
bool jobflow_is_in_order(const struct jobflow_spec *spec, size_t max_targets);
