#pragma once
/*
 * A hash table of pointers: open addressing with linear probing, at most three quarters full.
 *
 * A look-up reads one slot of the table and the item that it points to. That matters where a table
 * is larger than the processor's caches. Items need no handle. The caller computes the hash
 * (hash_bytes) and compares keys; the whole hash is stored, so different items are rarely compared.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_slot {
    uint64_t hash;
    void *item; /* item in the slot; NULL: free */
};

struct table {
    struct table_slot *slots; /* the slots, [mask + 1]; NULL while the table is empty */
    size_t mask, count;
};

void table_release(struct table *table); /* frees the slots; items belong to the caller */

/** Returns whether `item` has this key. */
typedef bool (*table_same_fn)(const void *item, const void *key);
/** Returns the item with this hash and key, or NULL. */
void *table_find(const struct table *table, uint64_t hash, table_same_fn same, const void *key);
/** Adds an item (borrowed, not NULL) whose key is not in the table. */
void table_add(struct table *table, uint64_t hash, void *item);
/** Removes an item. False if it is not in the table. */
bool table_remove(struct table *table, uint64_t hash, const void *item);
