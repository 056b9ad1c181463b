#pragma once
/*
 * Values for the parameters of flows, from the command line: -p NAME=VALUE.
 */
#include "cli/command.h"
#include "cli/manifests.h"

/** Set them in every flow of the set that has a parameter of the name. False, with what is wrong
 * printed, when one has no "=" or no flow has it. */
bool parameters_set(struct manifests *set, const struct flag_list *given);
