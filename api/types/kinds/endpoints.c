/*
 * Endpoints (v1) and EndpointSlice (discovery.k8s.io/v1): the pods behind a Service, as kubectl and
 * clients ask for them. The node writes them (node/proxy/endpoints_controller.c).
 *
 * Ref: k8s.io/api core/v1 and discovery/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const char *const protocol_values[] = {"TCP", "UDP", "SCTP", "", NULL};
static const char *const address_type_values[] = {"IPv4", "IPv6", "FQDN", NULL};

static const struct field endpoint_address_fields[] = {
    {"ip",        FIELD_STR,    FIELD_PASS, .required = true, .doc = "The IP of this endpoint."},
    {"hostname",  FIELD_STR,    FIELD_PASS, .doc = "The Hostname of this endpoint."},
    {"nodeName",  FIELD_STR,    FIELD_PASS, .doc = "Optional: Node hosting this endpoint."},
    {"targetRef", FIELD_OBJECT, FIELD_PASS, &object_reference_schema,
     .doc = "Reference to object providing the endpoint."},
    {0},
};
static const struct schema endpoint_address_schema = {"EndpointAddress", endpoint_address_fields};

static const struct field endpoint_port_fields[] = {
    {"name",        FIELD_STR, FIELD_PASS, .doc = "The name of this port."},
    {"port",        FIELD_I32, FIELD_PASS, .required = true, BOUNDS(1, 65535),
     .doc = "The port number of the endpoint."},
    {"protocol",    FIELD_STR, FIELD_PASS, .one_of = protocol_values, .doc = "The IP protocol for this port."},
    {"appProtocol", FIELD_STR, FIELD_PASS, .doc = "The application protocol for this port."},
    {0},
};
static const struct schema endpoint_port_schema = {"EndpointPort", endpoint_port_fields};

static const struct field endpoint_subset_fields[] = {
    {"addresses",         FIELD_LIST, FIELD_PASS, &endpoint_address_schema,
     .doc = "IP addresses which offer the related ports that are marked as ready."},
    {"notReadyAddresses", FIELD_LIST, FIELD_PASS, &endpoint_address_schema,
     .doc = "IP addresses which offer the related ports but are not currently marked as ready."},
    {"ports",             FIELD_LIST, FIELD_PASS, &endpoint_port_schema,
     .doc = "Port numbers available on the related IP addresses."},
    {0},
};
static const struct schema endpoint_subset_schema = {"EndpointSubset", endpoint_subset_fields};

static const struct field endpoints_fields[] = {
    {"subsets", FIELD_LIST, FIELD_PASS, &endpoint_subset_schema, .doc = "The set of all endpoints is the union of all subsets."},
    {0},
};
static const struct schema endpoints_schema = {"Endpoints", endpoints_fields, .doc = "The addresses behind a Service."};

static const struct field slice_conditions_fields[] = {
    {"ready",       FIELD_OPT_BOOL, FIELD_PASS, .doc = "This endpoint is prepared to receive traffic."},
    {"serving",     FIELD_OPT_BOOL, FIELD_PASS, .doc = "As ready, but also for terminating endpoints."},
    {"terminating", FIELD_OPT_BOOL, FIELD_PASS, .doc = "This endpoint is terminating."},
    {0},
};
static const struct schema slice_conditions_schema = {"EndpointConditions", slice_conditions_fields};

static const struct field zone_fields[] = {
    {"name", FIELD_STR, FIELD_PASS, .required = true, .doc = "The name of the zone."},
    {0},
};
static const struct schema zone_schema = {"ForZone", zone_fields};

static const struct field hints_fields[] = {
    {"forZones", FIELD_LIST, FIELD_PASS, &zone_schema, .doc = "The zones this endpoint should be consumed by."},
    {0},
};
static const struct schema hints_schema = {"EndpointHints", hints_fields};

static const struct field slice_endpoint_fields[] = {
    {"addresses",          FIELD_STR_LIST, FIELD_PASS, .required = true, .doc = "Addresses of this endpoint."},
    {"conditions",         FIELD_OBJECT,   FIELD_PASS, &slice_conditions_schema,
     .doc = "The current status of the endpoint."},
    {"hostname",           FIELD_STR,      FIELD_PASS, .doc = "Hostname of this endpoint."},
    {"targetRef",          FIELD_OBJECT,   FIELD_PASS, &object_reference_schema,
     .doc = "A reference to a Kubernetes object that represents this endpoint."},
    {"deprecatedTopology", FIELD_STR_MAP,  FIELD_PASS, .doc = "Topology information of the v1beta1 API."},
    {"nodeName",           FIELD_STR,      FIELD_PASS, .doc = "The name of the Node hosting this endpoint."},
    {"zone",               FIELD_STR,      FIELD_PASS, .doc = "The name of the zone this endpoint exists in."},
    {"hints",              FIELD_OBJECT,   FIELD_PASS, &hints_schema,
     .doc = "Information on how an endpoint should be consumed."},
    {0},
};
static const struct schema slice_endpoint_schema = {"Endpoint", slice_endpoint_fields};

static const struct field slice_fields[] = {
    {"addressType", FIELD_STR,  FIELD_PASS, .required = true, .one_of = address_type_values,
     .doc = "The type of address carried by this EndpointSlice."},
    {"endpoints",   FIELD_LIST, FIELD_PASS, &slice_endpoint_schema, .doc = "The endpoints in this slice."},
    {"ports",       FIELD_LIST, FIELD_PASS, &endpoint_port_schema,
     .doc = "The network ports exposed by each endpoint in this slice."},
    {0},
};
static const struct schema slice_schema = {"EndpointSlice", slice_fields, .doc = "A part of the addresses behind a Service."};
/* clang-format on */

static const char *const endpoints_short[] = {"ep", NULL};

const struct kind kind_endpoints = {
    .id = KIND_ENDPOINTS,
    .group = "",
    .version = "v1",
    .name = "Endpoints",
    .plural = "endpoints",
    .singular = "endpoints",
    .short_names = endpoints_short,
    .namespaced = true,
    .no_generation = true,
    .schema = &endpoints_schema,
};

const struct kind kind_endpoint_slice = {
    .id = KIND_ENDPOINT_SLICE,
    .group = "discovery.k8s.io",
    .version = "v1",
    .name = "EndpointSlice",
    .plural = "endpointslices",
    .singular = "endpointslice",
    .namespaced = true,
    .schema = &slice_schema,
};
