/*
 * Removal closes the gap it makes by moving later items of the same run back, so there are no
 * tombstones and a table that lives long stays as fast as a new one.
 */
#include "base/collections/table.h"

#include <assert.h>

#include "base/mem.h"

enum { FIRST_SIZE = 16 };

void table_release(struct table *table)
{
    mem_free(table->slots);
    *table = (struct table){0};
}

void *table_find(const struct table *table, uint64_t hash, table_same_fn same, const void *key)
{
    if (!table->count)
        return NULL;
    for (size_t i = hash & table->mask; table->slots[i].item; i = (i + 1) & table->mask)
        if (table->slots[i].hash == hash && same(table->slots[i].item, key))
            return table->slots[i].item;
    return NULL;
}

static void put(struct table *table, uint64_t hash, void *item)
{
    size_t i = hash & table->mask;

    while (table->slots[i].item)
        i = (i + 1) & table->mask;
    table->slots[i] = (struct table_slot){hash, item};
}

static void grow(struct table *table)
{
    size_t size = table->slots ? (table->mask + 1) * 2 : FIRST_SIZE;
    struct table larger = {mem_array(size, sizeof *larger.slots), size - 1, table->count};

    for (size_t i = 0; table->slots && i <= table->mask; i++)
        if (table->slots[i].item)
            put(&larger, table->slots[i].hash, table->slots[i].item);
    mem_free(table->slots);
    *table = larger;
}

void table_add(struct table *table, uint64_t hash, void *item)
{
    assert(item);
    if (!table->slots || table->count + 1 > (table->mask + 1) / 4 * 3)
        grow(table);
    put(table, hash, item);
    table->count++;
}

/* May the item at `from` move to the gap: is its home not behind the gap on the way to `from`? */
static bool fills(const struct table *table, size_t gap, size_t from)
{
    size_t home = table->slots[from].hash & table->mask;

    return ((from - home) & table->mask) >= ((from - gap) & table->mask);
}

bool table_remove(struct table *table, uint64_t hash, const void *item)
{
    size_t gap;

    if (!table->count)
        return false;
    for (gap = hash & table->mask; table->slots[gap].item != item; gap = (gap + 1) & table->mask)
        if (!table->slots[gap].item)
            return false;
    for (size_t i = (gap + 1) & table->mask; table->slots[i].item; i = (i + 1) & table->mask) {
        if (!fills(table, gap, i))
            continue;
        table->slots[gap] = table->slots[i];
        gap = i;
    }
    table->slots[gap].item = NULL;
    table->count--;
    return true;
}
