#pragma once
/*
 * Services with an address of their own: a virtual address whose ports lead to the ready pods the
 * Service selects.
 *
 *   127.11.4.0:80 ──► proxy ──► 127.10.4.7:8080, 127.10.4.9:8080 in turns
 *
 * The address is written into spec.clusterIP and kept; hosts files give the Service's name this
 * address (hosts_files.h). Headless Services and Services without a selector have no address. Ref:
 * spec/local-runtime.md 3.5.
 */
#include "api/cluster.h"

struct services;
struct service_spec;
struct netns_holder;
struct arena;

struct services_rules {
    struct cluster *cluster; /* this and the other pointers are borrowed for the life of the
                              * services */
    bool private_network;
    /** Returns the second byte of the pods' loopback range: `wanted` (or 0) if it is still free. */
    uint8_t (*range)(void *ctx, uint8_t wanted);
    /** Returns an owned socket with which a proxy can bind to the address, for an address that an
     * ordinary socket cannot bind to because it lies in another network. -1 means that an ordinary
     * socket will do. */
    int (*socket_at)(void *ctx, const struct sockaddr *address, int type);
    /** Opens the connection to the network's holder by which the proxy gets such sockets. */
    void (*line)(void *ctx, struct netns_holder *out);
    /** Called when a Service has got its address after services_changed returned. */
    void (*opened)(void *ctx, const struct object *service);
    void *ctx;
};

struct services *services_new(const struct services_rules *rules);
void services_free(struct services *services); /* NULL is ignored */

/** Reads the stored Services; those that have addresses keep them. */
void services_start(struct services *services);
/** Handles a Service that was created, changed or deleted. */
void services_changed(struct services *services, enum cluster_change change,
                      const struct object *service);
/** Returns the Service's address, borrowed; NULL = it has none. */
const char *services_address(const struct services *services, const struct object *service);

/** Handles a pod that was created, changed or deleted. It costs a look at the Services of its job
 * and at those of its namespace whose selector names no job. */
void services_pod(struct services *services, enum cluster_change change, const struct object *pod);
/** Returns whether a Service with an address selects the pod. */
bool services_select(const struct services *services, const struct object *pod);
/** Returns the target ports of the Services that select this pod: [*n], in `arena`. */
const uint16_t *services_ports(const struct services *services, const struct object *pod,
                               struct arena *arena, size_t *n);
/** Visits the Services of a namespace that have addresses, oldest first. */
void services_each(const struct services *services, const char *ns,
                   void (*visit)(void *arg, const char *name, const char *address,
                                 const struct service_spec *spec),
                   void *arg);
