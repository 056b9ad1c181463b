#pragma once
/*
 * Maps names to positions, to find duplicates and to resolve references while validating.
 *
 * It is an open-addressing table, sized once for the expected number of names. Names are borrowed.
 * With many names the table does not fit into the processor's caches, and a look-up reads memory
 * twice: the slot, and the name it points to. The `_all` functions look up many names together, so
 * that these reads overlap.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/scoped.h"

#define NAME_NONE UINT32_MAX

enum { NAMES_TOGETHER = 32 }; /* names that are looked up together */

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
                     size_t names); /* `names` is the largest number of names that will be put */
void name_index_release(struct name_index *index);
SCOPED_DEFINE(name_index, struct name_index, name_index_release)

/** Maps `name` to `position`. Returns its former position, or NAME_NONE. */
uint32_t name_index_put(struct name_index *index, const char *name, uint32_t position);
/* Returns the position of a name, or NAME_NONE. */
uint32_t name_index_get(const struct name_index *index, const char *name);

/** A name that is not terminated by a NUL. */
struct name_part {
    const char *text;
    size_t len;
};

/** Adds names[0] … names[count - 1] in this order, as name_index_put does, with positions `first`,
 * `first` + 1, … The former position of each is written to `before` [count]. */
void name_index_put_all(struct name_index *index, const char *const *names, size_t count,
                        uint32_t first, uint32_t *before);
/** Writes the position of each name to `positions` [count]. */
void name_index_get_all(const struct name_index *index, const char *const *names, size_t count,
                        uint32_t *positions);
void name_index_get_parts(const struct name_index *index, const struct name_part *parts,
                          size_t count, uint32_t *positions);
