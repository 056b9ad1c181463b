/*
 * Opens and closes the sockets of a Service's ports.
 */
#include "node/proxy/service_listeners.h"

#include <errno.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/machine/sockaddr_rules.h"

void listener_factory_release(struct listener_factory *factory)
{
    proxy_stop(factory->proxy);
    factory->proxy = NULL;
}

/* Returns a socket bound to the address, or -errno. Datagram sockets get no SO_REUSEADDR: two of
 * them could bind the same address, and only one would receive. */
static int bound_socket(const struct listener_factory *factory, in_addr_t ip, uint16_t port,
                        int type)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = ip};
    int fd = factory->socket_at(factory->ctx, (const struct sockaddr *)&address, type), error;
    const int again = type == SOCK_STREAM;

    if (fd < 0)
        fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    error = errno;
    close(fd);
    return -error;
}

static bool ensure_proxy(struct listener_factory *factory)
{
    struct netns_holder holder;

    if (factory->proxy)
        return true;
    factory->connect_holder(factory->ctx, &holder);
    factory->proxy = proxy_start(holder, NULL);
    return factory->proxy != NULL;
}

/* Opens one listener. Returns its number in the proxy; 0 = failed. */
static uint32_t open_one(struct listener_factory *factory, in_addr_t ip,
                         const struct service_port *port, void *about)
{
    int type = port->transport == SERVICE_UDP ? SOCK_DGRAM : SOCK_STREAM;
    int fd = bound_socket(factory, ip, port->port, type);

    if (fd == -EACCES && port->port < LOW_PORTS_END)
        fd = bound_socket(factory, ip, (uint16_t)(port->port + LOW_PORTS_MOVE), type);
    if (fd >= 0 && ensure_proxy(factory))
        return proxy_open(factory->proxy, fd);
    if (fd >= 0)
        close(fd);
    factory->failed(factory->ctx, about, port, fd < 0 ? -fd : EAGAIN);
    return 0;
}

static uint32_t take_number(struct service_listeners *before, const struct service_port *port)
{
    uint32_t number = 0;

    for (size_t i = 0; i < before->n && !number; i++) {
        struct service_listener *listener = &before->items[i];

        if (listener->port == port->port && listener->transport == port->transport) {
            number = listener->number;
            listener->number = 0;
        }
    }
    return number;
}

void service_listeners_open(struct listener_factory *factory, struct service_listeners *listeners,
                            in_addr_t ip, const struct service_spec *spec, void *about)
{
    struct service_listeners before = *listeners;

    *listeners = (struct service_listeners){mem_array(spec->n_ports + 1, sizeof *listeners->items),
                                            spec->n_ports};
    for (size_t i = 0; i < spec->n_ports; i++) {
        const struct service_port *port = &spec->ports[i];

        listeners->items[i] =
            (struct service_listener){port->port, port->transport, take_number(&before, port)};
    }
    service_listeners_close(factory, &before);
    for (size_t i = 0; i < listeners->n; i++) {
        struct service_listener *listener = &listeners->items[i];

        if (!listener->number)
            listener->number = open_one(factory, ip, &spec->ports[i], about);
        listeners->any = listeners->any || listener->number;
    }
}

void service_listeners_close(struct listener_factory *factory, struct service_listeners *listeners)
{
    for (size_t i = 0; i < listeners->n; i++)
        if (listeners->items[i].number)
            proxy_close(factory->proxy, listeners->items[i].number);
    mem_free(listeners->items);
    *listeners = (struct service_listeners){0};
}
