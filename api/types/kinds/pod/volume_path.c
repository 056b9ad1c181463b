/*
 * Checks paths component by component, so that "a//b", "a/./b" and "a/b" are the same path and
 * "..b" is an ordinary name.
 */
#include "api/types/kinds/pod/volume_path.h"

#include <limits.h>
#include <string.h>

#include "base/compiler.h"

/* Moves `*at` to the next component, skipping empty ones and "."; returns its length, 0 at the
 * end. */
static size_t next_component(const char **at)
{
    for (;;) {
        size_t len;

        *at += strspn(*at, "/");
        len = strcspn(*at, "/");
        if (len != 1 || **at != '.')
            return len;
        *at += len;
    }
}

bool path_descends(const char *path)
{
    const char *at = path;
    size_t len;

    while ((len = next_component(&at))) {
        if (len == 2 && strncmp(at, "..", 2) == 0)
            return false;
        at += len;
    }
    return *path != '/';
}

/* SEC-19: a mount path is absolute, has neither '..' nor ':', and lies outside the file systems of
 * the kernel. /dev/shm is allowed, because it is ordinary shared memory. */
const char *mount_path_problem(const char *path)
{
    static const char *const kernel[] = {"proc", "sys", "dev"};
    const char *at = path, *below;
    size_t len;

    if (*path != '/')
        return "must be an absolute path";
    if (strlen(path) >= PATH_MAX)
        return "must be shorter than 4096 bytes";
    if (!path_descends(path + strspn(path, "/")) || strchr(path, ':'))
        return "must have neither '..' nor ':'";
    for (at = path; (len = next_component(&at)); at += len)
        if (len > NAME_MAX)
            return "must have no name of more than 255 bytes";
    at = path;
    len = next_component(&at);
    if (!len)
        return "must not be the root directory";
    below = at + len;
    if (len == 3 && strncmp(at, "dev", len) == 0 && next_component(&below) == 3 &&
        strcmp(below, "shm") == 0)
        return NULL;
    for (size_t i = 0; i < countof(kernel); i++)
        if (len == strlen(kernel[i]) && strncmp(at, kernel[i], len) == 0)
            return "must not be within /proc, /sys or /dev";
    return NULL;
}
