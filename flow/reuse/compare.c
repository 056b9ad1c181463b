/*
 * Compares what was recorded with what is there.
 */
#include "flow/reuse/compare.h"

#include <string.h>

#include "base/encoding/jsonchars.h"
#include "base/mem.h"
#include "base/timefmt.h"

/* Appends the path of a file as JSON can hold it. */
static char *shown_path(const char *path, struct arena *arena)
{
    scoped(buf) struct buf text = {0};
    size_t left = strlen(path);

    buf_str(&text, "");
    while (left) {
        size_t len =
            (unsigned char)*path < 0x80 ? 1 : jsonchars_utf8((const unsigned char *)path, left);

        if (len)
            buf_add(&text, path, len);
        else
            buf_printf(&text, "\\x%02x", (unsigned char)*path);
        path += len ? len : 1;
        left -= len ? len : 1;
    }
    return arena_strdup(arena, text.data);
}

static bool digest_is(const char *text, const struct sha256 *digest)
{
    struct sha256 known;

    return sha256_parse(text, &known) && sha256_equal(&known, digest);
}

static const struct cache_part *find_part(const struct cache_parts *parts, const char *name)
{
    for (size_t i = 0; i < parts->count; i++)
        if (parts->items[i].name && strcmp(parts->items[i].name, name) == 0)
            return &parts->items[i];
    return NULL;
}

/* Finds a file of the entry. Lists of the same step have the same order but for what has changed, so
 * the search begins at `*at`, behind the file that was found last. */
static const struct cache_file *find_file(const struct cache_entry *entry, const char *path,
                                          size_t *at)
{
    for (size_t i = 0; i < entry->files.count; i++) {
        size_t next = (*at + i) % entry->files.count;

        if (strcmp(entry->files.items[next].path, path) != 0)
            continue;
        *at = next + 1;
        return &entry->files.items[next];
    }
    return NULL;
}

/* Appends which of a part's files differs from what was recorded; or the part, if that is not
 * known. */
static void name_change(const struct cache_entry *entry, const struct reuse_scan *scan,
                        const struct reuse_part *part, struct buf *why)
{
    size_t at = 0;

    for (size_t f = part->first; entry->files.count && f < part->end; f++) {
        const struct file_digest *file = &scan->files.items[f];
        const struct cache_file *known = find_file(entry, file->path, &at);

        if (file->type == DIGEST_MISSING || file->type == DIGEST_DIRECTORY)
            continue;
        if (!known || !known->digest) {
            buf_printf(why, "%s is new", file->path);
            return;
        }
        if (!digest_is(known->digest, &file->digest)) {
            buf_printf(why, "%s changed", file->path);
            return;
        }
    }
    buf_printf(why, part->there ? "%s changed" : "%s is gone", part->name);
}

/* Compares declared paths with the recorded ones. `sort`: "reads" or "writes". */
static bool parts_hold(const struct cache_entry *entry, const struct cache_parts *recorded,
                       const struct reuse_scan *scan, const struct reuse_parts *parts,
                       const char *sort, struct buf *why)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct reuse_part *part = &parts->items[i];
        const struct cache_part *known = find_part(recorded, part->name);

        if (known && digest_is(known->digest, &part->digest))
            continue;
        if (!known)
            buf_printf(why, "%s is new in %s", part->name, sort);
        else
            name_change(entry, scan, part, why);
        return false;
    }
    if (recorded->count != parts->count)
        buf_printf(why, "%s has fewer paths", sort);
    return recorded->count == parts->count;
}

static bool words_hold(const struct cache_entry *entry, const struct reuse_scan *scan,
                       struct buf *why)
{
    size_t found = 0;

    for (size_t i = 0; i < scan->words.count; i++) {
        const struct reuse_part *word = &scan->words.items[i];
        const struct cache_part *known = find_part(&entry->mentions, word->name);

        if (!known)
            known = find_part(&entry->made, word->name);
        found += known != NULL;
        if (!known && !word->there)
            continue;
        if (known && word->there && digest_is(known->digest, &word->digest))
            continue;
        buf_printf(why,
                   !known        ? "%s is new"
                   : word->there ? "%s changed"
                                 : "%s is gone",
                   word->name);
        return false;
    }
    if (found != entry->mentions.count + entry->made.count)
        buf_str(why, "a file that the command names is no longer scanned");
    return found == entry->mentions.count + entry->made.count;
}

static const char *result_of(const struct reuse_inputs *now, size_t i, char text[SHA256_TEXT_MAX])
{
    const struct reuse_target *target = &now->targets[i];

    for (size_t k = 0; !target->result && k < now->scan->n_targets; k++)
        if (strcmp(now->scan->targets[k].step, target->step) == 0)
            sha256_format(&now->scan->targets[k].digest, text);
    return target->result ? target->result : text;
}

/* A step that says what it reads does not depend on targets that do not say what they write. */
static bool counts(const struct reuse_inputs *now, size_t i)
{
    return !now->targets[i].by_job || !now->scan->reads.count;
}

static bool targets_hold(const struct cache_entry *entry, const struct reuse_inputs *now,
                         struct buf *why)
{
    size_t known = 0;

    for (size_t i = 0; i < now->n_targets; i++) {
        char text[SHA256_TEXT_MAX] = "";
        const char *result = result_of(now, i, text), *recorded = NULL;

        if (!counts(now, i))
            continue;
        for (size_t k = 0; !recorded && k < entry->targets.count; k++)
            if (strcmp(entry->targets.items[k].step, now->targets[i].step) == 0)
                recorded = entry->targets.items[k].result;
        known += recorded != NULL;
        if (recorded && strcmp(recorded, result) == 0)
            continue;
        buf_printf(why,
                   !recorded                ? "%s is a new target"
                   : now->targets[i].by_job ? "%s ran"
                                            : "%s wrote something else",
                   now->targets[i].step);
        return false;
    }
    if (known != entry->targets.count)
        buf_str(why, "it has fewer targets");
    return known == entry->targets.count;
}

bool reuse_target_holds(const struct cache_entry *entry, const struct reuse_inputs *now,
                        const char *step, struct buf *why)
{
    const char *recorded = NULL;

    for (size_t k = 0; !recorded && k < entry->targets.count; k++)
        if (strcmp(entry->targets.items[k].step, step) == 0)
            recorded = entry->targets.items[k].result;
    for (size_t i = 0; i < now->n_targets; i++) {
        char text[SHA256_TEXT_MAX] = "";

        if (strcmp(now->targets[i].step, step) != 0 || !counts(now, i))
            continue;
        if (recorded && strcmp(recorded, result_of(now, i, text)) == 0)
            return true;
        buf_str(why, now->targets[i].by_job ? "ran" : "wrote something else");
        return false;
    }
    buf_str(why, "is no target any more");
    return false;
}

static bool is_young(const struct cache_entry *entry, const struct reuse_inputs *now,
                     struct buf *why)
{
    char age[TIME_TEXT_MAX];

    if (now->max_age_ns < 0 || now->now_ms - entry->made_ms < now->max_age_ns / 1000000)
        return true;
    duration_format(now->max_age_ns, age);
    buf_printf(why, "its result is older than %s", age);
    return false;
}

bool reuse_holds(const struct cache_entry *entry, const struct reuse_inputs *now, struct buf *why)
{
    const struct reuse_scan *scan = now->scan;
    scoped(buf) struct buf unused = {0};

    if (!why)
        why = &unused;
    if (scan->inputs.code || scan->outputs.code) {
        buf_str(why, scan->inputs.code ? scan->inputs.message : scan->outputs.message);
        return false;
    }
    return is_young(entry, now, why) &&
           parts_hold(entry, &entry->reads, scan, &scan->reads, "reads", why) &&
           words_hold(entry, scan, why) &&
           parts_hold(entry, &entry->writes, scan, &scan->writes, "writes", why) &&
           targets_hold(entry, now, why);
}

static char *digest_text(const struct sha256 *digest, struct arena *arena)
{
    char *text = arena_alloc(arena, SHA256_TEXT_MAX);

    sha256_format(digest, text);
    return text;
}

static struct cache_part part_of(const struct reuse_part *part, struct arena *arena)
{
    return (struct cache_part){.name = part->name,
                               .digest = digest_text(&part->digest, arena),
                               .files = part->there ? (int32_t)(part->end - part->first) : 0};
}

static struct cache_parts all_parts(const struct reuse_parts *parts, struct arena *arena)
{
    struct cache_parts out = {arena_array(arena, parts->count + 1, sizeof *out.items), 0};

    for (size_t i = 0; i < parts->count; i++)
        out.items[out.count++] = part_of(&parts->items[i], arena);
    return out;
}

/* The digests of the parts remain when files are not listed. */
void reuse_list_files(struct cache_entry *entry, const struct reuse_scan *scan, struct arena *arena)
{
    entry->files.count = 0;
    if (scan->files.count > CACHE_FILES_LISTED)
        return;
    entry->files.items = arena_array(arena, scan->files.count + 1, sizeof *entry->files.items);
    for (size_t i = 0; i < scan->files.count; i++) {
        const struct file_digest *file = &scan->files.items[i];
        struct cache_file *out = &entry->files.items[entry->files.count];

        if (file->type == DIGEST_DIRECTORY)
            continue;
        entry->files.count++;
        out->path = shown_path(file->path, arena);
        if (file->type != DIGEST_MISSING)
            out->digest = digest_text(&file->digest, arena);
        if (file->type == DIGEST_FILE && file->settled) {
            char *stamp = arena_alloc(arena, FILE_STAMP_TEXT_MAX);

            file_stamp_format(&file->stamp, stamp);
            out->stamp = stamp;
        }
    }
}

bool reuse_files_are_known(const struct cache_entry *entry, const struct reuse_scan *scan)
{
    size_t at = 0;

    if (scan->files.count > CACHE_FILES_LISTED)
        return true;
    for (size_t i = 0; i < scan->files.count; i++) {
        const struct file_digest *file = &scan->files.items[i];
        const struct cache_file *known;
        struct file_stamp stamp;

        if (file->type != DIGEST_FILE || !file->settled)
            continue;
        known = find_file(entry, file->path, &at);
        if (!known || !file_stamp_parse(known->stamp, &stamp) ||
            !file_stamp_equal(&stamp, &file->stamp))
            return false;
    }
    return true;
}

static void list_targets(struct cache_entry *entry, const struct reuse_inputs *now,
                         struct arena *arena)
{
    entry->targets.items = arena_array(arena, now->n_targets + 1, sizeof *entry->targets.items);
    for (size_t i = 0; i < now->n_targets; i++) {
        char text[SHA256_TEXT_MAX] = "";
        const char *result = result_of(now, i, text);

        if (counts(now, i))
            entry->targets.items[entry->targets.count++] =
                (struct cache_target){now->targets[i].step, arena_strdup(arena, result)};
    }
}

void reuse_pending(struct cache_entry *entry, const struct reuse_inputs *now,
                   const struct cache_entry *earlier, struct arena *arena)
{
    const struct reuse_parts *words = &now->scan->words;

    entry->reads = all_parts(&now->scan->reads, arena);
    entry->mentions.items = arena_array(arena, words->count + 1, sizeof *entry->mentions.items);
    entry->made.items = arena_array(arena, words->count + 1, sizeof *entry->made.items);
    for (size_t i = 0; i < words->count; i++) {
        const struct reuse_part *word = &words->items[i];

        if (earlier && find_part(&earlier->made, word->name))
            entry->made.items[entry->made.count++] = (struct cache_part){.name = word->name};
        else if (word->there)
            entry->mentions.items[entry->mentions.count++] = part_of(word, arena);
    }
    list_targets(entry, now, arena);
    reuse_list_files(entry, now->scan, arena);
}

static bool inputs_are_the_same(const struct cache_entry *pending, const struct reuse_scan *after,
                                struct buf *why)
{
    for (size_t i = 0; i < after->reads.count; i++) {
        const struct reuse_part *part = &after->reads.items[i];
        const struct cache_part *before = find_part(&pending->reads, part->name);

        if (before && digest_is(before->digest, &part->digest))
            continue;
        buf_str(why, "input ");
        name_change(pending, after, part, why);
        buf_str(why, " while it ran");
        return false;
    }
    return true;
}

/* Words that were inputs must still have the same content; those that have appeared were made. */
static bool take_words(struct cache_entry *out, const struct cache_entry *pending,
                       const struct reuse_scan *after, struct arena *arena, struct buf *why)
{
    out->mentions = pending->mentions;
    out->made.items = arena_array(arena, after->words.count + 1, sizeof *out->made.items);
    out->made.count = 0;
    for (size_t i = 0; i < after->words.count; i++) {
        const struct reuse_part *word = &after->words.items[i];
        const struct cache_part *before = find_part(&pending->mentions, word->name);

        if (!before && word->there)
            out->made.items[out->made.count++] = part_of(word, arena);
        if (!before || (word->there && digest_is(before->digest, &word->digest)))
            continue;
        buf_printf(why,
                   word->there ? "input %s changed while it ran"
                               : "input %s was removed while it ran",
                   word->name);
        return false;
    }
    return true;
}

bool reuse_record(struct cache_entry *out, const struct cache_entry *pending,
                  const struct reuse_scan *after, struct arena *arena, struct buf *why)
{
    const char *conflict;

    if (after->inputs.code || after->outputs.code) {
        buf_str(why, after->inputs.code ? after->inputs.message : after->outputs.message);
        return false;
    }
    for (size_t i = 0; i < after->writes.count; i++)
        if (!after->writes.items[i].there) {
            buf_printf(why, "writes %s, which is not there", after->writes.items[i].name);
            return false;
        }
    conflict = reuse_scan_conflict(after);
    if (conflict) {
        buf_printf(why, "%s is read and written", conflict);
        return false;
    }
    *out = *pending;
    out->state = CACHE_RECORDED;
    out->writes = all_parts(&after->writes, arena);
    reuse_list_files(out, after, arena);
    return inputs_are_the_same(pending, after, why) && take_words(out, pending, after, arena, why);
}

void reuse_recall(const struct cache_entry *entry, struct file_memory *memory)
{
    for (size_t i = 0; i < entry->files.count; i++) {
        const struct cache_file *file = &entry->files.items[i];
        struct file_stamp stamp;
        struct sha256 digest;

        if (file_stamp_parse(file->stamp, &stamp) && sha256_parse(file->digest, &digest))
            file_memory_put(memory, &stamp, &digest);
    }
}
