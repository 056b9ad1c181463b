#pragma once
/*
 * Names to positions, for finding duplicates and resolving references while validating.
 *
 * An open-addressing table sized once for the names that will come; names are borrowed.
 */
#include "base/scoped.h"
#include <stddef.h>
#include <stdint.h>

#define NAME_NONE UINT32_MAX

struct name_slot {
    const char *name;
    uint32_t position;
    uint32_t hash;
};
struct name_index {
    struct name_slot *slots;
    size_t mask;
};

void name_index_init(struct name_index *index,
                     size_t names); /* `names` is the most that will be put */
void name_index_release(struct name_index *index);
SCOPED_DEFINE(name_index, struct name_index, name_index_release)

/** Let `name` mean `position`. Returns what it meant before, or NAME_NONE. */
uint32_t name_index_put(struct name_index *index, const char *name, uint32_t position);
uint32_t name_index_get(const struct name_index *index, const char *name); /* or NAME_NONE */
