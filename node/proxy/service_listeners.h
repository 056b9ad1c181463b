#pragma once
/*
 * The listeners of a Service: for each of its ports a socket at its address, given to the proxy. A port
 * below 1024 that is not for this user is opened further up, where programs are sent that look for
 * it (machine/sockaddr_rules.h).
 */
#include "node/proxy/proxy.h"
#include "node/proxy/service_spec.h"

/* What the listeners of all Services share. */
struct listener_factory {
    /** A socket that can have the address, when ours cannot; -1: any can. */
    int (*socket_at)(void *ctx, const struct sockaddr *address, int type);
    /** How the proxy gets such sockets: a connection of its own to their holder. */
    void (*line)(void *ctx, struct netns_holder *out);
    /** A listener that could not be opened, with an errno. */
    void (*failed)(void *ctx, void *about, const struct service_port *port, int error);
    void *ctx;
    struct proxy *proxy; /* NULL until the first listener */
};
void listener_factory_release(struct listener_factory *factory);

struct service_listeners {
    struct service_listener {
        uint16_t port;
        enum service_transport transport;
        uint32_t number; /* the proxy's; 0: it could not be opened */
    } * items;           /* [n], as the ports of the Service; owned */
    size_t n;
    bool any; /* is open */
};

/** Open what the Service asks for; those that are open already stay so, others close. `about` is
 * passed on. */
void service_listeners_open(struct listener_factory *factory, struct service_listeners *listeners,
                            in_addr_t ip, const struct service_spec *spec, void *about);
void service_listeners_close(struct listener_factory *factory, struct service_listeners *listeners);
