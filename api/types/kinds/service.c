/*
 * Service (v1): kept for clients and for the host names of the svc plugin.
 *
 * Ref: k8s.io/api core/v1, release 1.30.
 */
#include <string.h>

#include "api/types/kinds/pod/core_schema.h"
#include "api/types/kinds/service_admission.h"
#include "api/types/object.h"

/* clang-format off */
static const char *const protocol_values[] = {"TCP", "UDP", "SCTP", "", NULL};
static const char *const service_type_values[] = {"ClusterIP", "NodePort", "LoadBalancer", "ExternalName", "", NULL};
static const char *const service_affinity_values[] = {"ClientIP", "None", "", NULL};
static const char *const service_external_traffic_policy_values[] = {"Cluster", "Local", "", NULL};
static const char *const ip_family_values[] = {"IPv4", "IPv6", "", NULL};
static const char *const ip_family_policy_values[] = {"SingleStack", "PreferDualStack", "RequireDualStack", NULL};
static const char *const service_internal_traffic_policy_values[] = {"Cluster", "Local", NULL};

static const struct field service_port_fields[] = {
    {"name",        FIELD_STR,        FIELD_PASS, .doc = "The name of this port within the service."},
    {"protocol",    FIELD_STR,        FIELD_PASS, .one_of = protocol_values, .doc = "The IP protocol for this port."},
    {"appProtocol", FIELD_STR,        FIELD_PASS, .doc = "The application protocol for this port."},
    {"port",        FIELD_I32,        FIELD_PASS, .required = true,
     .doc = "The port that will be exposed by this service."},
    {"targetPort",  FIELD_INT_OR_STR, FIELD_PASS,
     .doc = "Number or name of the port to access on the pods targeted by the service."},
    {"nodePort",    FIELD_I32,        FIELD_PASS, BOUNDS(0, 65535),
     .doc = "The port on each node on which this service is exposed when type is NodePort or LoadBalancer."},
    {0},
};
static const struct schema service_port_schema = {"ServicePort", service_port_fields};

static const struct field client_ip_config_fields[] = {
    {"timeoutSeconds", FIELD_OPT_I32, FIELD_PASS, NOT_NEGATIVE,
     .doc = "Specifies the seconds of ClientIP type session sticky time."},
    {0},
};
static const struct schema client_ip_config_schema = {"ClientIPConfig", client_ip_config_fields};

static const struct field session_affinity_config_fields[] = {
    {"clientIP", FIELD_OBJECT, FIELD_PASS, &client_ip_config_schema,
     .doc = "Contains the configurations of Client IP based session affinity."},
    {0},
};
static const struct schema session_affinity_config_schema = {"SessionAffinityConfig", session_affinity_config_fields};

static const struct field service_spec_fields[] = {
    {"ports",                         FIELD_LIST,     FIELD_PASS, &service_port_schema, .merge_key = "port",
     .doc = "The list of ports that are exposed by this service."},
    {"selector",                      FIELD_STR_MAP,  FIELD_PASS,
     .doc = "Route service traffic to pods with label keys and values matching this selector."},
    {"clusterIP",                     FIELD_STR,      FIELD_PASS,
     .doc = "The IP address of the service and is usually assigned randomly."},
    {"clusterIPs",                    FIELD_STR_LIST, FIELD_PASS,
     .doc = "A list of IP addresses assigned to this service, and are usually assigned randomly."},
    {"type",                          FIELD_STR,      FIELD_PASS, .one_of = service_type_values,
     .doc = "Type determines how the Service is exposed."},
    {"externalIPs",                   FIELD_STR_LIST, FIELD_PASS,
     .doc = "A list of IP addresses for which nodes in the cluster will also accept traffic for this service."},
    {"sessionAffinity",               FIELD_STR,      FIELD_PASS, .one_of = service_affinity_values,
     .doc = "Supports \"ClientIP\" and \"None\"."},
    {"loadBalancerIP",                FIELD_STR,      FIELD_PASS,
     .doc = "Only applies to Service Type: LoadBalancer."},
    {"loadBalancerSourceRanges",      FIELD_STR_LIST, FIELD_PASS,
     .doc = "If specified and supported by the platform, this will restrict traffic through the cloud-provider "
            "load-balancer will be restricted to the specified client IPs."},
    {"externalName",                  FIELD_STR,      FIELD_PASS,
     .doc = "The external reference that discovery mechanisms will return as an alias for this service (e.g. a DNS "
            "CNAME record)."},
    {"externalTrafficPolicy",         FIELD_STR,      FIELD_PASS, .one_of = service_external_traffic_policy_values,
     .doc = "ExternalTrafficPolicy describes how nodes distribute service traffic they receive on one of the "
            "Service's \"externally-facing\" addresses (NodePorts, ExternalIPs, and LoadBalancer IPs)."},
    {"healthCheckNodePort",           FIELD_I32,      FIELD_PASS,
     .doc = "Specifies the healthcheck nodePort for the service."},
    {"publishNotReadyAddresses",      FIELD_BOOL,     FIELD_PASS,
     .doc = "Indicates that any agent which deals with endpoints for this Service should disregard any indications of "
            "ready/not-ready."},
    {"sessionAffinityConfig",         FIELD_OBJECT,   FIELD_PASS, &session_affinity_config_schema,
     .doc = "Contains the configurations of session affinity."},
    {"ipFamilies",                    FIELD_STR_LIST, FIELD_PASS, .one_of = ip_family_values,
     .doc = "A list of IP families (e.g. IPv4, IPv6) assigned to this service."},
    {"ipFamilyPolicy",                FIELD_STR,      FIELD_PASS, .one_of = ip_family_policy_values,
     .doc = "Represents the dual-stack-ness requested or required by this Service."},
    {"allocateLoadBalancerNodePorts", FIELD_OPT_BOOL, FIELD_PASS,
     .doc = "Defines if NodePorts will be automatically allocated for services with type LoadBalancer."},
    {"loadBalancerClass",             FIELD_STR,      FIELD_PASS,
     .doc = "The class of the load balancer implementation this Service belongs to."},
    {"internalTrafficPolicy",         FIELD_STR,      FIELD_PASS, .one_of = service_internal_traffic_policy_values,
     .doc = "InternalTrafficPolicy describes how nodes distribute service traffic they receive on the ClusterIP."},
    {"trafficDistribution",           FIELD_STR,      FIELD_PASS,
     .doc = "TrafficDistribution offers a way to express preferences for how traffic is distributed to Service "
            "endpoints."},
    {0},
};
static const struct schema service_spec_schema = {"ServiceSpec", service_spec_fields};

static const struct field port_status_fields[] = {
    {"port",     FIELD_I32, FIELD_PASS, .required = true,
     .doc = "The port number of the service port of which status is recorded here."},
    {"protocol", FIELD_STR, FIELD_PASS, .required = true, .one_of = protocol_values,
     .doc = "The protocol of the service port of which status is recorded here The supported values are: \"TCP\", "
            "\"UDP\", \"SCTP\"."},
    {"error",    FIELD_STR, FIELD_PASS,
     .doc = "To record the problem with the service port The format of the error shall comply with the following "
            "rules: - built-in error values shall be specified in this file and those shall use CamelCase names - "
            "cloud provider specific error values must have names that comply with the format "
            "foo.example.com/CamelCase."},
    {0},
};
static const struct schema port_status_schema = {"PortStatus", port_status_fields};

static const struct field load_balancer_ingress_fields[] = {
    {"ip",       FIELD_STR,  FIELD_PASS,
     .doc = "Set for load-balancer ingress points that are IP based (typically GCE or OpenStack load-balancers)."},
    {"hostname", FIELD_STR,  FIELD_PASS,
     .doc = "Set for load-balancer ingress points that are DNS based (typically AWS load-balancers)."},
    {"ipMode",   FIELD_STR,  FIELD_PASS,
     .doc = "Specifies how the load-balancer IP behaves, and may only be specified when the ip field is specified."},
    {"ports",    FIELD_LIST, FIELD_PASS, &port_status_schema,
     .doc = "A list of records of service ports If used, every port defined in the service should have an entry in "
            "it."},
    {0},
};
static const struct schema load_balancer_ingress_schema = {"LoadBalancerIngress", load_balancer_ingress_fields};

static const struct field load_balancer_status_fields[] = {
    {"ingress", FIELD_LIST, FIELD_PASS, &load_balancer_ingress_schema,
     .doc = "A list containing ingress points for the load-balancer."},
    {0},
};
static const struct schema load_balancer_status_schema = {"LoadBalancerStatus", load_balancer_status_fields};

static const struct field service_status_fields[] = {
    {"loadBalancer", FIELD_OBJECT, FIELD_PASS, &load_balancer_status_schema,
     .doc = "Contains the current status of the load-balancer, if one is present."},
    {"conditions",   FIELD_LIST,   FIELD_PASS, &condition_schema, .merge_key = "type",
     .doc = "Current service state."},
    {0},
};
static const struct schema service_status_schema = {"ServiceStatus", service_status_fields};

static const struct field service_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &service_spec_schema, .doc = "Ports, selector and addresses."},
    {"status", FIELD_OBJECT, FIELD_PASS, &service_status_schema, .doc = "What the system reports."},
    {0},
};
static const struct schema service_schema = {"Service", service_fields, .doc = "A name and ports for the pods a selector chooses."};
/* clang-format on */

/* What kube-apiserver fills in, but for addresses, which nobody here gives. */
static void complete(json_t *body)
{
    json_t *spec = json_object_get(body, "spec"), *port;
    const char *ip = json_string_value(json_object_get(spec, "clusterIP"));
    size_t i;

    if (!json_is_object(spec))
        return;
    core_set_default(spec, "type", json_string("ClusterIP"));
    core_set_default(spec, "sessionAffinity", json_string("None"));
    core_set_default(spec, "internalTrafficPolicy", json_string("Cluster"));
    if (ip && *ip)
        core_set_default(spec, "clusterIPs", json_pack("[s]", ip));
    json_array_foreach(json_object_get(spec, "ports"), i, port)
    {
        core_set_default(port, "protocol", json_string("TCP"));
        core_set_default(port, "targetPort", json_incref(json_object_get(port, "port")));
    }
}

static const char *const short_names[] = {"svc", NULL};

const struct kind kind_service = {
    .id = KIND_SERVICE,
    .group = "",
    .version = "v1",
    .name = "Service",
    .plural = "services",
    .singular = "service",
    .short_names = short_names,
    .namespaced = true,
    .has_status = true,
    .no_generation = true,
    .schema = &service_schema,
    .normalize = complete,
    .validate = service_validate,
};
