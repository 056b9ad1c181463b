#pragma once
/*
 * Values of flags that are lists of names: `--namespaces`, and `--controllers` by the rule of
 * kube-controller-manager and Volcano. Ref: spec/cluster.md 1.1, 1.7.
 */
#include "cli/controller/mode.h"

/** Checks that the text is a list of names of namespaces, separated by commas. */
bool names_check_namespaces(const char *text, struct error *err);
/** Splits such a list: owned names, with a final NULL. NULL for NULL. */
char **names_split(const char *text);
void names_free(char **names); /* NULL is ignored */

/** Checks that each entry of `--controllers` is of the mode: "*", or a name that may begin with + or -
 * and end with -controller. */
bool names_check_controllers(const struct mode *mode, const char *list, struct error *err);
/** Returns whether the list has the controller `name` run, which is one of the mode. */
bool names_runs(const char *list, const char *name);
