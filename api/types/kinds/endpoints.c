/*
 * The kinds Endpoints and EndpointSlice (discovery.k8s.io/v1): the endpoints of a Service, in the
 * form that clients query. The node writes them (node/proxy/endpoints_controller.c).
 *
 * Ref: k8s.io/api core/v1 and discovery/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const char *const protocol_values[] = {"TCP", "UDP", "SCTP", "", NULL};
static const char *const address_type_values[] = {"IPv4", "IPv6", "FQDN", NULL};

static const struct field endpoint_address_fields[] = {
    {"ip",        FIELD_STR,    FIELD_PASS, .pb = 1, .required = true, .doc = "IP address of the endpoint."},
    {"hostname",  FIELD_STR,    FIELD_PASS, .pb = 3, .doc = "Host name of the endpoint."},
    {"nodeName",  FIELD_STR,    FIELD_PASS, .pb = 4, .keeps_zero = true, .doc = "Name of the Node that the endpoint runs on."},
    {"targetRef", FIELD_OBJECT, FIELD_PASS, &object_reference_schema, .pb = 2,
     .doc = "Object that provides the endpoint, usually a Pod."},
    {0},
};
static const struct schema endpoint_address_schema = {"EndpointAddress", endpoint_address_fields};

static const struct field endpoint_port_fields[] = {
    {"name",        FIELD_STR, FIELD_PASS, .pb = 1, .doc = "Name of the port."},
    {"port",        FIELD_I32, FIELD_PASS, .pb = 2, .required = true, BOUNDS(1, 65535),
     .doc = "Number of the port."},
    {"protocol",    FIELD_STR, FIELD_PASS, .pb = 3, .one_of = protocol_values, .doc = "IP protocol of the port: TCP, UDP or SCTP."},
    {"appProtocol", FIELD_STR, FIELD_PASS, .pb = 4, .keeps_zero = true, .doc = "Application protocol of the port, for example http."},
    {0},
};
static const struct schema endpoint_port_schema = {"EndpointPort", endpoint_port_fields};

static const struct field endpoint_subset_fields[] = {
    {"addresses",         FIELD_LIST, FIELD_PASS, &endpoint_address_schema, .pb = 1,
     .doc = "Addresses that are ready and offer all ports of the subset."},
    {"notReadyAddresses", FIELD_LIST, FIELD_PASS, &endpoint_address_schema, .pb = 2,
     .doc = "Addresses that offer all ports of the subset but are not ready."},
    {"ports",             FIELD_LIST, FIELD_PASS, &endpoint_port_schema, .pb = 3,
     .doc = "Ports that all addresses of the subset offer."},
    {0},
};
static const struct schema endpoint_subset_schema = {"EndpointSubset", endpoint_subset_fields};

static const struct field endpoints_fields[] = {
    {"subsets", FIELD_LIST, FIELD_PASS, &endpoint_subset_schema, .pb = 2, .doc = "Groups of addresses with the same ports. All groups together are the endpoints."},
    {0},
};
static const struct schema endpoints_schema = {"Endpoints", endpoints_fields, .doc = "The endpoints of a Service."};

static const struct field slice_conditions_fields[] = {
    {"ready",       FIELD_OPT_BOOL, FIELD_PASS, .pb = 1, .doc = "Says whether the endpoint is ready to receive traffic."},
    {"serving",     FIELD_OPT_BOOL, FIELD_PASS, .pb = 2, .doc = "Says whether the endpoint can serve traffic, even while it terminates."},
    {"terminating", FIELD_OPT_BOOL, FIELD_PASS, .pb = 3, .doc = "Says whether the endpoint is terminating."},
    {0},
};
static const struct schema slice_conditions_schema = {"EndpointConditions", slice_conditions_fields};

static const struct field zone_fields[] = {
    {"name", FIELD_STR, FIELD_PASS, .pb = 1, .required = true, .doc = "Name of a zone."},
    {0},
};
static const struct schema zone_schema = {"ForZone", zone_fields};

static const struct field hints_fields[] = {
    {"forZones", FIELD_LIST, FIELD_PASS, &zone_schema, .pb = 1, .doc = "Zones whose clients should use the endpoint."},
    {0},
};
static const struct schema hints_schema = {"EndpointHints", hints_fields};

static const struct field slice_endpoint_fields[] = {
    {"addresses",          FIELD_STR_LIST, FIELD_PASS, .pb = 1, .required = true, .doc = "Addresses of the endpoint."},
    {"conditions",         FIELD_OBJECT,   FIELD_PASS, &slice_conditions_schema, .pb = 2,
     .doc = "Readiness of the endpoint."},
    {"hostname",           FIELD_STR,      FIELD_PASS, .pb = 3, .keeps_zero = true, .doc = "Host name of the endpoint."},
    {"targetRef",          FIELD_OBJECT,   FIELD_PASS, &object_reference_schema, .pb = 4,
     .doc = "Object that the endpoint stands for, usually a Pod."},
    {"deprecatedTopology", FIELD_STR_MAP,  FIELD_PASS, .pb = 5, .doc = "Topology labels of the v1beta1 API."},
    {"nodeName",           FIELD_STR,      FIELD_PASS, .pb = 6, .keeps_zero = true, .doc = "Name of the Node that the endpoint runs on."},
    {"zone",               FIELD_STR,      FIELD_PASS, .pb = 7, .keeps_zero = true, .doc = "Name of the zone that the endpoint runs in."},
    {"hints",              FIELD_OBJECT,   FIELD_PASS, &hints_schema, .pb = 8,
     .doc = "Hints for clients that choose among endpoints."},
    {0},
};
static const struct schema slice_endpoint_schema = {"Endpoint", slice_endpoint_fields};

static const struct field slice_port_fields[] = {
    {"name",        FIELD_STR,     FIELD_PASS, .pb = 1, .keeps_zero = true, .doc = "Name of the port."},
    {"protocol",    FIELD_STR,     FIELD_PASS, .pb = 2, .keeps_zero = true, .one_of = protocol_values,
     .doc = "IP protocol of the port: TCP, UDP or SCTP."},
    {"port",        FIELD_OPT_I32, FIELD_PASS, .pb = 3, BOUNDS(1, 65535), .doc = "Number of the port; every port when absent."},
    {"appProtocol", FIELD_STR,     FIELD_PASS, .pb = 4, .keeps_zero = true, .doc = "Application protocol of the port, for example http."},
    {0},
};
static const struct schema slice_port_schema = {"EndpointSlicePort", slice_port_fields};

static const struct field slice_fields[] = {
    {"addressType", FIELD_STR,  FIELD_PASS, .pb = 4, .required = true, .one_of = address_type_values,
     .doc = "Type of all addresses in the slice: IPv4, IPv6 or FQDN."},
    {"endpoints",   FIELD_LIST, FIELD_PASS, &slice_endpoint_schema, .pb = 2, .doc = "Endpoints in the slice."},
    {"ports",       FIELD_LIST, FIELD_PASS, &slice_port_schema, .pb = 3,
     .doc = "Ports that each endpoint of the slice offers."},
    {0},
};
static const struct schema slice_schema = {"EndpointSlice", slice_fields, .doc = "A part of the endpoints of a Service."};
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
