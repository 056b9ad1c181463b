/*
 * Tests node/proxy/udp_listener.c in the thread of a proxy, with real datagrams.
 */
#include "tests/unit.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "node/proxy/proxy.h"
#include "node/proxy/udp_sessions.h"
#include "tests/support/own_address.h"

enum { WAIT_MS = 20000, LARGE = 60000 };

struct bench {
    struct proxy *proxy;
    uint32_t listener;
    uint16_t port, ports[2];
    int servers[2];
};

/* Returns a socket that sends to the listener and receives from it alone. */
static int new_client(const struct bench *b)
{
    const struct sockaddr_in to = own_address(b->port);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    check("client", fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

static void lead(struct bench *b, const uint16_t *ports, size_t n)
{
    struct proxy_target targets[4];

    for (size_t i = 0; i < n; i++)
        targets[i] = (struct proxy_target){own_address(0).sin_addr.s_addr, ports[i]};
    proxy_set_targets(b->proxy, b->listener, targets, n);
}

static bool is_there(int fd, int ms)
{
    struct pollfd ready = {fd, POLLIN, 0};

    return poll(&ready, 1, ms) == 1;
}

/* Returns the next datagram as text. `from` becomes the address for the answer. */
static const char *next_text(int server, struct sockaddr_in *from)
{
    static char text[LARGE + 1];
    socklen_t size = sizeof *from;
    ssize_t n;

    check("a datagram arrives", is_there(server, WAIT_MS));
    n = recvfrom(server, text, LARGE, 0, (struct sockaddr *)from, &size);
    check("received", n >= 0);
    text[n] = 0;
    return text;
}

static bool is_hello(const char *text)
{
    return strncmp(text, "hello", 5) == 0;
}

static const char *heard(int server, struct sockaddr_in *from)
{
    const char *text = next_text(server, from);

    while (is_hello(text))
        text = next_text(server, from);
    return text;
}

/* Returns the index of the server that received this text. Both may have received hellos before
 * it. */
static int who_heard(const struct bench *b, const char *wanted)
{
    char text[16] = {0};

    for (;;) {
        struct pollfd ready[] = {{b->servers[0], POLLIN, 0}, {b->servers[1], POLLIN, 0}};
        int which;

        check("one of them", poll(ready, 2, WAIT_MS) > 0);
        which = ready[0].revents ? 0 : 1;
        text[recv(ready[which].fd, text, sizeof text - 1, 0)] = 0;
        if (strcmp(text, wanted) == 0)
            return which;
    }
}

static void answer(int server, const struct sockaddr_in *to, const char *text)
{
    sendto(server, text, strlen(text), 0, (const struct sockaddr *)to, sizeof *to);
}

static void say(int client, const char *text)
{
    check_int(text, send(client, text, strlen(text), 0), (int64_t)strlen(text));
}

/* Sends until this text arrives: earlier datagrams may be refused, or reported as refused later. */
static void insist(int client, const char *text, int server)
{
    struct sockaddr_in from;

    do
        send(client, text, strlen(text), 0);
    while (!is_there(server, 1) || strcmp(next_text(server, &from), text) != 0);
}

/* Waits until the proxy has handled its commands: datagrams then reach this server. */
static void settle(const struct bench *b, int server)
{
    static int times;
    scoped_str hello = mem_printf("hello %d", times++);
    struct sockaddr_in from;
    bool arrived = false;

    while (!arrived) {
        int client = new_client(b);

        send(client, hello, strlen(hello), 0);
        close(client);
        arrived = is_there(server, 1) && strcmp(next_text(server, &from), hello) == 0;
    }
}

static struct bench set_up(void)
{
    struct bench b = {.proxy = proxy_start(NETNS_HOLDER_NONE, NULL)};

    assert_non_null(b.proxy);
    for (size_t i = 0; i < countof(b.servers); i++)
        b.servers[i] = own_socket(SOCK_DGRAM, &b.ports[i]);
    b.listener = proxy_open(b.proxy, own_socket(SOCK_DGRAM, &b.port));
    lead(&b, b.ports, 1);
    settle(&b, b.servers[0]);
    return b;
}

static void tear_down(struct bench *b)
{
    proxy_stop(b->proxy);
    for (size_t i = 0; i < countof(b->servers); i++)
        close(b->servers[i]);
}

static void each_client_gets_its_own_answers_from_the_listener(void **state)
{
    struct bench b = set_up();
    struct sockaddr_in from[2], ignored;
    int clients[] = {new_client(&b), new_client(&b)};

    say(clients[0], "one");
    check_str("the first", heard(b.servers[0], &from[0]), "one");
    say(clients[1], "two");
    check_str("the second", heard(b.servers[0], &from[1]), "two");
    check("they can be told apart", from[0].sin_port != from[1].sin_port);
    answer(b.servers[0], &from[1], "to two");
    answer(b.servers[0], &from[0], "to one");
    answer(b.servers[0], &from[0], "and once more");
    check_str("the first", heard(clients[0], &ignored), "to one");
    check_str("answers may be several", heard(clients[0], &ignored), "and once more");
    check_str("the second", heard(clients[1], &ignored), "to two");
    for (size_t i = 0; i < countof(clients); i++)
        close(clients[i]);
    tear_down(&b);
}

static void one_datagram_is_one_datagram(void **state)
{
    struct bench b = set_up();
    struct sockaddr_in from;
    int client = new_client(&b);
    char *large = mem_alloc(LARGE + 1);

    check_int("an empty one", send(client, "", 0, 0), 0);
    check_str("arrives", heard(b.servers[0], &from), "");
    answer(b.servers[0], &from, "");
    check_str("and comes back", heard(client, &from), "");
    memset(large, 'x', LARGE);
    say(client, large);
    check_str("a large one", heard(b.servers[0], &from), large);
    mem_free(large);
    close(client);
    tear_down(&b);
}

static void a_client_keeps_its_target_and_others_have_theirs(void **state)
{
    struct bench b = set_up();
    struct sockaddr_in from;
    int clients[] = {new_client(&b), new_client(&b)}, first;

    lead(&b, b.ports, 2);
    settle(&b, b.servers[1]);
    say(clients[0], "question");
    first = who_heard(&b, "question");
    for (int i = 0; i < 3; i++) {
        say(clients[0], "again");
        check_str("the same", heard(b.servers[first], &from), "again");
    }
    say(clients[1], "other");
    check_str("the other", heard(b.servers[!first], &from), "other");
    for (size_t i = 0; i < countof(clients); i++)
        close(clients[i]);
    tear_down(&b);
}

static void a_target_that_refuses_is_skipped(void **state)
{
    struct bench b = set_up();
    uint16_t ports[] = {0, b.ports[1]};

    close(own_socket(SOCK_DGRAM, &ports[0]));
    lead(&b, ports, 2);
    settle(&b, b.servers[1]);
    for (int i = 0; i < 4; i++) {
        int client = new_client(&b);
        char text[] = {(char)('0' + i), 0};

        insist(client, text, b.servers[1]);
        close(client);
    }
    tear_down(&b);
}

static void a_client_of_a_removed_target_gets_another(void **state)
{
    struct bench b = set_up();
    struct sockaddr_in from;
    int client = new_client(&b);

    say(client, "to the first");
    heard(b.servers[0], &from);
    lead(&b, &b.ports[1], 1);
    settle(&b, b.servers[1]);
    say(client, "to the second");
    check_str("there", heard(b.servers[1], &from), "to the second");
    close(client);
    tear_down(&b);
}

/* Returns whether the listener refuses datagrams as an unused port does. */
static bool refuses(int client)
{
    struct pollfd ready = {client, POLLIN, 0};
    char text[8];

    if (send(client, "hello", 5, 0) < 0)
        return errno == ECONNREFUSED;
    return poll(&ready, 1, 1) == 1 && recv(client, text, sizeof text, 0) < 0 &&
           errno == ECONNREFUSED;
}

static void a_listener_without_targets_refuses(void **state)
{
    struct bench b = set_up();
    int client = new_client(&b);

    lead(&b, NULL, 0);
    while (!refuses(client))
        ;
    lead(&b, b.ports, 1);
    settle(&b, b.servers[0]);
    insist(client, "open again", b.servers[0]);
    close(client);
    tear_down(&b);
}

static void a_closed_listener_frees_its_port(void **state)
{
    struct bench b = set_up();
    const struct sockaddr_in address = own_address(b.port);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    proxy_close(b.proxy, b.listener);
    while (bind(fd, (const struct sockaddr *)&address, sizeof address))
        check_int("until then", errno, EADDRINUSE);
    close(fd);
    tear_down(&b);
}

/* Clients beyond the limit replace those that have rested longest, which become clients again when
 * they send. */
static void no_more_sessions_are_kept_than_the_limit(void **state)
{
    enum { MORE = 4, ALL = UDP_SESSIONS_MAX + MORE, FILES = 2 * ALL + 64 };
    struct rlimit files;
    struct bench b = set_up();
    struct sockaddr_in from[ALL], ignored;
    int clients[ALL];

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < FILES) {
        tear_down(&b);
        skip();
    }
    for (int i = 0; i < ALL; i++) {
        clients[i] = new_client(&b);
        say(clients[i], "question");
        check_str("each is heard", heard(b.servers[0], &from[i]), "question");
    }
    answer(b.servers[0], &from[0], "late");
    answer(b.servers[0], &from[ALL - 1], "in time");
    check_str("the last", heard(clients[ALL - 1], &ignored), "in time");
    check("the first is forgotten", !is_there(clients[0], 0));
    say(clients[0], "again");
    check_str("and may ask again", heard(b.servers[0], &ignored), "again");
    answer(b.servers[0], &ignored, "now");
    check_str("to be answered", heard(clients[0], &ignored), "now");
    for (int i = 0; i < ALL; i++)
        close(clients[i]);
    tear_down(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_client_gets_its_own_answers_from_the_listener),
        cmocka_unit_test(one_datagram_is_one_datagram),
        cmocka_unit_test(a_client_keeps_its_target_and_others_have_theirs),
        cmocka_unit_test(a_target_that_refuses_is_skipped),
        cmocka_unit_test(a_client_of_a_removed_target_gets_another),
        cmocka_unit_test(a_listener_without_targets_refuses),
        cmocka_unit_test(a_closed_listener_frees_its_port),
        cmocka_unit_test(no_more_sessions_are_kept_than_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
