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
    /** A socket on which this address can be bound although it is not of this network; -1: an
     * ordinary one will do. */
    int (*socket_at)(void *ctx, const struct sockaddr *address, int type);
    /** Open a connection to the holder of that network, for the proxy. */
    void (*connect_holder)(void *ctx, struct netns_holder *out);
    /** Called when a listener could not be opened, with an errno. */
    void (*failed)(void *ctx, void *about, const struct service_port *port, int error);
    void *ctx;
    struct proxy *proxy; /* started with the first listener */
};
void listener_factory_release(struct listener_factory *factory);

struct service_listeners {
    struct service_listener {
        uint16_t port;
        enum service_transport transport;
        uint32_t number; /* of the proxy; 0 = could not be opened */
    } * items;           /* [n], as the ports of the Service; owned */
    size_t n;
    bool any; /* is any of them open? */
};

/** Open the listeners that the Service needs; open ones are kept, superfluous ones closed. `about`
 * is passed to `failed`. */
void service_listeners_open(struct listener_factory *factory, struct service_listeners *listeners,
                            in_addr_t ip, const struct service_spec *spec, void *about);
void service_listeners_close(struct listener_factory *factory, struct service_listeners *listeners);
