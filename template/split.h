#pragma once
/*
 * Splits the spec of a Job into a template and a patch: merged (template/merge.h), they are the spec
 * again. The inverse of a merge, for members that a stored template cannot have.
 */
#include <jansson.h>
#include <stdbool.h>

/* The members that go to the patch: an object that mirrors the spec, in which `true` stands for a
 * member that goes as a whole. Lists are objects by index. At first it is empty. */

/**
 * Marks the smallest part of `spec` at or above `field` that a patch can bring, and what follows from
 * it: with a task's replicas go all the minAvailable that a patch of replicas would change. `field` is
 * written as findings write it, below the spec ("tasks[0].replicas").
 * Returns false when nothing more can be marked there: a patch finds tasks and containers by their
 * names, so these stay in the template.
 */
bool template_split_mark(const json_t *spec, const char *field, json_t *moved);

/** Returns the spec without the marked members; the patch with them is `*out_patch`, an empty object
 * when none is marked. Both are owned and share values with `spec`. */
json_t *template_split(const json_t *spec, const json_t *moved, json_t **out_patch);
