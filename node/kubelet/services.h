#pragma once
/*
 * Services with an address of their own: a virtual address whose ports lead to the ready pods the
 * Service selects.
 *
 *   127.11.4.0:80 ──► relay ──► 127.10.4.7:8080, 127.10.4.9:8080 in turns
 *
 * The address is written into spec.clusterIP and kept; the name in hosts files leads there
 * (hosts_files.h). Headless Services, and those that select nothing, have none. Ref:
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
    /** A socket that can have the address, when ours cannot; -1: any can. */
    int (*socket_at)(void *ctx, const struct sockaddr *address, int type);
    /** How the relay gets such sockets: a connection of its own to their holder. */
    void (*line)(void *ctx, struct netns_holder *out);
    /** It has an address now, which it had not when services_changed returned. */
    void (*opened)(void *ctx, const struct object *service);
    void *ctx;
};

struct services *services_new(const struct services_rules *rules);
void services_free(struct services *services); /* NULL is fine */

/** Take over the Services of earlier lives, with the addresses they have. */
void services_start(struct services *services);
/** A Service came, changed or went. */
void services_changed(struct services *services, enum cluster_change change,
                      const struct object *service);
/** Its address; NULL = it has none. Borrowed. */
const char *services_address(const struct services *services, const struct object *service);

/** A pod came, changed or went. Cost: the Services of its job, and those of its namespace that name
 * no job. */
void services_pod(struct services *services, enum cluster_change change, const struct object *pod);
/** Is the pod behind one, as soon as it can be reached? */
bool services_select(const struct services *services, const struct object *pod);
/** The ports at which Services expect this pod to listen: [*n], in `arena`. */
const uint16_t *services_ports(const struct services *services, const struct object *pod,
                               struct arena *arena, size_t *n);
/** Those of a namespace that have addresses, the oldest first. */
void services_each(const struct services *services, const char *ns,
                   void (*visit)(void *arg, const char *name, const char *address,
                                 const struct service_spec *spec),
                   void *arg);
