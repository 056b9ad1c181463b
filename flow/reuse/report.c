/*
 * Lists all that a look-up compares, for a person who asks why a step runs.
 */
#include <string.h>

#include "base/mem.h"
#include "flow/reuse/compare.h"

enum { DIGITS_SHOWN = 6, NS_PER_MS = 1000000, MS_PER_S = 1000 };

static void add(json_t *rows, const char *name, const char *role, bool same, const char *text)
{
    json_array_append_new(rows, json_pack("{s:s, s:s, s:b, s:s}", "name", name, "role", role,
                                          "same", same, "text", text));
}

static const struct cache_part *part_named(const struct cache_parts *parts, const char *name)
{
    for (size_t i = 0; i < parts->count; i++)
        if (strcmp(parts->items[i].name, name) == 0)
            return &parts->items[i];
    return NULL;
}

static const struct cache_file *file_named(const struct cache_entry *entry, const char *path)
{
    for (size_t i = 0; i < entry->files.count; i++)
        if (strcmp(entry->files.items[i].path, path) == 0)
            return &entry->files.items[i];
    return NULL;
}

/* Returns whether a file of the part was written since it was recorded. Where the entry has no stamp
 * of it, the file was new at that time, which is known to the second. */
static bool has_newer_date(const struct cache_entry *entry, const struct reuse_scan *scan,
                           const struct reuse_part *part)
{
    for (size_t f = part->first; f < part->end; f++) {
        const struct cache_file *known = file_named(entry, scan->files.items[f].path);
        const int64_t modified_ns = scan->files.items[f].stamp.modified_ns;
        struct file_stamp stamp;

        if (!known)
            continue;
        if (file_stamp_parse(known->stamp, &stamp)
                ? modified_ns > stamp.modified_ns
                : modified_ns / NS_PER_MS >= entry->made_ms + MS_PER_S)
            return true;
    }
    return false;
}

static void add_part(json_t *rows, const struct cache_entry *entry, const struct reuse_scan *scan,
                     const struct reuse_part *part, const struct cache_part *known,
                     const char *role)
{
    char text[SHA256_TEXT_MAX] = "";
    scoped_str change = NULL;

    sha256_format(&part->digest, text);
    if (known && known->digest && strcmp(known->digest, text) == 0) {
        add(rows, part->name, role, true,
            has_newer_date(entry, scan, part) ? "same content, newer date" : "same content");
        return;
    }
    if (!part->there) {
        add(rows, part->name, role, !known || !known->files, known ? "gone" : "not there");
        return;
    }
    if (known && known->digest)
        change =
            mem_printf("changed: %.*s… -> %.*s…", DIGITS_SHOWN, known->digest, DIGITS_SHOWN, text);
    add(rows, part->name, role, false, change ? change : "new");
}

static void add_parts(json_t *rows, const struct cache_entry *entry, const struct reuse_scan *scan,
                      const struct reuse_parts *parts, const struct cache_parts *known,
                      const char *role)
{
    for (size_t i = 0; i < parts->count; i++)
        add_part(rows, entry, scan, &parts->items[i], part_named(known, parts->items[i].name),
                 role);
}

static bool declares(const struct reuse_parts *parts, const char *name)
{
    for (size_t i = 0; i < parts->count; i++)
        if (strcmp(parts->items[i].name, name) == 0)
            return true;
    return false;
}

/* Words that name nothing now and named nothing then are left out, and so are declared ones. */
static void add_words(json_t *rows, const struct cache_entry *entry, const struct reuse_scan *scan)
{
    for (size_t i = 0; i < scan->words.count; i++) {
        const struct reuse_part *word = &scan->words.items[i];
        const struct cache_part *mention = part_named(&entry->mentions, word->name);
        const struct cache_part *made = part_named(&entry->made, word->name);

        if ((mention || made || word->there) && !declares(&scan->reads, word->name) &&
            !declares(&scan->writes, word->name))
            add_part(rows, entry, scan, word, mention ? mention : made, made ? "made" : "mentions");
    }
}

static void add_targets(json_t *rows, const struct cache_entry *entry,
                        const struct reuse_inputs *now)
{
    for (size_t i = 0; i < entry->targets.count; i++) {
        scoped(buf) struct buf why = {0};
        bool same = reuse_target_holds(entry, now, entry->targets.items[i].step, &why);

        add(rows, entry->targets.items[i].step, "target", same, same ? "same result" : why.data);
    }
}

json_t *reuse_report(const struct cache_entry *entry, const struct reuse_inputs *now,
                     const char *why)
{
    const struct reuse_scan *scan = now->scan;
    json_t *rows = json_array();

    if (why)
        add(rows, "job", "work", false, why);
    add_parts(rows, entry, scan, &scan->reads, &entry->reads, "reads");
    add_words(rows, entry, scan);
    add_parts(rows, entry, scan, &scan->writes, &entry->writes, "writes");
    add_targets(rows, entry, now);
    return rows;
}
