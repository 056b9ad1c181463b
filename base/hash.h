#pragma once
/*
 * Hash tables. This header configures uthash, whose handle is a member of each item, with XXH3 and
 * a seed drawn at start: names chosen by users cannot be made to collide. Include it instead of
 * <uthash.h>. base/table is for tables of a million items, where a handle of 56 bytes in each item
 * costs too much.
 */
#include <stddef.h>
#include <stdint.h>

/* hash_bytes is seeded for each process. hash_stable is the same in every process; it is for hashes
 * that are stored or shown. */
uint64_t hash_bytes(const void *bytes, size_t len);
uint64_t hash_stable(const void *bytes, size_t len);

#define HASH_FUNCTION(keyptr, keylen, hashv) ((hashv) = (unsigned)hash_bytes((keyptr), (keylen)))
#define uthash_fatal(msg)                    mem_fatal(msg)
#include "base/mem.h"
#include <uthash.h>
