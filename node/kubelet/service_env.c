/*
 * Writes the Service variables of a pod: for each Service of its namespace the host and the first
 * port, then four variables for each port, in the form of Docker links.
 */
#include "node/kubelet/service_env.h"

#include <stdio.h>

#include "node/proxy/service_spec.h"

struct env_writer {
    struct arena *arena;
    void (*define)(void *arg, const char *name, const char *value);
    void *arg;
    size_t ports; /* number of ports written so far */
};

/* Converts a name to the form of a variable: "web-front" becomes "WEB_FRONT". */
static const char *upper(struct arena *arena, const char *name)
{
    char *out = arena_strdup(arena, name);

    for (char *at = out; *at; at++) {
        if (*at == '-')
            *at = '_';
        else if (*at >= 'a' && *at <= 'z')
            *at = (char)(*at - 'a' + 'A');
    }
    return out;
}

static void put(struct env_writer *w, const char *name, const char *suffix, const char *value)
{
    w->define(w->arg, arena_printf(w->arena, "%s%s", name, suffix), value);
}

static const char *const schemes[] = {[SERVICE_TCP] = "tcp", [SERVICE_UDP] = "udp"};

static const char *url_of(struct env_writer *w, const char *address,
                          const struct service_port *port)
{
    return arena_printf(w->arena, "%s://%s:%u", schemes[port->transport], address, port->port);
}

static void put_port(struct env_writer *w, const char *name, const char *address,
                     const struct service_port *port)
{
    const char *number = arena_printf(w->arena, "%u", port->port);
    const char *link = arena_printf(w->arena, "%s_PORT_%s_%s", name, number,
                                    service_transport_text(port->transport));

    if (port->name && *port->name)
        put(w, arena_printf(w->arena, "%s_SERVICE_PORT_", name), upper(w->arena, port->name),
            number);
    put(w, link, "", url_of(w, address, port));
    put(w, link, "_PROTO", schemes[port->transport]);
    put(w, link, "_PORT", number);
    put(w, link, "_ADDR", address);
}

static void put_service(void *arg, const char *service, const char *address,
                        const struct service_spec *spec)
{
    struct env_writer *w = arg;
    const char *name;

    if (!spec->n_ports || w->ports + spec->n_ports > SERVICE_ENV_MAX)
        return;
    w->ports += spec->n_ports;
    name = upper(w->arena, service);
    put(w, name, "_SERVICE_HOST", address);
    put(w, name, "_SERVICE_PORT", arena_printf(w->arena, "%u", spec->ports[0].port));
    put(w, name, "_PORT", url_of(w, address, &spec->ports[0]));
    for (size_t i = 0; i < spec->n_ports; i++)
        put_port(w, name, address, &spec->ports[i]);
}

void service_env(const struct services *services, const char *ns, struct arena *arena,
                 void (*define)(void *arg, const char *name, const char *value), void *arg)
{
    struct env_writer w = {arena, define, arg, 0};

    services_each(services, ns, put_service, &w);
}
