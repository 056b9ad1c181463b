#pragma once
/*
 * Hash tables: uthash (intrusive), keyed by XXH3 with a seed drawn at start, so that user-chosen names cannot
 * pile up in one bucket. Include this instead of <uthash.h>.
 */
#include <stdint.h>
#include <stddef.h>

uint64_t hash_bytes(const void *bytes, size_t len); /* seeded per process */
uint64_t hash_stable(const void *bytes, size_t len); /* the same in every process, for stored or shown hashes */

#define HASH_FUNCTION(keyptr, keylen, hashv) ((hashv) = (unsigned)hash_bytes((keyptr), (keylen)))
#define uthash_fatal(msg) mem_fatal(msg)
#include "base/mem.h"
#include <uthash.h>
