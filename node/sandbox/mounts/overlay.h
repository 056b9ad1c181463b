#pragma once
/*
 * A private overlay over one directory of the host: the container sees the directory's content and
 * can add to it; nothing of that reaches the host.
 *
 * It is an overlayfs where the kernel allows one; otherwise a mirror: a directory on a tmpfs into
 * which each child is bound, and recursively so for children with a missing mount point below.
 */
#include <stddef.h>

#include "base/error.h"
#include "node/sandbox/mounts/mount_tree.h"

struct overlay_point {
    const char *path; /* path of a mount point, relative to the directory */
    enum mount_point type;
};

struct overlay_link { /* A symbolic link in the overlay, which replaces the entry of that name. */
    const char *name, *target;
};

struct overlay {
    const char *host; /* absolute path of the directory on the host */
    const struct overlay_point *points;
    size_t n_points;
    const struct overlay_link *links;
    size_t n_links;
    bool user_namespace; /* the overlay is made inside a user namespace */
    unsigned owner; /* uid and gid that own in the overlay what root owns on the host; 0 = root */
};

/** Builds the overlay in the empty directory `scratch_fd` (on a tmpfs) and mounts it at
 * `target_fd`. */
bool overlay_mount(const struct overlay *overlay, int scratch_fd, int target_fd, struct error *err);
