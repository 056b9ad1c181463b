/*
 * The kind Service: field tables, admission of its ports, and defaults.
 *
 * Ref: k8s.io/api core/v1, release 1.30; Kubernetes pkg/apis/core/validation ValidateService.
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
    {"name",        FIELD_STR,        FIELD_PASS, .pb = 1, .doc = "Name of the port, unique within the Service."},
    {"protocol",    FIELD_STR,        FIELD_PASS, .pb = 2, .one_of = protocol_values, .doc = "IP protocol of the port: TCP, UDP or SCTP."},
    {"appProtocol", FIELD_STR,        FIELD_PASS, .pb = 6, .keeps_zero = true, .doc = "Application protocol of the port, for example http."},
    {"port",        FIELD_I32,        FIELD_PASS, .pb = 3, .required = true,
     .doc = "Number of the port on the Service's address."},
    {"targetPort",  FIELD_INT_OR_STR, FIELD_PASS, .pb = 4,
     .doc = "Number or name of the port on the pods; the Service's port when absent."},
    {"nodePort",    FIELD_I32,        FIELD_PASS, .pb = 5, BOUNDS(0, 65535),
     .doc = "Number of the port on every node, for the types NodePort and LoadBalancer."},
    {0},
};
static const struct schema service_port_schema = {"ServicePort", service_port_fields};

static const struct field client_ip_config_fields[] = {
    {"timeoutSeconds", FIELD_OPT_I32, FIELD_PASS, .pb = 1, NOT_NEGATIVE,
     .doc = "Seconds for which a client stays with one endpoint."},
    {0},
};
static const struct schema client_ip_config_schema = {"ClientIPConfig", client_ip_config_fields};

static const struct field session_affinity_config_fields[] = {
    {"clientIP", FIELD_OBJECT, FIELD_PASS, &client_ip_config_schema, .pb = 1,
     .doc = "Settings of the session affinity ClientIP."},
    {0},
};
static const struct schema session_affinity_config_schema = {"SessionAffinityConfig", session_affinity_config_fields};

static const struct field service_spec_fields[] = {
    {"ports",                         FIELD_LIST,     FIELD_PASS, &service_port_schema, .pb = 1, .merge_key = "port",
     .doc = "Ports of the Service."},
    {"selector",                      FIELD_STR_MAP,  FIELD_PASS, .pb = 2,
     .doc = "Labels of the pods that receive the Service's traffic."},
    {"clusterIP",                     FIELD_STR,      FIELD_PASS, .pb = 3,
     .doc = "IP address of the Service; None for a headless Service."},
    {"clusterIPs",                    FIELD_STR_LIST, FIELD_PASS, .pb = 18,
     .doc = "All IP addresses of the Service."},
    {"type",                          FIELD_STR,      FIELD_PASS, .pb = 4, .one_of = service_type_values,
     .doc = "Type of the Service: ClusterIP (the default), NodePort, LoadBalancer or ExternalName."},
    {"externalIPs",                   FIELD_STR_LIST, FIELD_PASS, .pb = 5,
     .doc = "Further addresses at which nodes accept the Service's traffic."},
    {"sessionAffinity",               FIELD_STR,      FIELD_PASS, .pb = 7, .one_of = service_affinity_values,
     .doc = "Says whether a client stays with one endpoint (ClientIP) or not (None)."},
    {"loadBalancerIP",                FIELD_STR,      FIELD_PASS, .pb = 8,
     .doc = "Address that a Service of type LoadBalancer requests."},
    {"loadBalancerSourceRanges",      FIELD_STR_LIST, FIELD_PASS, .pb = 9,
     .doc = "Ranges of client addresses that a load balancer admits."},
    {"externalName",                  FIELD_STR,      FIELD_PASS, .pb = 10,
     .doc = "Host name that a Service of type ExternalName stands for."},
    {"externalTrafficPolicy",         FIELD_STR,      FIELD_PASS, .pb = 11, .one_of = service_external_traffic_policy_values,
     .doc = "Says whether traffic from outside goes to all endpoints (Cluster) or to those of the node (Local)."},
    {"healthCheckNodePort",           FIELD_I32,      FIELD_PASS, .pb = 12,
     .doc = "Port for health checks of a load balancer."},
    {"publishNotReadyAddresses",      FIELD_BOOL,     FIELD_PASS, .pb = 13,
     .doc = "Publishes the addresses of pods that are not ready as well."},
    {"sessionAffinityConfig",         FIELD_OBJECT,   FIELD_PASS, &session_affinity_config_schema, .pb = 14,
     .doc = "Settings of the session affinity."},
    {"ipFamilies",                    FIELD_STR_LIST, FIELD_PASS, .pb = 19, .one_of = ip_family_values,
     .doc = "IP families of the Service's addresses."},
    {"ipFamilyPolicy",                FIELD_STR,      FIELD_PASS, .pb = 17, .keeps_zero = true, .one_of = ip_family_policy_values,
     .doc = "Says whether the Service has addresses of one or of both IP families."},
    {"allocateLoadBalancerNodePorts", FIELD_OPT_BOOL, FIELD_PASS, .pb = 20,
     .doc = "Says whether a Service of type LoadBalancer gets node ports."},
    {"loadBalancerClass",             FIELD_STR,      FIELD_PASS, .pb = 21, .keeps_zero = true,
     .doc = "Class of the load balancer."},
    {"internalTrafficPolicy",         FIELD_STR,      FIELD_PASS, .pb = 22, .keeps_zero = true, .one_of = service_internal_traffic_policy_values,
     .doc = "Says whether traffic from inside goes to all endpoints (Cluster) or to those of the node (Local)."},
    {"trafficDistribution",           FIELD_STR,      FIELD_PASS, .pb = 23, .keeps_zero = true,
     .doc = "Preference for the endpoints that receive traffic."},
    {0},
};
static const struct schema service_spec_schema = {"ServiceSpec", service_spec_fields};

static const struct field port_status_fields[] = {
    {"port",     FIELD_I32, FIELD_PASS, .pb = 1, .required = true,
     .doc = "Number of the Service's port."},
    {"protocol", FIELD_STR, FIELD_PASS, .pb = 2, .required = true, .one_of = protocol_values,
     .doc = "Protocol of the Service's port: TCP, UDP or SCTP."},
    {"error",    FIELD_STR, FIELD_PASS, .pb = 3, .keeps_zero = true,
     .doc = "Problem of the load balancer with the port."},
    {0},
};
static const struct schema port_status_schema = {"PortStatus", port_status_fields};

static const struct field load_balancer_ingress_fields[] = {
    {"ip",       FIELD_STR,  FIELD_PASS, .pb = 1,
     .doc = "IP address of the load balancer."},
    {"hostname", FIELD_STR,  FIELD_PASS, .pb = 2,
     .doc = "Host name of the load balancer."},
    {"ipMode",   FIELD_STR,  FIELD_PASS, .pb = 3, .keeps_zero = true,
     .doc = "Says whether traffic keeps the load balancer's address (VIP) or not (Proxy)."},
    {"ports",    FIELD_LIST, FIELD_PASS, &port_status_schema, .pb = 4,
     .doc = "State of each port of the Service."},
    {0},
};
static const struct schema load_balancer_ingress_schema = {"LoadBalancerIngress", load_balancer_ingress_fields};

static const struct field load_balancer_status_fields[] = {
    {"ingress", FIELD_LIST, FIELD_PASS, &load_balancer_ingress_schema, .pb = 1,
     .doc = "Addresses of the load balancer."},
    {0},
};
static const struct schema load_balancer_status_schema = {"LoadBalancerStatus", load_balancer_status_fields};

static const struct field service_status_fields[] = {
    {"loadBalancer", FIELD_OBJECT, FIELD_PASS, &load_balancer_status_schema, .pb = 1,
     .doc = "State of the load balancer."},
    {"conditions",   FIELD_LIST,   FIELD_PASS, &condition_schema, .pb = 2, .merge_key = "type",
     .doc = "Conditions of the Service."},
    {0},
};
static const struct schema service_status_schema = {"ServiceStatus", service_status_fields};

static const struct field service_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &service_spec_schema, .pb = 2, .doc = "Ports, selector and addresses of the Service."},
    {"status", FIELD_OBJECT, FIELD_PASS, &service_status_schema, .pb = 3, .doc = "State of the Service."},
    {0},
};
static const struct schema service_schema = {"Service", service_fields, .doc = "A name and an address for the pods that a selector chooses."};
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

/* Returns the problem of the name of a container's port; NULL when it is valid. */
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

static bool same_port(const json_t *a, const json_t *b)
{
    return json_integer_value(json_object_get(a, "port")) ==
               json_integer_value(json_object_get(b, "port")) &&
           strcmp(text_of(a, "protocol"), text_of(b, "protocol")) == 0;
}

/* Checks one port against the ports before it. */
static void check_unique(const json_t *ports, size_t index, const char *path,
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
        if (same_port(port, other)) {
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
        check_unique(ports, i, path, errors);
    }
}

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
        /* Null counts as "". */
        const char *text = json_is_string(value) ? json_string_value(value) : "";
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
    bool external = is_type(spec, "ExternalName");
    bool headless = strcmp(text_of(spec, "clusterIP"), "None") == 0;

    if (external && !*text_of(spec, "externalName"))
        error_list_add(errors, ERR_INVALID, "spec.externalName",
                       "Required value: a Service of type ExternalName stands for a name");
    if (headless && (is_type(spec, "NodePort") || is_type(spec, "LoadBalancer")))
        error_list_add(errors, ERR_INVALID, "spec.clusterIPs[0]",
                       "Invalid value: \"None\": may not be set to 'None' for %s services",
                       text_of(spec, "type"));
    /* A Service with an address needs a port; a mere name does not. */
    if (!json_array_size(json_object_get(spec, "ports")) && !headless && !external)
        error_list_add(errors, ERR_INVALID, "spec.ports",
                       "Required value: only a headless Service (clusterIP: None) needs no port");
    check_address(spec, errors);
    check_selector(spec, errors);
    check_ports(spec, errors);
}

/* Sets the defaults of kube-apiserver, except for the cluster address, which the node assigns. */
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
