/*
 * The ring buffer of changes. It grows to the largest number of changes that a reader still needs.
 */
#include "api/store/changes.h"

#include <assert.h>

#include "base/mem.h"

static size_t change_bytes(const struct change *change)
{
    const struct blob *status = change->object->status;

    return status && (!change->old || change->old->status != status) ? status->len : 0;
}

static void ring_grow(struct changes *changes)
{
    size_t size = changes->size ? changes->size * 2 : 256;
    struct change *ring = mem_array(size, sizeof *ring);

    for (uint64_t at = changes->first; at < changes->end; at++)
        ring[at & (size - 1)] = *changes_at(changes, at);
    mem_free(changes->ring);
    changes->ring = ring;
    changes->size = size;
}

void changes_add(struct changes *changes, enum store_change type, struct object *old,
                 struct object *object)
{
    struct change *change;

    if (changes->end - changes->first == changes->size)
        ring_grow(changes);
    change = changes_at(changes, changes->end++);
    *change = (struct change){type, old, object};
    changes->bytes += change_bytes(change);
}

void changes_drop_first(struct changes *changes)
{
    struct change *change = changes_at(changes, changes->first);

    assert(changes->first < changes->end);
    changes->bytes -= change_bytes(change);
    object_unref(change->old);
    object_unref(change->object);
    changes->first++;
}

void changes_release(struct changes *changes)
{
    while (changes->first < changes->end)
        changes_drop_first(changes);
    mem_free(changes->ring);
    *changes = (struct changes){0};
}
