#include "tests/unit.h"

#include "base/clock.h"

static void the_real_clock_moves_forward(void **state)
{
    struct clock *clock = clock_real();
    int64_t wall = clock_wall_ms(clock), mono = clock_mono_ns(clock);

    assert_true(wall > 1700000000000);
    assert_true(clock_mono_ns(clock) >= mono);
    assert_ptr_equal(clock_real(), clock);
    assert_false(clock_is_virtual(clock));
    clock_free(clock);
    clock_free(NULL);
}

static void the_virtual_clock_moves_when_told(void **state)
{
    struct clock *clock = clock_virtual_new(1767323045678, 1);
    int64_t mono = clock_mono_ns(clock);

    assert_true(clock_is_virtual(clock));
    assert_int_equal(clock_wall_ms(clock), 1767323045678);
    clock_advance_ms(clock, 1500);
    assert_int_equal(clock_wall_ms(clock), 1767323047178);
    assert_int_equal(clock_mono_ns(clock) - mono, 1500000000);
    clock_advance_ns(clock, 999999);
    assert_int_equal(clock_wall_ms(clock), 1767323047178);
    clock_advance_ns(clock, 1);
    assert_int_equal(clock_wall_ms(clock), 1767323047179);
    clock_free(clock);
}

static void the_same_seed_gives_the_same_chance(void **state)
{
    struct clock *a = clock_virtual_new(0, 42), *b = clock_virtual_new(0, 42),
                 *c = clock_virtual_new(0, 43);
    char id_a[CLOCK_UUID_LEN + 1], id_b[CLOCK_UUID_LEN + 1], id_c[CLOCK_UUID_LEN + 1];

    for (int i = 0; i < 100; i++)
        assert_int_equal(clock_random(a), clock_random(b));
    clock_uuid(a, id_a);
    clock_uuid(b, id_b);
    clock_uuid(c, id_c);
    assert_string_equal(id_a, id_b);
    assert_string_not_equal(id_a, id_c);
    clock_free(a);
    clock_free(b);
    clock_free(c);
}

static void a_uuid_has_the_form_of_version_4(void **state)
{
    char seen[1000][CLOCK_UUID_LEN + 1];

    for (int i = 0; i < 1000; i++) {
        char *id = seen[i];

        clock_uuid(clock_real(), id);
        assert_int_equal(strlen(id), CLOCK_UUID_LEN);
        assert_int_equal(strspn(id, "0123456789abcdef-"), CLOCK_UUID_LEN);
        assert_true(id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-');
        assert_int_equal(id[14], '4');
        assert_non_null(strchr("89ab", id[19]));
        if (i)
            assert_string_not_equal(id, seen[i - 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_real_clock_moves_forward),
        cmocka_unit_test(the_virtual_clock_moves_when_told),
        cmocka_unit_test(the_same_seed_gives_the_same_chance),
        cmocka_unit_test(a_uuid_has_the_form_of_version_4),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
