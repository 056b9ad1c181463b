/*
 * Opens a connection of the server on one end of a socket pair; the test has the other end.
 */
#include "tests/support/http_fixture.h"
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static void on_closed(void *ctx, struct connection *c)
{
    ((struct http_fixture *)ctx)->closed = true;
}

void http_fixture_open(struct http_fixture *http)
{
    int pair[2];

    check_int("pair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    http->fd = pair[0];
    fcntl(http->fd, F_SETFL, O_NONBLOCK);
    http->closed = false;
    http->env = (struct connection_env){
        .loop = http->fixture.loop,
        .handler = api_handler_init(&http->handler, http->fixture.api),
        .closed = on_closed,
        .ctx = http,
    };
    http->connection = connection_new(&http->env, &(struct connection_peer){.socket = IO_UNIX});
    check_int("open", uv_pipe_open((uv_pipe_t *)connection_stream(http->connection), pair[1]), 0);
}

void http_fixture_start(struct http_fixture *http)
{
    *http = (struct http_fixture){.fd = -1};
    api_fixture_start(&http->fixture, NULL);
    http_fixture_open(http);
    connection_start(http->connection);
    loop_settle(http->fixture.loop);
}

void http_fixture_stop(struct http_fixture *http)
{
    if (!http->closed)
        connection_close(http->connection);
    loop_settle(http->fixture.loop);
    check("closed", http->closed);
    close(http->fd);
    buf_release(&http->in);
    api_fixture_stop(&http->fixture);
}

bool http_fixture_read(struct http_fixture *http)
{
    char bytes[65536];
    ssize_t n;

    while ((n = read(http->fd, bytes, sizeof bytes)) > 0)
        buf_add(&http->in, bytes, (size_t)n);
    return n < 0 && errno == EAGAIN;
}

void http_fixture_put(struct http_fixture *http, const char *text)
{
    size_t len = strlen(text);

    check_int("write", write(http->fd, text, len), (int64_t)len);
}

bool http_fixture_send(struct http_fixture *http, const char *text)
{
    http_fixture_put(http, text);
    loop_settle(http->fixture.loop);
    return http_fixture_read(http);
}

const char *http_fixture_exchange(struct http_fixture *http, const char *text)
{
    buf_clear(&http->in);
    http_fixture_send(http, text);
    return http->in.data ? http->in.data : "";
}
