#pragma once
/*
 * The file system a sandboxed container sees: the host's, with private mounts over it.
 *
 * Where every mount point exists already, or can be made in a private layer over one top-level
 * directory, mounts are made in place over the host's tree (in our own mount namespace). When a
 * top-level directory is missing (/data), a new root is made on a tmpfs, everything bound into it,
 * and the old one left.
 *
 *   /etc, /root, …   overlay.h, where mount points are missing; /root always, for owners of their
 * own /proc            new: that of the pid namespace /dev             the host's devices, with its
 * own shm and pts /run             an empty tmpfs with /run/pod /tmp             the host's, or an
 * empty tmpfs
 */
#include <stddef.h>

#include "base/error.h"

struct rootfs_mount {
    const char *path; /* absolute, as asked for */
    int tree_fd;      /* detached tree (mount_tree_clone); consumed */
    bool is_dir;
};

struct rootfs_plan {
    const char *scratch; /* a directory of ours, absolute, over which things are built */
    bool part_mounts;    /* the mounts about us still are peers of the machine's */
    const struct rootfs_mount *mounts; /* [n_mounts] */
    size_t n_mounts;
    int run_tree_fd;     /* what /run/pod shows; consumed */
    bool hosts;          /* /etc/hosts and /etc/hostname come from /run/pod */
    bool private_tmp;    /* /tmp is empty; else the host's */
    bool user_namespace; /* mount options differ */
    unsigned owner;      /* whose the private directories are, user and group; 0 = ours */
    const char *cwd;     /* stays visible wherever it is */
    const char
        *hidden; /* a directory that is empty in here (SEC-06), unless it holds cwd; or NULL */
};

/** Build it around this process, which is in mount and pid namespaces of its own. Errors name the
 * path. */
bool rootfs_build(const struct rootfs_plan *plan, struct error *err);

/**
 * The absolute path with all links of the host's tree followed, as far as it exists. False with
 * INVALID when it is not absolute, has ".." beyond the root or a loop.
 */
enum { ROOTFS_PATH_MAX = 4096 };
bool rootfs_resolve(const char *path, char out[ROOTFS_PATH_MAX], struct error *err);
