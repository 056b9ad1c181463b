#pragma once
/*
 * A private layer over one directory of the host: what is there is seen, what is missing can be
 * made, nothing of it reaches the host.
 *
 * An overlay where the kernel lets us; otherwise a mirror: a directory on a tmpfs with each child
 * bound into it, and the same for those children that have a missing mount point below them.
 */
#include <stddef.h>

#include "base/error.h"

struct overlay_point { /* a mount point below the directory */
    const char *path;  /* relative to it */
    bool is_dir;
};

struct overlay_link { /* a link that replaces whatever has its name */
    const char *name, *target;
};

struct layer {
    const char *host; /* absolute path of the directory */
    const struct overlay_point *points;
    size_t n_points;
    const struct overlay_link *links;
    size_t n_links;
    bool user_namespace;
    unsigned owner; /* whose is what on the host is root's, user and group; 0 = root's, too */
};

/** Build the layer with the help of the empty directory `scratch_fd` (on a tmpfs) and mount it at
 * `target_fd`. */
bool overlay_mount(const struct layer *layer, int scratch_fd, int target_fd, struct error *err);
