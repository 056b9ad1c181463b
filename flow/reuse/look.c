/*
 * Looks at the files of a step, part by part, and remembers the first thing that cannot be had.
 */
#include "flow/reuse/look.h"

#include <string.h>

#include "base/collections/hash.h"
#include "base/mem.h"

struct reuse_look *reuse_look_new(struct file_memory *memory)
{
    struct reuse_look *look = mem_alloc(sizeof *look);

    look->arena = arena_new(1024);
    look->memory = memory;
    return look;
}

void reuse_look_free(struct reuse_look *look)
{
    if (!look)
        return;
    file_digests_release(&look->files);
    arena_free(look->arena);
    mem_free(look);
}

/* The walk at hand. Files are counted over all parts of a look. */
struct walking {
    struct reuse_look *look;
    struct digest_walk walk;
};

static void walk_in(struct walking *at, const struct reuse_base *base)
{
    at->walk.base = base->dir;
    at->walk.bounds = base->bounds;
}

static bool look_at(struct walking *at, struct reuse_part *part, struct error *err)
{
    struct reuse_look *look = at->look;
    bool ok;

    if (part->problem)
        return error_set(err, ERR_INVALID, "", "%s: %s", part->name, part->problem);
    walk_in(at, &part->base);
    part->first = look->files.count;
    ok = digest_pattern(&at->walk, part->path, &look->files, err);
    part->end = look->files.count;
    part->there = part->end > part->first && look->files.items[part->first].type != DIGEST_MISSING;
    file_digests_sum(&look->files, part->first, &part->digest);
    return ok;
}

static bool look_at_all(struct walking *at, struct reuse_parts *parts, struct error *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < parts->count; i++)
        ok = look_at(at, &parts->items[i], err);
    return ok;
}

static void look_at_target(struct walking *at, struct reuse_target_files *target)
{
    struct error *err = &at->look->inputs;
    struct sha256_state *state;

    if (err->code || !look_at_all(at, &target->writes, err))
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

static void set_add_files(struct path_set *set, const struct reuse_look *look,
                          const struct reuse_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        for (size_t f = parts->items[i].first; f < parts->items[i].end; f++)
            set_add(set, look->files.items[f].path);
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
    struct reuse_look *look = at->look;
    struct path_set written = {0};

    set_add_files(&written, look, &look->writes);
    walk_in(at, &look->base);
    for (size_t i = 0; !look->inputs.code && i < look->words.count; i++) {
        struct reuse_part *word = &look->words.items[i];

        word->first = look->files.count;
        if (digest_word(&at->walk, word->name, &look->files, &word->there, &look->inputs) &&
            word->there && set_has(&written, look->files.items[word->first].path))
            word->there = false;
        word->end = look->files.count;
        if (word->there)
            word->digest = look->files.items[word->first].digest;
    }
    set_release(&written);
}

void reuse_look_run(struct reuse_look *look)
{
    struct walking at = {look, {.memory = look->memory}};

    look_at_all(&at, &look->reads, &look->inputs);
    look_at_all(&at, &look->writes, &look->outputs);
    if (look->base.dir && !look->inputs.code)
        look_at_words(&at);
    for (size_t i = 0; i < look->n_targets; i++)
        look_at_target(&at, &look->targets[i]);
    digest_walk_release(&at.walk);
}

const char *reuse_look_conflict(const struct reuse_look *look)
{
    struct path_set written = {0};
    const char *found = NULL;

    set_add_files(&written, look, &look->writes);
    for (size_t i = 0; !found && i < look->reads.count; i++) {
        const struct reuse_part *part = &look->reads.items[i];

        for (size_t f = part->first; !found && f < part->end; f++)
            if (look->files.items[f].type == DIGEST_FILE &&
                set_has(&written, look->files.items[f].path))
                found = look->files.items[f].path;
    }
    set_release(&written);
    return found;
}
