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
    MOUNT_TREE_RECURSIVE = 1, /* with the mounts below it */
    MOUNT_TREE_READ_ONLY = 2,
};

enum mount_point { MOUNT_POINT_FILE, MOUNT_POINT_DIR };

/** A detached copy of the mount at a descriptor (O_PATH suffices); `flags` of mount_tree_flags.
 * -1 with `err`. */
int mount_tree_clone(int fd, unsigned flags, struct error *err);

/** A new detached tmpfs without devices, whose root directory has `mode` (octal text). `size_bytes`
 * 0 = the kernel's default. -1 with `err`. */
int mount_tree_tmpfs(const char *mode, int64_t size_bytes, struct error *err);

/** Map the ids of a detached tree: what belongs to id n shows as that of id n in the user
 * namespace. */
bool mount_tree_map_ids(int tree_fd, int user_fd, struct error *err);

/** Mounts made inside a detached tree do not show up where it was copied from; the other way round
 * they do. */
bool mount_tree_detach(int tree_fd, struct error *err);

/** Attach a detached tree at a descriptor. Closes the tree, also on failure. */
bool mount_tree_attach(int tree_fd, int target_fd, struct error *err);

/** Show the mount at `from_fd` also at `target_fd`; `flags` of mount_tree_flags. */
bool mount_tree_bind(int from_fd, unsigned flags, int target_fd, struct error *err);

/** Make a directory a mount of its own: the descriptor of that mount, -1 with `err`. */
int mount_tree_make_root(int fd, struct error *err);

/**
 * Open (O_PATH) a path below `root_fd` as a process sees it that has `root_fd` as its root: links
 * stay inside. Missing directories are made with mode 0755, a missing last component as an empty
 * file or a directory. -1 with `err`.
 */
int mount_tree_make_point(int root_fd, const char *path, enum mount_point type, struct error *err);

/* The next two move the working directory to `at_fd`: a path through /proc/self/fd would cost a
 * process directory and a link for each call. */

/** Bind an absolute path, with the mounts below it, over the entry `name`. False with errno. */
bool mount_tree_bind_path(const char *from, int at_fd, const char *name);

/** mount(2) of a file system of that type over the entry `name`. */
bool mount_tree_mount(const char *type, int at_fd, const char *name, unsigned long flags,
                      const char *options, struct error *err);
