#pragma once
/*
 * The list of all changes, newest last: a growing ring buffer, addressed by position since opening.
 *
 *   first ────── durable ────── sealed ────── end
 *     window of past   being       gathered in
 *     changes          committed   this batch
 *
 * Every reader (listener, watch, batch) keeps a position in it, so each change is stored once for
 * all of them. A change holds references to the object before and after. Therefore readers of the
 * store can borrow objects until they return to the loop.
 */
#include "api/store/store.h"

struct change {
    enum store_change type;
    struct object *old;    /* object before the change, owned; NULL on STORE_ADDED */
    struct object *object; /* object after the change, owned; on STORE_DELETED the last state with
                            * the deletion's revision */
};

struct changes {
    struct change *ring; /* the newest changes, [size], a power of two */
    size_t size;
    uint64_t first, end;
    size_t bytes; /* size of the statuses held, which versions do not share */
};

void changes_release(struct changes *changes);
void changes_add(struct changes *changes, enum store_change type, struct object *old,
                 struct object *object); /* takes over both references */
void changes_drop_first(struct changes *changes);

static inline struct change *changes_at(const struct changes *changes, uint64_t position)
{
    return &changes->ring[position & (changes->size - 1)];
}
