/*
 * One end of a socket pair is a connection, the other the test's.
 */
#include "tests/support/wire.h"
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static void on_closed(void *ctx, struct connection *c)
{
    ((struct wire *)ctx)->closed = true;
}

void wire_open(struct wire *wire)
{
    int pair[2];

    check_int("pair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    wire->fd = pair[0];
    fcntl(wire->fd, F_SETFL, O_NONBLOCK);
    wire->closed = false;
    wire->env = (struct connection_env){
        .loop = wire->rig.loop, .api = wire->rig.api, .closed = on_closed, .ctx = wire};
    wire->connection = connection_new(&wire->env, &(struct connection_peer){.socket = IO_UNIX});
    check_int("open", uv_pipe_open((uv_pipe_t *)connection_stream(wire->connection), pair[1]), 0);
}

void wire_start(struct wire *wire)
{
    *wire = (struct wire){.fd = -1};
    api_rig_start(&wire->rig, NULL);
    wire_open(wire);
    connection_start(wire->connection);
    loop_settle(wire->rig.loop);
}

void wire_stop(struct wire *wire)
{
    if (!wire->closed)
        connection_close(wire->connection);
    loop_settle(wire->rig.loop);
    check("closed", wire->closed);
    close(wire->fd);
    buf_release(&wire->in);
    api_rig_stop(&wire->rig);
}

bool wire_read(struct wire *wire)
{
    char bytes[65536];
    ssize_t n;

    while ((n = read(wire->fd, bytes, sizeof bytes)) > 0)
        buf_add(&wire->in, bytes, (size_t)n);
    return n < 0 && errno == EAGAIN;
}

void wire_put(struct wire *wire, const char *text)
{
    size_t len = strlen(text);

    check_int("write", write(wire->fd, text, len), (int64_t)len);
}

bool wire_send(struct wire *wire, const char *text)
{
    wire_put(wire, text);
    loop_settle(wire->rig.loop);
    return wire_read(wire);
}

const char *wire_exchange(struct wire *wire, const char *text)
{
    buf_clear(&wire->in);
    wire_send(wire, text);
    return wire->in.data ? wire->in.data : "";
}
