#pragma once
/*
 * The head in memory: every object of the store, found by name, by uid, by owner and by namespace.
 *
 *   by name    one hash table per kind, keyed by namespace and name
 *   by uid     one hash table of identities; an identity also heads the ring of its dependents, and
 *              exists without an object while dependents name an owner that is not there
 *   by place   a namespace (space) has a ring and a count per kind
 *   in order   per kind an array sorted by namespace and name, brought up to date when a page is
 *              asked for
 *
 * Look-ups, insertion and removal are O(1) and O(owners); nothing here knows about durability.
 */
#include "api/types/object.h"
#include "base/hash.h"
#include "base/table.h"

struct ring {
    struct ring *prev, *next;
};

struct identity {
    const char *uid;
    struct entry *entry;    /* NULL: only dependents know this uid */
    struct ring dependents; /* of owner_link.ring */
};

struct owner_link {
    struct ring ring; /* in identity.dependents */
    struct entry *entry;
};

struct space {
    UT_hash_handle hh;
    struct kind_list {
        struct ring ring; /* of entry.ns_link, in order of creation */
        size_t count;
    } lists[KIND_N];
    size_t total;
    char name[];
};

/* One stored object. The members of the last group belong to the store, not to the index. */
struct entry {
    struct object *object; /* the accepted version; owned */
    struct identity identity;
    struct ring ns_link; /* in the list of its kind in `space` */
    struct space *space;
    size_t position;          /* in the sorted index of its kind */
    struct owner_link *links; /* [n_links]; &link when there is one */
    struct owner_link link;
    uint32_t n_links;

    uint32_t body;      /* slot of its body (bodies.h) */
    uint8_t neighbours; /* dependents given a row beside this one's */
    uint64_t batch;     /* the batch it was last written in … */
    size_t batch_write; /* … and its place there */
};

struct sorted_index {
    struct entry **items; /* [count], NULL where one was removed */
    size_t count, cap;
    size_t n_sorted; /* items before it are in order */
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

void index_release(struct index *index); /* drops every object */

struct entry *index_get(const struct index *index, const struct kind *kind, const char *ns,
                        const char *name);
struct entry *index_get_uid(const struct index *index, const char *uid);

/** Add an object (consumed) whose name is free; NULL, and nothing consumed, when its name or uid
 * is taken or too long to be one. */
struct entry *index_add(struct index *index, struct object *object);
/** Set the entry's object (consumed: the new one; returned, owned: the old one). Names and uid stay
 * as they are; owners may change. */
struct object *index_replace(struct index *index, struct entry *entry, struct object *object);
/** Take the entry out and free it. Returns its object, owned. */
struct object *index_remove(struct index *index, struct entry *entry);

/* Both visit the objects there are at the time of the call, so the visitor may change the store. */
void index_each(const struct index *index, const struct kind *kind, const char *ns,
                index_visit_fn visit, void *arg);
void index_each_owned(const struct index *index, const struct kind *kind, const char *owner_uid,
                      index_visit_fn visit, void *arg);

/** The first dependent that matches (NULL: any), in the order they came, or NULL. */
const struct object *index_find_owned(const struct index *index, const char *owner_uid,
                                      bool (*matches)(void *arg, const struct object *object),
                                      void *arg);

/** Objects of `kind` (NULL: any) in `ns` (NULL: any). O(1) but for one kind over all namespaces,
 * which is O(1) too. */
size_t index_count(const struct index *index, const struct kind *kind, const char *ns);

/** Up to `limit` objects in (namespace, name) order after the key "ns/name"; references. */
size_t index_page(struct index *index, const struct kind *kind, const char *ns, const char *after,
                  size_t limit, struct object **out);
