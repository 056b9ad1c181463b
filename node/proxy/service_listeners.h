#pragma once
/*
 * The listeners of a Service: for each of its ports a socket bound to the Service's address, given
 * to the proxy. A port below 1024 that this user may not bind is replaced by a higher one, to which
 * pods' connections are sent (machine/sockaddr_rules.h).
 */
#include "node/proxy/proxy.h"
#include "node/proxy/service_spec.h"

/* Makes the sockets of all listeners, and owns the proxy. */
struct listener_factory {
    /** Returns a socket on which this address can be bound although the address is not of this
     * network. Returns -1 when an ordinary socket will do. */
    int (*socket_at)(void *ctx, const struct sockaddr *address, int type);
    /** Opens a connection to the holder of the private network, for the proxy. */
    void (*connect_holder)(void *ctx, struct netns_holder *out);
    /** Called with an errno when a listener could not be opened. */
    void (*failed)(void *ctx, void *about, const struct service_port *port, int error);
    void *ctx;
    struct proxy *proxy; /* the proxy, which is started with the first listener */
};
void listener_factory_release(struct listener_factory *factory);

struct service_listeners {
    struct service_listener {
        uint16_t port;
        enum service_transport transport;
        uint32_t number; /* number of the listener in the proxy; 0 = it could not be opened */
    } * items;           /* one item for each port of the Service, [n]; owned */
    size_t n;
    bool any; /* at least one of the listeners is open */
};

/** Opens the listeners that the Service needs. Open ones are kept, superfluous ones closed. `about`
 * is passed to `failed`. */
void service_listeners_open(struct listener_factory *factory, struct service_listeners *listeners,
                            in_addr_t ip, const struct service_spec *spec, void *about);
void service_listeners_close(struct listener_factory *factory, struct service_listeners *listeners);
