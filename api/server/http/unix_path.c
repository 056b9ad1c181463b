/*
 * Shortens the path of a unix socket that exceeds sun_path: opens its directory and names the
 * socket below /proc/self/fd.
 */
#include "api/server/http/unix_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

bool unix_path_open(const char *path, struct unix_path *out, struct error *err)
{
    const char *slash = strrchr(path, '/');
    scoped_str directory = NULL;
    size_t len;

    *out = (struct unix_path){.directory = -1};
    if (strlen(path) < sizeof out->text) {
        memcpy(out->text, path, strlen(path) + 1);
        return true;
    }
    directory = mem_strdup(path);
    directory[slash ? slash - path : 0] = '\0';
    out->directory = open(slash ? directory : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (out->directory < 0)
        return error_errno(err, errno, "cannot open %s", directory);
    len = (size_t)snprintf(out->text, sizeof out->text, "/proc/self/fd/%d/%s", out->directory,
                           slash ? slash + 1 : path);
    if (len < sizeof out->text)
        return true;
    unix_path_release(out);
    return error_set(err, ERR_INVALID, "", "the name of the socket %s is too long", path);
}

void unix_path_release(struct unix_path *path)
{
    if (path->directory >= 0)
        close(path->directory);
    path->directory = -1;
}
