#include "tests/unit.h"

#include "base/collections/arena.h"

static void allocations_are_zeroed_aligned_and_apart(void **state)
{
    static const size_t first_chunks[] = {0, 1, 100, 4096, 1 << 20};

    for (size_t i = 0; i < countof(first_chunks); i++) {
        scoped(arena) struct arena *arena = arena_new(first_chunks[i]);
        unsigned char *pieces[400];
        size_t sizes[400];

        for (size_t p = 0; p < countof(pieces); p++) {
            sizes[p] = p % 37 == 0 ? 100000 : p % 11 == 0 ? 3000 : p % 40;
            pieces[p] = arena_alloc(arena, sizes[p]);
            assert_int_equal((uintptr_t)pieces[p] % 16, 0);
            for (size_t b = 0; b < sizes[p]; b++)
                assert_int_equal(pieces[p][b], 0);
            memset(pieces[p], (int)(p % 255 + 1), sizes[p]);
        }
        for (size_t p = 0; p < countof(pieces); p++) {
            for (size_t b = 0; b < sizes[p]; b++)
                assert_int_equal(pieces[p][b], p % 255 + 1);
        }
    }
}

static void text_is_copied(void **state)
{
    scoped(arena) struct arena *arena = arena_new(0);
    char long_text[1000];

    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    assert_string_equal(arena_strdup(arena, "abc"), "abc");
    assert_null(arena_strdup(arena, NULL));
    assert_string_equal(arena_strndup(arena, "abcdef", 3), "abc");
    assert_string_equal(arena_strndup(arena, NULL, 0), "");
    assert_string_equal(arena_printf(arena, "%s-%d", "pod", 3), "pod-3");
    assert_string_equal(arena_printf(arena, "%s", long_text), long_text);
}

static void a_large_allocation_leaves_the_chunk_in_use(void **state)
{
    scoped(arena) struct arena *arena = arena_new(4096);
    char *a = arena_alloc(arena, 16);

    arena_alloc(arena, 1 << 20);

    char *b = arena_alloc(arena, 16);

    assert_in_range(b - a, 16, 64);
}

static void many_small_ones_cost_little_more_than_their_sum(void **state)
{
    scoped(arena) struct arena *arena = arena_new(0);

    const char *before = arena_array(arena, 4, 8);
    int close_by = 0;

    for (int i = 0; i < 100000; i++) {
        const char *at = arena_array(arena, 4, 8);

        close_by += at > before && at - before <= 64;
        before = at;
    }
    assert_in_range(close_by, 99900, 100000); /* all allocations but the first of each chunk lie
                                               * close to the one before */
    arena_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_zeroed_aligned_and_apart),
        cmocka_unit_test(text_is_copied),
        cmocka_unit_test(a_large_allocation_leaves_the_chunk_in_use),
        cmocka_unit_test(many_small_ones_cost_little_more_than_their_sum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
