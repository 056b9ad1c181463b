/*
 * Compares the three hash tables of base/collections: uthash (hash), pointers (table) and names to
 * positions (name_index). Prints one JSON line.
 *
 *   bench_table [ITEMS [ROUNDS]]
 *
 * ITEMS (default: a million) have names such as "default/flow-123456" of their own. Each is put into
 * the table, then all are looked up in random order, one by one and, in a name_index, 32 together.
 * Times are nanoseconds of CPU time for each item, the best of ROUNDS (default: 5). Bytes are what the
 * table adds to an item: handle, slots and buckets.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/collections/hash.h"
#include "base/collections/name_index.h"
#include "base/collections/table.h"
#include "base/mem.h"

enum { NAME_MAX_BYTES = 40 };

struct item {
    char name[NAME_MAX_BYTES];
};

struct handled {
    struct item item;
    UT_hash_handle hh;
};

/* What is measured of one table. */
struct figures {
    double put_ns, get_ns, get_together_ns, bytes;
};

struct bench {
    size_t n;
    uint32_t *order; /* order of the look-ups, [n] */
    struct figures uthash, table, name_index;
};

static int64_t cpu_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static double allocated(void)
{
    struct mallinfo2 info = mallinfo2();

    return (double)info.uordblks + (double)info.hblkhd;
}

static void best(double *figure, int64_t began_ns, size_t n)
{
    double ns = (double)(cpu_ns() - began_ns) / (double)n;

    if (*figure == 0 || ns < *figure)
        *figure = ns;
}

static void name_item(struct item *item, size_t i)
{
    snprintf(item->name, sizeof item->name, "default/flow-%zu", i * 7919 % 10000019);
}

static void check(const void *found)
{
    if (!found)
        abort();
}

static void measure_uthash(struct bench *b)
{
    struct handled *items = mem_array_wide(b->n, sizeof *items), *all = NULL, *found;
    double before;
    int64_t began_ns;

    for (size_t i = 0; i < b->n; i++)
        name_item(&items[i].item, i);
    before = allocated();
    began_ns = cpu_ns();
    for (size_t i = 0; i < b->n; i++)
        HASH_ADD_STR(all, item.name, &items[i]);
    best(&b->uthash.put_ns, began_ns, b->n);
    b->uthash.bytes = sizeof(UT_hash_handle) + (allocated() - before) / (double)b->n;
    began_ns = cpu_ns();
    for (size_t i = 0; i < b->n; i++) {
        HASH_FIND_STR(all, items[b->order[i]].item.name, found);
        check(found);
    }
    best(&b->uthash.get_ns, began_ns, b->n);
    HASH_CLEAR(hh, all);
    mem_free(items);
}

static bool has_name(const void *item, const void *key)
{
    return strcmp(((const struct item *)item)->name, key) == 0;
}

static uint64_t hash_of(const char *name)
{
    return hash_bytes(name, strlen(name));
}

static void measure_table(struct bench *b)
{
    struct item *items = mem_array_wide(b->n, sizeof *items);
    struct table table = {0};
    double before;
    int64_t began_ns;

    for (size_t i = 0; i < b->n; i++)
        name_item(&items[i], i);
    before = allocated();
    began_ns = cpu_ns();
    for (size_t i = 0; i < b->n; i++)
        table_add(&table, hash_of(items[i].name), &items[i]);
    best(&b->table.put_ns, began_ns, b->n);
    b->table.bytes = (allocated() - before) / (double)b->n;
    began_ns = cpu_ns();
    for (size_t i = 0; i < b->n; i++) {
        const char *name = items[b->order[i]].name;

        check(table_find(&table, hash_of(name), has_name, name));
    }
    best(&b->table.get_ns, began_ns, b->n);
    table_release(&table);
    mem_free(items);
}

static void measure_names(struct bench *b)
{
    struct item *items = mem_array_wide(b->n, sizeof *items);
    const char **names = mem_array_wide(b->n, sizeof *names);
    uint32_t *positions = mem_array_wide(b->n, sizeof *positions);
    struct name_index index;
    double before;
    int64_t began_ns;

    for (size_t i = 0; i < b->n; i++)
        name_item(&items[i], i);
    before = allocated();
    began_ns = cpu_ns();
    name_index_init(&index, b->n);
    for (size_t i = 0; i < b->n; i++)
        name_index_put(&index, items[i].name, (uint32_t)i);
    best(&b->name_index.put_ns, began_ns, b->n);
    b->name_index.bytes = (allocated() - before) / (double)b->n;
    began_ns = cpu_ns();
    for (size_t i = 0; i < b->n; i++)
        if (name_index_get(&index, items[b->order[i]].name) != b->order[i])
            abort();
    best(&b->name_index.get_ns, began_ns, b->n);
    for (size_t i = 0; i < b->n; i++)
        names[i] = items[b->order[i]].name;
    began_ns = cpu_ns();
    name_index_get_all(&index, names, b->n, positions);
    best(&b->name_index.get_together_ns, began_ns, b->n);
    name_index_release(&index);
    mem_free(positions);
    mem_free(names);
    mem_free(items);
}

static void shuffle(struct bench *b)
{
    /* A fixed seed gives the same keys in each run. */
    struct clock *clock = clock_virtual_new(0, 1);

    b->order = mem_array_wide(b->n, sizeof *b->order);
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t other = (uint32_t)(clock_random(clock) % (i + 1));

        b->order[i] = b->order[other];
        b->order[other] = i;
    }
    clock_free(clock);
}

static void print(const char *name, const struct figures *figures)
{
    printf("\"%s\": {\"put_ns\": %.0f, \"get_ns\": %.0f, ", name, figures->put_ns, figures->get_ns);
    if (figures->get_together_ns > 0)
        printf("\"get_together_ns\": %.0f, ", figures->get_together_ns);
    printf("\"bytes\": %.0f}", figures->bytes);
}

int main(int argc, char **argv)
{
    struct bench bench = {.n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000};
    unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 5;

    shuffle(&bench);
    for (unsigned long i = 0; i < rounds; i++) {
        measure_uthash(&bench);
        measure_table(&bench);
        measure_names(&bench);
    }
    printf("{\"items\": %zu, ", bench.n);
    print("uthash", &bench.uthash);
    printf(", ");
    print("table", &bench.table);
    printf(", ");
    print("name_index", &bench.name_index);
    printf("}\n");
    mem_free(bench.order);
    return 0;
}
