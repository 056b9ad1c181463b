#pragma once
/*
 * The file system that a sandboxed container sees: the host's, with private mounts over it.
 *
 * Mounts are made in place over the host's tree, in the container's own mount namespace, when every
 * mount point exists or can be made in a private overlay over one top-level directory. When a
 * top-level directory is missing (/data), a new root is made on a tmpfs, the host's top-level
 * entries are bound into it, and the old root is left by pivot_root.
 *
 *   /proc            new: that of the pid namespace
 *   /dev             the host's devices, with its own shm and pts (dev.h)
 *   /run             an empty tmpfs with /run/pod
 *   /tmp             the host's, or an empty tmpfs
 *   /etc, /root, …   an overlay (overlay.h) where mount points are missing; /root always at level
 *                    FULL, where the host's belongs to another user
 */
#include <stddef.h>

#include "base/error.h"
#include "node/sandbox/mount_tree.h"

struct rootfs_mount {
    const char *path; /* absolute, as the container names it */
    int tree_fd;      /* detached tree (mount_tree_clone); consumed */
    enum mount_point type;
};

struct rootfs_plan {
    const char *scratch; /* absolute path of a directory that is used to build in */
    bool detach_mounts;  /* the mounts of this namespace still propagate to the machine's */
    const struct rootfs_mount *mounts; /* [n_mounts] */
    size_t n_mounts;
    int run_tree_fd;     /* the tree shown at /run/pod; consumed */
    bool hosts;          /* /etc/hosts and /etc/hostname are links into /run/pod */
    bool private_tmp;    /* /tmp is empty; else the host's */
    bool user_namespace; /* built inside a user namespace, where mount options differ */
    unsigned owner;      /* uid and gid of the private directories; 0 = ours */
    const char *cwd;     /* stays visible wherever it is */
    const char *hidden;  /* a directory shown empty (SEC-06), unless cwd is inside; NULL = none */
};

/** Build the file system around this process, which has mount and pid namespaces of its own. Errors
 * name the path. */
bool rootfs_build(const struct rootfs_plan *plan, struct error *err);

/**
 * The absolute path with all links of the host's tree followed, as far as it exists. False with
 * INVALID when it is not absolute, is too long or has a loop.
 */
enum { ROOTFS_PATH_MAX = 4096 };
bool rootfs_resolve(const char *path, char out[ROOTFS_PATH_MAX], struct error *err);
