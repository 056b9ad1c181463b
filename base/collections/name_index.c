/*
 * Linear probing at a load of at most three quarters, by the seeded hash of base. The table has any
 * size: its slots share the hashes evenly among them, in order.
 */
#include "base/collections/name_index.h"

#include <stdbool.h>
#include <string.h>

#include "base/collections/hash.h"
#include "base/mem.h"

enum { FREE_MIN = 4 }; /* slots: there must be one */

void name_index_init(struct name_index *index, size_t names)
{
    index->size = (uint32_t)(names + names / 3 + FREE_MIN);
    index->slots = mem_array_wide(index->size, sizeof *index->slots);
}

void name_index_release(struct name_index *index)
{
    mem_free(index->slots);
    *index = (struct name_index){0};
}

static uint32_t hash_of(const char *name)
{
    return (uint32_t)hash_bytes(name, strlen(name));
}

static struct name_slot *home_of(const struct name_index *index, uint32_t hash)
{
    return &index->slots[(uint64_t)hash * index->size >> 32];
}

/* Returns the slot of the name, or the free one where it belongs. */
static struct name_slot *slot_of(const struct name_index *index, const char *name, uint32_t hash)
{
    struct name_slot *slot = home_of(index, hash), *end = index->slots + index->size;

    while (slot->name && (slot->hash != hash || strcmp(slot->name, name) != 0))
        if (++slot == end)
            slot = index->slots;
    return slot;
}

static uint32_t put(struct name_index *index, const char *name, uint32_t hash, uint32_t position)
{
    struct name_slot *slot = slot_of(index, name, hash);
    uint32_t before = slot->name ? slot->position : NAME_NONE;

    *slot = (struct name_slot){name, position, hash};
    return before;
}

static uint32_t get(const struct name_index *index, const char *name, uint32_t hash)
{
    const struct name_slot *slot = slot_of(index, name, hash);

    return slot->name ? slot->position : NAME_NONE;
}

uint32_t name_index_put(struct name_index *index, const char *name, uint32_t position)
{
    return put(index, name, hash_of(name), position);
}

uint32_t name_index_get(const struct name_index *index, const char *name)
{
    return get(index, name, hash_of(name));
}

static bool is_part(const char *name, const char *part, size_t len)
{
    return strncmp(name, part, len) == 0 && name[len] == '\0';
}

static uint32_t get_part(const struct name_index *index, const char *name, size_t len,
                         uint32_t hash)
{
    const struct name_slot *slot = home_of(index, hash), *end = index->slots + index->size;

    while (slot->name && (slot->hash != hash || !is_part(slot->name, name, len)))
        if (++slot == end)
            slot = index->slots;
    return slot->name ? slot->position : NAME_NONE;
}

/* Hashes at most NAMES_TOGETHER names and prefetches their slots, and then the names in these
 * slots. The prefetches do not block; the look-up itself reads whatever has not arrived. */
static void fetch(const struct name_index *index, const char *const *names, size_t count,
                  uint32_t *hashes)
{
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(names[i]);
    for (size_t i = 0; i < count; i++) {
        hashes[i] = hash_of(names[i]);
        __builtin_prefetch(home_of(index, hashes[i]));
    }
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(home_of(index, hashes[i])->name);
}

static size_t next_run(size_t count, size_t from)
{
    return count - from < NAMES_TOGETHER ? count - from : NAMES_TOGETHER;
}

void name_index_put_all(struct name_index *index, const char *const *names, size_t count,
                        uint32_t first, uint32_t *before)
{
    uint32_t hashes[NAMES_TOGETHER];

    for (size_t from = 0, run; from < count; from += run) {
        run = next_run(count, from);
        fetch(index, names + from, run, hashes);
        for (size_t i = 0; i < run; i++)
            before[from + i] = put(index, names[from + i], hashes[i], first + (uint32_t)(from + i));
    }
}

void name_index_get_all(const struct name_index *index, const char *const *names, size_t count,
                        uint32_t *positions)
{
    uint32_t hashes[NAMES_TOGETHER];

    for (size_t from = 0, run; from < count; from += run) {
        run = next_run(count, from);
        fetch(index, names + from, run, hashes);
        for (size_t i = 0; i < run; i++)
            positions[from + i] = get(index, names[from + i], hashes[i]);
    }
}

void name_index_get_parts(const struct name_index *index, const struct name_part *parts,
                          size_t count, uint32_t *positions)
{
    uint32_t hashes[NAMES_TOGETHER];

    for (size_t from = 0, run; from < count; from += run) {
        run = next_run(count, from);
        for (size_t i = 0; i < run; i++) {
            hashes[i] = (uint32_t)hash_bytes(parts[from + i].text, parts[from + i].len);
            __builtin_prefetch(home_of(index, hashes[i]));
        }
        for (size_t i = 0; i < run; i++)
            __builtin_prefetch(home_of(index, hashes[i])->name);
        for (size_t i = 0; i < run; i++)
            positions[from + i] =
                get_part(index, parts[from + i].text, parts[from + i].len, hashes[i]);
    }
}
