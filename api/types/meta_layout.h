#pragma once
/*
 * The memory layout of metadata, shared by meta.c and meta_stored.c: the struct, its arrays, and
 * after them the stored form that its strings point into.
 */
#include "api/types/object.h"

struct meta_block {
    size_t bytes; /* size of the whole allocation */
    const char *stored;
    size_t stored_len;
    struct meta meta;
};
