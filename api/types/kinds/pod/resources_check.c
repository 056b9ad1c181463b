/*
 * Rules of requests and limits, of a container and of a pod as a whole.
 * Ref: Kubernetes 1.34, pkg/apis/core/validation, validateResourceRequirements and
 * validatePodResourceConsistency.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/pod/admission.h"

enum { UNIT = 1000000000 }; /* one unit of a resource as a quantity_nano */

struct check {
    struct error_list *errors;
    const char *path; /* path of the object that has `resources` */
    const struct str_map *requests, *limits;
};

/* One entry of requests or limits. */
struct entry {
    const char *list, *name, *text;
    quantity_nano value;
};

/* Returns whether the resource is counted in whole units, as devices are. Its name has a prefix that
 * is not Kubernetes' own. Ref: Kubernetes pkg/apis/core/v1/helper, IsExtendedResourceName. */
static bool is_extended(const char *name)
{
    return strchr(name, '/') && !strstr(name, "kubernetes.io/") &&
           strncmp(name, "requests.", strlen("requests.")) != 0;
}

static void check_size(struct check *c, const struct entry *entry)
{
    quantity_nano page;

    if (entry->value < 0)
        FINDING(c->errors, ("%s.resources.%s[%s]", c->path, entry->list, entry->name),
                "Invalid value: \"%s\": must be greater than or equal to 0", entry->text);
    else if (is_extended(entry->name) && entry->value % UNIT)
        FINDING(c->errors, ("%s.resources.%s[%s]", c->path, entry->list, entry->name),
                "Invalid value: \"%s\": must be an integer", entry->text);
    else if (pod_resource_is_hugepages(entry->name) &&
             quantity_parse(strchr(entry->name, '-') + 1, &page, NULL) && page > 0 &&
             (!entry->value || entry->value % page))
        FINDING(c->errors, ("%s.resources.%s[%s]", c->path, entry->list, entry->name),
                "Invalid value: \"%s\": %s is not positive integer multiple of %s", entry->text,
                entry->text, entry->name);
}

static void check_request(struct check *c, const struct entry *request)
{
    const char *limit_text = pod_amount_text(c->limits, request->name);
    bool hugepages = pod_resource_is_hugepages(request->name);
    quantity_nano limit = 0;
    int order;

    if (!limit_text) {
        if (hugepages)
            FINDING(c->errors, ("%s.resources.limits", c->path),
                    "Required value: Limit must be set for non overcommitable resources");
        return;
    }
    if (!quantity_parse(limit_text, &limit, NULL))
        return;
    order = quantity_compare(request->value, limit);
    if (hugepages && order != 0)
        FINDING(c->errors, ("%s.resources.requests", c->path),
                "Invalid value: \"%s\": must be equal to %s limit of %s", request->text,
                request->name, limit_text);
    else if (order > 0)
        FINDING(c->errors, ("%s.resources.requests", c->path),
                "Invalid value: \"%s\": must be less than or equal to %s limit of %s",
                request->text, request->name, limit_text);
}

static void check_list(struct check *c, const char *list, const struct str_map *map,
                       void (*check_one)(struct check *c, const struct entry *entry))
{
    for (size_t i = 0; i < map->count; i++) {
        struct entry entry = {list, map->items[i].key, map->items[i].value, 0};

        if (quantity_parse(entry.text, &entry.value, NULL))
            check_one(c, &entry);
    }
}

static bool gives_hugepages(const struct str_map *map)
{
    for (size_t i = 0; i < map->count; i++)
        if (pod_resource_is_hugepages(map->items[i].key))
            return true;
    return false;
}

static bool gives_cpu_or_memory(const struct str_map *map)
{
    return pod_amount_text(map, "cpu") || pod_amount_text(map, "memory");
}

static void check_amounts(struct check *c)
{
    check_list(c, "limits", c->limits, check_size);
    check_list(c, "requests", c->requests, check_size);
    check_list(c, "requests", c->requests, check_request);
    if ((gives_hugepages(c->limits) || gives_hugepages(c->requests)) &&
        !gives_cpu_or_memory(c->limits) && !gives_cpu_or_memory(c->requests))
        FINDING(c->errors, ("%s.resources", c->path), "Forbidden: HugePages require cpu or memory");
}

void pod_check_container_resources(const struct pod_container *container, const char *path,
                                   struct error_list *errors)
{
    struct check check = {errors, path, &container->requests, &container->limits};

    check_amounts(&check);
}

static void check_name(struct check *c, const struct entry *entry)
{
    if (!pod_resource_has_pod_level(entry->name))
        FINDING(c->errors, ("%s.resources.%s[%s]", c->path, entry->list, entry->name),
                "Unsupported value: \"%s\": supported values: \"cpu\", \"hugepages-\", \"memory\"",
                entry->name);
}

/* What the containers have together must be within what the pod has. */
static void check_sum(struct check *c, const char *list, const struct str_pair *own,
                      quantity_nano sum)
{
    char text[QUANTITY_TEXT_MAX];
    quantity_nano value;
    bool binary = own->value[0] && own->value[strlen(own->value) - 1] == 'i';

    if (!quantity_parse(own->value, &value, NULL) || quantity_compare(sum, value) <= 0)
        return;
    quantity_print(sum, binary ? QUANTITY_BINARY : QUANTITY_DECIMAL, text);
    FINDING(c->errors, ("%s.resources.%s[%s]", c->path, list, own->key),
            "Invalid value: \"%s\": must be greater than or equal to aggregate container %s of %s",
            own->value, list, text);
}

static void check_sums(struct check *c, const struct pod_spec *spec)
{
    for (size_t i = 0; i < c->requests->count; i++)
        check_sum(c, "requests", &c->requests->items[i],
                  pod_containers_request(spec, c->requests->items[i].key));
    for (size_t i = 0; i < c->limits->count; i++)
        if (pod_resource_is_hugepages(c->limits->items[i].key))
            check_sum(c, "limits", &c->limits->items[i],
                      pod_containers_limit(spec, c->limits->items[i].key));
}

/* Kubernetes compares the limits of regular containers only. */
static void check_container_limits(struct check *c, size_t index,
                                   const struct pod_container *container)
{
    for (size_t i = 0; i < c->limits->count; i++) {
        const struct str_pair *own = &c->limits->items[i];
        const char *text = pod_amount_text(&container->limits, own->key);
        quantity_nano limit, most;

        if (text && quantity_parse(text, &limit, NULL) && quantity_parse(own->value, &most, NULL) &&
            quantity_compare(limit, most) > 0)
            FINDING(c->errors,
                    ("%s.containers[%zu].resources.limits[%s]", c->path, index, own->key),
                    "Invalid value: \"%s\": must be less than or equal to pod limits of %s", text,
                    own->value);
    }
}

void pod_check_pod_resources(const struct pod_spec *spec, const char *path,
                             struct error_list *errors)
{
    struct check check = {errors, path, &spec->requests, &spec->limits};

    if (spec->claims_of_pod)
        FINDING(errors, ("%s.resources.claims", path),
                "Forbidden: claims may not be set for Resources at pod-level");
    if (!pod_has_pod_level(spec))
        return;
    check_list(&check, "limits", &spec->limits, check_name);
    check_list(&check, "requests", &spec->requests, check_name);
    check_amounts(&check);
    check_sums(&check, spec);
    for (size_t i = 0; i < spec->containers.count; i++)
        check_container_limits(&check, i, &spec->containers.items[i]);
}
