/*
 * covers: web.md WEB-036 WEB-037
 */
#include "tests/unit.h"

#include "web/request_check.h"

#define SHELL "GET /ui/flows/a/b HTTP/1.1\r\n"
#define DATA  "GET /ui/v1/me HTTP/1.1\r\n"
#define OURS  "Host: 127.0.0.1:6481\r\n"

static const struct {
    const char *name, *head;
    bool passes;
} cases[] = {
    /* clang-format off */
    {"by address",                 DATA OURS, true},
    {"by name",                    DATA "Host: localhost:9\r\n", true},
    {"by name in capitals",        DATA "Host: LocalHost:9\r\n", true},
    {"by IPv6 address",            DATA "Host: [::1]:6481\r\n", true},
    {"without a port",             DATA "Host: localhost\r\n", true},
    {"a rebound name",             DATA "Host: evil.example:6481\r\n", false},
    {"a name that begins alike",   DATA "Host: localhost.evil.example\r\n", false},
    {"a name that ends alike",     DATA "Host: evil.localhost\r\n", false},
    {"an address that begins so",  DATA "Host: 127.0.0.10\r\n", false},
    {"another loopback address",   DATA "Host: 127.0.0.2:6481\r\n", false},
    {"any address",                DATA "Host: 0.0.0.0:6481\r\n", false},
    {"a port that is no number",   DATA "Host: localhost:80@evil\r\n", false},
    {"a user before the name",     DATA "Host: a@localhost\r\n", false},
    {"an empty port",              DATA "Host: localhost:\r\n", false},
    {"an empty host",              DATA "Host:\r\n", false},
    {"own origin",                 DATA OURS "Origin: http://127.0.0.1:6481\r\n", true},
    {"origin of another port",     DATA OURS "Origin: http://127.0.0.1:6482\r\n", false},
    {"origin by another name",     DATA OURS "Origin: http://localhost:6481\r\n", false},
    {"origin of another scheme",   DATA OURS "Origin: https://127.0.0.1:6481\r\n", false},
    {"opaque origin",              DATA OURS "Origin: null\r\n", false},
    {"empty origin",               DATA OURS "Origin:\r\n", false},
    {"origin that begins alike",   DATA OURS "Origin: http://127.0.0.1:6481.evil\r\n", false},
    {"own script",                 DATA OURS "Sec-Fetch-Site: same-origin\r\n", true},
    {"script of another port",     DATA OURS "Sec-Fetch-Site: same-site\r\n", false},
    {"script of another site",     DATA OURS "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n", false},
    {"typed address of data",      DATA OURS "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n", false},
    {"typed address of the page",  SHELL OURS "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n", true},
    {"link from elsewhere",        SHELL OURS "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n", true},
    {"frame elsewhere",            SHELL OURS "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n", false},
    {"image elsewhere",            SHELL OURS "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n", false},
    {"form elsewhere",             "POST /ui/ HTTP/1.1\r\n" OURS "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n", false},
    {"asset from elsewhere",       "GET /ui/a/x/app.js HTTP/1.1\r\n" OURS "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", false},
    {"sign-in from elsewhere",     "GET /ui/signin HTTP/1.1\r\n" OURS "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", false},
    /* clang-format on */
};

static void only_our_own_page_may_ask(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str bytes = mem_printf("%s\r\n", cases[i].head);
        struct request_head head;
        struct error err = {0};

        check_ok(cases[i].name, request_head_parse(bytes, strlen(bytes), &head, &err), err);
        check_int(cases[i].name, request_check(NULL, bytes, strlen(bytes), &head, &err),
                  cases[i].passes);
        if (!cases[i].passes)
            check_int(cases[i].name, err.code, ERR_FORBIDDEN);
    }
}

/* A daemon answers to its own names, with TLS. */
static void a_daemon_answers_to_its_names(void **state)
{
    static const char *const names[] = {"flows.example", "127.0.0.3"};
    static const struct host_list hosts = {.hosts = names, .n_hosts = countof(names)};
    static const struct {
        const char *name, *head;
        bool passes;
    } rows[] = {
        {"by name", DATA "Host: flows.example:6480\r\n", true},
        {"by address", DATA "Host: 127.0.0.3\r\n", true},
        {"a rebound name", DATA "Host: evil.example:6480\r\n", false},
        {"loopback, which is not named", DATA OURS, false},
        {"own origin", DATA "Host: flows.example:6480\r\nOrigin: https://flows.example:6480\r\n",
         true},
        {"origin without TLS",
         DATA "Host: flows.example:6480\r\nOrigin: http://flows.example:6480\r\n", false},
        {"origin by another of its names",
         DATA "Host: flows.example:6480\r\nOrigin: https://127.0.0.3:6480\r\n", false},
        {"script of another site", DATA "Host: 127.0.0.3\r\nSec-Fetch-Site: cross-site\r\n", false},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        scoped_str bytes = mem_printf("%s\r\n", rows[i].head);
        struct request_head head;
        struct error err = {0};

        check_ok(rows[i].name, request_head_parse(bytes, strlen(bytes), &head, &err), err);
        check_int(rows[i].name, request_check(&hosts, bytes, strlen(bytes), &head, &err),
                  rows[i].passes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_daemon_answers_to_its_names),
        cmocka_unit_test(only_our_own_page_may_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
