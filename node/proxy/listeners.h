#pragma once
/*
 * The doors of a Service: for each of its ports a socket at its address, given to the relay. A port
 * below 1024 that is not for this user is opened further up, where programs are sent that look for
 * it (machine/sockaddr_rules.h).
 */
#include "node/proxy/proxy.h"
#include "node/proxy/service_spec.h"

/* What the doors of all Services share. */
struct doorkeeper {
    /** A socket that can have the address, when ours cannot; -1: any can. */
    int (*socket_at)(void *ctx, const struct sockaddr *address, int type);
    /** How the relay gets such sockets: a connection of its own to their holder. */
    void (*line)(void *ctx, struct netns_holder *out);
    /** A door that could not be opened, with an errno. */
    void (*failed)(void *ctx, void *about, const struct service_port *port, int error);
    void *ctx;
    struct relay *relay; /* NULL until the first door */
};
void doorkeeper_release(struct doorkeeper *keeper);

struct doors {
    struct door_at {
        uint16_t port;
        enum service_transport transport;
        uint32_t number; /* the relay's; 0: it could not be opened */
    } * items;           /* [n], as the ports of the Service; owned */
    size_t n;
    bool any; /* is open */
};

/** Open what the Service asks for; those that are open already stay so, others close. `about` is
 * passed on. */
void doors_open(struct doorkeeper *keeper, struct doors *doors, in_addr_t ip,
                const struct service_spec *spec, void *about);
void doors_close(struct doorkeeper *keeper, struct doors *doors);
