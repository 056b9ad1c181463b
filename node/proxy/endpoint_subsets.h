#pragma once
/*
 * The bodies of a Service's Endpoints and EndpointSlice, from its members.
 */
#include "node/proxy/service_endpoints.h"
#include "node/proxy/service_spec.h"

enum { LISTING_MAX = 1000 }; /* endpoints of a Service; the rest is left out */

struct listing {
    const struct object *service;
    const struct service_spec *spec;
    const struct members *members;
    bool all_ready; /* the Service publishes those that are not ready, too */
    const char *node_name;
};

/* Owned documents of the bodies' members. */
json_t *listing_endpoints(const struct listing *listing);
json_t *listing_slice(const struct listing *listing);
