#pragma once
/*
 * Deep copies of strings and values into an arena. A controller that writes a status uses them to
 * keep the decoded form beside the text, so that the status is not parsed again.
 */
#include <string.h>

#include "api/types/schema/schema.h"

enum { STATUS_ARENA_BYTES = 512 }; /* first chunk; most statuses fit */

/** Copies a string into the arena; NULL stays NULL. */
static inline const char *arena_copy_str(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static inline void *arena_copy(struct arena *arena, const void *items, size_t bytes)
{
    return bytes ? memcpy(arena_alloc(arena, bytes), items, bytes) : NULL;
}

static inline struct str_map arena_copy_map(struct arena *arena, const struct str_map *from)
{
    struct str_map to = {arena_copy(arena, from->items, from->count * sizeof *from->items),
                         from->count};

    for (size_t i = 0; to.items && i < to.count; i++) {
        to.items[i].key = arena_copy_str(arena, from->items[i].key);
        to.items[i].value = arena_copy_str(arena, from->items[i].value);
    }
    return to;
}
