#include "tests/unit.h"

#include "api/server/http/connection_eviction.h"

static void peers_of_one_machine_or_network_are_one_group(void **state)
{
    static const struct {
        const char *address, *group;
    } cases[] = {
        {"127.0.0.1", "loopback"},
        {"127.9.8.7", "loopback"},
        {"::1", "loopback"},
        {"::ffff:127.0.0.2", "loopback"},
        {"::ffff:10.0.0.1", "10.0.0.1"},
        {"10.0.0.1", "10.0.0.1"},
        {"2001:db8:1:2::3", "2001:0db8:0001:0002::/64"},
        {"2001:db8:1:2:ffff::", "2001:0db8:0001:0002::/64"},
        {"2001:db8:1:3::3", "2001:0db8:0001:0003::/64"},
        {"uid:1000", "uid:1000"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        char group[PEER_GROUP_MAX];

        peer_group(cases[i].address, group);
        check_str(cases[i].address, group, cases[i].group);
    }
}

enum { HOLDERS_MAX = 8 };

/* covers: reliability.md L-22 */
static void the_oldest_unauthenticated_connection_is_closed(void **state)
{
    static const struct {
        const char *name;
        const char
            *holders; /* a pair of characters for each connection: s silent, t unauthenticated or k
                              * known; then its group */
        size_t unauthenticated, per_group;
        long wanted; /* index of the connection that must give up its place; the newcomer is the
                      * last one, and silent */
    } cases[] = {
        {"alone", "sA", 2, 2, EVICT_NONE},
        {"there is room", "sA tA sA", 2, 2, EVICT_NONE},
        {"silent ones are full", "sA sB sC", 2, 2, 0},
        {"too many without a credential", "kA tB tC sD", 2, 2, 1},
        {"its own group is full", "sB sA sA sA", 8, 2, 1},
        {"its own group first", "sB sB sA sA sA", 4, 2, 2},
        {"too many of its group", "tB tA tA sA", 8, 2, 1},
        {"authenticated ones stay", "kA kA kA kA sA", 2, 2, EVICT_NONE},
        {"no room at all", "kA tB sA", 0, 8, 1},
        {"no room, and none to close", "kA kB sA", 0, 8, EVICT_NONE},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        const struct eviction_bounds bounds = {cases[i].unauthenticated, cases[i].per_group};
        char groups[HOLDERS_MAX][2] = {{0}};
        struct eviction_candidate holders[HOLDERS_MAX];
        size_t n = 0;

        for (const char *at = cases[i].holders; *at; at += at[2] ? 3 : 2, n++) {
            groups[n][0] = at[1];
            holders[n] =
                (struct eviction_candidate){.standing = *at == 's'   ? STANDING_SILENT
                                                        : *at == 't' ? STANDING_UNAUTHENTICATED
                                                                     : STANDING_AUTHENTICATED,
                                            .group = groups[n],
                                            .number = n};
        }
        check_int(cases[i].name, eviction_choose(holders, n, n - 1, &bounds), cases[i].wanted);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_of_one_machine_or_network_are_one_group),
        cmocka_unit_test(the_oldest_unauthenticated_connection_is_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
