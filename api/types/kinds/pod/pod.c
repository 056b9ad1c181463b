/*
 * The kind Pod: its decoded spec, the resources it requests, its quality of service and its
 * constant.
 */
#include "api/types/kinds/pod/pod.h"

#include <string.h>

#include "api/types/decoded.h"
#include "api/types/kinds/pod/admission.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/schema/enum_text.h"
#include "api/types/text/quantity.h"
#include "base/compiler.h"

static const char *const phase_texts[] = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};

const char *pod_phase_text(enum pod_phase phase)
{
    return phase_texts[phase];
}

bool pod_phase_parse(const char *text, enum pod_phase *out)
{
    int found;

    if (!enum_find(phase_texts, POD_PHASE_N, text, &found))
        return false;
    *out = (enum pod_phase)found;
    return true;
}

/* Treats an empty object as absent, so that the spec need not keep its document for it. */
static void drop_empty(json_t **object)
{
    if (*object && !json_object_size(*object))
        *object = NULL;
}

void pod_spec_finish(void *decoded, const json_t *doc, struct arena *arena)
{
    struct pod_spec *spec = decoded;
    const json_t *volumes = json_object_get(doc, "volumes");

    for (size_t i = 0; i < spec->volumes.count; i++)
        spec->volumes.items[i].source = json_array_get(volumes, i);
    drop_empty(&spec->security_context);
    drop_empty(&spec->node_selector);
    drop_empty(&spec->affinity);
    for (size_t i = 0; i < spec->containers.count; i++)
        drop_empty(&spec->containers.items[i].security_context);
}

static bool container_borrows(const struct pod_container *c)
{
    for (size_t i = 0; i < c->env.count; i++)
        if (c->env.items[i].value_from)
            return true;
    return c->env_from || c->liveness || c->readiness || c->startup || c->lifecycle ||
           c->security_context;
}

/* The spec of a plain pod borrows nothing, so its document, several times as large as the text, is
 * freed. */
static bool spec_borrows(const void *decoded)
{
    const struct pod_spec *spec = decoded;
    bool borrows = spec->volumes.count || spec->security_context || spec->host_aliases ||
                   spec->node_selector || spec->affinity || spec->tolerations ||
                   spec->scheduling_gates;

    for (size_t i = 0; i < spec->init_containers.count; i++)
        borrows = borrows || container_borrows(&spec->init_containers.items[i]);
    for (size_t i = 0; i < spec->containers.count; i++)
        borrows = borrows || container_borrows(&spec->containers.items[i]);
    return borrows;
}

static const struct decoded_type spec_type = {
    .member = "spec",
    .schema = &pod_spec_schema,
    .keep_document = true,
    .borrows = spec_borrows,
    .finish = pod_spec_finish,
};

const struct pod_spec *pod_spec_of(const struct object *pod)
{
    return decoded_of(pod->body, &spec_type);
}

static quantity_nano resource(const struct str_map *map, const char *name)
{
    quantity_nano value = 0;

    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->items[i].key, name) == 0)
            quantity_parse(map->items[i].value, &value, NULL);
    return value;
}

/* A missing request equals the limit, as in Kubernetes. */
static quantity_nano request(const struct pod_container *container, const char *name)
{
    for (size_t i = 0; i < container->requests.count; i++)
        if (strcmp(container->requests.items[i].key, name) == 0)
            return resource(&container->requests, name);
    return resource(&container->limits, name);
}

static bool is_sidecar(const struct pod_container *container)
{
    return container->restart_policy && strcmp(container->restart_policy, "Always") == 0;
}

/* Each init container runs beside the sidecars that started before it; the regular containers run
 * beside all sidecars. The request is the larger sum. */
static quantity_nano pod_request(const struct pod_spec *spec, const char *name)
{
    quantity_nano sidecars = 0, peak = 0, regular = 0;

    for (size_t i = 0; i < spec->init_containers.count; i++) {
        const struct pod_container *container = &spec->init_containers.items[i];
        quantity_nano own = request(container, name);

        if (sidecars + own > peak)
            peak = sidecars + own;
        if (is_sidecar(container))
            sidecars += own;
    }
    for (size_t i = 0; i < spec->containers.count; i++)
        regular += request(&spec->containers.items[i], name);
    regular += sidecars;
    return (regular > peak ? regular : peak) + resource(&spec->overhead, name);
}

struct pod_resources pod_spec_requests(const struct pod_spec *spec)
{
    return (struct pod_resources){
        .cpu_milli = quantity_milli(pod_request(spec, "cpu")),
        .memory_bytes = quantity_whole(pod_request(spec, "memory")),
    };
}

int64_t pod_spec_request(const struct pod_spec *spec, const char *name)
{
    return quantity_whole(pod_request(spec, name));
}

static void each_name(const struct str_map *map, void (*visit)(void *arg, const char *name),
                      void *arg)
{
    for (size_t i = 0; i < map->count; i++)
        visit(arg, map->items[i].key);
}

void pod_spec_each_resource(const struct pod_spec *spec, void (*visit)(void *arg, const char *name),
                            void *arg)
{
    for (size_t i = 0; i < spec->init_containers.count; i++) {
        each_name(&spec->init_containers.items[i].requests, visit, arg);
        each_name(&spec->init_containers.items[i].limits, visit, arg);
    }
    for (size_t i = 0; i < spec->containers.count; i++) {
        each_name(&spec->containers.items[i].requests, visit, arg);
        each_name(&spec->containers.items[i].limits, visit, arg);
    }
    each_name(&spec->overhead, visit, arg);
}

/* The containers seen so far: whether any has a request or limit, and whether all have limits
 * of cpu and memory that equal their requests. */
struct qos {
    bool any, guaranteed;
};

static void add_qos(struct qos *qos, const struct pod_container *container)
{
    static const char *const names[] = {"cpu", "memory"};

    for (size_t i = 0; i < countof(names); i++) {
        quantity_nano limit = resource(&container->limits, names[i]);
        quantity_nano asked = request(container, names[i]);

        qos->any = qos->any || limit > 0 || asked > 0;
        qos->guaranteed = qos->guaranteed && limit > 0 && quantity_compare(limit, asked) == 0;
    }
}

const char *pod_qos_class(const struct pod_spec *spec)
{
    struct qos qos = {.guaranteed = true};

    for (size_t i = 0; i < spec->init_containers.count; i++)
        add_qos(&qos, &spec->init_containers.items[i]);
    for (size_t i = 0; i < spec->containers.count; i++)
        add_qos(&qos, &spec->containers.items[i]);
    if (!qos.any)
        return "BestEffort";
    return qos.guaranteed ? "Guaranteed" : "Burstable";
}

/* clang-format off */
static const struct field pod_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &pod_spec_schema, .pb = 2, .required = true, .doc = "Containers of the pod and their settings."},
    {"status", FIELD_OBJECT, FIELD_PASS, &pod_status_schema, .pb = 3, .doc = "State of the pod and of its containers."},
    {0},
};
/* clang-format on */
static const struct schema pod_schema = {
    "Pod", pod_fields, .doc = "Containers that run together, as processes of this machine."};

static const char *const short_names[] = {"po", NULL};

const struct kind kind_pod = {
    .id = KIND_POD,
    .group = "",
    .version = "v1",
    .name = "Pod",
    .plural = "pods",
    .singular = "pod",
    .short_names = short_names,
    .namespaced = true,
    .has_status = true,
    .no_generation = true,
    .schema = &pod_schema,
    .mutate = pod_mutate,
    .validate = pod_validate,
    .validate_in_context = pod_validate_in_context,
};
