#pragma once
/*
 * The part of `jobflow convert` that writes the inline templates of files out as JobTemplates.
 */
#include <jansson.h>

#include "cli/command/command.h"

struct convert_expand_options {
    const char *namespace;       /* namespace of objects that name none; NULL = default */
    struct flag_list parameters; /* values with which the files are checked; not written out */
};

/** Reads the files and appends what they become to the list `out`. Returns the exit code, after
 * printing every finding; with an error nothing is appended. */
int convert_expand(const struct convert_expand_options *options, int n_files, char **files,
                   json_t *out);
