/*
 * The ports of a Service, each alone and against those before it; what its type asks for. See
 * service_admission.h.
 */
#include "api/types/kinds/service_admission.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "api/types/labels.h"
#include "base/mem.h"

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

void service_validate(const struct admission *adm, const struct object *old,
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
