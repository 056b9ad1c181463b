/*
 * Tests the addresses of pods. Ref: local-runtime.md 3.1.
 */
#include "tests/unit.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "node/machine/address_pool.h"
#include "node/machine/address_range.h"

static void first_ones_are_kept_for_ourselves(void **state)
{
    struct address_pool a = {0};
    char text[ADDRESS_TEXT_MAX];

    address_pool_text(&a, address_pool_take(&a), text);
    check_str("first", text, "127.10.4.0");
    address_pool_text(&a, address_pool_take(&a), text);
    check_str("second", text, "127.10.4.1");
    address_pool_text(&a, 0, text);
    check_str("none", text, "");
}

static void one_given_back_rests_until_the_others_had_their_turn(void **state)
{
    struct address_pool a = {0};
    uint32_t first = address_pool_take(&a);

    address_pool_give_back(&a, first);
    for (int i = 0; i < ADDRESS_END - ADDRESS_FIRST - 1; i++)
        check("another one", address_pool_take(&a) != first);
    check_int("its turn again", address_pool_take(&a), first);
}

static void there_are_64510_and_no_more(void **state)
{
    struct address_pool a = {0};

    for (int i = 0; i < ADDRESS_END - ADDRESS_FIRST; i++)
        check("free", address_pool_take(&a) != 0);
    check_int("all taken", address_pool_take(&a), 0);
    address_pool_give_back(&a, 2000);
    check_int("the one given back", address_pool_take(&a), 2000);
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
    struct address_pool a = {0};

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].text ? cases[i].text : "NULL", address_pool_reserve(&a, cases[i].text),
                  cases[i].want);
    for (int i = 0; i < ADDRESS_END - ADDRESS_FIRST - 2; i++) {
        uint32_t got = address_pool_take(&a);

        check("not a held one", got && got != 1031 && got != 65534);
    }
    check_int("all others taken", address_pool_take(&a), 0);
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
    struct address_pool a = {.second = 200};
    char text[ADDRESS_TEXT_MAX];

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].address, address_range_of(cases[i].address), cases[i].second);
    check_int("as wanted", first, 200);
    second = address_range_lock(200, &second_fd);
    check("another one", second && second != 200);
    close(first_fd);
    again = address_range_lock(200, &again_fd);
    check_int("free again", again, 200);
    address_pool_text(&a, address_pool_take(&a), text);
    check_str("its addresses", text, "127.200.4.0");
    check_int("of another range", address_pool_reserve(&a, "127.10.4.1"), 0);
    close(second_fd);
    close(again_fd);
}

static int listen_at(int family, const void *address, socklen_t len)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && (bind(fd, address, len) || listen(fd, 1))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static struct sockaddr_in pod_in(uint8_t range)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(127u << 24 | (uint32_t)range << 16 | 1024)};
}

/* Returns the second byte of the range that is given when none is asked for. */
static uint8_t next_range(void)
{
    int fd = -1;
    uint8_t range = address_range_lock(0, &fd);

    check("a range", range && fd >= 0);
    close(fd);
    return range;
}

static void pods_that_outlive_their_node_keep_their_range_to_themselves(void **state)
{
    const uint8_t range = next_range();
    struct sockaddr_in pod = pod_in(range);
    struct sockaddr_in6 mapped = {.sin6_family = AF_INET6};
    int fd = listen_at(AF_INET, &pod, sizeof pod);

    check("listens", fd >= 0);
    check("another one is given", next_range() != range);
    close(fd);

    mapped.sin6_addr.s6_addr[10] = mapped.sin6_addr.s6_addr[11] = 0xff;
    memcpy(mapped.sin6_addr.s6_addr + 12, &pod.sin_addr, sizeof pod.sin_addr);
    fd = listen_at(AF_INET6, &mapped, sizeof mapped);
    if (fd >= 0) { /* only on machines with IPv6 */
        check("nor when it listens by way of IPv6", next_range() != range);
        close(fd);
    }
}

static void a_node_that_comes_back_has_the_range_of_its_pods(void **state)
{
    enum { RANGE = 246 };
    struct sockaddr_in pod = pod_in(RANGE);
    int pod_fd = listen_at(AF_INET, &pod, sizeof pod), fd = -1;

    check("listens", pod_fd >= 0);
    check_int("as wanted", address_range_lock(RANGE, &fd), RANGE);
    close(fd);
    close(pod_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_ones_are_kept_for_ourselves),
        cmocka_unit_test(one_given_back_rests_until_the_others_had_their_turn),
        cmocka_unit_test(there_are_64510_and_no_more),
        cmocka_unit_test(one_of_an_earlier_life_is_held),
        cmocka_unit_test(each_node_has_a_range_of_its_own),
        cmocka_unit_test(pods_that_outlive_their_node_keep_their_range_to_themselves),
        cmocka_unit_test(a_node_that_comes_back_has_the_range_of_its_pods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
