#pragma once
/*
 * The in-memory index of every object of the store: by name, by uid, by owner and by namespace.
 *
 *   by name       one hash table per kind, keyed by namespace and name
 *   by uid        one hash table of identities; an identity also heads the ring of its dependents,
 *                 and exists without an object while dependents name an owner that is not stored
 *   by namespace  per namespace (space) one ring and one count for each kind
 *   sorted        per kind an array sorted by namespace and name, updated when a page is read
 *
 * Look-up is O(1); insertion and removal are O(owners). The index knows nothing of durability.
 */
#include "api/types/object.h"
#include "base/collections/hash.h"
#include "base/collections/table.h"

struct ring {
    struct ring *prev, *next;
};

struct identity {
    const char *uid;
    struct entry *entry;    /* the object of that name; NULL: no such object is stored, only
                             * dependents of it */
    struct ring dependents; /* head of the list owner_link.ring */
};

struct owner_link {
    struct ring ring; /* links the members of identity.dependents */
    struct entry *entry;
};

struct space {
    UT_hash_handle hh;
    struct kind_list {
        struct ring ring; /* links entry.ns_link of the entries of a kind, in order of
                           * creation */
        size_t count;
    } lists[KIND_N];
    size_t total;
    char name[];
};

/* One stored object. The store uses the members of the last group; the index does not. */
struct entry {
    struct object *object; /* the accepted version; owned */
    struct identity identity;
    struct ring ns_link; /* links the entries of a kind in `space` */
    struct space *space;
    size_t position;          /* position in the sorted index of the kind */
    struct owner_link *links; /* links to the owners, [n_links]; &link when there is one */
    struct owner_link link;
    uint32_t n_links;

    uint32_t body;      /* slot of its body (bodies.h) */
    uint8_t neighbours; /* rows of this block given to dependents */
    uint64_t batch;     /* number of the batch in which the object was last written */
    size_t batch_write; /* index of the write in that batch */
};

struct sorted_index {
    struct entry **items; /* entries in order, [count], NULL where one was removed */
    size_t count, cap;
    size_t n_sorted; /* items before this position are sorted */
    size_t holes;
};

struct index {
    struct table names[KIND_N];
    struct sorted_index by_name[KIND_N];
    struct table identities;
    struct space *spaces;
    size_t total;
};

typedef void (*index_visit_fn)(void *arg, const struct object *object);

void index_release(struct index *index); /* removes every object from memory */

struct entry *index_get(const struct index *index, const struct kind *kind, const char *ns,
                        const char *name);
struct entry *index_get_uid(const struct index *index, const char *uid);

/** Adds an object (consumed). NULL, and nothing consumed, when its name or uid is taken or too
 * long. */
struct entry *index_add(struct index *index, struct object *object);
/** Replaces the entry's object with `object` (consumed). Returns the old one, owned. Name and uid
 * must be the same; owners may change. */
struct object *index_replace(struct index *index, struct entry *entry, struct object *object);
/** Removes and frees the entry. Returns its object, owned. */
struct object *index_remove(struct index *index, struct entry *entry);

/* Visits the objects that exist at the time of the call. The visitor may change the store. The same
 * holds for index_each_owned. */
void index_each(const struct index *index, const struct kind *kind, const char *ns,
                index_visit_fn visit, void *arg);
void index_each_owned(const struct index *index, const struct kind *kind, const char *owner_uid,
                      index_visit_fn visit, void *arg);

/** Returns the first dependent for which `matches` is true (NULL: any), in order of creation, or
 * NULL. */
const struct object *index_find_owned(const struct index *index, const char *owner_uid,
                                      bool (*matches)(void *arg, const struct object *object),
                                      void *arg);

/** Returns the number of objects of `kind` (NULL: any) in `ns` (NULL: any). O(1). */
size_t index_count(const struct index *index, const struct kind *kind, const char *ns);

/** Returns up to `limit` objects in (namespace, name) order after the key "ns/name", as references
 * in `out`. */
size_t index_page(struct index *index, const struct kind *kind, const char *ns, const char *after,
                  size_t limit, struct object **out);
