/*
 * Adds up requests and limits of containers. Ref: Kubernetes pkg/quota/v1/evaluator/core/pods.go,
 * PodUsageFunc, and component-helpers resource.PodRequests.
 */
#include "job/model/resources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void usage_release(struct usage *usage)
{
    for (size_t i = 0; i < usage->count; i++)
        mem_free(usage->items[i].name);
    mem_free(usage->items);
    *usage = (struct usage){0};
}

static struct usage_item *find(const struct usage *usage, const char *name)
{
    for (size_t i = 0; i < usage->count; i++)
        if (strcmp(usage->items[i].name, name) == 0)
            return &usage->items[i];
    return NULL;
}

static struct usage_item *item_of(struct usage *usage, const char *name)
{
    struct usage_item *item = find(usage, name);

    if (item)
        return item;
    mem_grow(usage->items, usage->count, usage->cap);
    item = &usage->items[usage->count++];
    *item = (struct usage_item){.name = mem_strdup(name)};
    return item;
}

quantity_nano usage_get(const struct usage *usage, const char *name)
{
    const struct usage_item *item = find(usage, name);

    return item ? item->value : 0;
}

void usage_add(struct usage *sum, const struct usage *what, int64_t times)
{
    for (size_t i = 0; i < what->count; i++) {
        struct usage_item *item = item_of(sum, what->items[i].name);

        item->value += what->items[i].value * times;
        item->binary |= what->items[i].binary;
    }
}

static void raise_to(struct usage *usage, const struct usage *floor)
{
    for (size_t i = 0; i < floor->count; i++) {
        struct usage_item *item = item_of(usage, floor->items[i].name);

        if (item->value < floor->items[i].value)
            item->value = floor->items[i].value;
        item->binary |= floor->items[i].binary;
    }
}

/* Reads a resource list of a manifest. Admission refuses quantities that do not parse; here they
 * count zero. */
static void read_list(const json_t *list, struct usage *out)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)list, name, value)
    {
        char number[32];
        const char *text = json_string_value(value);
        quantity_nano amount;
        struct usage_item *item;

        if (json_is_integer(value)) {
            snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
            text = number;
        }
        if (!text || !quantity_parse(text, &amount, NULL))
            continue;
        item = item_of(out, name);
        item->value = amount;
        item->binary = strlen(text) > 1 && text[strlen(text) - 1] == 'i';
    }
}

/* Containers run together. Init containers run one after the other; those with restartPolicy Always
 * keep running beside the others. */
static void sum_containers(const json_t *spec, const char *key, struct usage *out)
{
    scoped(usage) struct usage sidecars = {0};
    scoped(usage) struct usage peak = {0};
    json_t *container;
    size_t i;

    json_array_foreach(json_object_get(spec, "containers"), i, container)
    {
        scoped(usage) struct usage own = {0};

        read_list(json_object_get(json_object_get(container, "resources"), key), &own);
        usage_add(out, &own, 1);
    }
    json_array_foreach(json_object_get(spec, "initContainers"), i, container)
    {
        scoped(usage) struct usage own = {0};
        const char *policy = json_string_value(json_object_get(container, "restartPolicy"));

        read_list(json_object_get(json_object_get(container, "resources"), key), &own);
        if (policy && strcmp(policy, "Always") == 0) {
            usage_add(out, &own, 1);
            usage_add(&sidecars, &own, 1);
            raise_to(&peak, &sidecars);
        } else {
            usage_add(&own, &sidecars, 1);
            raise_to(&peak, &own);
        }
    }
    raise_to(out, &peak);
}

static void sum_pod(const json_t *spec, const char *key, struct usage *out)
{
    scoped(usage) struct usage pod_level = {0};
    scoped(usage) struct usage overhead = {0};
    bool limits = strcmp(key, "limits") == 0;

    sum_containers(spec, key, out);
    read_list(json_object_get(json_object_get(spec, "resources"), key), &pod_level);
    for (size_t i = 0; i < pod_level.count; i++)
        item_of(out, pod_level.items[i].name)->value = pod_level.items[i].value;
    read_list(json_object_get(spec, "overhead"), &overhead);
    for (size_t i = 0; i < overhead.count; i++)
        if (!limits || find(out, overhead.items[i].name))
            item_of(out, overhead.items[i].name)->value += overhead.items[i].value;
}

static bool is_native(const char *name)
{
    return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 ||
           strcmp(name, "ephemeral-storage") == 0 || strncmp(name, "hugepages-", 10) == 0;
}

static void put(struct usage *out, const char *prefix, const struct usage_item *item)
{
    scoped_str name = mem_printf("%s%s", prefix, item->name);
    struct usage_item *to = item_of(out, name);

    to->value = item->value;
    to->binary = item->binary;
}

void usage_of_template(const json_t *template, struct usage *out)
{
    const json_t *spec = json_object_get(template, "spec");
    scoped(usage) struct usage requests = {0};
    scoped(usage) struct usage limits = {0};
    const quantity_nano one = 1000000000;

    item_of(out, "count/pods")->value = one;
    item_of(out, "pods")->value = one;
    sum_pod(spec, "requests", &requests);
    sum_pod(spec, "limits", &limits);
    for (size_t i = 0; i < requests.count; i++) {
        put(out, "", &requests.items[i]);
        put(out, "requests.", &requests.items[i]);
    }
    for (size_t i = 0; i < limits.count; i++)
        if (is_native(limits.items[i].name))
            put(out, "limits.", &limits.items[i]);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct str_pair *)a)->key, ((const struct str_pair *)b)->key);
}

struct str_map usage_map(const struct usage *usage, struct arena *arena)
{
    struct str_pair *pairs = arena_array(arena, usage->count, sizeof *pairs);

    for (size_t i = 0; i < usage->count; i++) {
        char text[QUANTITY_TEXT_MAX];

        quantity_print(usage->items[i].value,
                       usage->items[i].binary ? QUANTITY_BINARY : QUANTITY_DECIMAL, text);
        pairs[i] =
            (struct str_pair){arena_strdup(arena, usage->items[i].name), arena_strdup(arena, text)};
    }
    if (usage->count > 1)
        qsort(pairs, usage->count, sizeof *pairs, compare_keys);
    return (struct str_map){pairs, usage->count};
}
