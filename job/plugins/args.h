#pragma once
/*
 * Plugin arguments: the syntax of Go's flag package, which job authors rely on. Ref:
 * spec/job-plugins.md 1.3, O-P04.
 *
 *   -name=value  --name=value  -name value  --name value
 *       One or two dashes mean the same. The last of a repeated flag wins.
 *   --flag
 *       Booleans may stand alone; a separate word is never their value.
 *
 * Reading ends at the first word that is not a flag, at a lone dash, at an empty word, or behind
 * "--". Unlike in Go, a bad argument keeps its default and is reported, and the rest is still read.
 * Values may be private keys, so messages show only short ones.
 */
#include "api/types/schema/schema.h"

enum job_arg_type {
    ARG_STR,   /* const char *, borrowed from the words */
    ARG_BOOL,  /* the member is a bool */
    ARG_INT,   /* the member is an int64_t */
    ARG_PORT,  /* the member is an int64_t in 1–65535 */
    ARG_COUNT, /* the member is an int64_t that is not negative */
};

struct job_arg {
    const char *name;
    enum job_arg_type type;
    size_t offset; /* offset in the struct that the flags are read into */
};

/** Reads `words` into `out`, which holds the defaults. `table` ends with a row without name.
 * Findings go to `ignored` (may be NULL). */
void job_args_read(const struct job_arg *table, struct str_list words, void *out,
                   struct error_list *ignored);
