#pragma once
/*
 * The directories of this machine at which a directory is visible: its own path, and those of other
 * mounts of the same file system (mount --bind /var /srv).
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/scoped.h"

enum { HIDDEN_DIRS_MAX = 32 };

struct hidden_dirs {
    char *paths[HIDDEN_DIRS_MAX]; /* [n] absolute, without links; owned */
    size_t n;
};

/** Finds where the directory `path` (absolute, without links) is visible in this mount namespace.
 * A mount of something inside the directory counts, too. `path` is the first, and always there; of
 * more than HIDDEN_DIRS_MAX the rest is left out. */
void hidden_dirs_find(const char *path, struct hidden_dirs *out);
void hidden_dirs_release(struct hidden_dirs *dirs);
SCOPED_DEFINE(hidden_dirs, struct hidden_dirs, hidden_dirs_release)

/** Returns whether `path` is one of the directories or lies in one. */
bool hidden_dirs_cover(const struct hidden_dirs *dirs, const char *path);
