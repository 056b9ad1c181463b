/*
 * Reads the mounts of this process and looks for the directory below each mount of its file system.
 */
#include "node/sandbox/mounts/hidden_dirs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "node/sandbox/mounts/mountinfo.h"

enum { MOUNTS_BYTES_MAX = 8 << 20 };

static bool below(const char *path, const char *dir)
{
    size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

    return strncmp(path, dir, len) == 0 && (path[len] == '/' || !path[len]);
}

static void add(struct hidden_dirs *dirs, const char *path)
{
    for (size_t i = 0; i < dirs->n; i++)
        if (strcmp(dirs->paths[i], path) == 0)
            return;
    if (dirs->n < HIDDEN_DIRS_MAX)
        dirs->paths[dirs->n++] = mem_strdup(path);
}

/* Returns the mount that shows `path`: of those above it the deepest, and the last of several
 * there. */
static struct mountinfo mount_of(char *text, const char *path)
{
    struct mountinfo best = {0}, line;

    for (char *rest = text; mountinfo_next(&rest, &line);)
        if (below(path, line.point) && (!best.point || strlen(line.point) >= strlen(best.point)))
            best = line;
    return best;
}

static bool is_same_dir(const char *a, const char *b)
{
    struct stat one, other;

    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Returns the path of what a mount shows of the directory, whose path within its file system is
 * `inside`. Owned; NULL = nothing. */
static char *seen_through(const struct mountinfo *line, const char *inside, const char *path)
{
    char *seen = NULL;
    struct stat info;

    if (below(inside, line->root)) {
        const char *rest = inside + (strcmp(line->root, "/") == 0 ? 0 : strlen(line->root));

        seen = mem_printf("%s%s", strcmp(line->point, "/") == 0 ? "" : line->point, rest);
        if (!is_same_dir(seen, path)) { /* another mount covers it there */
            mem_free(seen);
            seen = NULL;
        }
    } else if (below(line->root, inside) && stat(line->point, &info) == 0 &&
               S_ISDIR(info.st_mode)) {
        seen = mem_strdup(line->point);
    }
    return seen;
}

void hidden_dirs_find(const char *path, struct hidden_dirs *out)
{
    scoped(buf) struct buf text = {0};
    scoped_str copy = NULL;
    scoped_str inside = NULL;
    struct mountinfo own, line;

    *out = (struct hidden_dirs){0};
    add(out, path);
    if (!file_read("/proc/self/mountinfo", MOUNTS_BYTES_MAX, &text, NULL) || !text.len)
        return;
    copy = mem_strdup(text.data);
    own = mount_of(copy, path);
    if (!own.point)
        return;
    inside = mem_printf("%s%s", strcmp(own.root, "/") == 0 ? "" : own.root,
                        path + (strcmp(own.point, "/") == 0 ? 0 : strlen(own.point)));
    for (char *rest = text.data; mountinfo_next(&rest, &line);) {
        scoped_str seen =
            strcmp(line.device, own.device) == 0 ? seen_through(&line, inside, path) : NULL;

        if (seen)
            add(out, seen);
    }
}

void hidden_dirs_release(struct hidden_dirs *dirs)
{
    for (size_t i = 0; i < dirs->n; i++)
        mem_free(dirs->paths[i]);
    dirs->n = 0;
}

bool hidden_dirs_cover(const struct hidden_dirs *dirs, const char *path)
{
    for (size_t i = 0; i < dirs->n; i++)
        if (below(path, dirs->paths[i]))
            return true;
    return false;
}
