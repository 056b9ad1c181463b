#pragma once
/*
 * Names to positions, for finding duplicates and resolving references while validating.
 *
 * An open-addressing table sized once for the names that will come; names are borrowed. Of many
 * names the table is larger than the caches, and a look-up is two trips to memory: the slot, and
 * the name it points to. Those of many look-ups are on their way at the same time when they are
 * asked for together (name_index_put_all, name_index_get_all).
 */
#include <stddef.h>
#include <stdint.h>

#include "base/scoped.h"

#define NAME_NONE UINT32_MAX

enum { NAMES_TOGETHER = 32 }; /* what is worth asking for together */

struct name_slot {
    const char *name;
    uint32_t position;
    uint32_t hash;
};
struct name_index {
    struct name_slot *slots;
    uint32_t size;
};

void name_index_init(struct name_index *index,
                     size_t names); /* `names` is the most that will be put */
void name_index_release(struct name_index *index);
SCOPED_DEFINE(name_index, struct name_index, name_index_release)

/** Let `name` mean `position`. Returns what it meant before, or NAME_NONE. */
uint32_t name_index_put(struct name_index *index, const char *name, uint32_t position);
uint32_t name_index_get(const struct name_index *index, const char *name); /* or NAME_NONE */

/** A name that is not ended by a NUL. */
struct name_part {
    const char *text;
    size_t len;
};

/** The same for names[0] … names[count - 1], in this order: they mean `first`, `first` + 1, …; what
 * each meant before is written to `before` [count]. */
void name_index_put_all(struct name_index *index, const char *const *names, size_t count,
                        uint32_t first, uint32_t *before);
/** … and what each means, to `positions` [count]. */
void name_index_get_all(const struct name_index *index, const char *const *names, size_t count,
                        uint32_t *positions);
void name_index_get_parts(const struct name_index *index, const struct name_part *parts,
                          size_t count, uint32_t *positions);
