/* Long statuses: what is written of them, and what is read back (api/store/db_status).
 * covers: reliability.md INV-S3 D-08 P-11 */
#include "tests/unit.h"

#include "tests/support/dice.h"
#include "tests/support/disk.h"
#include "tests/support/objects.h"
#include "tests/support/store_fixture.h"

enum { ENTRIES = 4000, CHANGES = 300, REOPEN_EVERY = 70 };

/* A status of entries, each with a number of its own that can be changed. */
static char *status_text(const int *numbers, int entries)
{
    scoped(buf) struct buf text = {0};

    buf_str(&text, "{\"entries\":[");
    for (int i = 0; i < entries; i++)
        buf_printf(&text, "%s\"entry-%d is %d\"", i ? "," : "", i, numbers[i]);
    buf_str(&text, "]}");
    return buf_take(&text);
}

static void put_status(struct store_world *world, const char *name, const char *status)
{
    store_put(world->store, sample_with_status(store_world_get(world, name), status));
    loop_settle(world->loop);
}

static void check_status(const struct store_world *world, const char *name, const char *want)
{
    const struct object *object = store_world_get(world, name);

    check(name, object && object->status && strcmp(object->status->text, want) == 0);
}

static uint64_t bytes_bound(const struct store_world *world)
{
    struct store_stats stats;

    store_stats(world->store, &stats);
    return stats.bytes_bound;
}

static void it_is_read_back_whatever_was_changed_in_it(void **state)
{
    struct store_world world = store_world_new("changes");
    int *numbers = mem_array(ENTRIES, sizeof *numbers), entries = ENTRIES / 2;
    struct dice dice = {3};

    store_put(world.store, sample_object(.name = "a"));
    for (int i = 0; i < CHANGES; i++) {
        scoped_str text = NULL;

        for (int n = 0; n < 3; n++)
            numbers[dice_roll(&dice, entries)] += dice_roll(&dice, 1000);
        if (dice_chance(&dice, 10))
            entries = ENTRIES / 2 + dice_roll(&dice, ENTRIES / 2);
        text = status_text(numbers, entries);
        put_status(&world, "a", text);
        if (i % REOPEN_EVERY == REOPEN_EVERY - 1)
            store_world_reopen(&world);
        check_status(&world, "a", text);
    }
    mem_free(numbers);
    store_world_free(&world);
}

static void a_small_change_is_a_small_write(void **state)
{
    struct store_world world = store_world_new("small");
    int *numbers = mem_array(ENTRIES, sizeof *numbers);
    scoped_str first = status_text(numbers, ENTRIES);
    uint64_t before;

    store_put(world.store, sample_object(.name = "a"));
    put_status(&world, "a", first);
    before = bytes_bound(&world);
    for (int i = 0; i < 10; i++) {
        scoped_str text = NULL;

        numbers[i * ENTRIES / 10] = i;
        text = status_text(numbers, ENTRIES);
        put_status(&world, "a", text);
    }
    check("ten changes of one entry each", bytes_bound(&world) - before < (size_t)10 * 512);
    mem_free(numbers);
    store_world_free(&world);
}

static void many_changes_cost_a_few_texts(void **state)
{
    struct store_world world = store_world_new("many");
    int *numbers = mem_array(ENTRIES, sizeof *numbers);
    scoped_str first = status_text(numbers, ENTRIES);
    uint64_t before;
    int64_t parts;

    store_put(world.store, sample_object(.name = "a"));
    put_status(&world, "a", first);
    before = bytes_bound(&world);
    for (int i = 0; i < CHANGES; i++) {
        scoped_str text = NULL;

        numbers[i]++;
        text = status_text(numbers, ENTRIES);
        put_status(&world, "a", text);
    }
    check("bytes", bytes_bound(&world) - before < 4 * strlen(first));
    store_world_close(&world);
    parts = store_world_ask(&world, "SELECT count(*) FROM statuses");
    check("parts", parts >= 1 && parts <= 128);
    mem_free(numbers);
    store_world_free(&world);
}

static void nothing_is_left_of_one_that_is_gone(void **state)
{
    struct store_world world = store_world_new("gone");
    int *numbers = mem_array(ENTRIES, sizeof *numbers);
    scoped_str text = status_text(numbers, ENTRIES);

    store_put(world.store, sample_object(.name = "short", .status = text));
    store_put(world.store, sample_object(.name = "deleted", .status = text));
    store_put(world.store, sample_object(.name = "later", .status = text));
    store_put(world.store, sample_object(.name = "kept", .status = text));
    loop_settle(world.loop);
    put_status(&world, "short", "{}");
    store_delete(world.store, store_world_get(&world, "deleted"));
    store_world_reopen(&world);
    check_status(&world, "short", "{}");
    check_status(&world, "kept", text);
    store_delete(world.store, store_world_get(&world, "later"));
    store_world_close(&world);
    check_int("rows", store_world_ask(&world, "SELECT count(*) FROM statuses"), 1);
    mem_free(numbers);
    store_world_free(&world);
}

static void a_write_that_failed_is_not_built_upon(void **state)
{
    struct store_world world;
    int *numbers = mem_array(ENTRIES, sizeof *numbers);
    scoped_str first = status_text(numbers, ENTRIES);
    scoped_str second = NULL;
    scoped_str third = NULL;

    disk_install();
    world = store_world_new("full");
    numbers[ENTRIES / 2] = 1;
    second = status_text(numbers, ENTRIES);
    numbers[ENTRIES / 3] = 2;
    third = status_text(numbers, ENTRIES);
    store_put(world.store, sample_object(.name = "a", .status = first));
    store_put(world.store, sample_object(.name = "b", .status = first));
    loop_settle(world.loop);
    disk_set(DISK_NO_SPACE);
    store_put(world.store, sample_with_status(store_world_get(&world, "a"), second));
    store_delete(world.store, store_world_get(&world, "b"));
    loop_advance(world.loop, 100);
    disk_set(DISK_WELL);
    loop_advance(world.loop, 5000);
    put_status(&world, "a", third);
    store_world_reopen(&world);
    check_status(&world, "a", third);
    assert_null(store_world_get(&world, "b"));
    store_world_close(&world);
    check_int("of b nothing",
              store_world_ask(&world, "SELECT count(DISTINCT id / 256) FROM statuses"), 1);
    mem_free(numbers);
    store_world_free(&world);
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
        struct store_world world = store_world_new(name);
        int *numbers = mem_array(ENTRIES, sizeof *numbers);
        scoped_str first = status_text(numbers, ENTRIES);
        scoped_str last = NULL;

        store_put(world.store, sample_object(.name = "bad", .status = first));
        store_put(world.store, sample_object(.name = "good", .status = first));
        loop_settle(world.loop);
        for (int n = 0; n < 2; n++) {
            mem_free(last);
            numbers[n] = 5;
            last = status_text(numbers, ENTRIES);
            put_status(&world, "bad", last);
            put_status(&world, "good", last);
        }
        store_world_close(&world);
        store_world_sql(&world, damages[i].sql);
        store_world_reopen(&world);
        check(damages[i].name, !store_world_get(&world, "bad"));
        check_status(&world, "good", last);
        mem_free(numbers);
        store_world_free(&world);
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
