/* The index of cache entries. covers: everyday.md EVD-139 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/jobflow/cache_entry.h"
#include "flow/reuse/index.h"

static void put(struct reuse_index *index, const char *name, const char *key, int64_t made_ms,
                const char *state)
{
    const struct cache_entry entry = {.key = key,
                                      .state = state,
                                      .flow = "f",
                                      .step = key,
                                      .job = name,
                                      .made_ms = made_ms,
                                      .used_ms = made_ms};
    const struct meta meta = {.namespace = "ns", .name = name, .uid = "", .deletion_grace_s = -1};
    struct object *object = object_new(&kind_cache_entry, meta_new(&meta), blob_intern("{}", 2),
                                       cache_entry_blob(&entry));

    reuse_index_put(index, object);
    object_unref(object);
}

static char *recorded(const struct reuse_index *index, const char *key)
{
    struct reuse_row rows[REUSE_CANDIDATES];
    size_t count = reuse_index_recorded(index, "ns", key, rows);
    struct buf text = {0};

    buf_str(&text, "");
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%s", i ? " " : "", rows[i].name);
    return buf_take(&text);
}

static bool any(void *arg, const struct reuse_row *row)
{
    *(const char **)arg = row->name;
    return true;
}

static void candidates_are_the_newest_of_a_key(void **state)
{
    struct reuse_index *index = reuse_index_new(REUSE_ENTRIES_MAX);
    struct reuse_row surplus;
    const char *found = NULL;

    put(index, "b", "k", 2000, CACHE_RECORDED);
    put(index, "c", "k", 3000, CACHE_RECORDED);
    put(index, "a", "k", 1000, CACHE_RECORDED);
    put(index, "p", "k", 0, CACHE_PENDING);
    put(index, "x", "other", 9000, CACHE_RECORDED);
    scoped_str newest = recorded(index, "k");
    assert_string_equal(newest, "c b a");
    assert_true(reuse_index_pending(index, "ns", "k", any, &found));
    assert_string_equal(found, "p");
    assert_true(reuse_index_is_pending(index, "ns", "p"));
    assert_false(reuse_index_is_pending(index, "ns", "c"));
    assert_false(reuse_index_pending(index, "ns", "other", any, &found));
    assert_false(reuse_index_pending(index, "elsewhere", "k", any, &found));
    put(index, "p", "k", 4000, CACHE_RECORDED);
    scoped_str after = recorded(index, "k");
    assert_string_equal(after, "p c b a");
    assert_false(reuse_index_surplus(index, "ns", "k", &surplus));
    for (int i = 0; i < 5; i++) {
        char name[8];

        snprintf(name, sizeof name, "n%d", i);
        put(index, name, "k", 5000 + i * 1000, CACHE_RECORDED);
    }
    assert_true(reuse_index_surplus(index, "ns", "k", &surplus));
    assert_string_equal(surplus.name, "a");
    reuse_index_remove(index, "ns", "a");
    assert_false(reuse_index_surplus(index, "ns", "k", &surplus));
    reuse_index_free(index);
}

static void the_entry_used_longest_ago_is_surplus(void **state)
{
    enum { MOST = 1000 };
    struct reuse_index *index = reuse_index_new(MOST);
    struct reuse_row surplus;
    char name[16];

    for (int i = 0; i < MOST; i++) {
        snprintf(name, sizeof name, "e%d", i);
        put(index, name, name, 1000000 + i * 1000, CACHE_RECORDED);
    }
    assert_false(reuse_index_surplus(index, "ns", "none", &surplus));
    put(index, "e0", "e0", 9000000, CACHE_RECORDED); /* it is used again */
    put(index, "one more", "k", 9000000, CACHE_RECORDED);
    assert_true(reuse_index_surplus(index, "ns", "k", &surplus));
    assert_string_equal(surplus.name, "e1");
    reuse_index_remove(index, "ns", "e1");
    assert_false(reuse_index_surplus(index, "ns", "k", &surplus));
    put(index, "pending", "k", 0, CACHE_PENDING); /* it goes with its job */
    assert_false(reuse_index_surplus(index, "ns", "k", &surplus));
    reuse_index_free(index);
}

static void the_newest_entry_of_a_step_is_known(void **state)
{
    struct reuse_index *index = reuse_index_new(REUSE_ENTRIES_MAX);

    assert_null(reuse_index_of_step(index, "ns", "f", "k"));
    put(index, "old", "k", 1000, CACHE_RECORDED);
    put(index, "new", "k", 2000, CACHE_RECORDED);
    put(index, "pending", "k", 0, CACHE_PENDING);
    assert_string_equal(reuse_index_of_step(index, "ns", "f", "k"), "new");
    assert_null(reuse_index_of_step(index, "ns", "f", "other"));
    reuse_index_remove(index, "ns", "new");
    assert_string_equal(reuse_index_of_step(index, "ns", "f", "k"), "old");
    reuse_index_free(index);
}

static void an_entry_that_is_none_is_left_alone(void **state)
{
    struct reuse_index *index = reuse_index_new(REUSE_ENTRIES_MAX);
    const struct meta meta = {.namespace = "ns", .name = "odd", .uid = "", .deletion_grace_s = -1};
    struct object *object =
        object_new(&kind_cache_entry, meta_new(&meta), blob_intern("{}", 2), NULL);

    reuse_index_put(index, object);
    assert_false(reuse_index_is_pending(index, "ns", "odd"));
    object_unref(object);
    reuse_index_free(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_are_the_newest_of_a_key),
        cmocka_unit_test(the_entry_used_longest_ago_is_surplus),
        cmocka_unit_test(the_newest_entry_of_a_step_is_known),
        cmocka_unit_test(an_entry_that_is_none_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
