#pragma once
/*
 * The endpoints of a Service are the pods it selects that can be reached now.
 */
#include "node/proxy/proxy.h"
#include "node/proxy/service_spec.h"

struct service_endpoints {
    struct endpoint *pods; /* hash table of endpoints by uid of their pod */
};

/** Updates the endpoints after a pod has changed; `gone`: the pod was deleted. Returns whether the
 * endpoints have changed. */
bool service_endpoints_update(struct service_endpoints *endpoints, const struct service_spec *spec,
                              const struct object *pod, bool gone);
void service_endpoints_each(const struct service_endpoints *endpoints,
                            void (*visit)(void *arg, const struct object *pod, in_addr_t ip,
                                          bool ready),
                            void *arg);
/** Returns the addresses of a Service port, [*n], owned by the caller. */
struct proxy_target *service_endpoints_targets(const struct service_endpoints *endpoints,
                                               const struct service_port *port, size_t *n);
void service_endpoints_release(
    struct service_endpoints *endpoints); /* the struct is empty afterwards and usable */
