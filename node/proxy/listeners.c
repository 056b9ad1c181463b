/*
 * The doors of a Service. See listeners.h.
 */
#include "node/proxy/listeners.h"

#include <errno.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/machine/sockaddr_rules.h"

void doorkeeper_release(struct doorkeeper *keeper)
{
    relay_stop(keeper->relay);
    keeper->relay = NULL;
}

/* Its descriptor, or -errno. Two sockets for datagrams would both have an address that may be used
 * again, and only one what is sent there. */
static int bound_socket(const struct doorkeeper *keeper, in_addr_t ip, uint16_t port, int type)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = ip};
    int fd = keeper->socket_at(keeper->ctx, (const struct sockaddr *)&address, type), error;
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

static bool have_relay(struct doorkeeper *keeper)
{
    struct netns_holder holder;

    if (keeper->relay)
        return true;
    keeper->line(keeper->ctx, &holder);
    keeper->relay = relay_start(holder, NULL);
    return keeper->relay != NULL;
}

/* Its number; 0: there is none. */
static uint32_t open_one(struct doorkeeper *keeper, in_addr_t ip, const struct service_port *port,
                         void *about)
{
    int type = port->transport == SERVICE_UDP ? SOCK_DGRAM : SOCK_STREAM;
    int fd = bound_socket(keeper, ip, port->port, type);

    if (fd == -EACCES && port->port < LOW_PORTS_END)
        fd = bound_socket(keeper, ip, (uint16_t)(port->port + LOW_PORTS_MOVE), type);
    if (fd >= 0 && have_relay(keeper))
        return relay_open(keeper->relay, fd);
    if (fd >= 0)
        close(fd);
    keeper->failed(keeper->ctx, about, port, fd < 0 ? -fd : EAGAIN);
    return 0;
}

static uint32_t take_from(struct doors *before, const struct service_port *port)
{
    uint32_t number = 0;

    for (size_t i = 0; i < before->n && !number; i++) {
        struct door_at *door = &before->items[i];

        if (door->port == port->port && door->transport == port->transport) {
            number = door->number;
            door->number = 0;
        }
    }
    return number;
}

void doors_open(struct doorkeeper *keeper, struct doors *doors, in_addr_t ip,
                const struct service_spec *spec, void *about)
{
    struct doors before = *doors;

    *doors = (struct doors){mem_array(spec->n_ports + 1, sizeof *doors->items), spec->n_ports};
    for (size_t i = 0; i < spec->n_ports; i++) {
        const struct service_port *port = &spec->ports[i];

        doors->items[i] = (struct door_at){port->port, port->transport, take_from(&before, port)};
    }
    doors_close(keeper, &before);
    for (size_t i = 0; i < doors->n; i++) {
        struct door_at *door = &doors->items[i];

        if (!door->number)
            door->number = open_one(keeper, ip, &spec->ports[i], about);
        doors->any = doors->any || door->number;
    }
}

void doors_close(struct doorkeeper *keeper, struct doors *doors)
{
    for (size_t i = 0; i < doors->n; i++)
        if (doors->items[i].number)
            relay_close(keeper->relay, doors->items[i].number);
    mem_free(doors->items);
    *doors = (struct doors){0};
}
