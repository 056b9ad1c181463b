/*
 * FZ-06: raw bytes on a connection. The responses do not depend on how the bytes are split into
 * reads; each begins with an HTTP status line, and no memory is leaked.
 */
/* covers: reliability.md FZ-06 FT-18 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/server/http/connection.h"
#include "api/server/message/request_head.h"
#include "tests/support/api.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 64 << 10 };

static void on_closed(void *ctx, struct connection *c)
{
    *(bool *)ctx = true;
}

static void take_in(int fd, struct buf *out)
{
    char bytes[16384];
    ssize_t n;

    while ((n = read(fd, bytes, sizeof bytes)) > 0)
        buf_add(out, bytes, (size_t)n);
}

/* Collects the responses to the bytes, sent `step` at a time. */
static void exchange(const uint8_t *data, size_t size, size_t step, struct buf *out)
{
    struct api_fixture fixture;
    struct api_handler handler;
    struct connection_env env;
    struct connection *connection;
    bool closed = false;
    int pair[2];

    api_fixture_start(&fixture, NULL);
    assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    env = (struct connection_env){.loop = fixture.loop,
                                  .handler = api_handler_init(&handler, fixture.api),
                                  .closed = on_closed,
                                  .ctx = &closed};
    connection = connection_new(&env, &(struct connection_peer){.socket = IO_UNIX});
    assert(uv_pipe_open((uv_pipe_t *)connection_stream(connection), pair[1]) == 0);
    connection_start(connection);
    for (size_t at = 0; at < size && !closed; at += step) {
        size_t n = size - at < step ? size - at : step;

        if (send(pair[0], data + at, n, MSG_NOSIGNAL) < 0)
            break;
        loop_settle(fixture.loop);
        take_in(pair[0], out);
    }
    loop_advance(fixture.loop, INT64_C(3600) * 1000);
    take_in(pair[0], out);
    if (!closed)
        connection_close(connection);
    loop_settle(fixture.loop);
    assert(closed);
    close(pair[0]);
    api_fixture_stop(&fixture);
}

enum { ID_CHARS = 16, DATE_CHARS = 29 };

static void blank(struct buf *text, const char *name, size_t chars)
{
    const size_t len = strlen(name);
    char *at = text->data;

    for (; at && (at = strstr(at, name)); at += len)
        for (size_t i = 0; i < chars && at[len + i]; i++)
            at[len + i] = '0';
}

/* Replaces the random parts of the heads of responses by blanks. The random duration of a watch
 * decides when the request behind it is answered, so the Date differs, too. */
static void drop_chance(struct buf *text)
{
    blank(text, "Audit-Id: ", ID_CHARS);
    blank(text, "Date: ", DATE_CHARS);
}

/* Removes every `word` from the text. Returns whether there was one. */
static bool drop_all(struct buf *text, const char *word)
{
    const size_t len = strlen(word);
    char *at = text->data;
    bool any = false;

    while (at && (at = strstr(at, word))) {
        memmove(at, at + len, text->len - (size_t)(at - text->data) - len + 1);
        text->len -= len;
        any = true;
    }
    return any;
}

/* Metrics count the requests that have ended by then. Whether one that came in the same bytes has, is
 * a question of how they were split. */
static bool tells_metrics(const struct buf *text)
{
    return text->data && strstr(text->data, "# HELP ");
}

/* Compares the responses, except for what depends on how the bytes were split: 100 Continue is not
 * sent when the body has arrived already, and a refused request closes the connection only while
 * its body is still on its way. */
static void compare(struct buf *whole, struct buf *split)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n",
                      closing[] = "Connection: close\r\n";
    bool ends_early;

    if (tells_metrics(whole) || tells_metrics(split))
        return;
    drop_all(whole, go_on);
    drop_all(split, go_on);
    drop_all(whole, closing);
    ends_early = drop_all(split, closing);
    assert(whole->len == split->len || (ends_early && split->len < whole->len));
    assert(!split->len || memcmp(whole->data, split->data, split->len) == 0);
}

static void check_head(const uint8_t *data, size_t size)
{
    size_t len = request_head_length((const char *)data, size, 0);
    struct request_head head;
    struct error err = {0};

    assert(len <= size);
    if (len && !request_head_parse((const char *)data, len, &head, &err))
        assert(err.code == ERR_BAD_REQUEST || err.code == ERR_NOT_IMPLEMENTED ||
               err.code == ERR_HEAD_TOO_LARGE || err.code == ERR_TARGET_TOO_LONG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(buf) struct buf whole = {0}, split = {0};

    if (size > INPUT_MAX)
        return 0;
    check_head(data, size);
    exchange(data, size, size ? size : 1, &whole);
    exchange(data, size, size > 512 ? size / 64 : 7, &split);
    drop_chance(&whole);
    drop_chance(&split);
    assert(!whole.len || memcmp(whole.data, "HTTP/1.1 ", 9) == 0);
    compare(&whole, &split);
    return 0;
}
