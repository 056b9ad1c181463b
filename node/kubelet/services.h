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
    struct cluster *cluster; /* all borrowed for the life of the services */
    bool private_network;
    /** The second byte of the pods' loopback range; `wanted` (or 0) if it is still free. */
    uint8_t (*range)(void *ctx, uint8_t wanted);
    /** A socket that can bind to the address, if an ordinary one cannot; -1: any socket can. */
    int (*socket_at)(void *ctx, const struct sockaddr *address, int type);
    /** The connection to the network's holder by which the proxy gets such sockets. */
    void (*line)(void *ctx, struct netns_holder *out);
    /** The Service has got its address since services_changed returned. */
    void (*opened)(void *ctx, const struct object *service);
    void *ctx;
};

struct services *services_new(const struct services_rules *rules);
void services_free(struct services *services); /* NULL is fine */

/** Read the stored Services; those that have addresses keep them. */
void services_start(struct services *services);
/** A Service was created, changed or deleted. */
void services_changed(struct services *services, enum cluster_change change,
                      const struct object *service);
/** The Service's address, borrowed; NULL = it has none. */
const char *services_address(const struct services *services, const struct object *service);

/** A pod was created, changed or deleted. Cost: the Services of its job, and the Services of its
 * namespace whose selector names no job. */
void services_pod(struct services *services, enum cluster_change change, const struct object *pod);
/** True when a Service with an address selects the pod. */
bool services_select(const struct services *services, const struct object *pod);
/** The target ports of the Services that select this pod: [*n], in `arena`. */
const uint16_t *services_ports(const struct services *services, const struct object *pod,
                               struct arena *arena, size_t *n);
/** Visit the Services of a namespace that have addresses, oldest first. */
void services_each(const struct services *services, const char *ns,
                   void (*visit)(void *arg, const char *name, const char *address,
                                 const struct service_spec *spec),
                   void *arg);
