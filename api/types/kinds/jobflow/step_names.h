#pragma once
/*
 * The names of a flow's steps, and what its targets stand for.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/name_index.h"

/**
 * Index the names of all steps in `names`, which is empty: each means its step, a repeated one the
 * last of them. `repeated` (may be NULL) is told every step whose name an earlier one has.
 */
void jobflow_index_names(const struct jobflow_spec *spec, struct name_index *names,
                         void (*repeated)(void *ctx, size_t step), void *ctx);

/** "; did you mean \"NAME\"?" of the step, or the parameter, whose name is nearest to a mistyped
 * one; "" when none is near, there are very many, or `errors` is full. Owned. */
char *jobflow_near_step(const struct jobflow_spec *spec, const char *name,
                        const struct error_list *errors);
char *jobflow_near_parameter(const struct jobflow_spec *spec, const char *name,
                             const struct error_list *errors);

/** Targets of all steps together. */
size_t jobflow_count_targets(const struct jobflow_spec *spec);

/** What each of them stands for, NAME_NONE where nothing does: of the first step, of the second,
 * and so on. Owned, never NULL. */
uint32_t *jobflow_resolve_targets(const struct jobflow_spec *spec, const struct name_index *names);

/** Whether no two steps have one name, each stands behind all it waits for, none is a switch, and
 * there are at most `max_targets`: nothing can be wrong with its graph. Looks at every step once.
 */
bool jobflow_is_in_order(const struct jobflow_spec *spec, size_t max_targets);
