#pragma once
/*
 * The bodies of a Service's Endpoints and EndpointSlice, built from its endpoints.
 */
#include "node/proxy/service_endpoints.h"
#include "node/proxy/service_spec.h"

enum { ENDPOINTS_MAX = 1000 }; /* of a Service; further endpoints are left out */

struct endpoint_input {
    const struct object *service;
    const struct service_spec *spec;
    const struct service_endpoints *members;
    bool all_ready; /* publishNotReadyAddresses: all count as ready */
    const char *node_name;
};

/* The body members as a document; owned. */
json_t *endpoint_subsets_build(const struct endpoint_input *input);
json_t *endpoint_slice_build(const struct endpoint_input *input);
