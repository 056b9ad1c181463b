#pragma once
/*
 * Hash tables: uthash (intrusive), keyed by XXH3 with a seed drawn at start, so that user-chosen
 * names cannot pile up in one bucket. Include this instead of <uthash.h>.
 */
#include <stddef.h>
#include <stdint.h>

/* hash_bytes: seeded per process; hash_stable: for stored or shown hashes */
uint64_t hash_bytes(const void *bytes, size_t len);
uint64_t hash_stable(const void *bytes, size_t len);

#define HASH_FUNCTION(keyptr, keylen, hashv) ((hashv) = (unsigned)hash_bytes((keyptr), (keylen)))
#define uthash_fatal(msg)                    mem_fatal(msg)
#include "base/mem.h"
#include <uthash.h>
