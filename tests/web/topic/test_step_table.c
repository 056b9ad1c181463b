/*
 * Tests the table of the states of steps: what a reader gets, and that it gets each change once.
 */
#include "tests/unit.h"

#include "web/topic/step_table.h"

enum { ROOM = 1 << 20 };

static void check_written(const struct step_table *table, struct bitset *unread, size_t most,
                          const char *wanted, bool more)
{
    scoped(buf) struct buf out = {0};

    check_int("more", step_table_write(table, unread, most, &out), more);
    check_str("line", out.len ? out.data : "", wanted);
}

/* covers: web.md WEB-075 */
static void a_reader_gets_the_last_state_of_each_vertex_once(void **state)
{
    struct step_table table = {0};
    struct bitset unread = {0};

    step_table_init(&table, 200);
    assert_true(step_table_set(&table, 3, &(struct step_values){1, 1, 5, 6, 0}));
    assert_false(step_table_set(&table, 3, &(struct step_values){1, 1, 5, 6, 0}));
    assert_true(step_table_set(&table, 4, &(struct step_values){0}));
    step_table_rewind(&table, &unread);
    check_written(&table, &unread, ROOM,
                  ",\"from\":3,\"phase\":[1,0],\"attempt\":[1,0],\"made\":[5,0],\"run\":[6,0],"
                  "\"end\":[0,0]",
                  false);
    check_written(&table, &unread, ROOM, "", false);
    for (uint32_t end = 7; end < 10; end++) {
        assert_true(step_table_set(&table, 3, &(struct step_values){2, 1, 5, 6, end}));
        bitset_add(&unread, 3);
    }
    assert_true(step_table_set(&table, 199, &(struct step_values){2, 2, 1, 2, 3}));
    bitset_add(&unread, 199);
    check_written(&table, &unread, ROOM,
                  ",\"i\":[3,199],\"phase\":[2,2],\"attempt\":[1,2],\"made\":[5,1],\"run\":[6,2],"
                  "\"end\":[9,3]",
                  false);
    bitset_release(&unread);
    step_table_release(&table);
}

static void a_line_is_bounded(void **state)
{
    struct step_table table = {0};
    struct bitset unread = {0};
    size_t lines = 0, longest = 0;
    bool more = true;

    step_table_init(&table, 20000);
    for (uint32_t i = 0; i < 20000; i++)
        step_table_set(&table, i, &(struct step_values){1, 1, 4000000000, 4000000000, 4000000000});
    step_table_rewind(&table, &unread);
    for (; more; lines++) {
        scoped(buf) struct buf out = {0};

        more = step_table_write(&table, &unread, 64 << 10, &out);
        longest = out.len > longest ? out.len : longest;
    }
    assert_true(lines >= 20000 / 4096 && lines <= 20);
    assert_true(longest < 128 << 10);
    bitset_release(&unread);
    step_table_release(&table);
}

static void a_set_finds_its_members(void **state)
{
    static const uint32_t members[] = {0, 1, 63, 64, 127, 128, 198};
    struct bitset set = {0};
    uint32_t at = 0;

    bitset_init(&set, 199);
    bitset_add(&set, 199);
    for (size_t i = 0; i < countof(members); i++)
        bitset_add(&set, members[i]);
    for (size_t i = 0; i < countof(members); i++, at++) {
        at = bitset_next(&set, at);
        assert_int_equal(at, members[i]);
    }
    assert_int_equal(bitset_next(&set, at), BITSET_NONE);
    bitset_remove(&set, 64);
    assert_int_equal(bitset_next(&set, 64), 127);
    bitset_release(&set);
    assert_int_equal(bitset_next(&set, 0), BITSET_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_gets_the_last_state_of_each_vertex_once),
        cmocka_unit_test(a_line_is_bounded),
        cmocka_unit_test(a_set_finds_its_members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
