/*
 * Reads, accepted changes, and the delivery of these changes to listeners.
 */
#include <assert.h>
#include <string.h>

#include "api/store/internal.h"
#include "base/mem.h"

static const struct object *entry_object(const struct entry *entry)
{
    return entry ? entry->object : NULL;
}

const struct object *store_get(const struct store *store, const struct kind *kind, const char *ns,
                               const char *name)
{
    return entry_object(index_get(&store->index, kind, ns, name));
}

const struct object *store_get_uid(const struct store *store, const char *uid)
{
    return entry_object(index_get_uid(&store->index, uid));
}

void store_each(const struct store *store, const struct kind *kind, const char *ns,
                void (*visit)(void *arg, const struct object *object), void *arg)
{
    index_each(&store->index, kind, ns, visit, arg);
}

void store_each_owned(const struct store *store, const struct kind *kind, const char *owner_uid,
                      void (*visit)(void *arg, const struct object *object), void *arg)
{
    index_each_owned(&store->index, kind, owner_uid, visit, arg);
}

const struct object *store_find_owned(const struct store *store, const char *owner_uid,
                                      bool (*matches)(void *arg, const struct object *object),
                                      void *arg)
{
    return index_find_owned(&store->index, owner_uid, matches, arg);
}

size_t store_count(const struct store *store, const struct kind *kind, const char *ns)
{
    return index_count(&store->index, kind, ns);
}

int64_t store_revision(const struct store *store)
{
    return store->revision;
}

int64_t store_durable_revision(const struct store *store)
{
    return store->durable_revision;
}

size_t store_page(struct store *store, const struct kind *kind, const char *ns, const char *after,
                  size_t limit, struct object **out)
{
    return index_page(&store->index, kind, ns, after, limit, out);
}

bool store_writable(const struct store *store, struct error *err)
{
    if (store->options.damaged)
        return error_set(err, ERR_FORBIDDEN, "",
                         "the store is damaged and is served for reading only, until \"jobflow "
                         "repair\" has repaired it");
    if (store->options.read_only)
        return error_set(err, ERR_FORBIDDEN, "", "the store was opened for looking only");
    switch (store->state) {
    case STORE_OPEN:
        return true;
    case STORE_FULL:
        return error_set(err, ERR_STORAGE, "",
                         "the disk that holds %s is full; deleting still works, other writes "
                         "will as soon as there is room",
                         store->dir.database);
    case STORE_FAILED:
        break;
    }
    return error_set(err, ERR_INTERNAL, "",
                     "unknown outcome: the store could not be written; restart to recover");
}

bool store_is_read_only(const struct store *store)
{
    return store->options.read_only;
}

bool store_deletable(const struct store *store, struct error *err)
{
    if (store->state != STORE_FULL)
        return store_writable(store, err);
    return !store->no_room ||
           error_set(err, ERR_STORAGE, "",
                     "the disk that holds %s is so full that not even deleting works; it will as "
                     "soon as there is some room",
                     store->dir.database);
}

static void count_bytes(struct store *store, const struct object *old, const struct object *object)
{
    if (old) {
        store->object_bytes_meta -= meta_bytes(old->meta);
        store->object_bytes_status -= old->status ? old->status->len : 0;
    }
    if (object) {
        store->object_bytes_meta += meta_bytes(object->meta);
        store->object_bytes_status += object->status ? object->status->len : 0;
    }
}

static void record(struct store *store, enum store_change type, struct object *old,
                   struct object *object)
{
    changes_add(&store->changes, type, old, object);
    store->gathering.changes_end = store->changes.end;
    store->gathering.revision = object->revision;
    if (store->listeners)
        loop_post(store->loop, &store->listen);
}

/*
 * Chooses the row of a new object. Neighbouring rows share a page, so objects that change together
 * should be neighbours. A dependent (a pod of a flow's job) gets a row in its owner's block while
 * there is room. Objects of kinds with few objects get consecutive rows. Any other object starts a
 * block.
 */
static int64_t row_for(struct store *store, const struct object *object)
{
    const struct meta *meta = object->meta;
    struct entry *owner;

    if (object->kind->few)
        return store->next_few++;
    owner = meta->n_owners ? index_get_uid(&store->index, meta->owners[0].uid) : NULL;
    if (owner && owner->n_links > 0 && owner->object->row > 0 &&
        owner->object->row % ROWS_PER_BLOCK == 0 && owner->neighbours < ROWS_PER_BLOCK - 1)
        return owner->object->row + ++owner->neighbours;
    return ROWS_PER_BLOCK * store->next_block++;
}

/* Adds the row of an entry to the batch. `old` is the version before; NULL: the object is new. */
static void write_row(struct store *store, struct entry *entry, const struct object *old)
{
    struct batch *batch = &store->gathering;
    int64_t body_row = store->bodies.slots[entry->body].row;

    if (entry->batch == batch->number) {
        batch_set_write(batch, entry->batch_write, entry->object, body_row);
        return;
    }
    entry->batch = batch->number;
    entry->batch_write = batch_add_write(batch, entry->object->row, entry->object, body_row, old);
}

static void put_new(struct store *store, struct object *object)
{
    struct entry *entry;

    object->row = row_for(store, object);
    entry = index_add(&store->index, object);
    if (!entry)
        mem_fatal("store_put: the uid belongs to another object");
    entry->body = bodies_use(&store->bodies, object->body, &store->gathering);
    write_row(store, entry, NULL);
    record(store, STORE_ADDED, NULL, object_ref(object));
}

static void put_changed(struct store *store, struct entry *entry, struct object *object)
{
    struct object *old;

    object->row = entry->object->row;
    old = index_replace(&store->index, entry, object);
    if (old->body != object->body) {
        uint32_t body = entry->body;

        entry->body = bodies_use(&store->bodies, object->body, &store->gathering);
        bodies_drop(&store->bodies, body);
    }
    write_row(store, entry, old);
    record(store, STORE_MODIFIED, old, object_ref(object));
}

/* Returns a version whose revision the store may set: a shared object is copied. */
static struct object *own_version(struct object *object)
{
    struct object *copy;

    if (atomic_load(&object->refs) == 1)
        return object;
    copy = object_with_meta(object, meta_ref(object->meta));
    object_unref(object);
    return copy;
}

const struct object *store_put(struct store *store, struct object *object)
{
    struct entry *entry =
        index_get(&store->index, object->kind, object_namespace(object), object_name(object));

    assert(!store->options.read_only && *object_uid(object));
    object = own_version(object);
    object->revision = ++store->revision;
    count_bytes(store, entry_object(entry), object);
    if (entry)
        put_changed(store, entry, object);
    else
        put_new(store, object);
    return object;
}

void store_delete(struct store *store, const struct object *object)
{
    struct entry *entry = index_get_uid(&store->index, object_uid(object));
    struct batch *batch = &store->gathering;
    struct object *old, *last;
    uint32_t body;

    assert(!store->options.read_only);
    if (!entry)
        return;
    if (entry->batch == batch->number)
        batch_set_write(batch, entry->batch_write, NULL, 0);
    else
        batch_add_write(batch, entry->object->row, NULL, 0, entry->object);
    body = entry->body;
    old = index_remove(&store->index, entry);
    bodies_drop(&store->bodies, body);
    count_bytes(store, old, NULL);
    last = object_with_meta(old, meta_ref(old->meta));
    last->revision = ++store->revision;
    record(store, STORE_DELETED, old, last);
}

/* Delivers changes to the listeners. Changes that listeners write meanwhile are delivered in the
 * task's next run, so that other tasks run in between. */
static void tell_listeners(struct task *task)
{
    struct store *store = container_of(task, struct store, listen);
    uint64_t end = store->changes.end;

    while (store->heard < end) {
        struct change change = *changes_at(&store->changes, store->heard++);

        for (struct store_listener *at = store->listeners; at; at = store->next_listener) {
            store->next_listener = at->next;
            at->changed(at, change.type, change.old, change.object);
        }
    }
    store->next_listener = NULL;
    if (store->heard < store->changes.end && store->listeners)
        loop_post(store->loop, &store->listen);
    store_window_trim(store);
}

void store_listen(struct store *store, struct store_listener *listener)
{
    struct store_listener **at = &store->listeners;

    store->listen.run = tell_listeners;
    if (!*at)
        store->heard = store->changes.end;
    while (*at)
        at = &(*at)->next;
    listener->next = NULL;
    *at = listener;
}

void store_unlisten(struct store *store, struct store_listener *listener)
{
    if (store->next_listener == listener)
        store->next_listener = listener->next;
    for (struct store_listener **at = &store->listeners; *at; at = &(*at)->next) {
        if (*at == listener) {
            *at = listener->next;
            break;
        }
    }
    if (!store->listeners)
        loop_cancel(store->loop, &store->listen);
}

void store_each_undelivered(struct store *store,
                            void (*visit)(void *arg, enum store_change change,
                                          const struct object *old, const struct object *object),
                            void *arg)
{
    uint64_t end = store->changes.end;

    for (uint64_t at = store->heard; store->listeners && at < end; at++) {
        struct change change = *changes_at(&store->changes, at);

        visit(arg, change.type, change.old, change.object);
    }
}

void store_stats(const struct store *store, struct store_stats *out)
{
    *out = (struct store_stats){
        .commits = store->commits,
        .rows_written = store->rows_written,
        .changes = store->changes.end,
        .bytes_bound = store->bytes_bound,
        .objects = store->index.total,
        .bodies = store->bodies.live,
        .body_bytes = store->bodies.bytes,
        .meta_bytes = store->object_bytes_meta,
        .status_bytes = store->object_bytes_status,
        .unreadable = store->unreadable,
    };
}
