#pragma once
/*
 * Hash tables. This header configures uthash, whose handle is a member of each item, with XXH3 and
 * a seed drawn at start: names chosen by users cannot be made to collide. Include it instead of
 * <uthash.h>.
 *
 * uthash is the table for everything that is not large. Two others serve tables of a million items,
 * where a look-up waits for memory (bench/bench_table, a million names, release build):
 *
 *                put     look-up          bytes for each item
 *   hash         158 ns  148 ns           73
 *   table         97 ns  117 ns           34   objects of the store, which live long
 *   name_index    51 ns   57 ns together  25   steps of a flow, built once and then only read
 *
 * With 100 items the three differ by 5 ns at most. One table for all would cost the store 40 bytes
 * for each object, and the admission of a flow twice the time for names.
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
