#pragma once
/*
 * Mounts by descriptor: the steps from which a container's file system is built.
 *
 * A mount tree is a mount with those below it, held by a descriptor. Detached trees are attached
 * nowhere; attaching goes by descriptor, so no link in a path can lead a mount elsewhere.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum mount_tree_flags {
    MOUNT_TREE_RECURSIVE = 1, /* includes the mounts below the copied one */
    MOUNT_TREE_READ_ONLY = 2,
};

enum mount_point { MOUNT_POINT_FILE, MOUNT_POINT_DIR };

/** Returns a detached copy of the mount at a descriptor (O_PATH suffices), or -1 with `err`.
 * `flags` are of enum mount_tree_flags. */
int mount_tree_clone(int fd, unsigned flags, struct error *err);

/** Returns a new detached tmpfs without devices, or -1 with `err`. Its root directory has `mode`
 * (octal text). `size_bytes` limits its content, and the number of its files, which take memory
 * even when they are empty; 0 = the kernel's default, half of the memory. */
int mount_tree_tmpfs(const char *mode, int64_t size_bytes, struct error *err);

/** Writes the options (NUL-terminated) with which mount(2) makes a tmpfs with mode 0755 and the same
 * limits. */
enum { MOUNT_TREE_OPTIONS_MAX = 80 };
void mount_tree_tmpfs_options(int64_t size_bytes, char out[MOUNT_TREE_OPTIONS_MAX]);

/** Maps the ids of a detached tree: what belongs to id n shows as that of id n in the user
 * namespace `user_fd`. */
bool mount_tree_map_ids(int tree_fd, int user_fd, struct error *err);

/** Keeps later mounts in a detached tree from showing up where the tree was copied from. Mounts
 * made there still show up in the tree. */
bool mount_tree_detach(int tree_fd, struct error *err);

/** Attaches a detached tree at a descriptor. Closes the tree, also on failure. */
bool mount_tree_attach(int tree_fd, int target_fd, struct error *err);

/** Shows the mount at `from_fd` also at `target_fd`. `flags` are of enum mount_tree_flags. */
bool mount_tree_bind(int from_fd, unsigned flags, int target_fd, struct error *err);

/** Makes a directory a mount of its own. Returns the descriptor of that mount, or -1 with `err`. */
int mount_tree_make_root(int fd, struct error *err);

/**
 * Opens (O_PATH) a path below `root_fd` as a process sees it that has `root_fd` as its root: links
 * stay inside. Missing directories are made with mode 0755, a missing last component as an empty
 * file or a directory. Returns -1 with `err` on failure.
 */
int mount_tree_make_point(int root_fd, const char *path, enum mount_point type, struct error *err);

/* mount_tree_bind_path and mount_tree_mount move the working directory to `at_fd`: a path through
 * /proc/self/fd would cost a process directory and a link for each call. */

/** Binds an absolute path, with the mounts below it, over the entry `name` of the directory
 * `at_fd`. Returns false with errno on failure. */
bool mount_tree_bind_path(const char *from, int at_fd, const char *name);

/** Mounts a file system of the given type, as mount(2) does, over the entry `name` of the directory
 * `at_fd`. */
bool mount_tree_mount(const char *type, int at_fd, const char *name, unsigned long flags,
                      const char *options, struct error *err);
