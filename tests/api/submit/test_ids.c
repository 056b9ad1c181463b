/*
 * Tests the ids of submitted jobs.
 */
#include "tests/unit.h"

#include <string.h>

#include "api/submit/ids.h"
#include "base/clock.h"

static void check_text(const char *id)
{
    assert_int_equal(strlen(id), SUBMIT_ID_LEN);
    assert_int_equal(strspn(id, "0123456789abcdefghjkmnpqrstvwxyz"), SUBMIT_ID_LEN);
}

/* covers: armada-submit.md S-106; see S-01 S-02 */
static void ids_increase_strictly_also_when_the_clock_is_set_back(void **unused)
{
    static const int64_t steps_ms[] = {0, 0, 1, 1000, -3600000, 0, 5, -1};
    struct clock *clock = clock_virtual_new(1700000000000, 1);
    struct submit_ids ids = {0};
    char before[SUBMIT_ID_LEN + 1] = "", now[SUBMIT_ID_LEN + 1];

    for (size_t i = 0; i < countof(steps_ms); i++) {
        clock_jump_ms(clock, steps_ms[i]);
        for (int k = 0; k < 100; k++) {
            submit_id_next(&ids, clock_wall_ms(clock), clock, now);
            check_text(now);
            assert_true(strcmp(before, now) < 0);
            memcpy(before, now, sizeof now);
        }
    }
    clock_free(clock);
}

static void a_full_random_part_carries_into_the_time(void **unused)
{
    struct clock *clock = clock_virtual_new(1000, 1);
    struct submit_ids ids = {5000, 0xffff, UINT64_MAX};
    char id[SUBMIT_ID_LEN + 1];

    submit_id_next(&ids, 1000, clock, id);
    assert_int_equal(ids.time_ms, 5001);
    assert_int_equal(ids.high, 0);
    assert_string_equal(id + 10, "0000000000000000");
    clock_free(clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_increase_strictly_also_when_the_clock_is_set_back),
        cmocka_unit_test(a_full_random_part_carries_into_the_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
