#pragma once
/*
 * Values for the parameters of flows: from the command line (-p NAME=VALUE), or from a test.
 */
#include "cli/command/command.h"
#include "cli/manifest/manifests.h"

/* clang-format off */
#define PARAMETER_FLAG(at) \
    {FLAG_LIST, "parameter", 'p', "NAME=VALUE", "value of a parameter of the flow; may be given several times", at}
/* clang-format on */

/** Set them in every flow of the set that has a parameter of the name. False, with what is wrong
 * printed, when one has no "=" or no flow has it. */
bool parameters_set(struct manifests *set, const struct flag_list *given);

/** Set one in one flow; false when it has no such parameter. */
bool parameters_give(const struct manifest *flow, const char *name, const char *value);
/** A copy of what a flow's parameters are (owned; NULL: it has none), and putting it back. */
json_t *parameters_of(const struct manifest *flow);
void parameters_restore(const struct manifest *flow, json_t *parameters);
