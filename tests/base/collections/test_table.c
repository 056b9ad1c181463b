#include "tests/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/collections/hash.h"
#include "base/collections/table.h"

static bool same_text(const void *item, const void *key)
{
    return strcmp(item, key) == 0;
}

static void *find(const struct table *table, const char *key)
{
    return table_find(table, hash_bytes(key, strlen(key)), same_text, key);
}

static void an_empty_table_holds_nothing(void **state)
{
    struct table table = {0};

    assert_null(find(&table, "a"));
    assert_false(table_remove(&table, 0, "a"));
    table_release(&table);
}

static void items_are_found_by_their_key(void **state)
{
    enum { COUNT = 1000 };
    static char names[COUNT][16];
    struct table table = {0};

    for (size_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i);
        table_add(&table, hash_bytes(names[i], strlen(names[i])), names[i]);
    }
    assert_int_equal(table.count, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_ptr_equal(find(&table, names[i]), names[i]);
    assert_null(find(&table, "n1000"));
    table_release(&table);
}

/* Entries with the same hash, and with hashes that wrap around the end of the table, stay reachable
 * when one of them is removed. */
static void removal_leaves_the_others_reachable(void **state)
{
    static const uint64_t homes[] = {14, 14, 15, 14, 0, 15, 1, 30};
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

    for (size_t gone = 0; gone < countof(names); gone++) {
        for (size_t then = 0; then < countof(names); then++) {
            struct table table = {0};

            for (size_t i = 0; i < countof(names); i++)
                table_add(&table, homes[i], (void *)(uintptr_t)names[i]);
            assert_true(table_remove(&table, homes[gone], names[gone]));
            assert_false(table_remove(&table, homes[gone], names[gone]));
            assert_int_equal(table_remove(&table, homes[then], names[then]), then != gone);
            for (size_t i = 0; i < countof(names); i++)
                assert_ptr_equal(table_find(&table, homes[i], same_text, names[i]),
                                 i == gone || i == then ? NULL : names[i]);
            table_release(&table);
        }
    }
}

static void equal_hashes_are_told_apart_by_their_keys(void **state)
{
    struct table table = {0};
    char left[] = "left", right[] = "right";

    table_add(&table, 7, left);
    table_add(&table, 7, right);
    assert_ptr_equal(table_find(&table, 7, same_text, "right"), right);
    assert_null(table_find(&table, 7, same_text, "middle"));
    assert_null(table_find(&table, 8, same_text, "left"));
    table_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table_holds_nothing),
        cmocka_unit_test(items_are_found_by_their_key),
        cmocka_unit_test(removal_leaves_the_others_reachable),
        cmocka_unit_test(equal_hashes_are_told_apart_by_their_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
