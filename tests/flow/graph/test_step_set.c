/*
 * Compares ordered step sets with a plain array of bools, and tests their text form.
 */
#include "tests/unit.h"

#include "flow/graph/step_bitmap.h"
#include "flow/graph/step_set.h"

/* Returns a random number. The test has a small generator of its own so that it does not depend on
 * the seed of the process. */
static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static void check_against(const struct step_set *set, const bool *want, uint32_t size)
{
    uint32_t count = 0, at = 0;

    for (uint32_t i = 0; i < size; i++)
        count += want[i];
    check_int("count", set->count, count);
    step_set_each(set, step)
    {
        while (at < step)
            check("no member is passed over", !want[at++]);
        check("a member", want[at++]);
    }
    while (at < size)
        check("nothing behind the last", !want[at++]);
}

static void members_come_in_order(void **state)
{
    static const uint32_t sizes[] = {0, 1, 2, 63, 64, 65, 1000, 4095, 4096, 4097, 300000};

    for (size_t s = 0; s < countof(sizes); s++) {
        bool *want = mem_array(sizes[s] + 1, sizeof *want);
        uint64_t random = s;
        struct step_set set;

        step_set_init(&set, sizes[s]);
        check("empty", step_set_next(&set, 0) == STEP_NONE);
        for (int i = 0; sizes[s] && i < 2000; i++) {
            uint32_t step = next_random(&random) % sizes[s];
            bool add = next_random(&random) & 1;

            check_int("changed", add ? step_set_add(&set, step) : step_set_remove(&set, step),
                      want[step] != add);
            want[step] = add;
        }
        check_against(&set, want, sizes[s]);
        step_set_release(&set);
        mem_free(want);
    }
}

static void steps_beyond_the_end_are_no_members(void **state)
{
    struct step_set set;

    step_set_init(&set, 70);
    check("not added", !step_set_add(&set, 70));
    check("not removed", !step_set_remove(&set, STEP_NONE));
    check("not there", !step_set_has(&set, 1000));
    check("the last is", step_set_add(&set, 69) && step_set_next(&set, 1) == 69);
    step_set_release(&set);
}

static void bits_survive_as_text(void **state)
{
    static const uint32_t sizes[] = {1, 7, 8, 9, 24, 25, 1001, 100000};

    for (size_t s = 0; s < countof(sizes); s++) {
        struct step_set set, back;
        scoped(buf) struct buf text = {0};

        step_set_init(&set, sizes[s]);
        step_set_init(&back, sizes[s]);
        for (uint32_t i = s % 3; i < sizes[s]; i += 1 + i % 7)
            step_set_add(&set, i);
        step_bitmap_write(&set, NULL, &text);
        check("reads", step_bitmap_read(text.data ? text.data : "", &back));
        check_int("count", back.count, set.count);
        step_set_each(&set, step) check("member", step_set_has(&back, step));
        step_set_release(&set);
        step_set_release(&back);
    }
}

static void text_from_strangers_is_tolerated(void **state)
{
    struct step_set set;

    step_set_init(&set, 10);
    check("no base64", !step_bitmap_read("AA*A", &set));
    check("too long", step_bitmap_read("/////////////w==", &set));
    check_int("only ours", set.count, 10);
    step_set_release(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_in_order),
        cmocka_unit_test(steps_beyond_the_end_are_no_members),
        cmocka_unit_test(bits_survive_as_text),
        cmocka_unit_test(text_from_strangers_is_tolerated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
