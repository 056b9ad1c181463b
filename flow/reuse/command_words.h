#pragma once
/*
 * The words of a job's commands that may name files, and the directory in which they are looked up.
 * Ref: spec/everyday.md 4.2, R3.
 */
#include <jansson.h>

#include "api/types/schema/schema.h"
#include "base/collections/arena.h"

enum { REUSE_WORDS_MAX = 4096 }; /* words of one job that are scanned */

/** Returns the different words of command and args of the containers that have the working directory
 * of the first one, in order of their first occurrence, split at blanks, quotes and ;&|<>()=. */
struct str_list reuse_command_words(const json_t *job_spec, struct arena *arena);
/** Returns the working directory of the job's first container, or NULL. Borrowed. */
const char *reuse_working_dir(const json_t *job_spec);
