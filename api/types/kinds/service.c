/*
 * Service (v1): kept for clients and for the host names of the svc plugin.
 *
 * Ref: k8s.io/api core/v1, release 1.30.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "api/types/kind.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/labels.h"
#include "base/mem.h"

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

enum { PORT_PATH = 64, PORTS_MAX = 1000 };

static const char *text_of(const json_t *doc, const char *member)
{
    const char *text = json_string_value(json_object_get(doc, member));

    return text ? text : "";
}

static bool is_type(const json_t *spec, const char *type)
{
    return strcmp(text_of(spec, "type"), type) == 0;
}

static bool is_port(const json_t *number)
{
    return json_integer_value(number) >= 1 && json_integer_value(number) <= UINT16_MAX;
}

/* ---- one port ---- */

static void check_name(const json_t *port, const char *path, bool needed, struct error_list *errors)
{
    scoped_str field = mem_printf("%s.name", path);
    const char *name = text_of(port, "name");
    struct error err = {0};

    if (*name && !name_is_dns_label(name, &err))
        error_list_add(errors, ERR_INVALID, field, "Invalid value: \"%s\": %s", name, err.message);
    else if (!*name && needed)
        error_list_add(errors, ERR_INVALID, field,
                       "Required value: each of several ports needs a name");
}

/* A name of a container's port: a letter in it, no two dashes in a row. */
static const char *port_name_problem(const char *name)
{
    size_t len = strlen(name);

    if (!len || len > 15)
        return "must be no more than 15 characters, and at least one";
    if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != len)
        return "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)";
    if (!strpbrk(name, "abcdefghijklmnopqrstuvwxyz"))
        return "must contain at least one letter (a-z)";
    if (strstr(name, "--") || name[0] == '-' || name[len - 1] == '-')
        return "must not contain consecutive hyphens, nor begin or end with a hyphen";
    return NULL;
}

static void check_target(const json_t *port, const char *path, struct error_list *errors)
{
    const json_t *target = json_object_get(port, "targetPort");
    scoped_str field = mem_printf("%s.targetPort", path);
    const char *problem;

    if (json_is_integer(target) && !is_port(target))
        error_list_add(errors, ERR_INVALID, field,
                       "Invalid value: %" JSON_INTEGER_FORMAT
                       ": must be between 1 and 65535, inclusive",
                       json_integer_value(target));
    if (!json_is_string(target))
        return;
    problem = port_name_problem(json_string_value(target));
    if (problem)
        error_list_add(errors, ERR_INVALID, field, "Invalid value: \"%s\": %s",
                       json_string_value(target), problem);
}

static void check_port(const json_t *spec, const json_t *port, const char *path,
                       struct error_list *errors)
{
    const json_t *number = json_object_get(port, "port");
    scoped_str port_field = mem_printf("%s.port", path);
    scoped_str node_field = mem_printf("%s.nodePort", path);

    if (!is_port(number))
        error_list_add(errors, ERR_INVALID, port_field,
                       "Invalid value: %" JSON_INTEGER_FORMAT
                       ": must be between 1 and 65535, inclusive",
                       json_integer_value(number));
    if (json_integer_value(json_object_get(port, "nodePort")) && !is_type(spec, "NodePort") &&
        !is_type(spec, "LoadBalancer"))
        error_list_add(errors, ERR_INVALID, node_field,
                       "Forbidden: may not be used when `type` is '%s'", text_of(spec, "type"));
    check_target(port, path, errors);
}

/* ---- against those before it ---- */

static bool same_door(const json_t *a, const json_t *b)
{
    return json_integer_value(json_object_get(a, "port")) ==
               json_integer_value(json_object_get(b, "port")) &&
           strcmp(text_of(a, "protocol"), text_of(b, "protocol")) == 0;
}

static void check_unlike(const json_t *ports, size_t index, const char *path,
                         struct error_list *errors)
{
    const json_t *port = json_array_get(ports, index);
    scoped_str name_field = mem_printf("%s.name", path);

    for (size_t i = 0; i < index; i++) {
        const json_t *other = json_array_get(ports, i);
        const char *name = text_of(port, "name");

        if (*name && strcmp(name, text_of(other, "name")) == 0) {
            error_list_add(errors, ERR_INVALID, name_field, "Duplicate value: \"%s\"", name);
            return;
        }
        if (same_door(port, other)) {
            error_list_add(errors, ERR_INVALID, path,
                           "Duplicate value: port %" JSON_INTEGER_FORMAT "/%s is that of "
                           "spec.ports[%zu], too",
                           json_integer_value(json_object_get(port, "port")),
                           text_of(port, "protocol"), i);
            return;
        }
    }
}

static void check_ports(const json_t *spec, struct error_list *errors)
{
    const json_t *ports = json_object_get(spec, "ports");
    size_t n = json_array_size(ports);

    if (n > PORTS_MAX) {
        error_list_add(errors, ERR_INVALID, "spec.ports",
                       "Too many: %zu: must have at most %d ports", n, PORTS_MAX);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *port = json_array_get(ports, i);
        char path[PORT_PATH];

        snprintf(path, sizeof path, "spec.ports[%zu]", i);
        check_name(port, path, n > 1, errors);
        check_port(spec, port, path, errors);
        check_unlike(ports, i, path, errors);
    }
}

/* ---- the whole ---- */

static void check_address(const json_t *spec, struct error_list *errors)
{
    const char *ip = text_of(spec, "clusterIP");
    unsigned char bytes[sizeof(struct in6_addr)];

    if (!*ip || strcmp(ip, "None") == 0 || inet_pton(AF_INET, ip, bytes) == 1 ||
        inet_pton(AF_INET6, ip, bytes) == 1)
        return;
    error_list_add(errors, ERR_INVALID, "spec.clusterIPs[0]",
                   "Invalid value: \"%s\": must be empty, 'None', or a valid IP address", ip);
}

static void check_selector(json_t *spec, struct error_list *errors)
{
    const char *key;
    json_t *value;

    json_object_foreach(json_object_get(spec, "selector"), key, value)
    {
        const char *text = json_is_string(value) ? json_string_value(value) : ""; /* null is "" */
        bool key_valid = label_key_valid(key, NULL);
        struct error err = {0};

        if (!label_key_valid(key, &err) || !label_value_valid(text, &err))
            error_list_add(errors, ERR_INVALID, "spec.selector", "Invalid value: \"%s\": %s",
                           key_valid ? text : key, err.message);
    }
}

static void service_validate(const struct admission *adm, const struct object *old,
                             const struct object *service, struct error_list *errors)
{
    scoped(json) json_t *body = object_body_json(service);
    json_t *spec = json_object_get(body, "spec");
    bool elsewhere = is_type(spec, "ExternalName"), headless;

    headless = strcmp(text_of(spec, "clusterIP"), "None") == 0;
    if (elsewhere && !*text_of(spec, "externalName"))
        error_list_add(errors, ERR_INVALID, "spec.externalName",
                       "Required value: a Service of type ExternalName stands for a name");
    if (headless && (is_type(spec, "NodePort") || is_type(spec, "LoadBalancer")))
        error_list_add(errors, ERR_INVALID, "spec.clusterIPs[0]",
                       "Invalid value: \"None\": may not be set to 'None' for %s services",
                       text_of(spec, "type"));
    /* One with an address of its own says which ports it has; names alone need none. */
    if (!json_array_size(json_object_get(spec, "ports")) && !headless && !elsewhere)
        error_list_add(errors, ERR_INVALID, "spec.ports",
                       "Required value: only a headless Service (clusterIP: None) needs no port");
    check_address(spec, errors);
    check_selector(spec, errors);
    check_ports(spec, errors);
}

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
