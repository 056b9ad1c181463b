/*
 * The auxiliary objects of an item: ConfigMaps, Services, and ingresses, which are Services with an
 * address here. All live with the item's job.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/submit/item.h"
#include "api/types/labels.h"
#include "api/types/lives_with.h"
#include "base/mem.h"

/* Returns whether a container of the role's pods, or of any pods with role "", has the port. */
static bool is_exposed(const struct submit_item *item, const char *role, int64_t port)
{
    json_t *task;
    size_t t;

    json_array_foreach(item->tasks, t, task)
    {
        const json_t *spec = json_object_get(json_object_get(task, "template"), "spec");
        json_t *container, *exposed;
        size_t c, p;

        if (*role && strcmp(submit_text_at(task, "name"), role) != 0)
            continue;
        json_array_foreach(json_object_get(spec, "containers"), c, container)
        {
            json_array_foreach(json_object_get(container, "ports"), p, exposed)
            {
                if (json_integer_value(json_object_get(exposed, "containerPort")) == port)
                    return true;
            }
        }
    }
    return false;
}

/* One object of the item's list. */
struct aux {
    const json_t *doc;
    char path[32]; /* objects[i] */
    size_t position;
    char *name; /* owned */
};

static json_t *metadata_of(const struct submit_item *item, const struct aux *aux)
{
    json_t *metadata = submit_item_metadata(item, aux->doc, aux->path, aux->name);

    json_object_set_new(json_object_get(metadata, "annotations"), ANNOTATION_LIVES_WITH,
                        json_string(item->name));
    return metadata;
}

static json_t *port_list(const struct submit_item *item, const struct aux *aux, const json_t *ports,
                         const char *role, const char *kind)
{
    scoped_str field = mem_printf("%s.%s.ports", aux->path, kind);
    json_t *out = json_array(), *port;
    size_t i;

    if (json_array_size(ports) == 0)
        submit_item_problem(item, "NoPorts", field, "at least one port is required");
    json_array_foreach(ports, i, port)
    {
        int64_t number = json_integer_value(port);

        if (!is_exposed(item, role, number))
            submit_item_problem(item, "PortNotExposed", field,
                                "no container of its pods has the containerPort %lld",
                                (long long)number);
        json_array_append_new(out, json_pack("{s:o, s:I, s:I}", "name",
                                             json_sprintf("p%lld", (long long)number), "port",
                                             (json_int_t)number, "targetPort", (json_int_t)number));
    }
    return out;
}

static json_t *selector_of(const struct submit_item *item, const char *role)
{
    json_t *out = json_pack("{s:s}", LABEL_JOB_ID, item->id);

    if (*role)
        json_object_set_new(out, "volcano.sh/task-spec", json_string(role));
    return out;
}

/* Returns "Headless", "NodePort", or NULL for another type. Absent is NodePort, as in protobuf. */
static const char *service_type(const json_t *service)
{
    const json_t *type = json_object_get(service, "type");

    if (!type || json_integer_value(type) == 0)
        return json_is_string(type) && strcmp(json_string_value(type), "NodePort") != 0
                   ? (strcmp(json_string_value(type), "Headless") == 0 ? "Headless" : NULL)
                   : "NodePort";
    return json_integer_value(type) == 1 ? "Headless" : NULL;
}

static void add_service(const struct submit_item *item, struct aux *aux, const json_t *service,
                        json_t *out)
{
    const char *role = submit_text_at(service, "role"), *name = submit_text_at(service, "name");
    const char *type = service_type(service);
    scoped_str field = mem_printf("%s.service", aux->path);
    struct error err = {0};
    json_t *spec;

    if (!*role && item->coordinator)
        role = item->coordinator;
    if (*name) {
        mem_free(aux->name);
        aux->name = mem_strdup(name);
        if (!name_is_dns_label(name, &err))
            submit_item_problem(item, "BadName", field, "name: %s", err.message);
    }
    if (!type) {
        submit_item_problem(item, "OneOf", field, "type must be NodePort or Headless");
        return;
    }
    spec = json_pack("{s:o, s:o}", "selector", selector_of(item, role), "ports",
                     port_list(item, aux, json_object_get(service, "ports"), role, "service"));
    if (strcmp(type, "Headless") == 0)
        json_object_set_new(spec, "clusterIP", json_string("None"));
    else
        json_object_set_new(spec, "type", json_string("NodePort"));
    json_array_append_new(out,
                          json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "v1", "kind", "Service",
                                    "metadata", metadata_of(item, aux), "spec", spec));
}

static bool same_port_is_listed(const json_t *ports, int64_t port)
{
    json_t *entry;
    size_t i;

    json_array_foreach(ports, i, entry)
    {
        if (json_integer_value(entry) == port)
            return true;
    }
    return false;
}

/* Reports a port that another ingress of the item has. */
static void check_port_twice(const struct submit_item *item, const struct aux *aux,
                             const json_t *ports)
{
    const json_t *list = json_object_get(item->doc, "objects");
    scoped_str field = mem_printf("%s.ingress.ports", aux->path);
    json_t *port;
    size_t p;

    for (size_t i = 0; i < aux->position; i++)
        json_array_foreach(ports, p, port)
        {
            const json_t *other = json_object_get(json_array_get(list, i), "ingress");

            if (same_port_is_listed(json_object_get(other, "ports"), json_integer_value(port)))
                submit_item_problem(item, "PortTwice", field, "another ingress has the port %lld",
                                    (long long)json_integer_value(port));
        }
}

/* Returns whether a Service of the item already has all the ports. */
static bool is_covered(const struct submit_item *item, const json_t *ports)
{
    json_t *object, *port;
    size_t i, p;

    json_array_foreach(json_object_get(item->doc, "objects"), i, object)
    {
        const json_t *service = json_object_get(object, "service");
        bool all = service != NULL;

        json_array_foreach(ports, p, port) all =
            all && same_port_is_listed(json_object_get(service, "ports"), json_integer_value(port));
        if (all)
            return true;
    }
    return false;
}

static void add_ingress(const struct submit_item *item, struct aux *aux, const json_t *ingress,
                        json_t *out)
{
    const json_t *ports = json_object_get(ingress, "ports");
    const char *role = item->coordinator ? item->coordinator : "";
    scoped_str tls = mem_printf("%s.ingress.tlsEnabled", aux->path);
    json_t *list = port_list(item, aux, ports, role, "ingress");

    if (json_is_true(json_object_get(ingress, "tlsEnabled")))
        submit_item_problem(item, "Unsupported", tls, "TLS is not terminated here");
    check_port_twice(item, aux, ports);
    if (is_covered(item, ports)) {
        json_decref(list);
        return;
    }
    json_array_append_new(out, json_pack("{s:s, s:s, s:o, s:{s:o, s:o, s:s}}", "apiVersion", "v1",
                                         "kind", "Service", "metadata", metadata_of(item, aux),
                                         "spec", "selector", selector_of(item, role), "ports", list,
                                         "type", "NodePort"));
}

static void add_config_map(const struct submit_item *item, struct aux *aux, const json_t *given,
                           json_t *out)
{
    const json_t *metadata = json_object_get(given, "metadata");
    const char *name = submit_text_at(metadata, "name"),
               *ns = submit_text_at(metadata, "namespace");
    scoped_str field = mem_printf("%s.configMap", aux->path);
    json_t *doc;

    if (!json_is_object(given)) {
        submit_item_problem(item, "WrongType", field, "must be a ConfigMap");
        return;
    }
    if (*ns && strcmp(ns, item->ns) != 0)
        submit_item_problem(item, "NamespaceMismatch", field,
                            "is in namespace %s, and the item in %s", ns, item->ns);
    if (*name) {
        mem_free(aux->name);
        aux->name = mem_strdup(name);
    }
    doc = json_copy((json_t *)(uintptr_t)given);
    json_object_set_new(doc, "apiVersion", json_string("v1"));
    json_object_set_new(doc, "kind", json_string("ConfigMap"));
    json_object_set_new(doc, "metadata", metadata_of(item, aux));
    json_array_append_new(out, doc);
}

static void add_object(const struct submit_item *item, struct aux *aux, json_t *out)
{
    const json_t *service = json_object_get(aux->doc, "service");
    const json_t *ingress = json_object_get(aux->doc, "ingress");
    const json_t *config_map = json_object_get(aux->doc, "configMap");

    if (!!service + !!ingress + !!config_map != 1)
        submit_item_problem(item, "OneOf", aux->path,
                            "exactly one of service, configMap and ingress is required");
    else if (service)
        add_service(item, aux, service, out);
    else if (ingress)
        add_ingress(item, aux, ingress, out);
    else
        add_config_map(item, aux, config_map, out);
}

static bool same_object(const json_t *a, const json_t *b)
{
    return strcmp(submit_text_at(a, "kind"), submit_text_at(b, "kind")) == 0 &&
           strcmp(submit_text_at(json_object_get(a, "metadata"), "name"),
                  submit_text_at(json_object_get(b, "metadata"), "name")) == 0;
}

void submit_item_objects(struct submit_item *item, json_t *out)
{
    const json_t *list = json_object_get(item->doc, "objects");

    for (size_t i = 0; i < json_array_size(list); i++) {
        struct aux aux = {.doc = json_array_get(list, i), .position = i};
        size_t before = json_array_size(out);

        snprintf(aux.path, sizeof aux.path, "objects[%zu]", i);
        aux.name = mem_printf("%s-%zu", item->name, i);
        add_object(item, &aux, out);
        for (size_t k = 0; before < json_array_size(out) && k < before; k++)
            if (same_object(json_array_get(out, k), json_array_get(out, before)))
                submit_item_problem(item, "BadName", aux.path,
                                    "another object of the item has its kind and name");
        mem_free(aux.name);
    }
}
