/*
 * Scans at the files of a step, part by part, and remembers the first thing that cannot be had.
 */
#include "flow/reuse/scan.h"

#include <string.h>

#include "base/collections/hash.h"
#include "base/mem.h"

struct reuse_scan *reuse_scan_new(struct file_memory *memory)
{
    struct reuse_scan *scan = mem_alloc(sizeof *scan);

    scan->arena = arena_new(1024);
    scan->memory = memory;
    return scan;
}

void reuse_scan_free(struct reuse_scan *scan)
{
    if (!scan)
        return;
    file_digests_release(&scan->files);
    arena_free(scan->arena);
    mem_free(scan);
}

/* The walk at hand. Files are counted over all parts of a scan. */
struct walking {
    struct reuse_scan *scan;
    struct digest_walk walk;
};

static void walk_in(struct walking *at, const struct reuse_base *base)
{
    at->walk.base = base->dir;
    at->walk.bounds = base->bounds;
}

static bool look_at(struct walking *at, struct reuse_part *part, struct error *err)
{
    struct reuse_scan *scan = at->scan;
    bool ok;

    if (part->problem)
        return error_set(err, ERR_INVALID, "", "%s: %s", part->name, part->problem);
    walk_in(at, &part->base);
    part->first = scan->files.count;
    ok = digest_pattern(&at->walk, part->path, &scan->files, err);
    part->end = scan->files.count;
    part->there = part->end > part->first && scan->files.items[part->first].type != DIGEST_MISSING;
    file_digests_sum(&scan->files, part->first, &part->digest);
    return ok;
}

static bool scan_all(struct walking *at, struct reuse_parts *parts, struct error *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < parts->count; i++)
        ok = look_at(at, &parts->items[i], err);
    return ok;
}

static void scan_target(struct walking *at, struct reuse_target_files *target)
{
    struct error *err = &at->scan->inputs;
    struct sha256_state *state;

    if (err->code || !scan_all(at, &target->writes, err))
        return;
    state = sha256_begin();
    for (size_t i = 0; i < target->writes.count; i++)
        sha256_feed(state, target->writes.items[i].digest.bytes, SHA256_BYTES);
    sha256_end(state, &target->digest);
}

/* A set of paths, without "./" and doubled slashes. */
struct path_set {
    struct known_path *paths;
};
struct known_path {
    UT_hash_handle hh;
    char text[];
};

static struct known_path *path_new(const char *path)
{
    size_t len = strlen(path);
    struct known_path *known = mem_alloc(sizeof *known + len + 1);
    char *out = known->text;

    for (const char *at = path; *at;) {
        bool begins = at == path || at[-1] == '/';

        if (begins && at[0] == '.' && at[1] == '/')
            at += 2;
        else if (begins && at != path && *at == '/')
            at++;
        else
            *out++ = *at++;
    }
    *out = '\0';
    return known;
}

static bool set_has(const struct path_set *set, const char *path)
{
    struct known_path *wanted = path_new(path), *known;

    HASH_FIND_STR(set->paths, wanted->text, known);
    mem_free(wanted);
    return known != NULL;
}

static void set_add(struct path_set *set, const char *path)
{
    struct known_path *added = path_new(path), *known;

    HASH_FIND_STR(set->paths, added->text, known);
    if (known)
        mem_free(added);
    else
        HASH_ADD_STR(set->paths, text, added);
}

static void set_add_files(struct path_set *set, const struct reuse_scan *scan,
                          const struct reuse_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        for (size_t f = parts->items[i].first; f < parts->items[i].end; f++)
            set_add(set, scan->files.items[f].path);
}

static void set_release(struct path_set *set)
{
    struct known_path *path, *next;

    HASH_ITER(hh, set->paths, path, next)
    {
        HASH_DEL(set->paths, path);
        mem_free(path);
    }
}

static void look_at_words(struct walking *at)
{
    struct reuse_scan *scan = at->scan;
    struct path_set written = {0};

    set_add_files(&written, scan, &scan->writes);
    walk_in(at, &scan->base);
    for (size_t i = 0; !scan->inputs.code && i < scan->words.count; i++) {
        struct reuse_part *word = &scan->words.items[i];

        word->first = scan->files.count;
        if (digest_word(&at->walk, word->name, &scan->files, &word->there, &scan->inputs) &&
            word->there && set_has(&written, scan->files.items[word->first].path))
            word->there = false;
        word->end = scan->files.count;
        if (word->there)
            word->digest = scan->files.items[word->first].digest;
    }
    set_release(&written);
}

void reuse_scan_run(struct reuse_scan *scan)
{
    struct walking at = {scan, {.memory = scan->memory}};

    scan_all(&at, &scan->reads, &scan->inputs);
    scan_all(&at, &scan->writes, &scan->outputs);
    if (scan->base.dir && !scan->inputs.code)
        look_at_words(&at);
    for (size_t i = 0; i < scan->n_targets; i++)
        scan_target(&at, &scan->targets[i]);
    digest_walk_release(&at.walk);
}

const char *reuse_scan_conflict(const struct reuse_scan *scan)
{
    struct path_set written = {0};
    const char *found = NULL;

    set_add_files(&written, scan, &scan->writes);
    for (size_t i = 0; !found && i < scan->reads.count; i++) {
        const struct reuse_part *part = &scan->reads.items[i];

        for (size_t f = part->first; !found && f < part->end; f++)
            if (scan->files.items[f].type == DIGEST_FILE &&
                set_has(&written, scan->files.items[f].path))
                found = scan->files.items[f].path;
    }
    set_release(&written);
    return found;
}
