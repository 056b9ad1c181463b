/*
 * Tests writing and reading long statuses (api/store/db/long_status). covers: reliability.md INV-S3 D-08
 * P-11
 */
#include "tests/unit.h"

#include "tests/support/dice.h"
#include "tests/support/disk.h"
#include "tests/support/objects.h"
#include "tests/support/store_fixture.h"

enum { ENTRIES = 4000, CHANGES = 300, REOPEN_EVERY = 70 };

/* Returns a status of several entries. Each has a number that can be changed. */
static char *status_text(const int *numbers, int entries)
{
    scoped(buf) struct buf text = {0};

    buf_str(&text, "{\"entries\":[");
    for (int i = 0; i < entries; i++)
        buf_printf(&text, "%s\"entry-%d is %d\"", i ? "," : "", i, numbers[i]);
    buf_str(&text, "]}");
    return buf_take(&text);
}

static void put_status(struct store_fixture *fixture, const char *name, const char *status)
{
    store_put(fixture->store, sample_with_status(store_fixture_get(fixture, name), status));
    loop_settle(fixture->loop);
}

static void check_status(const struct store_fixture *fixture, const char *name, const char *want)
{
    const struct object *object = store_fixture_get(fixture, name);

    check(name, object && object->status && strcmp(object->status->text, want) == 0);
}

static uint64_t bytes_bound(const struct store_fixture *fixture)
{
    struct store_stats stats;

    store_stats(fixture->store, &stats);
    return stats.bytes_bound;
}

static void it_is_read_back_whatever_was_changed_in_it(void **state)
{
    struct store_fixture fixture = store_fixture_new("changes");
    int *numbers = mem_array(ENTRIES, sizeof *numbers), entries = ENTRIES / 2;
    struct dice dice = {3};

    store_put(fixture.store, sample_object(.name = "a"));
    for (int i = 0; i < CHANGES; i++) {
        scoped_str text = NULL;

        for (int n = 0; n < 3; n++)
            numbers[dice_roll(&dice, entries)] += dice_roll(&dice, 1000);
        if (dice_chance(&dice, 10))
            entries = ENTRIES / 2 + dice_roll(&dice, ENTRIES / 2);
        text = status_text(numbers, entries);
        put_status(&fixture, "a", text);
        if (i % REOPEN_EVERY == REOPEN_EVERY - 1)
            store_fixture_reopen(&fixture);
        check_status(&fixture, "a", text);
    }
    mem_free(numbers);
    store_fixture_free(&fixture);
}

static void a_small_change_is_a_small_write(void **state)
{
    struct store_fixture fixture = store_fixture_new("small");
    int *numbers = mem_array(ENTRIES, sizeof *numbers);
    scoped_str first = status_text(numbers, ENTRIES);
    uint64_t before;

    store_put(fixture.store, sample_object(.name = "a"));
    put_status(&fixture, "a", first);
    before = bytes_bound(&fixture);
    for (int i = 0; i < 10; i++) {
        scoped_str text = NULL;

        numbers[i * ENTRIES / 10] = i;
        text = status_text(numbers, ENTRIES);
        put_status(&fixture, "a", text);
    }
    check("ten changes of one entry each", bytes_bound(&fixture) - before < (size_t)10 * 512);
    mem_free(numbers);
    store_fixture_free(&fixture);
}

static void many_changes_cost_a_few_texts(void **state)
{
    struct store_fixture fixture = store_fixture_new("many");
    int *numbers = mem_array(ENTRIES, sizeof *numbers);
    scoped_str first = status_text(numbers, ENTRIES);
    uint64_t before;
    int64_t parts;

    store_put(fixture.store, sample_object(.name = "a"));
    put_status(&fixture, "a", first);
    before = bytes_bound(&fixture);
    for (int i = 0; i < CHANGES; i++) {
        scoped_str text = NULL;

        numbers[i]++;
        text = status_text(numbers, ENTRIES);
        put_status(&fixture, "a", text);
    }
    check("bytes", bytes_bound(&fixture) - before < 4 * strlen(first));
    store_fixture_close(&fixture);
    parts = store_fixture_ask(&fixture, "SELECT count(*) FROM statuses");
    check("parts", parts >= 1 && parts <= 128);
    mem_free(numbers);
    store_fixture_free(&fixture);
}

static void nothing_is_left_of_one_that_is_gone(void **state)
{
    struct store_fixture fixture = store_fixture_new("gone");
    int *numbers = mem_array(ENTRIES, sizeof *numbers);
    scoped_str text = status_text(numbers, ENTRIES);

    store_put(fixture.store, sample_object(.name = "short", .status = text));
    store_put(fixture.store, sample_object(.name = "deleted", .status = text));
    store_put(fixture.store, sample_object(.name = "later", .status = text));
    store_put(fixture.store, sample_object(.name = "kept", .status = text));
    loop_settle(fixture.loop);
    put_status(&fixture, "short", "{}");
    store_delete(fixture.store, store_fixture_get(&fixture, "deleted"));
    store_fixture_reopen(&fixture);
    check_status(&fixture, "short", "{}");
    check_status(&fixture, "kept", text);
    store_delete(fixture.store, store_fixture_get(&fixture, "later"));
    store_fixture_close(&fixture);
    check_int("rows", store_fixture_ask(&fixture, "SELECT count(*) FROM statuses"), 1);
    mem_free(numbers);
    store_fixture_free(&fixture);
}

static void a_write_that_failed_is_not_built_upon(void **state)
{
    struct store_fixture fixture;
    int *numbers = mem_array(ENTRIES, sizeof *numbers);
    scoped_str first = status_text(numbers, ENTRIES);
    scoped_str second = NULL;
    scoped_str third = NULL;

    disk_install();
    fixture = store_fixture_new("full");
    numbers[ENTRIES / 2] = 1;
    second = status_text(numbers, ENTRIES);
    numbers[ENTRIES / 3] = 2;
    third = status_text(numbers, ENTRIES);
    store_put(fixture.store, sample_object(.name = "a", .status = first));
    store_put(fixture.store, sample_object(.name = "b", .status = first));
    loop_settle(fixture.loop);
    disk_set(DISK_NO_SPACE);
    store_put(fixture.store, sample_with_status(store_fixture_get(&fixture, "a"), second));
    store_delete(fixture.store, store_fixture_get(&fixture, "b"));
    loop_advance(fixture.loop, 100);
    disk_set(DISK_WELL);
    loop_advance(fixture.loop, 5000);
    put_status(&fixture, "a", third);
    store_fixture_reopen(&fixture);
    check_status(&fixture, "a", third);
    assert_null(store_fixture_get(&fixture, "b"));
    store_fixture_close(&fixture);
    check_int("of b nothing",
              store_fixture_ask(&fixture, "SELECT count(DISTINCT id / 256) FROM statuses"), 1);
    mem_free(numbers);
    store_fixture_free(&fixture);
}

static const struct {
    const char *name, *sql;
} damages[] = {
    {"all parts gone", "DELETE FROM statuses WHERE id / 256 = "
                       "(SELECT id FROM objects WHERE name = 'bad')"},
    {"the text gone", "DELETE FROM statuses WHERE id = "
                      "256 * (SELECT id FROM objects WHERE name = 'bad')"},
    {"a delta gone", "DELETE FROM statuses WHERE id = "
                     "256 * (SELECT id FROM objects WHERE name = 'bad') + 1"},
    {"a delta of another text", "UPDATE statuses SET bytes = x'ffff03' WHERE id = "
                                "256 * (SELECT id FROM objects WHERE name = 'bad') + 1"},
};

static void damage_hurts_one_object(void **state)
{
    for (size_t i = 0; i < countof(damages); i++) {
        scoped_str name = mem_printf("damage-%zu", i);
        struct store_fixture fixture = store_fixture_new(name);
        int *numbers = mem_array(ENTRIES, sizeof *numbers);
        scoped_str first = status_text(numbers, ENTRIES);
        scoped_str last = NULL;

        store_put(fixture.store, sample_object(.name = "bad", .status = first));
        store_put(fixture.store, sample_object(.name = "good", .status = first));
        loop_settle(fixture.loop);
        for (int n = 0; n < 2; n++) {
            mem_free(last);
            numbers[n] = 5;
            last = status_text(numbers, ENTRIES);
            put_status(&fixture, "bad", last);
            put_status(&fixture, "good", last);
        }
        store_fixture_close(&fixture);
        store_fixture_sql(&fixture, damages[i].sql);
        store_fixture_reopen(&fixture);
        check(damages[i].name, !store_fixture_get(&fixture, "bad"));
        check_status(&fixture, "good", last);
        mem_free(numbers);
        store_fixture_free(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_read_back_whatever_was_changed_in_it),
        cmocka_unit_test(a_small_change_is_a_small_write),
        cmocka_unit_test(many_changes_cost_a_few_texts),
        cmocka_unit_test(nothing_is_left_of_one_that_is_gone),
        cmocka_unit_test(a_write_that_failed_is_not_built_upon),
        cmocka_unit_test(damage_hurts_one_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
