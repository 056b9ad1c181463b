/*
 * Members in the order of their addresses. Ports whose name leads to different numbers in different
 * pods make several subsets, as many as there are different lists of ports; a slice takes the ports
 * of the first. Ref: Kubernetes pkg/controller/endpoint, RepackSubsets.
 */
#include "node/proxy/endpoint_subsets.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"

struct one {
    const struct object *pod;
    in_addr_t ip;
    bool ready;
};

struct roll {
    struct one *items; /* owned */
    size_t n, cap;
};

static void add_one(void *arg, const struct object *pod, in_addr_t ip, bool ready)
{
    struct roll *roll = arg;

    mem_grow(roll->items, roll->n, roll->cap);
    roll->items[roll->n++] = (struct one){pod, ip, ready};
}

static int by_address(const void *left, const void *right)
{
    const struct one *a = left, *b = right;
    uint32_t x = ntohl(a->ip), y = ntohl(b->ip);

    return x != y ? (x > y) - (x < y) : strcmp(object_name(a->pod), object_name(b->pod));
}

/* Owned items. */
static struct roll roll_of(const struct endpoint_input *endpoint_input)
{
    struct roll roll = {0};

    service_endpoints_each(endpoint_input->members, add_one, &roll);
    if (roll.n)
        qsort(roll.items, roll.n, sizeof *roll.items, by_address);
    if (roll.n > ENDPOINTS_MAX)
        roll.n = ENDPOINTS_MAX;
    return roll;
}

static bool ready_in(const struct endpoint_input *endpoint_input, const struct one *one)
{
    return one->ready || endpoint_input->all_ready;
}

/* ---- parts ---- */

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

/* Of a pod that has a name in the Service's domain; NULL = none. */
static const char *host_of(const struct endpoint_input *endpoint_input, const struct object *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod);

    return spec->hostname && *spec->hostname && spec->subdomain &&
                   strcmp(spec->subdomain, object_name(endpoint_input->service)) == 0
               ? spec->hostname
               : NULL;
}

static void add_host(const struct endpoint_input *endpoint_input, const struct one *one,
                     json_t *out)
{
    const char *host = host_of(endpoint_input, one->pod);

    if (host)
        json_object_set_new(out, "hostname", json_string(host));
    json_object_set_new(out, "nodeName", json_string(endpoint_input->node_name));
    json_object_set_new(out, "targetRef", target_of(one->pod));
}

/* Those the pod has. */
static json_t *ports_of(const struct endpoint_input *endpoint_input, const struct object *pod)
{
    json_t *spec = json_object_get(endpoint_input->spec->body, "spec"), *ports = json_array(),
           *from;
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

/* ---- Endpoints ---- */

/* `ports` is consumed. */
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

json_t *endpoint_subsets_build(const struct endpoint_input *endpoint_input)
{
    json_t *subsets = json_array(), *subset, *body = json_object();
    struct roll roll = roll_of(endpoint_input);
    size_t i;

    for (size_t at = 0; at < roll.n; at++) {
        const struct one *one = &roll.items[at];
        json_t *address = json_pack("{s:o}", "ip", ip_text(one->ip));

        add_host(endpoint_input, one, address);
        subset = subset_with(subsets, ports_of(endpoint_input, one->pod));
        json_array_append_new(
            member_list(subset, ready_in(endpoint_input, one) ? "addresses" : "notReadyAddresses"),
            address);
    }
    json_array_foreach(subsets, i, subset) if (!json_array_size(json_object_get(subset, "ports")))
        json_object_del(subset, "ports");
    if (json_array_size(subsets))
        json_object_set(body, "subsets", subsets);
    json_decref(subsets);
    mem_free(roll.items);
    return body;
}

/* ---- EndpointSlice ---- */

static json_t *slice_entry(const struct endpoint_input *endpoint_input, const struct one *one)
{
    json_t *entry =
        json_pack("{s:[o], s:{s:b, s:b, s:b}}", "addresses", ip_text(one->ip), "conditions",
                  "ready", ready_in(endpoint_input, one), "serving", one->ready, "terminating", 0);

    add_host(endpoint_input, one, entry);
    return entry;
}

json_t *endpoint_slice_build(const struct endpoint_input *endpoint_input)
{
    json_t *endpoints = json_array(), *ports = NULL;
    struct roll roll = roll_of(endpoint_input);

    for (size_t at = 0; at < roll.n; at++) {
        if (!ports)
            ports = ports_of(endpoint_input, roll.items[at].pod);
        json_array_append_new(endpoints, slice_entry(endpoint_input, &roll.items[at]));
    }
    mem_free(roll.items);
    return json_pack("{s:s, s:o, s:o}", "addressType", "IPv4", "endpoints", endpoints, "ports",
                     ports ? ports : json_array());
}
