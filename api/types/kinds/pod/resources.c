/*
 * What a pod requests, what it is limited to, and its quality of service.
 *
 * spec.resources gives amounts for the pod as a whole. They win over the sums of its containers. Of
 * an amount that is not given there the default is the one that Kubernetes 1.34 writes into the
 * object. Ref: Kubernetes pkg/apis/core/v1/defaults.go; component-helpers resource/helpers.go;
 * pkg/apis/core/v1/helper/qos.
 */
#include <string.h>

#include "api/types/kinds/pod/admission.h"
#include "api/types/kinds/pod/core_schema.h"

static const char hugepages_prefix[] = "hugepages-";
static const char *const shared_names[] = {"cpu", "memory"}; /* may be promised more than once */

const char *pod_amount_text(const struct str_map *map, const char *name)
{
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->items[i].key, name) == 0)
            return map->items[i].value;
    return NULL;
}

quantity_nano pod_amount(const struct str_map *map, const char *name)
{
    const char *text = pod_amount_text(map, name);
    quantity_nano value = 0;

    if (text)
        quantity_parse(text, &value, NULL);
    return value;
}

static bool has(const struct str_map *map, const char *name)
{
    return pod_amount_text(map, name) != NULL;
}

bool pod_resource_is_hugepages(const char *name)
{
    return strncmp(name, hugepages_prefix, sizeof hugepages_prefix - 1) == 0;
}

static bool is_shared(const char *name)
{
    for (size_t i = 0; i < countof(shared_names); i++)
        if (strcmp(name, shared_names[i]) == 0)
            return true;
    return false;
}

bool pod_resource_has_pod_level(const char *name)
{
    return is_shared(name) || pod_resource_is_hugepages(name);
}

/* A missing request equals the limit, as in Kubernetes. */
static const char *request_text(const struct pod_container *container, const char *name)
{
    const char *text = pod_amount_text(&container->requests, name);

    return text ? text : pod_amount_text(&container->limits, name);
}

static const char *limit_text(const struct pod_container *container, const char *name)
{
    return pod_amount_text(&container->limits, name);
}

static bool is_sidecar(const struct pod_container *container)
{
    return container->restart_policy && strcmp(container->restart_policy, "Always") == 0;
}

/* An amount that several containers have together. */
struct sum {
    const char *(*text)(const struct pod_container *container, const char *name);
    const char *name;
    bool any;    /* a container gives the resource */
    bool binary; /* its unit is a power of 1024 */
};

static quantity_nano amount_in(struct sum *sum, const struct pod_container *container)
{
    const char *text = sum->text(container, sum->name);
    quantity_nano value = 0;

    if (!text || !quantity_parse(text, &value, NULL))
        return 0;
    sum->any = true;
    sum->binary = sum->binary || (*text && text[strlen(text) - 1] == 'i');
    return value;
}

/* Each init container runs beside the sidecars that started before it. The regular containers run
 * beside all sidecars. The sum is the larger one of the two. */
static quantity_nano sum_of(struct sum *sum, const struct pod_spec *spec)
{
    quantity_nano sidecars = 0, peak = 0, regular = 0;

    for (size_t i = 0; i < spec->init_containers.count; i++) {
        const struct pod_container *container = &spec->init_containers.items[i];
        quantity_nano own = amount_in(sum, container);

        if (sidecars + own > peak)
            peak = sidecars + own;
        if (is_sidecar(container))
            sidecars += own;
    }
    for (size_t i = 0; i < spec->containers.count; i++)
        regular += amount_in(sum, &spec->containers.items[i]);
    regular += sidecars;
    return regular > peak ? regular : peak;
}

quantity_nano pod_containers_request(const struct pod_spec *spec, const char *name)
{
    struct sum sum = {request_text, name};

    return sum_of(&sum, spec);
}

quantity_nano pod_containers_limit(const struct pod_spec *spec, const char *name)
{
    struct sum sum = {limit_text, name};

    return sum_of(&sum, spec);
}

bool pod_has_pod_level(const struct pod_spec *spec)
{
    return spec->requests.count || spec->limits.count;
}

/* Returns the request of the pod without its overhead. */
static quantity_nano own_request(const struct pod_spec *spec, const char *name)
{
    struct sum sum = {request_text, name};
    quantity_nano of_containers;

    if (has(&spec->requests, name))
        return pod_amount(&spec->requests, name);
    of_containers = sum_of(&sum, spec);
    return has(&spec->limits, name) && !(sum.any && is_shared(name))
               ? pod_amount(&spec->limits, name)
               : of_containers;
}

static quantity_nano request_of(const struct pod_spec *spec, const char *name)
{
    return own_request(spec, name) + pod_amount(&spec->overhead, name);
}

struct pod_resources pod_spec_requests(const struct pod_spec *spec)
{
    return (struct pod_resources){
        .cpu_milli = quantity_milli(request_of(spec, "cpu")),
        .memory_bytes = quantity_whole(request_of(spec, "memory")),
    };
}

int64_t pod_spec_request(const struct pod_spec *spec, const char *name)
{
    return quantity_whole(request_of(spec, name));
}

/* Adds up what the containers have that run beside `container` and were started before it. */
static quantity_nano amount_before(struct sum *sum, const struct pod_spec *spec,
                                   const struct pod_container *container)
{
    quantity_nano before = 0;

    for (size_t i = 0; i < spec->init_containers.count; i++) {
        const struct pod_container *other = &spec->init_containers.items[i];

        if (other == container)
            return before;
        if (is_sidecar(other))
            before += amount_in(sum, other);
    }
    for (size_t i = 0; i < spec->containers.count; i++) {
        if (&spec->containers.items[i] == container)
            break;
        before += amount_in(sum, &spec->containers.items[i]);
    }
    return before;
}

int64_t pod_container_share(const struct pod_spec *spec, const struct pod_container *container,
                            const char *name, int64_t *out_before)
{
    struct sum sum = {request_text, name};

    *out_before = quantity_whole(amount_before(&sum, spec, container));
    return quantity_whole(amount_in(&sum, container));
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
    each_name(&spec->requests, visit, arg);
    each_name(&spec->limits, visit, arg);
    each_name(&spec->overhead, visit, arg);
}

/* The amounts seen so far: whether any is given, and whether all are limits of cpu and memory that
 * equal their requests. */
struct qos {
    bool any, guaranteed;
};

static void add_amounts(struct qos *qos, quantity_nano limit, quantity_nano asked)
{
    qos->any = qos->any || limit > 0 || asked > 0;
    qos->guaranteed = qos->guaranteed && limit > 0 && quantity_compare(limit, asked) == 0;
}

static void add_container(struct qos *qos, const struct pod_container *container)
{
    for (size_t i = 0; i < countof(shared_names); i++) {
        struct sum request = {request_text, shared_names[i]};

        add_amounts(qos, pod_amount(&container->limits, shared_names[i]),
                    amount_in(&request, container));
    }
}

static void add_containers(struct qos *qos, const struct pod_spec *spec)
{
    for (size_t i = 0; i < spec->init_containers.count; i++)
        add_container(qos, &spec->init_containers.items[i]);
    for (size_t i = 0; i < spec->containers.count; i++)
        add_container(qos, &spec->containers.items[i]);
}

static void add_pod_level(struct qos *qos, const struct pod_spec *spec)
{
    for (size_t i = 0; i < countof(shared_names); i++)
        add_amounts(qos, pod_amount(&spec->limits, shared_names[i]),
                    own_request(spec, shared_names[i]));
}

const char *pod_qos_class(const struct pod_spec *spec)
{
    struct qos qos = {.guaranteed = true};

    if (pod_has_pod_level(spec))
        add_pod_level(&qos, spec);
    else
        add_containers(&qos, spec);
    if (!qos.any)
        return "BestEffort";
    return qos.guaranteed ? "Guaranteed" : "Burstable";
}

/* Defaults in the object. */

struct defaults {
    const struct pod_spec *spec;
    json_t *resources;
};

/* Sets a member of spec.resources.requests or limits that is absent. `value` is consumed. */
static void set_default(struct defaults *defaults, const char *list, const char *name,
                        json_t *value)
{
    json_t *amounts = json_object_get(defaults->resources, list);

    if (!json_is_object(amounts)) {
        amounts = json_object();
        json_object_set_new_nocheck(defaults->resources, list, amounts);
    }
    core_set_default(amounts, name, value);
}

static void set_default_sum(struct defaults *defaults, const char *list, struct sum *sum)
{
    quantity_nano value = sum_of(sum, defaults->spec);
    char text[QUANTITY_TEXT_MAX];

    if (!sum->any)
        return;
    quantity_print(value, sum->binary ? QUANTITY_BINARY : QUANTITY_DECIMAL, text);
    set_default(defaults, list, sum->name, json_string(text));
}

/* Sets the pod's limit of huge pages to the sum of its containers' limits. */
static void default_hugepages(void *arg, const char *name)
{
    struct defaults *defaults = arg;
    struct sum sum = {limit_text, name};

    if (pod_resource_is_hugepages(name) && !has(&defaults->spec->requests, name))
        set_default_sum(defaults, "limits", &sum);
}

static void default_requests(struct defaults *defaults)
{
    const char *name;
    json_t *limit;

    for (size_t i = 0; i < countof(shared_names); i++) {
        struct sum sum = {request_text, shared_names[i]};

        set_default_sum(defaults, "requests", &sum);
    }
    json_object_foreach(json_object_get(defaults->resources, "limits"), name, limit)
    {
        if (pod_resource_has_pod_level(name))
            set_default(defaults, "requests", name, json_copy(limit));
    }
}

void pod_default_resources(json_t *doc)
{
    json_t *resources = json_object_get(doc, "resources");
    scoped(arena) struct arena *arena = NULL;
    struct pod_spec spec;
    struct defaults defaults = {&spec, resources};

    if (!json_object_size(resources))
        return;
    arena = arena_new(0);
    if (!schema_decode(&pod_spec_schema, doc, arena, &spec, NULL) || !pod_has_pod_level(&spec))
        return;
    pod_spec_each_resource(&spec, default_hugepages, &defaults);
    if (json_object_size(json_object_get(resources, "limits")))
        default_requests(&defaults);
}
