#pragma once
/*
 * The variables that a run gives to the containers of its pods: --inherit-env, --env-file and --env,
 * the later ones first in rank. Variables of a container's own go before them.
 */
#include "api/types/schema/schema.h"
#include "base/scoped.h"
#include "cli/command/command.h"

struct environment_flags {
    struct flag_list variables; /* NAME=VALUE; or NAME, whose value is that of this process */
    struct flag_list files;     /* files with such lines */
    bool inherit;               /* all variables of this process */
};

struct environment {
    struct str_map all; /* sorted by name */
    char *named;        /* those that flags and files name, as text; NULL: none are named */
    struct arena *arena;
};

/** Collects the variables. Returns false after printing what is wrong. */
bool environment_collect(struct environment *out, const struct environment_flags *flags);
void environment_release(struct environment *environment);
SCOPED_DEFINE(environment, struct environment, environment_release)
/** Returns whether any of the flags is given. */
bool environment_is_asked(const struct environment_flags *flags);
