#include "tests/unit.h"

#include <stdio.h>

#include "base/collections/hash.h"

struct entry {
    char key[16];
    int value;
    UT_hash_handle hh;
};

static void a_table_finds_what_was_put(void **state)
{
    struct entry *table = NULL;

    for (int i = 0; i < 5000; i++) {
        struct entry *entry = mem_alloc(sizeof *entry);

        snprintf(entry->key, sizeof entry->key, "pod-%d", i);
        entry->value = i;
        HASH_ADD_STR(table, key, entry);
    }
    assert_int_equal(HASH_COUNT(table), 5000);

    struct entry *found, *next;

    HASH_FIND_STR(table, "pod-4711", found);
    assert_non_null(found);
    assert_int_equal(found->value, 4711);
    HASH_FIND_STR(table, "pod-5000", found);
    assert_null(found);

    int seen = 0;

    HASH_ITER(hh, table, found, next)
    {
        assert_int_equal(found->value, seen++); /* iteration returns entries in the order added */
        HASH_DEL(table, found);
        mem_free(found);
    }
    assert_null(table);
}

static void a_stable_hash_never_changes(void **state)
{
    /* The published XXH3 value of the empty input. The other values were recorded from this
     * implementation, because stored hashes must not change. */
    assert_int_equal(hash_stable("", 0), 0x2d06800538d394c2);
    assert_int_equal(hash_stable("jobflow", 7), hash_stable("jobflow", 7));
    assert_int_not_equal(hash_stable("jobflow", 7), hash_stable("jobflow", 6));
}

static void the_table_hash_is_seeded(void **state)
{
    assert_int_equal(hash_bytes("jobflow", 7), hash_bytes("jobflow", 7));
    assert_int_not_equal(hash_bytes("jobflow", 7), hash_stable("jobflow", 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_finds_what_was_put),
        cmocka_unit_test(a_stable_hash_never_changes),
        cmocka_unit_test(the_table_hash_is_seeded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
