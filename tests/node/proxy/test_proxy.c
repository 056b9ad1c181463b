/*
 * Tests node/proxy/proxy.c with real sockets and the thread between them.
 */
#include "tests/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/proxy/proxy.h"
#include "tests/support/own_address.h"

enum { WAIT_MS = 20000 };

static int bound(uint16_t *out_port)
{
    return own_socket(SOCK_STREAM, out_port);
}

static int server(uint16_t *out_port)
{
    int fd = bound(out_port);

    check("listen", listen(fd, 64) == 0);
    return fd;
}

/* Connects to the port. Returns 0, or the errno of the connection. */
static int try_connect(uint16_t port, int *out_fd)
{
    const struct sockaddr_in to = own_address(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), error = 0;

    if (connect(fd, (const struct sockaddr *)&to, sizeof to) == 0) {
        *out_fd = fd;
        return 0;
    }
    error = errno;
    close(fd);
    return error;
}

/* Returns a connection to the port, or -1 when it is refused. */
static int client(uint16_t port)
{
    int fd = -1, error = try_connect(port, &fd);

    if (error)
        check_int("refused", error, ECONNREFUSED);
    return fd;
}

/* Waits until the listener refuses. While it closes, it may reset a connection that was about to be
 * accepted. */
static bool is_refused(uint16_t port)
{
    int fd = -1, error = try_connect(port, &fd);

    if (error && error != ECONNRESET)
        check_int("refused", error, ECONNREFUSED);
    if (fd >= 0)
        close(fd);
    return error == ECONNREFUSED;
}

/* Connects until it succeeds, because the proxy handles commands asynchronously. */
static int client_at_last(uint16_t port)
{
    int fd;

    while ((fd = client(port)) < 0)
        poll(NULL, 0, 1);
    return fd;
}

static int accepted(int listener)
{
    struct pollfd ready = {listener, POLLIN, 0};

    check_int("a connection arrives", poll(&ready, 1, WAIT_MS), 1);
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

static void say(int fd, const char *text)
{
    check_int("sent", send(fd, text, strlen(text), MSG_NOSIGNAL), (int)strlen(text));
}

/* Returns the text received until the other side closes, or "reset". */
static const char *heard(int fd)
{
    static char text[256];
    size_t len = 0;
    ssize_t n;

    while ((n = recv(fd, text + len, sizeof text - 1 - len, 0)) > 0)
        len += (size_t)n;
    text[len] = 0;
    return n < 0 ? "reset" : text;
}

static void lead(struct proxy *proxy, uint32_t listener, const uint16_t *ports, size_t n)
{
    struct proxy_target targets[4];

    for (size_t i = 0; i < n; i++)
        targets[i] = (struct proxy_target){own_address(0).sin_addr.s_addr, ports[i]};
    proxy_set_targets(proxy, listener, targets, n);
}

struct bench {
    struct proxy *proxy;
    uint32_t listener;
    uint16_t port, target_port;
    int target;
};

/* A listener that has no targets yet. */
static struct bench set_up_listener(void)
{
    struct bench b = {.proxy = proxy_start(NETNS_HOLDER_NONE, NULL)};

    assert_non_null(b.proxy);
    b.target = server(&b.target_port);
    b.listener = proxy_open(b.proxy, bound(&b.port));
    return b;
}

static struct bench set_up(void)
{
    struct bench b = set_up_listener();

    lead(b.proxy, b.listener, &b.target_port, 1);
    return b;
}

static void tear_down(struct bench *b)
{
    proxy_stop(b->proxy);
    close(b->target);
}

static void each_direction_ends_on_its_own(void **state)
{
    struct bench b = set_up();
    int near = client_at_last(b.port), far = accepted(b.target);

    say(near, "question");
    shutdown(near, SHUT_WR);
    check_str("to its end", heard(far), "question");
    say(far, "answer");
    close(far);
    check_str("and back", heard(near), "answer");
    close(near);
    tear_down(&b);
}

static void a_listener_without_targets_refuses(void **state)
{
    struct bench b = set_up();
    int near = client_at_last(b.port), far = accepted(b.target), fd;

    lead(b.proxy, b.listener, NULL, 0);
    while (!is_refused(b.port))
        poll(NULL, 0, 1);
    say(near, "still here");
    shutdown(near, SHUT_WR);
    check_str("existing connections stay", heard(far), "still here");
    lead(b.proxy, b.listener, &b.target_port, 1);
    fd = client_at_last(b.port);
    close(fd);
    close(near);
    close(far);
    tear_down(&b);
}

static void targets_take_turns_and_one_that_refuses_is_skipped(void **state)
{
    struct bench b = set_up();
    uint16_t other_port, refusing_port;
    int other = server(&other_port), refusing = bound(&refusing_port);
    int came[2] = {0, 0};

    lead(b.proxy, b.listener, (uint16_t[]){b.target_port, refusing_port, other_port}, 3);
    for (int i = 0; i < 12; i++) {
        struct pollfd ready[] = {{b.target, POLLIN, 0}, {other, POLLIN, 0}};
        int near = client_at_last(b.port), which;

        check_int("one of the targets has it", poll(ready, 2, WAIT_MS), 1);
        which = ready[1].revents != 0;
        came[which]++;
        close(accepted(ready[which].fd));
        check_str("no connection is lost", heard(near), "");
        close(near);
    }
    check("both had their turns", came[0] >= 3 && came[1] >= 3);
    close(other);
    close(refusing);
    tear_down(&b);
}

static void a_connection_without_a_working_target_is_reset(void **state)
{
    struct bench b = set_up_listener();
    uint16_t refusing_port;
    int refusing = bound(&refusing_port), near;

    lead(b.proxy, b.listener, &refusing_port, 1);
    near = client_at_last(b.port);
    check_str("ends", heard(near), "reset");
    close(near);
    close(refusing);
    tear_down(&b);
}

/* Sends more than all buffers on the way hold: nothing is lost while the reader pauses. */
static void a_slow_reader_gets_everything(void **state)
{
    enum { BYTES = 16 << 20 };
    struct bench b = set_up();
    int near = client_at_last(b.port), far = accepted(b.target);
    char *chunk = mem_alloc(1 << 16);
    size_t sent = 0, got = 0;
    ssize_t n;

    while (sent < BYTES && (n = send(near, chunk, 1 << 16, MSG_NOSIGNAL | MSG_DONTWAIT)) > 0)
        sent += (size_t)n;
    check("all buffers are full", sent < BYTES);
    shutdown(near, SHUT_WR);
    while ((n = recv(far, chunk, 1 << 16, 0)) > 0)
        got += (size_t)n;
    check("all of it", n == 0 && got == sent);
    mem_free(chunk);
    close(near);
    close(far);
    tear_down(&b);
}

/* Connections beyond the limit wait in the kernel until others have ended. */
static void connections_beyond_the_limit_wait(void **state)
{
    enum { MORE = 8, FILES = 4 * (PROXY_CONNS_MAX + MORE) + 64 };
    struct rlimit files;
    struct bench b = set_up();
    int *near, *far;
    struct pollfd ready = {b.target, POLLIN, 0};

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < FILES) {
        tear_down(&b);
        skip();
    }
    near = mem_array(PROXY_CONNS_MAX + MORE, sizeof *near);
    far = mem_array(PROXY_CONNS_MAX + MORE, sizeof *far);
    for (int i = 0; i < PROXY_CONNS_MAX + MORE; i++) {
        near[i] = client_at_last(b.port);
        if (i < PROXY_CONNS_MAX)
            far[i] = accepted(b.target);
    }
    check_int("no more than the limit", poll(&ready, 1, 0), 0);
    for (int i = 0; i < MORE; i++) {
        close(near[i]);
        close(far[i]);
        far[PROXY_CONNS_MAX + i] = accepted(b.target);
    }
    for (int i = MORE; i < PROXY_CONNS_MAX + MORE; i++) {
        close(near[i]);
        close(far[i]);
    }
    mem_free(near);
    mem_free(far);
    tear_down(&b);
}

static void a_closed_listener_frees_its_port(void **state)
{
    struct bench b = set_up();
    int near = client_at_last(b.port), far = accepted(b.target);

    proxy_close(b.proxy, b.listener);
    while (!is_refused(b.port))
        poll(NULL, 0, 1);
    say(near, "bye");
    shutdown(near, SHUT_WR);
    check_str("accepted connections go on", heard(far), "bye");
    close(near);
    close(far);
    tear_down(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_direction_ends_on_its_own),
        cmocka_unit_test(a_listener_without_targets_refuses),
        cmocka_unit_test(targets_take_turns_and_one_that_refuses_is_skipped),
        cmocka_unit_test(a_connection_without_a_working_target_is_reset),
        cmocka_unit_test(a_slow_reader_gets_everything),
        cmocka_unit_test(connections_beyond_the_limit_wait),
        cmocka_unit_test(a_closed_listener_frees_its_port),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
