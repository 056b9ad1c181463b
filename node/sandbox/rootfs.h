#pragma once
/*
 * The file system that a sandboxed container sees: the host's, with private mounts over it.
 *
 * Mounts are made in place over the host's tree, in the container's own mount namespace, when every
 * mount point exists or can be made in a private overlay over one top-level directory. When a
 * top-level directory is missing (/data), a new root is made on a tmpfs, the host's top-level
 * entries are bound into it, and the old root is left by pivot_root.
 *
 * All private directories of a container are on one tmpfs of a limited size, the scratch. What a
 * program writes there counts as its memory where a control group bounds that.
 *
 *   /proc            new: that of the pid namespace
 *   /dev             the host's devices, with its own shm and pts (dev.h)
 *   /run             an empty tmpfs with /run/pod
 *   /tmp, /var/tmp   the host's, or empty
 *   /etc, /root, …   an overlay (overlay.h) where mount points are missing; /root always at level
 *                    FULL, where the host's belongs to another user
 *
 * The data directory is shown empty at every path that leads to it. Nothing in a pod's spec undoes
 * that: a working directory in there is an error. Of a confined pod the host's files are read-only,
 * and the home directory of the user who runs jobflow is private and empty, because a program with
 * that user's id could otherwise leave commands there that run outside.
 */
#include <stddef.h>

#include "base/error.h"
#include "node/sandbox/mounts/hidden_dirs.h"
#include "node/sandbox/mounts/mount_tree.h"

struct rootfs_mount {
    const char *path; /* absolute path of the mount, as the container names it */
    int tree_fd;      /* detached tree (mount_tree_clone) that is mounted; closed by rootfs_build */
    enum mount_point type;
};

struct rootfs_plan {
    const char *scratch; /* absolute path of a directory in which the file system is built */
    bool detach_mounts;  /* mounts of this namespace still propagate to the machine's, which must be
                          * stopped */
    const struct rootfs_mount *mounts; /* mounts of the container, [n_mounts] */
    size_t n_mounts;
    int run_tree_fd;  /* detached tree that is shown at /run/pod; closed by rootfs_build */
    bool hosts;       /* /etc/hosts and /etc/hostname become links into /run/pod */
    bool private_tmp; /* the container has an empty /tmp and /var/tmp; false: it has the host's */
    int64_t scratch_bytes; /* size of all private directories together; 0 = half of the memory */
    bool user_namespace;   /* the file system is built inside a user namespace, where mount options
                          * differ */
    unsigned owner;   /* uid and gid that own the private directories; 0 = those of this process */
    bool read_only;   /* programs cannot write to what they see of the host */
    const char *home; /* a directory that is private and empty; NULL = none */
    const char *cwd; /* working directory of the program, which stays visible wherever it is, unless
                      * it is hidden */
    bool cwd_asked;  /* the pod's spec names cwd: a hidden one is an error */
    const struct hidden_dirs *hidden; /* directories that are shown empty (SEC-06); NULL = none */
};

/** Builds the file system of a container around this process, which has mount and pid namespaces of
 * its own. Errors name the path. */
bool rootfs_build(const struct rootfs_plan *plan, struct error *err);

/**
 * Follows all links in an absolute path, as far as the path exists. Returns false with INVALID when
 * the path is not absolute, is too long or has a loop.
 */
enum { ROOTFS_PATH_MAX = 4096 };
bool rootfs_resolve(const char *path, char out[ROOTFS_PATH_MAX], struct error *err);
