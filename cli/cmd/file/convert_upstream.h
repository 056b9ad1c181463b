#pragma once
/*
 * The part of `jobflow convert` that writes files out for Volcano.
 */
#include <jansson.h>

#include "cli/command/command.h"

struct convert_upstream_options {
    const char *target;    /* volcano-1.13; NULL = the default */
    const char *namespace; /* namespace of objects that name none; NULL = default */
    struct flag_list parameters;
};

/** Reads the files and appends what they become to the list `out`. Returns the exit code, after
 * printing every finding; with an error nothing is appended. */
int convert_upstream(const struct convert_upstream_options *options, int n_files, char **files,
                     json_t *out);
