/*
 * Takes one port on both loopback addresses.
 */
#include "web/loopback.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

enum { PORT = 6481, CONNECTIONS_MAX = 64, CONNECTIONS_PER_PEER = 32 };

/* Whether another program has the port on this address. Nothing listens yet when this is asked, so
 * that both addresses are taken or none. */
static bool is_taken(int family, int port)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                               .sin6_port = htons((uint16_t)port),
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    bool taken;

    if (fd < 0)
        return false;
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    taken = (family == AF_INET ? bind(fd, (const struct sockaddr *)&four, sizeof four)
                               : bind(fd, (const struct sockaddr *)&six, sizeof six)) < 0 &&
            errno == EADDRINUSE;
    close(fd);
    return taken;
}

/* Listens on both addresses with one port. A machine without IPv6 has one of them. */
static bool listen_on(struct listener *listener, int port, int *out_port, struct error *err)
{
    int second;

    if (port && (is_taken(AF_INET, port) || is_taken(AF_INET6, port)))
        return error_set(err, ERR_EXISTS, "",
                         "port %d is taken: another --port, or none, takes another one", port);
    if (!listener_add_tcp(listener, "127.0.0.1", port, NULL, out_port, err))
        return false;
    if (!listener_add_tcp(listener, "::1", *out_port, NULL, &second, NULL))
        log_debug("no page on ::1");
    return true;
}

struct listener *loopback_listen(struct loop *loop, struct http_handler *handler, int port,
                                 int *out_port, struct error *err)
{
    const struct listener_options limits = {.connections_max = CONNECTIONS_MAX,
                                            .connections_per_peer = CONNECTIONS_PER_PEER};
    struct listener *listener = listener_new_for(loop, handler, &limits);
    struct error why = {0};
    bool ok = listen_on(listener, port ? port : PORT, out_port, &why);

    if (!ok && !port && why.code == ERR_EXISTS)
        ok = listen_on(listener, 0, out_port, &why);
    if (ok)
        return listener;
    listener_stop(listener);
    if (err)
        *err = why;
    return NULL;
}
