#pragma once
/*
 * Sets the parameters of flows from the command line (-p NAME=VALUE) or from a test.
 */
#include "cli/command/command.h"
#include "cli/manifest/manifests.h"

/* clang-format off */
#define PARAMETER_FLAG(at) \
    {FLAG_LIST, "parameter", 'p', "NAME=VALUE", "value of a parameter of the flow; may be given several times", at}
/* clang-format on */

/** Sets each value in every flow of the set that has a parameter of that name. Returns false, after
 * printing an error, when a text has no "=" or no flow has the parameter. */
bool parameters_set(struct manifests *set, const struct flag_list *given);

/** Sets one parameter of one flow. Returns false when the flow has no such parameter. */
bool parameters_give(const struct manifest *flow, const char *name, const char *value);
/** Returns a copy of a flow's parameters (owned; NULL: it has none); the second function restores
 * it. */
json_t *parameters_of(const struct manifest *flow);
void parameters_restore(const struct manifest *flow, json_t *parameters);
