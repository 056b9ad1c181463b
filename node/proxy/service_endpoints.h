#pragma once
/*
 * The pods behind a Service: those it selects that can be reached now.
 */
#include "node/proxy/proxy.h"
#include "node/proxy/service_spec.h"

struct service_endpoints {
    struct member *pods; /* by uid */
};

/** Look at a pod as it is now; `gone`: its object is. True when that changes who is behind it. */
bool service_endpoints_update(struct service_endpoints *members, const struct service_spec *spec,
                              const struct object *pod, bool gone);
void service_endpoints_each(const struct service_endpoints *members,
                            void (*visit)(void *arg, const struct object *pod, in_addr_t ip,
                                          bool ready),
                            void *arg);
/** Where they listen: [*n], owned. */
struct proxy_target *service_endpoints_targets(const struct service_endpoints *members,
                                               const struct service_port *port, size_t *n);
void service_endpoints_release(struct service_endpoints *members); /* leaves it empty and usable */
