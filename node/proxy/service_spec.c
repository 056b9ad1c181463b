/*
 * Reads the spec of a Service, and finds the Service's ports in pods.
 */
#include "node/proxy/service_spec.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"

static const char *text_of(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

static uint16_t number_of(const json_t *value)
{
    json_int_t number = json_integer_value(value);

    return number > 0 && number <= UINT16_MAX ? (uint16_t)number : 0;
}

static const char *const transports[] = {[SERVICE_TCP] = "TCP", [SERVICE_UDP] = "UDP"};

const char *service_transport_text(enum service_transport transport)
{
    return transports[transport];
}

static enum service_transport transport_of(const char *protocol)
{
    enum service_transport transport = SERVICE_TCP;

    if (protocol && *protocol)
        while (transport < SERVICE_OTHER && strcmp(protocol, transports[transport]) != 0)
            transport++;
    return transport;
}

bool service_port_read(const json_t *from, struct service_port *out)
{
    const json_t *target = json_object_get(from, "targetPort");

    *out = (struct service_port){
        .name = text_of(from, "name"),
        .protocol = text_of(from, "protocol"),
        .port = number_of(json_object_get(from, "port")),
        .target = number_of(target),
        .target_name = json_string_value(target),
    };
    out->transport = transport_of(out->protocol);
    if (!out->target && !out->target_name)
        out->target = out->port;
    return out->port != 0;
}

static void read_port(const json_t *from, struct service_spec *out)
{
    struct service_port port;

    if (!service_port_read(from, &port))
        return;
    if (port.transport != SERVICE_OTHER)
        out->ports[out->n_ports++] = port;
    else
        out->other_port = port.protocol;
}

void service_spec_read(const struct object *service, struct service_spec *out)
{
    json_t *body = object_body_json(service), *spec = json_object_get(body, "spec"), *port;
    json_t *ports = json_object_get(spec, "ports");
    const char *type = text_of(spec, "type");
    size_t i;

    *out = (struct service_spec){
        .body = body,
        .selector = json_object_get(spec, "selector"),
        .cluster_ip = text_of(spec, "clusterIP"),
        .with_unready = json_is_true(json_object_get(spec, "publishNotReadyAddresses")),
        .ports = mem_array(json_array_size(ports) + 1, sizeof *out->ports),
    };
    out->job = text_of(out->selector, LABEL_JOB_NAME);
    if (type && strcmp(type, "ExternalName") == 0)
        return;
    json_array_foreach(ports, i, port) read_port(port, out);
}

void service_spec_release(struct service_spec *spec)
{
    mem_free(spec->ports);
    json_decref(spec->body);
    *spec = (struct service_spec){0};
}

bool service_spec_is_headless(const struct service_spec *spec)
{
    return spec->cluster_ip && strcmp(spec->cluster_ip, "None") == 0;
}

bool service_spec_wants_address(const struct service_spec *spec)
{
    return !service_spec_is_headless(spec) && spec->n_ports && json_object_size(spec->selector);
}

bool service_selector_selects(json_t *selector, const struct meta *pod)
{
    const char *key;
    json_t *value;

    json_object_foreach(selector, key, value)
    {
        const char *has = meta_label(pod, key), *wants = json_string_value(value);

        if (!has || !wants || strcmp(has, wants) != 0)
            return false;
    }
    return json_object_size(selector) > 0;
}

bool service_spec_selects(const struct service_spec *spec, const struct meta *pod)
{
    return service_selector_selects(spec->selector, pod);
}

static bool speaks(const struct container_port *port, const struct service_port *meant)
{
    return transport_of(port->protocol) == meant->transport &&
           (meant->transport != SERVICE_OTHER || strcmp(port->protocol, meant->protocol) == 0);
}

static uint16_t named_port(const struct pod_container *containers, size_t n,
                           const struct service_port *meant)
{
    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; p < containers[i].ports.count; p++) {
            const struct container_port *port = &containers[i].ports.items[p];

            if (port->name && strcmp(port->name, meant->target_name) == 0 && speaks(port, meant))
                return (uint16_t)port->port;
        }
    return 0;
}

uint16_t service_port_of(const struct service_port *port, const struct object *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod);
    uint16_t found;

    if (!port->target_name)
        return port->target;
    found = named_port(spec->containers.items, spec->containers.count, port);
    return found ? found
                 : named_port(spec->init_containers.items, spec->init_containers.count, port);
}
