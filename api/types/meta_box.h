#pragma once
/*
 * How metadata lies in memory: the struct, its arrays, and behind them the stored form that its
 * strings are part of. For meta.c and meta_stored.c.
 */
#include "api/types/object.h"

struct boxed_meta {
    size_t bytes; /* of the whole allocation */
    const char *stored;
    size_t stored_len;
    struct meta meta;
};
