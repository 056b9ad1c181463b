#pragma once
/*
 * A hash table of pointers: open addressing with linear probing, at most three quarters full.
 *
 * A look-up reads one place of the table and the item it finds there, nothing in between, which is
 * what counts where a table is larger than the caches; the items need no handle for it. The caller
 * works the hash out (hash_bytes) and says what is equal; the whole hash is kept, so items that
 * differ are rarely looked at.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_slot {
    uint64_t hash;
    void *item; /* NULL: free */
};

struct table {
    struct table_slot *slots; /* [mask + 1], NULL while empty */
    size_t mask, count;
};

void table_release(struct table *table); /* forgets the items */

/** Whether `item` has this key. */
typedef bool (*table_same_fn)(const void *item, const void *key);
/** The item of this hash and key, or NULL. */
void *table_find(const struct table *table, uint64_t hash, table_same_fn same, const void *key);
/** Add an item (borrowed, not NULL) whose key is not there. */
void table_add(struct table *table, uint64_t hash, void *item);
/** Take an item out; false when it is not there. */
bool table_remove(struct table *table, uint64_t hash, const void *item);
