/*
 * Reads the mounts of this process (proc_pid_mountinfo(5)) and looks for the directory below each
 * mount of its file system.
 */
#include "node/sandbox/mounts/hidden_dirs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

enum { MOUNTS_BYTES_MAX = 8 << 20 };

/* A mount, as a line of the file describes it. */
struct mount_line {
    char *device;       /* MAJOR:MINOR */
    char *root, *point; /* the directory of the file system that is shown, and where */
};

static bool below(const char *path, const char *dir)
{
    size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

    return strncmp(path, dir, len) == 0 && (path[len] == '/' || !path[len]);
}

/* Decodes \ooo, as which blanks and backslashes are written, in place. */
static void decode(char *text)
{
    char *to = text;

    for (const char *at = text; *at; to++) {
        bool octal = at[0] == '\\' && strspn(at + 1, "01234567") >= 3;

        *to = octal ? (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0')) : *at;
        at += octal ? 4 : 1;
    }
    *to = 0;
}

/* Takes the next line; `*rest` moves on. False at the end, or at a line of another form. */
static bool next_line(char **rest, struct mount_line *out)
{
    char *line = strsep(rest, "\n"), *id = strsep(&line, " "), *parent = strsep(&line, " ");

    *out = (struct mount_line){0};
    out->device = strsep(&line, " ");
    out->root = strsep(&line, " ");
    out->point = strsep(&line, " ");
    if (!id || !parent || !out->point)
        return false;
    decode(out->root);
    decode(out->point);
    return true;
}

static void add(struct hidden_dirs *dirs, const char *path)
{
    for (size_t i = 0; i < dirs->n; i++)
        if (strcmp(dirs->paths[i], path) == 0)
            return;
    if (dirs->n < HIDDEN_DIRS_MAX)
        dirs->paths[dirs->n++] = mem_strdup(path);
}

/* The mount that shows `path`: of those above it the deepest, and the last of several there. */
static struct mount_line mount_of(char *text, const char *path)
{
    struct mount_line best = {0}, line;

    for (char *rest = text; next_line(&rest, &line);)
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

/* The path of what a mount shows of the directory, whose path within its file system is `inside`.
 * Owned; NULL = nothing. */
static char *seen_through(const struct mount_line *line, const char *inside, const char *path)
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
    struct mount_line own, line;

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
    for (char *rest = text.data; next_line(&rest, &line);) {
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
