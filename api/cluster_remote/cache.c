/*
 * One hash table for each kind, by namespace and name, and one by the uid of owners.
 *
 * Versions are compared by their revision, which is one counter for the whole server. The marks of
 * deleted objects (tombstones) keep late answers and events from bringing them back.
 */
#include "api/cluster_remote/cache.h"

#include <string.h>
#include <sys/queue.h>

#include "api/types/text/json_text.h"
#include "base/collections/hash.h"
#include "base/mem.h"

enum { NS_PER_MS = 1000000 };

/* Connects an object to one of its owners. */
struct owned {
    struct entry *entry;
    struct owner *owner;
    LIST_ENTRY(owned) of_owner;
};

struct owner {
    UT_hash_handle hh; /* hash table by uid */
    LIST_HEAD(, owned) objects;
    char uid[];
};

struct entry {
    UT_hash_handle hh; /* hash table by namespace/name */
    struct object *object;
    struct owned *owned; /* entries in the table of owners, [n_owned] */
    size_t n_owned;
    unsigned list; /* number of the last list with the object; 0 = none */
    bool followed;
    int64_t asked_ns;            /* when the object was last asked for, unless it is followed */
    TAILQ_ENTRY(entry) answered; /* list of the objects that are not followed */
    char key[];
};

struct tombstone {
    UT_hash_handle hh; /* hash table by uid, in the order of the deletions */
    const struct kind *kind;
    char *ns, *name;
    int64_t at_ns;
    char uid[];
};

struct kind_table {
    struct entry *entries;
    struct owner *owners;
};

struct cache {
    struct loop *loop;
    const struct cache_ops *ops;
    void *ctx;
    struct kind_table kinds[KIND_ALL_N];
    struct tombstone *tombstones;
    TAILQ_HEAD(answered_list, entry) answered;
    unsigned lists;     /* number of lists begun so far */
    struct timer sweep; /* drops what was only answered and old tombstones */
};

static struct kind_table *table_of(struct cache *cache, const struct kind *kind)
{
    return &cache->kinds[kind->id];
}

static int64_t now_ns(const struct cache *cache)
{
    return loop_mono_ns(cache->loop);
}

static struct entry *find(struct cache *cache, const struct kind *kind, const char *ns,
                          const char *name)
{
    scoped_str key = mem_printf("%s/%s", kind->namespaced && ns ? ns : "", name);
    struct entry *entry;

    HASH_FIND_STR(table_of(cache, kind)->entries, key, entry);
    return entry;
}

static struct owner *owner_of(struct kind_table *table, const char *uid)
{
    size_t len = strlen(uid);
    struct owner *owner;

    HASH_FIND_STR(table->owners, uid, owner);
    if (owner)
        return owner;
    owner = mem_alloc(sizeof *owner + len + 1);
    memcpy(owner->uid, uid, len + 1);
    HASH_ADD_KEYPTR(hh, table->owners, owner->uid, len, owner);
    return owner;
}

static void disown(struct kind_table *table, struct entry *entry)
{
    for (size_t i = 0; i < entry->n_owned; i++) {
        struct owner *owner = entry->owned[i].owner;

        LIST_REMOVE(&entry->owned[i], of_owner);
        if (!LIST_EMPTY(&owner->objects))
            continue;
        HASH_DEL(table->owners, owner);
        mem_free(owner);
    }
    mem_free(take(entry->owned));
    entry->n_owned = 0;
}

static void own(struct kind_table *table, struct entry *entry)
{
    const struct meta *meta = entry->object->meta;

    if (!entry->followed || !meta->n_owners)
        return;
    entry->owned = mem_array(meta->n_owners, sizeof *entry->owned);
    for (uint32_t i = 0; i < meta->n_owners; i++) {
        struct owned *owned = &entry->owned[entry->n_owned++];

        owned->entry = entry;
        owned->owner = owner_of(table, meta->owners[i].uid);
        LIST_INSERT_HEAD(&owned->owner->objects, owned, of_owner);
    }
}

static void sweep_soon(struct cache *cache)
{
    if (!timer_armed(&cache->sweep))
        timer_start(cache->loop, &cache->sweep, CACHE_ANSWER_KEPT_MS);
}

static struct entry *add(struct cache *cache, const struct object *object, enum cache_source source)
{
    struct kind_table *table = table_of(cache, object->kind);
    size_t len = strlen(object_namespace(object)) + 1 + strlen(object_name(object));
    struct entry *entry = mem_alloc(sizeof *entry + len + 1);

    memcpy(entry->key, object_namespace(object), strlen(object_namespace(object)));
    entry->key[strlen(object_namespace(object))] = '/';
    memcpy(entry->key + strlen(object_namespace(object)) + 1, object_name(object),
           strlen(object_name(object)));
    entry->object = object_ref(object);
    entry->followed = source == CACHE_FOLLOWED;
    HASH_ADD_KEYPTR(hh, table->entries, entry->key, len, entry);
    own(table, entry);
    if (!entry->followed) {
        entry->asked_ns = now_ns(cache);
        TAILQ_INSERT_TAIL(&cache->answered, entry, answered);
        sweep_soon(cache);
    }
    return entry;
}

static void entry_free(struct cache *cache, struct entry *entry)
{
    struct kind_table *table = table_of(cache, entry->object->kind);

    HASH_DEL(table->entries, entry);
    disown(table, entry);
    if (!entry->followed)
        TAILQ_REMOVE(&cache->answered, entry, answered);
    object_unref(entry->object);
    mem_free(entry);
}

static void add_tombstone(struct cache *cache, const struct object *object)
{
    size_t len = strlen(object_uid(object));
    struct tombstone *tombstone;

    HASH_FIND_STR(cache->tombstones, object_uid(object), tombstone);
    if (tombstone)
        return;
    tombstone = mem_alloc(sizeof *tombstone + len + 1);
    memcpy(tombstone->uid, object_uid(object), len + 1);
    tombstone->kind = object->kind;
    tombstone->ns = mem_strdup(object_namespace(object));
    tombstone->name = mem_strdup(object_name(object));
    tombstone->at_ns = now_ns(cache);
    HASH_ADD_KEYPTR(hh, cache->tombstones, tombstone->uid, len, tombstone);
    sweep_soon(cache);
}

static bool is_buried(struct cache *cache, const struct object *object)
{
    struct tombstone *tombstone;

    HASH_FIND_STR(cache->tombstones, object_uid(object), tombstone);
    return tombstone != NULL;
}

static void tombstone_free(struct cache *cache, struct tombstone *tombstone)
{
    HASH_DEL(cache->tombstones, tombstone);
    mem_free(tombstone->ns);
    mem_free(tombstone->name);
    mem_free(tombstone);
}

static void sweep(struct timer *timer)
{
    struct cache *cache = container_of(timer, struct cache, sweep);
    int64_t now = now_ns(cache);
    struct tombstone *tombstone, *next;
    struct entry *entry, *later;

    for (entry = TAILQ_FIRST(&cache->answered); entry; entry = later) {
        later = TAILQ_NEXT(entry, answered);
        if (now - entry->asked_ns >= (int64_t)CACHE_ANSWER_KEPT_MS * NS_PER_MS)
            entry_free(cache, entry);
    }
    HASH_ITER(hh, cache->tombstones, tombstone, next)
    {
        if (now - tombstone->at_ns >= (int64_t)CACHE_TOMBSTONE_MS * NS_PER_MS &&
            !cache->ops->is_busy(cache->ctx, tombstone->kind, tombstone->ns, tombstone->name))
            tombstone_free(cache, tombstone);
    }
    if (cache->tombstones || !TAILQ_EMPTY(&cache->answered))
        sweep_soon(cache);
}

/* Removes the entry first, because the owner may read the cache when it is told. */
static void end(struct cache *cache, struct entry *entry, const struct object *last)
{
    scoped(object) struct object *known = object_ref(entry->object);
    bool followed = entry->followed;

    entry_free(cache, entry);
    add_tombstone(cache, last ? last : known);
    if (followed)
        cache->ops->changed(cache->ctx, CHANGE_DELETED, known, last ? last : known);
}

/* Returns the status that `object` shall keep: that of the known version when both say the same,
 * because a server writes the members of a status in another order than a controller. Owned. */
static struct blob *status_to_keep(const struct object *known, const struct object *object)
{
    const struct blob *a = known->status, *b = object->status;
    scoped(json) json_t *old = NULL, *new = NULL;

    if (!a || !b || a == b || a->len != b->len)
        return NULL;
    if (memcmp(a->text, b->text, a->len) == 0)
        return blob_ref(a);
    old = json_read(a->text, a->len);
    new = json_read(b->text, b->len);
    return old && new &&json_equal(old, new) ? blob_ref(a) : NULL;
}

static void replace(struct cache *cache, struct entry *entry, const struct object *object,
                    enum cache_source source)
{
    struct kind_table *table = table_of(cache, object->kind);
    scoped(object) struct object *old = entry->object;
    struct blob *status = status_to_keep(old, object);
    bool was_followed = entry->followed;

    entry->object = status ? object_with_status(object, status) : object_ref(object);
    if (!was_followed && source == CACHE_FOLLOWED) {
        TAILQ_REMOVE(&cache->answered, entry, answered);
        entry->followed = true;
    }
    disown(table, entry);
    own(table, entry);
    if (!was_followed && entry->followed)
        cache->ops->changed(cache->ctx, CHANGE_ADDED, NULL, entry->object);
    else if (entry->followed)
        cache->ops->changed(cache->ctx, CHANGE_MODIFIED, old, entry->object);
}

void cache_take(struct cache *cache, const struct object *object, enum cache_source source,
                unsigned list)
{
    struct entry *entry = find(cache, object->kind, object_namespace(object), object_name(object));

    if (is_buried(cache, object))
        return;
    if (entry && strcmp(object_uid(entry->object), object_uid(object)) != 0) {
        if (object->revision < entry->object->revision)
            return; /* an earlier object of this name, which is gone */
        end(cache, entry, NULL);
        entry = NULL;
    }
    if (!entry) {
        entry = add(cache, object, source);
        entry->list = list;
        if (entry->followed)
            cache->ops->changed(cache->ctx, CHANGE_ADDED, NULL, object);
        return;
    }
    if (list)
        entry->list = list;
    if (object->revision > entry->object->revision ||
        (object->revision == entry->object->revision && !entry->followed &&
         source == CACHE_FOLLOWED))
        replace(cache, entry, object, source);
}

void cache_take_end(struct cache *cache, const struct object *last)
{
    struct entry *entry = find(cache, last->kind, object_namespace(last), object_name(last));

    if (entry && strcmp(object_uid(entry->object), object_uid(last)) == 0)
        end(cache, entry, last);
    else
        add_tombstone(cache, last);
}

void cache_forget(struct cache *cache, const struct kind *kind, const char *ns, const char *name,
                  const char *uid)
{
    struct entry *entry = find(cache, kind, ns, name);

    if (entry && strcmp(object_uid(entry->object), uid) == 0)
        end(cache, entry, NULL);
}

unsigned cache_list_begin(struct cache *cache)
{
    return ++cache->lists;
}

void cache_list_end(struct cache *cache, const struct kind *kind, const char *ns, unsigned list,
                    int64_t revision)
{
    struct entry *entry, *next;

    HASH_ITER(hh, table_of(cache, kind)->entries, entry, next)
    {
        if (entry->list == list || !entry->followed || entry->object->revision > revision ||
            (ns && strcmp(object_namespace(entry->object), ns) != 0))
            continue;
        end(cache, entry, NULL);
    }
}

const struct object *cache_get(struct cache *cache, const struct kind *kind, const char *ns,
                               const char *name)
{
    struct entry *entry = find(cache, kind, ns, name);

    if (entry && !entry->followed)
        entry->asked_ns = now_ns(cache);
    return entry ? entry->object : NULL;
}

void cache_each(struct cache *cache, const struct kind *kind, const char *ns,
                void (*visit)(void *arg, const struct object *object), void *arg)
{
    struct entry *entry, *next;

    HASH_ITER(hh, table_of(cache, kind)->entries, entry, next)
    {
        if (entry->followed && (!ns || strcmp(object_namespace(entry->object), ns) == 0))
            visit(arg, entry->object);
    }
}

void cache_each_owned(struct cache *cache, const struct kind *kind, const char *owner_uid,
                      void (*visit)(void *arg, const struct object *object), void *arg)
{
    struct owner *owner;
    struct owned *owned;

    HASH_FIND_STR(table_of(cache, kind)->owners, owner_uid, owner);
    if (!owner)
        return;
    LIST_FOREACH(owned, &owner->objects, of_owner)
    {
        visit(arg, owned->entry->object);
    }
}

struct cache *cache_new(struct loop *loop, const struct cache_ops *ops, void *ctx)
{
    struct cache *cache = mem_alloc(sizeof *cache);

    cache->loop = loop;
    cache->ops = ops;
    cache->ctx = ctx;
    cache->sweep.fire = sweep;
    TAILQ_INIT(&cache->answered);
    return cache;
}

void cache_free(struct cache *cache)
{
    struct tombstone *tombstone, *later;
    struct entry *entry, *next;

    if (!cache)
        return;
    timer_stop(cache->loop, &cache->sweep);
    for (int id = 0; id < KIND_ALL_N; id++)
        HASH_ITER(hh, cache->kinds[id].entries, entry, next) entry_free(cache, entry);
    HASH_ITER(hh, cache->tombstones, tombstone, later) tombstone_free(cache, tombstone);
    mem_free(cache);
}
