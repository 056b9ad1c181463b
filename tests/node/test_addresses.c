/*
 * Addresses of pods. Ref: local-runtime.md 3.1.
 */
#include "tests/unit.h"

#include "node/addresses.h"

static void first_ones_are_kept_for_ourselves(void **state)
{
    struct addresses a = {0};
    char text[ADDRESS_TEXT_MAX];

    addresses_text(&a, addresses_take(&a), text);
    check_str("first", text, "127.10.4.0");
    addresses_text(&a, addresses_take(&a), text);
    check_str("second", text, "127.10.4.1");
    addresses_text(&a, 0, text);
    check_str("none", text, "");
}

static void one_given_back_rests_until_the_others_had_their_turn(void **state)
{
    struct addresses a = {0};
    uint32_t first = addresses_take(&a);

    addresses_give_back(&a, first);
    for (int i = 0; i < ADDRESS_END - ADDRESS_FIRST - 1; i++)
        check("another one", addresses_take(&a) != first);
    check_int("its turn again", addresses_take(&a), first);
}

static void there_are_64510_and_no_more(void **state)
{
    struct addresses a = {0};

    for (int i = 0; i < ADDRESS_END - ADDRESS_FIRST; i++)
        check("free", addresses_take(&a) != 0);
    check_int("all taken", addresses_take(&a), 0);
    addresses_give_back(&a, 2000);
    check_int("the one given back", addresses_take(&a), 2000);
}

static void one_of_an_earlier_life_is_held(void **state)
{
    static const struct {
        const char *text;
        uint32_t want;
    } cases[] = {
        {"127.10.4.7", 1031},
        {"127.10.255.254", 65534},
        {"127.10.255.255", 0},
        {"127.10.3.255", 0},
        {"127.11.4.7", 0},
        {"127.10.4.7x", 0},
        {"127.10.4", 0},
        {"", 0},
        {NULL, 0},
        {"127.10.256.1", 0},
        {"127.10.4.999", 0},
    };
    struct addresses a = {0};

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].text ? cases[i].text : "NULL", addresses_hold(&a, cases[i].text),
                  cases[i].want);
    for (int i = 0; i < ADDRESS_END - ADDRESS_FIRST - 2; i++) {
        uint32_t got = addresses_take(&a);

        check("not a held one", got && got != 1031 && got != 65534);
    }
    check_int("all others taken", addresses_take(&a), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_ones_are_kept_for_ourselves),
        cmocka_unit_test(one_given_back_rests_until_the_others_had_their_turn),
        cmocka_unit_test(there_are_64510_and_no_more),
        cmocka_unit_test(one_of_an_earlier_life_is_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
