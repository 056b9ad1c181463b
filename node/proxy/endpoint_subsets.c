/*
 * Builds Endpoints and EndpointSlices. Addresses are in ascending order. A named target port may
 * stand for different numbers in different pods. An Endpoints object then has a subset for each
 * list of ports, and a slice has the ports of its first endpoint. Ref: Kubernetes
 * pkg/controller/endpoint, RepackSubsets.
 */
#include "node/proxy/endpoint_subsets.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"

struct endpoint {
    const struct object *pod;
    in_addr_t ip;
    bool ready;
};

struct endpoint_list {
    struct endpoint *items; /* endpoints in the list; owned */
    size_t n, cap;
};

static void add_endpoint(void *arg, const struct object *pod, in_addr_t ip, bool ready)
{
    struct endpoint_list *list = arg;

    mem_grow(list->items, list->n, list->cap);
    list->items[list->n++] = (struct endpoint){pod, ip, ready};
}

static int by_address(const void *left, const void *right)
{
    const struct endpoint *a = left, *b = right;
    uint32_t x = ntohl(a->ip), y = ntohl(b->ip);

    return x != y ? (x > y) - (x < y) : strcmp(object_name(a->pod), object_name(b->pod));
}

/* Returns the endpoints ordered by address, at most ENDPOINTS_MAX; the items are owned by the
 * caller. */
static struct endpoint_list sorted_endpoints(const struct endpoint_input *input)
{
    struct endpoint_list list = {0};

    service_endpoints_each(input->members, add_endpoint, &list);
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, by_address);
    if (list.n > ENDPOINTS_MAX)
        list.n = ENDPOINTS_MAX;
    return list;
}

static bool ready_in(const struct endpoint_input *input, const struct endpoint *endpoint)
{
    return endpoint->ready || input->all_ready;
}

static json_t *target_of(const struct object *pod)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "kind", "Pod", "namespace", object_namespace(pod),
                     "name", object_name(pod), "uid", object_uid(pod));
}

static json_t *ip_text(in_addr_t ip)
{
    char text[INET_ADDRSTRLEN];

    inet_ntop(AF_INET, &ip, text, sizeof text);
    return json_string(text);
}

/* Returns the pod's host name in the Service's domain; NULL = it has none. */
static const char *host_of(const struct endpoint_input *input, const struct object *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod);

    return spec->hostname && *spec->hostname && spec->subdomain &&
                   strcmp(spec->subdomain, object_name(input->service)) == 0
               ? spec->hostname
               : NULL;
}

static void add_host(const struct endpoint_input *input, const struct endpoint *endpoint,
                     json_t *out)
{
    const char *host = host_of(input, endpoint->pod);

    if (host)
        json_object_set_new(out, "hostname", json_string(host));
    json_object_set_new(out, "nodeName", json_string(input->node_name));
    json_object_set_new(out, "targetRef", target_of(endpoint->pod));
}

/* Returns the ports of the Service, as far as the pod has them. */
static json_t *ports_of(const struct endpoint_input *input, const struct object *pod)
{
    json_t *spec = json_object_get(input->spec->body, "spec"), *ports = json_array(), *from;
    size_t i;

    json_array_foreach(json_object_get(spec, "ports"), i, from)
    {
        struct service_port port;
        uint16_t number = service_port_read(from, &port) ? service_port_of(&port, pod) : 0;
        const char *protocol = port.protocol && *port.protocol ? port.protocol : "TCP";
        json_t *out;

        if (!number)
            continue;
        out = json_object();
        if (port.name && *port.name)
            json_object_set_new(out, "name", json_string(port.name));
        json_object_set_new(out, "port", json_integer(number));
        json_object_set_new(out, "protocol", json_string(protocol));
        json_array_append_new(ports, out);
    }
    return ports;
}

/* Returns the subset with these ports, which is added if there is none. `ports` is freed. */
static json_t *subset_with(json_t *subsets, json_t *ports)
{
    size_t i;
    json_t *subset;

    json_array_foreach(subsets, i, subset) if (json_equal(json_object_get(subset, "ports"), ports))
    {
        json_decref(ports);
        return subset;
    }
    subset = json_pack("{s:o}", "ports", ports);
    json_array_append_new(subsets, subset);
    return subset;
}

static json_t *member_list(json_t *object, const char *name)
{
    json_t *list = json_object_get(object, name);

    if (!list) {
        list = json_array();
        json_object_set_new(object, name, list);
    }
    return list;
}

json_t *endpoint_subsets_build(const struct endpoint_input *input)
{
    json_t *subsets = json_array(), *subset, *body = json_object();
    struct endpoint_list list = sorted_endpoints(input);
    size_t i;

    for (size_t at = 0; at < list.n; at++) {
        const struct endpoint *endpoint = &list.items[at];
        json_t *address = json_pack("{s:o}", "ip", ip_text(endpoint->ip));

        add_host(input, endpoint, address);
        subset = subset_with(subsets, ports_of(input, endpoint->pod));
        json_array_append_new(
            member_list(subset, ready_in(input, endpoint) ? "addresses" : "notReadyAddresses"),
            address);
    }
    json_array_foreach(subsets, i, subset) if (!json_array_size(json_object_get(subset, "ports")))
        json_object_del(subset, "ports");
    if (json_array_size(subsets))
        json_object_set(body, "subsets", subsets);
    json_decref(subsets);
    mem_free(list.items);
    return body;
}

static json_t *slice_entry(const struct endpoint_input *input, const struct endpoint *endpoint)
{
    json_t *entry =
        json_pack("{s:[o], s:{s:b, s:b, s:b}}", "addresses", ip_text(endpoint->ip), "conditions",
                  "ready", ready_in(input, endpoint), "serving", endpoint->ready, "terminating", 0);

    add_host(input, endpoint, entry);
    return entry;
}

json_t *endpoint_slice_build(const struct endpoint_input *input)
{
    json_t *endpoints = json_array(), *ports = NULL;
    struct endpoint_list list = sorted_endpoints(input);

    for (size_t at = 0; at < list.n; at++) {
        if (!ports)
            ports = ports_of(input, list.items[at].pod);
        json_array_append_new(endpoints, slice_entry(input, &list.items[at]));
    }
    mem_free(list.items);
    return json_pack("{s:s, s:o, s:o}", "addressType", "IPv4", "endpoints", endpoints, "ports",
                     ports ? ports : json_array());
}
