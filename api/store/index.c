/*
 * The in-memory index: hash tables and rings over entries. An entry is one allocation, together
 * with its key. The sorted index is in index_order.c.
 */
#include <assert.h>
#include <string.h>

#include "api/store/index_order.h"

enum { KEY_MAX = 512 }; /* namespace ≤ 63, name ≤ 253 */

static uint64_t key_hash(const struct index_key *key)
{
    return hash_bytes(key->name, key->name_len) + 31 * hash_bytes(key->ns, key->ns_len);
}

static bool text_equal(const char *text, const char *key, size_t len)
{
    return strncmp(text, key, len) == 0 && !text[len];
}

static bool same_name(const void *item, const void *key)
{
    const struct object *object = ((const struct entry *)item)->object;
    const struct index_key *wanted = key;

    return text_equal(object_name(object), wanted->name, wanted->name_len) &&
           text_equal(object_namespace(object), wanted->ns, wanted->ns_len);
}

static void ring_init(struct ring *head)
{
    head->prev = head->next = head;
}

static bool ring_empty(const struct ring *head)
{
    return head->next == head;
}

static void ring_append(struct ring *head, struct ring *item)
{
    item->prev = head->prev;
    item->next = head;
    head->prev->next = item;
    head->prev = item;
}

static void ring_remove(struct ring *item)
{
    item->prev->next = item->next;
    item->next->prev = item->prev;
}

/* Moves all items from one ring head to another, which is empty. */
static void ring_move(struct ring *from, struct ring *to)
{
    ring_init(to);
    if (ring_empty(from))
        return;
    *to = *from;
    to->next->prev = to;
    to->prev->next = to;
    ring_init(from);
}

static uint64_t uid_hash(const char *uid)
{
    return hash_bytes(uid, strlen(uid));
}

static bool same_uid(const void *item, const void *uid)
{
    return strcmp(((const struct identity *)item)->uid, uid) == 0;
}

static struct identity *identity_find(const struct index *index, const char *uid)
{
    return table_find(&index->identities, uid_hash(uid), same_uid, uid);
}

static void identity_add(struct index *index, struct identity *identity)
{
    table_add(&index->identities, uid_hash(identity->uid), identity);
}

static void identity_remove(struct index *index, const struct identity *identity)
{
    table_remove(&index->identities, uid_hash(identity->uid), identity);
}

/* Creates the identity of an owner that is not stored. The uid is copied behind the struct. */
static struct identity *identity_new_absent(struct index *index, const char *uid)
{
    size_t len = strlen(uid);
    struct identity *identity = mem_alloc(sizeof *identity + len + 1);

    identity->uid = memcpy((char *)(identity + 1), uid, len + 1);
    ring_init(&identity->dependents);
    identity_add(index, identity);
    return identity;
}

static void links_add(struct index *index, struct entry *entry)
{
    const struct meta *meta = entry->object->meta;

    entry->n_links = meta->n_owners;
    entry->links =
        meta->n_owners > 1 ? mem_array(meta->n_owners, sizeof *entry->links) : &entry->link;
    for (uint32_t i = 0; i < meta->n_owners; i++) {
        struct identity *owner = identity_find(index, meta->owners[i].uid);

        if (!owner)
            owner = identity_new_absent(index, meta->owners[i].uid);
        entry->links[i].entry = entry;
        ring_append(&owner->dependents, &entry->links[i].ring);
    }
}

static void links_remove(struct index *index, struct entry *entry)
{
    for (uint32_t i = 0; i < entry->n_links; i++) {
        struct ring *ring = &entry->links[i].ring, *next = ring->next;

        ring_remove(ring);
        if (ring_empty(next)) { /* the ring has only its head */
            struct identity *owner = container_of(next, struct identity, dependents);

            if (!owner->entry) {
                identity_remove(index, owner);
                mem_free(owner);
            }
        }
    }
    if (entry->links != &entry->link)
        mem_free(entry->links);
    entry->n_links = 0;
    entry->links = &entry->link;
}

static bool owners_equal(const struct meta *a, const struct meta *b)
{
    if (a == b)
        return true;
    if (a->n_owners != b->n_owners)
        return false;
    for (uint32_t i = 0; i < a->n_owners; i++)
        if (strcmp(a->owners[i].uid, b->owners[i].uid) != 0)
            return false;
    return true;
}

static struct space *space_find(const struct index *index, const char *ns)
{
    struct space *space = NULL;

    HASH_FIND(hh, index->spaces, ns, strlen(ns), space);
    return space;
}

static struct space *space_of(struct index *index, const char *ns)
{
    struct space *space = space_find(index, ns);
    size_t len = strlen(ns);

    if (space)
        return space;
    space = mem_alloc(sizeof *space + len + 1);
    memcpy(space->name, ns, len + 1);
    for (size_t i = 0; i < KIND_N; i++)
        ring_init(&space->lists[i].ring);
    HASH_ADD_KEYPTR(hh, index->spaces, space->name, len, space);
    return space;
}

static void ns_list_add(struct index *index, struct entry *entry)
{
    struct space *space = space_of(index, object_namespace(entry->object));
    struct kind_list *list = &space->lists[entry->object->kind->id];

    entry->space = space;
    ring_append(&list->ring, &entry->ns_link);
    list->count++;
    space->total++;
    index->total++;
}

static void ns_list_remove(struct index *index, struct entry *entry)
{
    struct space *space = entry->space;

    ring_remove(&entry->ns_link);
    space->lists[entry->object->kind->id].count--;
    index->total--;
    if (--space->total == 0) {
        HASH_DEL(index->spaces, space);
        mem_free(space);
    }
}

struct entry *index_get(const struct index *index, const struct kind *kind, const char *ns,
                        const char *name)
{
    struct index_key key = index_key(ns, name);

    return table_find(&index->names[kind->id], key_hash(&key), same_name, &key);
}

struct entry *index_get_uid(const struct index *index, const char *uid)
{
    const struct identity *identity = identity_find(index, uid);

    return identity ? identity->entry : NULL;
}

/* Links the entry with its identity. `absent` is the identity that dependents created earlier for
 * the same uid, or NULL. */
static void identity_attach(struct index *index, struct entry *entry, struct identity *absent)
{
    entry->identity.uid = object_uid(entry->object);
    entry->identity.entry = entry;
    ring_init(&entry->identity.dependents);
    if (absent) {
        ring_move(&absent->dependents, &entry->identity.dependents);
        identity_remove(index, absent);
        mem_free(absent);
    }
    identity_add(index, &entry->identity);
}

static void identity_detach(struct index *index, struct entry *entry)
{
    struct identity *absent;

    identity_remove(index, &entry->identity);
    if (ring_empty(&entry->identity.dependents))
        return;
    absent = identity_new_absent(index, entry->identity.uid);
    ring_move(&entry->identity.dependents, &absent->dependents);
}

struct entry *index_add(struct index *index, struct object *object)
{
    enum kind_id id = object->kind->id;
    struct index_key key = index_key_of(object);
    uint64_t hash = key_hash(&key);
    struct identity *same = identity_find(index, object_uid(object));
    struct entry *entry;

    if (key.ns_len + 1 + key.name_len > KEY_MAX || (same && same->entry) ||
        table_find(&index->names[id], hash, same_name, &key))
        return NULL;

    entry = mem_alloc(sizeof *entry);
    entry->object = object;
    table_add(&index->names[id], hash, entry);
    identity_attach(index, entry, same);
    links_add(index, entry);
    ns_list_add(index, entry);
    index_order_add(&index->by_name[id], entry);
    return entry;
}

struct object *index_replace(struct index *index, struct entry *entry, struct object *object)
{
    struct object *old = entry->object;

    assert(strcmp(object_uid(old), object_uid(object)) == 0);
    entry->object = object;
    if (old->meta == object->meta)
        return old;
    if (!owners_equal(old->meta, object->meta)) {
        links_remove(index, entry);
        links_add(index, entry);
    }
    entry->identity.uid = object_uid(object); /* points into the metadata */
    return old;
}

struct object *index_remove(struct index *index, struct entry *entry)
{
    enum kind_id id = entry->object->kind->id;
    struct object *object = entry->object;
    struct index_key key = index_key_of(object);

    table_remove(&index->names[id], key_hash(&key), entry);
    links_remove(index, entry);
    identity_detach(index, entry);
    ns_list_remove(index, entry);
    index_order_remove(&index->by_name[id], entry);
    mem_free(entry);
    return object;
}

/* Frees everything. Entries need not be unlinked from the tables first. */
void index_release(struct index *index)
{
    struct space *space, *next;

    for (size_t i = 0; index->identities.slots && i <= index->identities.mask; i++) {
        struct identity *identity = index->identities.slots[i].item;

        if (identity && !identity->entry)
            mem_free(identity);
    }
    for (size_t id = 0; id < KIND_N; id++) {
        struct sorted_index *sorted = &index->by_name[id];

        for (size_t i = 0; i < sorted->count; i++) {
            struct entry *entry = sorted->items[i];

            if (!entry)
                continue;
            if (entry->links != &entry->link)
                mem_free(entry->links);
            object_unref(entry->object);
            mem_free(entry);
        }
        mem_free(sorted->items);
        table_release(&index->names[id]);
    }
    table_release(&index->identities);
    HASH_ITER(hh, index->spaces, space, next)
    {
        HASH_DEL(index->spaces, space);
        mem_free(space);
    }
    *index = (struct index){0};
}

/* Takes references before a walk, so that the visitor may change the index. */

struct snapshot {
    const struct object *few[64];
    const struct object **items;
    size_t count, cap;
};

static void snapshot_init(struct snapshot *snapshot, size_t capacity)
{
    snapshot->count = 0;
    snapshot->cap = capacity <= countof(snapshot->few) ? countof(snapshot->few) : capacity;
    snapshot->items = snapshot->cap == countof(snapshot->few)
                          ? snapshot->few
                          : mem_array(capacity, sizeof *snapshot->items);
}

static void snapshot_add(struct snapshot *snapshot, const struct object *object)
{
    if (snapshot->count == snapshot->cap) {
        bool few = snapshot->items == snapshot->few;

        snapshot->cap *= 2;
        snapshot->items =
            mem_resize(few ? NULL : snapshot->items, snapshot->cap * sizeof *snapshot->items);
        if (few)
            memcpy(snapshot->items, snapshot->few, sizeof snapshot->few);
    }
    snapshot->items[snapshot->count++] = object;
}

static void snapshot_visit(struct snapshot *snapshot, index_visit_fn visit, void *arg)
{
    for (size_t i = 0; i < snapshot->count; i++)
        visit(arg, snapshot->items[i]);
    if (snapshot->items != snapshot->few)
        mem_free(snapshot->items);
}

static void snapshot_list(struct snapshot *snapshot, const struct kind_list *list)
{
    for (const struct ring *at = list->ring.next; at != &list->ring; at = at->next)
        snapshot_add(snapshot, container_of(at, struct entry, ns_link)->object);
}

void index_each(const struct index *index, const struct kind *kind, const char *ns,
                index_visit_fn visit, void *arg)
{
    struct snapshot snapshot;
    const struct space *space;

    snapshot_init(&snapshot, index_count(index, kind, ns));
    if (ns) {
        space = space_find(index, ns);
        if (space)
            snapshot_list(&snapshot, &space->lists[kind->id]);
    } else {
        for (space = index->spaces; space; space = space->hh.next)
            snapshot_list(&snapshot, &space->lists[kind->id]);
    }
    snapshot_visit(&snapshot, visit, arg);
}

void index_each_owned(const struct index *index, const struct kind *kind, const char *owner_uid,
                      index_visit_fn visit, void *arg)
{
    const struct identity *owner = identity_find(index, owner_uid);
    struct snapshot snapshot;

    if (!owner)
        return;
    snapshot_init(&snapshot, 0);
    for (const struct ring *at = owner->dependents.next; at != &owner->dependents; at = at->next) {
        const struct object *object = container_of(at, struct owner_link, ring)->entry->object;

        if (!kind || object->kind == kind)
            snapshot_add(&snapshot, object);
    }
    snapshot_visit(&snapshot, visit, arg);
}

const struct object *index_find_owned(const struct index *index, const char *owner_uid,
                                      bool (*matches)(void *arg, const struct object *object),
                                      void *arg)
{
    const struct identity *owner = identity_find(index, owner_uid);

    if (!owner)
        return NULL;
    for (const struct ring *at = owner->dependents.next; at != &owner->dependents; at = at->next) {
        const struct object *object = container_of(at, struct owner_link, ring)->entry->object;

        if (!matches || matches(arg, object))
            return object;
    }
    return NULL;
}

size_t index_count(const struct index *index, const struct kind *kind, const char *ns)
{
    const struct space *space;

    if (!ns)
        return kind ? index->names[kind->id].count : index->total;
    space = space_find(index, ns);
    if (!space)
        return 0;
    return kind ? space->lists[kind->id].count : space->total;
}
