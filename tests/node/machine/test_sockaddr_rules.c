/*
 * Tests the rules of node/machine/sockaddr_rules.c, the table of local-runtime.md 3.3.
 */
#include "tests/unit.h"

#include <arpa/inet.h>

#include "node/machine/sockaddr_rules.h"

static const struct sockaddr_rules rules = {
    .ports = {8080, 22}, .n_ports = 2, .low_ports_move = true};

/* covers: see 3.3 LRT-04 LRT-06 LRT-07 LRT-09 */
static void every_row_of_the_table(void **state)
{
    static const struct {
        const char *name;
        enum sockaddr_call call;
        const char *address;
        int port;
        enum sockaddr_verdict what;
        const char *becomes;
        int with_port;
    } cases[] = {
        {"bind any", SOCKADDR_BIND, "0.0.0.0", 8080, SOCKADDR_REPLACED, "127.10.4.2", 8080},
        {"bind loopback", SOCKADDR_BIND, "127.0.0.1", 22, SOCKADDR_REPLACED, "127.10.4.2", 22},
        {"bind undeclared", SOCKADDR_BIND, "0.0.0.0", 8081, SOCKADDR_SHARED_PORT, "0.0.0.0", 8081},
        {"bind port 0", SOCKADDR_BIND, "0.0.0.0", 0, SOCKADDR_UNCHANGED, "0.0.0.0", 0},
        {"bind another address", SOCKADDR_BIND, "127.10.4.9", 8080, SOCKADDR_UNCHANGED,
         "127.10.4.9", 8080},
        {"bind v6 any", SOCKADDR_BIND, "::", 8080, SOCKADDR_REPLACED, "::ffff:127.10.4.2", 8080},
        {"bind v6 loopback", SOCKADDR_BIND, "::1", 8080, SOCKADDR_REPLACED, "::ffff:127.10.4.2",
         8080},
        {"bind undeclared loopback", SOCKADDR_BIND, "127.0.0.1", 8081, SOCKADDR_UNCHANGED,
         "127.0.0.1", 8081},
        {"bind v6 undeclared", SOCKADDR_BIND, "::", 1, SOCKADDR_SHARED_PORT, "::", 1},
        {"connect own port", SOCKADDR_CONNECT, "127.0.0.1", 8080, SOCKADDR_REPLACED, "127.10.4.2",
         8080},
        {"connect v6 own port", SOCKADDR_CONNECT, "::1", 8080, SOCKADDR_REPLACED,
         "::ffff:127.10.4.2", 8080},
        {"connect loopback", SOCKADDR_CONNECT, "127.0.0.1", 5432, SOCKADDR_UNCHANGED, "127.0.0.1",
         5432},
        {"connect any", SOCKADDR_CONNECT, "0.0.0.0", 8080, SOCKADDR_UNCHANGED, "0.0.0.0", 8080},
        {"connect a pod", SOCKADDR_CONNECT, "127.10.7.7", 80, SOCKADDR_BIND_SOURCE, "127.10.4.2",
         0},
        {"connect a pod, mapped", SOCKADDR_CONNECT, "::ffff:127.10.7.7", 80, SOCKADDR_BIND_SOURCE,
         "::ffff:127.10.4.2", 0},
        {"connect a low port of a Service", SOCKADDR_CONNECT, "127.11.4.0", 80, SOCKADDR_REPLACED,
         "127.11.4.0", 64592},
        {"the same, mapped", SOCKADDR_CONNECT, "::ffff:127.11.4.0", 1023, SOCKADDR_REPLACED,
         "::ffff:127.11.4.0", 65535},
        {"another port of it", SOCKADDR_CONNECT, "127.11.4.0", 1024, SOCKADDR_UNCHANGED,
         "127.11.4.0", 1024},
        {"bind there", SOCKADDR_BIND, "127.11.4.0", 80, SOCKADDR_UNCHANGED, "127.11.4.0", 80},
        {"another range", SOCKADDR_CONNECT, "127.12.4.0", 80, SOCKADDR_UNCHANGED, "127.12.4.0", 80},
        {"send to the own port", SOCKADDR_SEND, "127.0.0.1", 8080, SOCKADDR_REPLACED, "127.10.4.2",
         8080},
        {"send to the machine", SOCKADDR_SEND, "127.0.0.1", 5432, SOCKADDR_UNCHANGED, "127.0.0.1",
         5432},
        {"send to a pod", SOCKADDR_SEND, "127.10.7.7", 80, SOCKADDR_UNCHANGED, "127.10.7.7", 80},
        {"send to a low port of a Service", SOCKADDR_SEND, "127.11.4.0", 53, SOCKADDR_REPLACED,
         "127.11.4.0", 64565},
        {"send to any address", SOCKADDR_SEND, "0.0.0.0", 8080, SOCKADDR_UNCHANGED, "0.0.0.0",
         8080},
        {"connect the world", SOCKADDR_CONNECT, "192.0.2.1", 8080, SOCKADDR_UNCHANGED, "192.0.2.1",
         8080},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct sockaddr_rules own = rules;
        union sockaddr_any address = {0};
        bool v6 = strchr(cases[i].address, ':');
        char text[INET6_ADDRSTRLEN];

        inet_pton(AF_INET, "127.10.4.2", &own.ip);
        address.any.sa_family = v6 ? AF_INET6 : AF_INET;
        /* The port is at the same place in IPv4 and IPv6 addresses. */
        address.v4.sin_port = htons((uint16_t)cases[i].port);
        inet_pton(address.any.sa_family, cases[i].address,
                  v6 ? (void *)&address.v6.sin6_addr : (void *)&address.v4.sin_addr);
        check_int(cases[i].name, sockaddr_decide(&own, cases[i].call, &address, sizeof address),
                  cases[i].what);
        inet_ntop(address.any.sa_family,
                  v6 ? (void *)&address.v6.sin6_addr : (void *)&address.v4.sin_addr, text,
                  sizeof text);
        check_str(cases[i].name, text, cases[i].becomes);
        check_int(cases[i].name, ntohs(address.v4.sin_port), cases[i].with_port);
    }
}

static void what_is_no_address_stays(void **state)
{
    struct sockaddr_rules own = rules;
    union sockaddr_any address = {.v4 = {.sin_family = AF_INET, .sin_port = htons(8080)}};

    own.ip = 1;
    check_int("short", sockaddr_decide(&own, SOCKADDR_BIND, &address, sizeof address.v4 - 1),
              SOCKADDR_UNCHANGED);
    check_int("empty", sockaddr_decide(&own, SOCKADDR_BIND, &address, 0), SOCKADDR_UNCHANGED);
    address.any.sa_family = AF_UNIX;
    check_int("unix", sockaddr_decide(&own, SOCKADDR_BIND, &address, sizeof address),
              SOCKADDR_UNCHANGED);
    own.ip = 0;
    address.any.sa_family = AF_INET;
    check_int("no address", sockaddr_decide(&own, SOCKADDR_BIND, &address, sizeof address),
              SOCKADDR_UNCHANGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_table),
        cmocka_unit_test(what_is_no_address_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
