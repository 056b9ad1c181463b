#pragma once
/*
 * Mounts by descriptor, and the small steps of building a tree.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/** A detached copy of the mount at a descriptor (any, O_PATH will do). -1 with `err`. */
int mount_tree_clone(int fd, bool recursive, bool read_only, struct error *err);
/** Show the ids of a detached tree as those of a user namespace: its 0 becomes that one's root. */
bool mount_tree_map_ids(int tree_fd, int user_fd, struct error *err);
/** Attach a detached tree at a descriptor; closes the tree. */
bool mount_tree_attach(int tree_fd, int target_fd, struct error *err);

/** What is mounted in a detached tree is not seen where it comes from; the other way round it is.
 */
bool mount_tree_detach(int tree_fd, struct error *err);
/** A file system in memory, mounted nowhere: its root directory, of `mode`, where devices are none.
 * `size_bytes` 0 = what the kernel thinks fit. -1 with `err`. */
int mount_tree_tmpfs(const char *mode, int64_t size_bytes, struct error *err);
/** Show what is at one descriptor at another, too. */
bool mount_tree_bind(int from_fd, bool recursive, int target_fd, struct error *err);
/** Make a directory a mount of its own: its descriptor, -1 with `err`. */
int mount_tree_make_root(int fd, struct error *err);

/**
 * Open (O_PATH) a path below `root_fd`, seen as the root directory: links inside stay inside. What
 * is missing is made: directories 0755, and at the end a directory or an empty file.
 */
int mount_tree_make_point(int root_fd, const char *path, bool is_dir, struct error *err);

/* The working directory is moved to `at_fd`: by a path through /proc, the kernel would make a
 * process directory and a link for each. */
/** Bind a path of ours, with what is mounted below it, over a name that is there. False with errno.
 */
bool mount_tree_bind_path(const char *from, int at_fd, const char *name);
/** mount(2) of a file system over a name that is there. */
bool mount_tree_mount(const char *type, int at_fd, const char *name, unsigned long flags,
                      const char *options, struct error *err);
