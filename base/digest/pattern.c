/*
 * Finds what a path or a pattern names, component by component from the base.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest/internal.h"
#include "base/mem.h"

/* What is being matched: the same for all components. */
struct match {
    struct digest_walk *walk;
    struct file_digests *out;
    struct error *err;
};

static bool match_in(struct match *match, int dir_fd, const char *shown, const char *rest,
                     int depth);

bool digest_is_plain(const char *pattern)
{
    return !strpbrk(pattern, "*?[");
}

bool digest_leads_out(const char *pattern)
{
    int depth = 0;

    for (const char *at = pattern; *at;) {
        size_t len = strcspn(at, "/");

        if (len == 2 && strncmp(at, "..", 2) == 0)
            depth--;
        else if (len && !(len == 1 && *at == '.'))
            depth++;
        if (depth < 0)
            return true;
        at += len;
        at += *at == '/';
    }
    return false;
}

/* Whether an error says that a path names nothing. */
static bool names_nothing(int error)
{
    return error == ENOENT || error == ENOTDIR;
}

static const char *after_slashes(const char *path)
{
    while (*path == '/' || (*path == '.' && path[1] == '/'))
        path++;
    return strcmp(path, ".") == 0 ? path + 1 : path;
}

/* Goes on with `rest` in the directory `name`. One that does not exist matches nothing. */
static bool match_below(struct match *match, int dir_fd, const char *name, int flags,
                        const char *shown, const char *rest, int depth)
{
    int fd = digest_open(match->walk, dir_fd, name, O_RDONLY | O_DIRECTORY | flags);
    bool ok;

    if (fd < 0)
        return names_nothing(errno) || (errno == ELOOP && flags) ||
               error_errno(match->err, errno, "%s", shown);
    ok = match_in(match, fd, shown, rest, depth + 1);
    close(fd);
    return ok;
}

static bool add_named(struct match *match, int dir_fd, const char *name, const char *shown)
{
    struct stat info;

    if (digest_stat(match->walk, dir_fd, name, &info))
        return error_errno(match->err, errno, "%s", shown);
    return digest_add(match->walk, dir_fd, name, &info, shown, match->out, match->err);
}

static bool read_names(struct match *match, int dir_fd, const char *shown, struct dir_names *out)
{
    int fd = digest_open(match->walk, dir_fd, ".", O_RDONLY | O_DIRECTORY);

    return (fd >= 0 && dir_names_read(fd, out)) ||
           error_errno(match->err, errno, "%s", *shown ? shown : ".");
}

/* Matches one component with wildcards. `rest` is what follows it; empty: nothing. */
static bool match_wild(struct match *match, int dir_fd, const char *shown, const char *component,
                       const char *rest, int depth)
{
    struct dir_names names = {0};
    bool ok = read_names(match, dir_fd, shown, &names);

    for (size_t i = 0; ok && i < names.count; i++) {
        const char *name = names.items[i];
        scoped_str path = digest_join(shown, name);

        if (fnmatch(component, name, FNM_PERIOD) != 0)
            continue;
        ok = *rest ? match_below(match, dir_fd, name, 0, path, rest, depth)
                   : add_named(match, dir_fd, name, path);
    }
    dir_names_release(&names);
    return ok;
}

/* Matches `**` and what follows it: here, and in every directory below. */
static bool match_deep(struct match *match, int dir_fd, const char *shown, const char *deep,
                       const char *rest, int depth)
{
    struct dir_names names = {0};
    bool ok;

    if (!*rest)
        return add_named(match, dir_fd, ".", *shown ? shown : ".");
    ok = match_in(match, dir_fd, shown, rest, depth) && read_names(match, dir_fd, shown, &names);
    for (size_t i = 0; ok && i < names.count; i++) {
        scoped_str path = digest_join(shown, names.items[i]);

        if (names.items[i][0] != '.')
            ok = match_below(match, dir_fd, names.items[i], O_NOFOLLOW, path, deep, depth);
    }
    dir_names_release(&names);
    return ok;
}

/* Matches the pattern `rest` in the directory `dir_fd`, whose path from the base is `shown`. */
static bool match_in(struct match *match, int dir_fd, const char *shown, const char *rest,
                     int depth)
{
    const char *from = after_slashes(rest), *end = from + strcspn(from, "/"),
               *next = after_slashes(end);
    scoped_str component = mem_printf("%.*s", (int)(end - from), from);
    scoped_str path = digest_join(shown, component);

    if (depth > DIGEST_DEPTH_MAX)
        return error_set(match->err, ERR_TOO_LARGE, "",
                         "%s: more than %d directories inside each other", shown, DIGEST_DEPTH_MAX);
    if (strcmp(component, "**") == 0)
        return match_deep(match, dir_fd, shown, from, next, depth);
    if (!digest_is_plain(component))
        return match_wild(match, dir_fd, shown, component, next, depth);
    if (*next)
        return match_below(match, dir_fd, component, 0, path, next, depth);
    if (faccessat(dir_fd, component, F_OK, AT_SYMLINK_NOFOLLOW) && names_nothing(errno))
        return true;
    return add_named(match, dir_fd, component, path);
}

static bool add_plain(struct match *match, int base_fd, const char *path)
{
    const char *name = after_slashes(path);
    struct stat info;

    if (!*name)
        name = ".";
    if (!digest_stat(match->walk, base_fd, name, &info))
        return digest_add(match->walk, base_fd, name, &info, path, match->out, match->err);
    if (!names_nothing(errno))
        return error_errno(match->err, errno, "%s", path);
    digest_add_missing(path, match->out);
    return true;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct file_digest *)a)->path, ((const struct file_digest *)b)->path);
}

/* Sorts what was added from `first` on, and drops paths that were found twice. */
static void sort(struct file_digests *out, size_t first)
{
    size_t kept = first;

    if (out->count == first)
        return;
    qsort(out->items + first, out->count - first, sizeof *out->items, by_path);
    for (size_t i = first; i < out->count; i++) {
        if (kept > first && strcmp(out->items[kept - 1].path, out->items[i].path) == 0)
            mem_free(out->items[i].path);
        else
            out->items[kept++] = out->items[i];
    }
    out->count = kept;
}

static void close_base(struct digest_walk *walk)
{
    if (walk->opened)
        close(walk->base_fd);
    mem_free(walk->opened);
    walk->opened = NULL;
}

/* Returns a descriptor of the base, which the walk keeps open for the next path. -1 with `err`. */
static int open_base(struct digest_walk *walk, struct error *err)
{
    int fd;

    if (walk->opened && strcmp(walk->opened, walk->base) == 0)
        return walk->base_fd;
    fd = open(walk->base, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        error_errno(err, errno, "%s", walk->base);
        return -1;
    }
    close_base(walk);
    walk->opened = mem_strdup(walk->base);
    walk->base_fd = fd;
    return fd;
}

bool digest_pattern(struct digest_walk *walk, const char *pattern, struct file_digests *out,
                    struct error *err)
{
    struct match match = {walk, out, err};
    size_t first = out->count;
    int fd = open_base(walk, err);
    bool ok;

    if (fd < 0)
        return false;
    ok = digest_is_plain(pattern) ? add_plain(&match, fd, pattern)
                                  : match_in(&match, fd, *pattern == '/' ? "/" : "", pattern, 0);
    sort(out, first);
    return ok;
}

bool digest_word(struct digest_walk *walk, const char *word, struct file_digests *out,
                 bool *out_named, struct error *err)
{
    size_t len = strlen(walk->base);
    struct stat info;
    bool ok = true;
    int fd;

    *out_named = false;
    if (*word == '/') { /* a path of the machine counts if it leads below the base */
        if (strncmp(word, walk->base, len) != 0 || word[len] != '/')
            return true;
        word += len + strspn(word + len, "/");
    }
    if (!*word || digest_leads_out(word))
        return true;
    fd = open_base(walk, err);
    if (fd < 0)
        return false;
    if (!digest_stat(walk, fd, word, &info) && S_ISREG(info.st_mode)) {
        *out_named = true;
        ok = digest_add(walk, fd, word, &info, word, out, err);
    }
    return ok;
}

void file_digests_sum(const struct file_digests *files, size_t first, struct sha256 *out)
{
    struct sha256_state *state = sha256_begin();

    for (size_t i = first; i < files->count; i++) {
        const struct file_digest *file = &files->items[i];
        const char type = (char)file->type;

        sha256_feed(state, &type, 1);
        sha256_feed_sized(state, file->path, strlen(file->path));
        sha256_feed(state, file->digest.bytes, SHA256_BYTES);
    }
    sha256_end(state, out);
}

void file_digests_release(struct file_digests *files)
{
    for (size_t i = 0; i < files->count; i++)
        mem_free(files->items[i].path);
    mem_free(files->items);
    *files = (struct file_digests){0};
}

void digest_walk_release(struct digest_walk *walk)
{
    mem_free(walk->buffer);
    walk->buffer = NULL;
    close_base(walk);
}
