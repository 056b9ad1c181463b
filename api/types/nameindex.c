/*
 * Linear probing at a load of at most one half, by the seeded hash of base.
 */
#include "api/types/nameindex.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

void name_index_init(struct name_index *index, size_t names)
{
    size_t size = 8;

    while (size < names * 2)
        size *= 2;
    index->mask = size - 1;
    index->slots = mem_array(size, sizeof *index->slots);
}

void name_index_release(struct name_index *index)
{
    mem_free(index->slots);
    *index = (struct name_index){0};
}

/* The slot of the name, or the free one where it belongs. */
static struct name_slot *slot_of(const struct name_index *index, const char *name, uint32_t hash)
{
    for (size_t i = hash & index->mask;; i = (i + 1) & index->mask) {
        struct name_slot *slot = &index->slots[i];

        if (!slot->name || (slot->hash == hash && strcmp(slot->name, name) == 0))
            return slot;
    }
}

uint32_t name_index_put(struct name_index *index, const char *name, uint32_t position)
{
    uint32_t hash = (uint32_t)hash_bytes(name, strlen(name));
    struct name_slot *slot = slot_of(index, name, hash);
    uint32_t before = slot->name ? slot->position : NAME_NONE;

    *slot = (struct name_slot){name, position, hash};
    return before;
}

uint32_t name_index_get(const struct name_index *index, const char *name)
{
    const struct name_slot *slot = slot_of(index, name, (uint32_t)hash_bytes(name, strlen(name)));

    return slot->name ? slot->position : NAME_NONE;
}
