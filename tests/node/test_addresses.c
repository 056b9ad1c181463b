/*
 * Addresses of pods. Ref: local-runtime.md 3.1.
 */
#include "tests/unit.h"
#include <unistd.h>

#include "node/address_range.h"
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

static void each_node_has_a_range_of_its_own(void **state)
{
    static const struct {
        const char *address;
        uint8_t second;
    } cases[] = {{"127.10.4.0", 10}, {"127.12.4.0", 12}, {"127.11.0.1", 0},
                 {"127.0.0.1", 0},   {"10.127.4.0", 0},  {"", 0},
                 {"127.12.4", 0}};
    int first_fd, second_fd, again_fd;
    uint8_t first = address_range_lock(200, &first_fd), second, again;
    struct addresses a = {.second = 200};
    char text[ADDRESS_TEXT_MAX];

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].address, address_range_of(cases[i].address), cases[i].second);
    check_int("as wanted", first, 200);
    second = address_range_lock(200, &second_fd);
    check("another one", second && second != 200);
    close(first_fd);
    again = address_range_lock(200, &again_fd);
    check_int("free again", again, 200);
    addresses_text(&a, addresses_take(&a), text);
    check_str("its addresses", text, "127.200.4.0");
    check_int("of another range", addresses_hold(&a, "127.10.4.1"), 0);
    close(second_fd);
    close(again_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_ones_are_kept_for_ourselves),
        cmocka_unit_test(one_given_back_rests_until_the_others_had_their_turn),
        cmocka_unit_test(there_are_64510_and_no_more),
        cmocka_unit_test(one_of_an_earlier_life_is_held),
        cmocka_unit_test(each_node_has_a_range_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
