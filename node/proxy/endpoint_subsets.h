#pragma once
/*
 * The bodies of a Service's Endpoints and EndpointSlice, from its members.
 */
#include "node/proxy/service_endpoints.h"
#include "node/proxy/service_spec.h"

enum { ENDPOINTS_MAX = 1000 }; /* endpoints of a Service; the rest is left out */

struct endpoint_input {
    const struct object *service;
    const struct service_spec *spec;
    const struct service_endpoints *members;
    bool all_ready; /* the Service publishes those that are not ready, too */
    const char *node_name;
};

/* Owned documents of the bodies' members. */
json_t *endpoint_subsets_build(const struct endpoint_input *endpoint_input);
json_t *endpoint_slice_build(const struct endpoint_input *endpoint_input);
