#pragma once
/*
 * Mounts by descriptor, and the small steps of building a tree.
 */
#include "base/error.h"
#include <stdbool.h>

/** A detached copy of the mount at a descriptor (any, O_PATH will do). -1 with `err`. */
int tree_clone(int fd, bool recursive, bool read_only, struct error *err);
/** Show the ids of a detached tree as those of a user namespace: its 0 becomes that one's root. */
bool tree_map(int tree_fd, int user_fd, struct error *err);
/** Attach a detached tree at a descriptor; closes the tree. */
bool tree_attach(int tree_fd, int target_fd, struct error *err);

/**
 * Open (O_PATH) a path below `root_fd`, seen as the root directory: links inside stay inside. What
 * is missing is made: directories 0755, and at the end a directory or an empty file.
 */
int tree_make(int root_fd, const char *path, bool is_dir, struct error *err);

/** mount(2) of a file system onto a path relative to `at_fd`, which must exist. */
bool tree_mount(const char *type, int at_fd, const char *path, unsigned long flags,
                const char *options, struct error *err);
