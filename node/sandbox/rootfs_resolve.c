/*
 * Follows the host's links in mount paths: /var/run/x is /run/x where /var/run is a link.
 *
 * The result only serves to plan the mounts. The mounts themselves are made by descriptor
 * (mount_tree.h), so a link that changes after this cannot lead one elsewhere.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node/sandbox/rootfs.h"

enum { LINKS_MAX = 40 };

static bool too_long(const char *path, struct error *err)
{
    return error_set(err, ERR_INVALID, "", "the path %s is too long", path);
}

/* Sets `rest` to TARGET/LEFT: the target of a link and the path that is left behind the link.
 * Returns false when that is too long. */
static bool put_before(char rest[ROOTFS_PATH_MAX], const char *target, const char *left)
{
    char joined[ROOTFS_PATH_MAX];

    if (snprintf(joined, sizeof joined, "%s/%s", target, left) >= (int)sizeof joined)
        return false;
    memcpy(rest, joined, strlen(joined) + 1);
    return true;
}

static void to_parent(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash)
        *slash = 0;
}

bool rootfs_resolve(const char *path, char out[ROOTFS_PATH_MAX], struct error *err)
{
    char rest[ROOTFS_PATH_MAX], target[ROOTFS_PATH_MAX];
    unsigned links = 0;
    size_t len = 0;

    if (*path != '/')
        return error_set(err, ERR_INVALID, "", "the path %s is not absolute", path);
    if (snprintf(rest, sizeof rest, "%s", path) >= (int)sizeof rest)
        return too_long(path, err);
    out[0] = 0;
    for (char *name = rest + strspn(rest, "/"); *name;) {
        char *end = name + strcspn(name, "/");
        char *left = end + strspn(end, "/");
        ssize_t n;

        *end = 0;
        if (strcmp(name, "..") == 0) {
            to_parent(out);
            name = left;
            continue;
        }
        if (strcmp(name, ".") == 0) {
            name = left;
            continue;
        }
        len = strlen(out);
        if (snprintf(out + len, ROOTFS_PATH_MAX - len, "/%s", name) >= (int)(ROOTFS_PATH_MAX - len))
            return too_long(path, err);
        n = readlink(out, target, sizeof target - 1);
        if (n < 0) {
            name = left;
            continue;
        }
        target[n] = 0;
        if (++links > LINKS_MAX)
            return error_set(err, ERR_INVALID, "", "the path %s leads through too many links",
                             path);
        out[*target == '/' ? 0 : len] = 0;
        if (!put_before(rest, target, left))
            return too_long(path, err);
        name = rest + strspn(rest, "/");
    }
    if (!out[0])
        memcpy(out, "/", 2);
    return true;
}
