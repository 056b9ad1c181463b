/*
 * Two hash tables, by name and by key, and a heap by the time of the last use.
 */
#include "flow/reuse/index.h"

#include <string.h>
#include <sys/queue.h>

#include "api/types/kinds/jobflow/cache_entry.h"
#include "base/collections/hash.h"
#include "base/collections/heap.h"
#include "base/mem.h"

struct indexed {
    struct reuse_row row;
    struct same_key *key;
    int64_t made_ms, revision;
    struct heap_item by_use; /* place in the heap, for a recorded entry */
    struct same_step *step;
    LIST_ENTRY(indexed) next, next_of_step;
    UT_hash_handle hh; /* by `id`: namespace/name */
    char id[];
};

/* The entries of one key, newest first. */
struct same_key {
    LIST_HEAD(, indexed) entries;
    size_t recorded;
    UT_hash_handle hh; /* by `id`: namespace/key */
    char id[];
};

/* The entries of one step, in any order. */
struct same_step {
    LIST_HEAD(, indexed) entries;
    UT_hash_handle hh; /* by `id`: namespace/flow/step */
    char id[];
};

struct reuse_index {
    struct indexed *by_name;
    struct same_step *by_step;
    struct same_key *by_key;
    struct heap by_use;
    size_t most;
};

static bool never(const struct heap_item *a, const struct heap_item *b)
{
    return false; /* entries that were used at the same time have no order */
}

struct reuse_index *reuse_index_new(size_t most)
{
    struct reuse_index *index = mem_alloc(sizeof *index);

    index->most = most;
    index->by_use.before = never;
    return index;
}

static struct indexed *find(const struct reuse_index *index, const char *ns, const char *name)
{
    scoped_str id = mem_printf("%s/%s", ns, name);
    struct indexed *entry;

    HASH_FIND_STR(index->by_name, id, entry);
    return entry;
}

static struct same_key *find_key(const struct reuse_index *index, const char *ns, const char *key)
{
    scoped_str id = mem_printf("%s/%s", ns, key);
    struct same_key *same;

    HASH_FIND_STR(index->by_key, id, same);
    return same;
}

static struct same_key *key_of(struct reuse_index *index, const char *ns, const char *key)
{
    struct same_key *same = find_key(index, ns, key);
    size_t len = strlen(ns) + 1 + strlen(key);

    if (same)
        return same;
    same = mem_alloc(sizeof *same + len + 1);
    memcpy(same->id, ns, strlen(ns));
    same->id[strlen(ns)] = '/';
    memcpy(same->id + strlen(ns) + 1, key, strlen(key));
    HASH_ADD_STR(index->by_key, id, same);
    return same;
}

static struct same_step *step_of(struct reuse_index *index, const char *ns,
                                 const struct cache_entry *facts)
{
    scoped_str id =
        mem_printf("%s/%s/%s", ns, facts->flow ? facts->flow : "", facts->step ? facts->step : "");
    size_t len = strlen(id);
    struct same_step *same;

    HASH_FIND_STR(index->by_step, id, same);
    if (same)
        return same;
    same = mem_alloc(sizeof *same + len + 1);
    memcpy(same->id, id, len);
    HASH_ADD_STR(index->by_step, id, same);
    return same;
}

static void take_out(struct reuse_index *index, struct indexed *entry)
{
    struct same_key *same = entry->key;

    LIST_REMOVE(entry, next);
    LIST_REMOVE(entry, next_of_step);
    if (LIST_EMPTY(&entry->step->entries)) {
        HASH_DEL(index->by_step, entry->step);
        mem_free(entry->step);
    }
    heap_remove(&index->by_use, &entry->by_use);
    same->recorded -= entry->row.recorded;
    if (LIST_EMPTY(&same->entries)) {
        HASH_DEL(index->by_key, same);
        mem_free(same);
    }
    HASH_DEL(index->by_name, entry);
    mem_free((char *)(uintptr_t)entry->row.job);
    mem_free((char *)(uintptr_t)entry->row.ns);
    mem_free(entry);
}

void reuse_index_free(struct reuse_index *index)
{
    struct indexed *entry, *next;

    if (!index)
        return;
    HASH_ITER(hh, index->by_name, entry, next)
    take_out(index, entry);
    heap_release(&index->by_use);
    mem_free(index);
}

static void put_in_order(struct same_key *same, struct indexed *entry)
{
    struct indexed *at, *before = NULL;

    LIST_FOREACH(at, &same->entries, next)
    {
        if (at->made_ms <= entry->made_ms)
            break;
        before = at;
    }
    if (before)
        LIST_INSERT_AFTER(before, entry, next);
    else
        LIST_INSERT_HEAD(&same->entries, entry, next);
}

void reuse_index_put(struct reuse_index *index, const struct object *object)
{
    const struct cache_entry *facts = cache_entry_of(object);
    const char *ns = object_namespace(object), *name = object_name(object);
    size_t len = strlen(ns) + 1 + strlen(name);
    struct indexed *entry;

    entry = find(index, ns, name);
    if (entry && object->revision && entry->revision == object->revision)
        return;
    if (entry)
        take_out(index, entry);
    if (!facts->key || !facts->job)
        return; /* no entry of ours */
    entry = mem_alloc(sizeof *entry + len + 1);
    memcpy(entry->id, ns, strlen(ns));
    entry->id[strlen(ns)] = '/';
    memcpy(entry->id + strlen(ns) + 1, name, strlen(name));
    entry->row = (struct reuse_row){.ns = mem_strdup(ns),
                                    .name = entry->id + strlen(ns) + 1,
                                    .job = mem_strdup(facts->job),
                                    .recorded = cache_entry_is_recorded(facts),
                                    .apart = facts->apart};
    entry->made_ms = facts->made_ms;
    entry->revision = object->revision;
    entry->key = key_of(index, ns, facts->key);
    put_in_order(entry->key, entry);
    entry->step = step_of(index, ns, facts);
    LIST_INSERT_HEAD(&entry->step->entries, entry, next_of_step);
    entry->key->recorded += entry->row.recorded;
    if (entry->row.recorded)
        heap_add(&index->by_use, &entry->by_use, facts->used_ms);
    HASH_ADD_STR(index->by_name, id, entry);
}

void reuse_index_remove(struct reuse_index *index, const char *ns, const char *name)
{
    struct indexed *entry = find(index, ns, name);

    if (entry)
        take_out(index, entry);
}

size_t reuse_index_recorded(const struct reuse_index *index, const char *ns, const char *key,
                            struct reuse_row out[REUSE_CANDIDATES])
{
    const struct same_key *same = find_key(index, ns, key);
    const struct indexed *entry;
    size_t count = 0;

    if (!same)
        return 0;
    LIST_FOREACH(entry, &same->entries, next)
    {
        if (entry->row.recorded && count < REUSE_CANDIDATES)
            out[count++] = entry->row;
    }
    return count;
}

const char *reuse_index_of_step(const struct reuse_index *index, const char *ns, const char *flow,
                                const char *step)
{
    scoped_str id = mem_printf("%s/%s/%s", ns, flow, step);
    const struct indexed *entry, *newest = NULL;
    const struct same_step *same;

    HASH_FIND_STR(index->by_step, id, same);
    if (!same)
        return NULL;
    LIST_FOREACH(entry, &same->entries, next_of_step)
    {
        if (entry->row.recorded && (!newest || entry->made_ms > newest->made_ms))
            newest = entry;
    }
    return newest ? newest->row.name : NULL;
}

bool reuse_index_pending(const struct reuse_index *index, const char *ns, const char *key,
                         bool (*visit)(void *arg, const struct reuse_row *row), void *arg)
{
    const struct same_key *same = find_key(index, ns, key);
    const struct indexed *entry;

    if (!same)
        return false;
    LIST_FOREACH(entry, &same->entries, next)
    {
        if (!entry->row.recorded && visit(arg, &entry->row))
            return true;
    }
    return false;
}

bool reuse_index_is_pending(const struct reuse_index *index, const char *ns, const char *name)
{
    const struct indexed *entry = find(index, ns, name);

    return entry && !entry->row.recorded;
}

bool reuse_index_surplus(const struct reuse_index *index, const char *ns, const char *key,
                         struct reuse_row *out)
{
    const struct same_key *same = find_key(index, ns, key);
    const struct indexed *entry, *oldest = NULL;

    if (same && same->recorded > REUSE_CANDIDATES) {
        LIST_FOREACH(entry, &same->entries, next)
        {
            if (entry->row.recorded)
                oldest = entry;
        }
    } else if (index->by_use.count > index->most) {
        oldest = container_of(heap_first(&index->by_use), struct indexed, by_use);
    }
    if (oldest)
        *out = oldest->row;
    return oldest != NULL;
}
