#pragma once
/*
 * The pods behind a Service: those it selects that can be reached now.
 */
#include "node/proxy/proxy.h"
#include "node/proxy/service_spec.h"

struct members {
    struct member *pods; /* by uid */
};

/** Look at a pod as it is now; `gone`: its object is. True when that changes who is behind it. */
bool members_look(struct members *members, const struct service_spec *spec,
                  const struct object *pod, bool gone);
void members_each(const struct members *members,
                  void (*visit)(void *arg, const struct object *pod, in_addr_t ip, bool ready),
                  void *arg);
/** Where they listen: [*n], owned. */
struct relay_target *members_targets(const struct members *members, const struct service_port *port,
                                     size_t *n);
void members_release(struct members *members); /* leaves it empty and usable */
