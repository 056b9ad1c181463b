#pragma once
/*
 * The bodies of a Service's Endpoints and EndpointSlice, built from its endpoints.
 */
#include "node/proxy/service_endpoints.h"
#include "node/proxy/service_spec.h"

enum { ENDPOINTS_MAX = 1000 }; /* bound of endpoints of a Service; further ones are left out */

struct endpoint_input {
    const struct object *service;
    const struct service_spec *spec;
    const struct service_endpoints *members;
    bool all_ready; /* publishNotReadyAddresses is set: all endpoints count as ready */
    const char *node_name;
};

/* Returns the members of the body as a document, owned by the caller. */
json_t *endpoint_subsets_build(const struct endpoint_input *input);
json_t *endpoint_slice_build(const struct endpoint_input *input);
