/*
 * Places and whom they take. Ref: k8s.io/component-helpers scheduling/corev1, release 1.30.
 */
#include "node/scheduler/node_set.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/text/quantity.h"
#include "base/mem.h"
#include "node/scheduler/shortfall.h"

void places_init(struct places *places, const struct place_options *options, size_t count,
                 const struct resource_names *extras)
{
    *places = (struct places){.items = mem_array(count, sizeof(struct place)), .count = count};
    if (extras)
        places->extras = *extras;
    for (size_t i = 0; i < count; i++) {
        struct place *place = &places->items[i];

        place->name = place->binder.node_name = options[i].name;
        place->capacity = options[i].capacity;
        place->labels = options[i].labels;
        place->n_labels = options[i].n_labels;
        places->capacity = amount_add(places->capacity, place->capacity);
    }
}

void places_release(struct places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        meta_unref(places->items[i].meta);
        json_decref(places->items[i].taints);
        binder_release(&places->items[i].binder);
    }
    mem_free(places->items);
}

int places_find(const struct places *places, const char *name)
{
    for (size_t i = 0; name && i < places->count; i++)
        if (strcmp(places->items[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* Node objects. */

static bool same_labels(const struct meta *a, const struct meta *b)
{
    if (!a || !b || a->n_labels != b->n_labels)
        return a == b;
    for (uint32_t i = 0; i < a->n_labels; i++)
        if (strcmp(a->labels[i].key, b->labels[i].key) != 0 ||
            strcmp(a->labels[i].value, b->labels[i].value) != 0)
            return false;
    return true;
}

bool places_see(struct places *places, const char *name, const struct object *node)
{
    int at = places_find(places, name);
    scoped(json) json_t *body = node ? object_body_json(node) : NULL;
    json_t *spec = json_object_get(body, "spec");
    json_t *taints = json_object_get(spec, "taints");
    bool cordoned = json_is_true(json_object_get(spec, "unschedulable"));
    struct place *place;
    bool same;

    if (at < 0)
        return false;
    place = &places->items[at];
    same = place->cordoned == cordoned && same_labels(place->meta, node ? node->meta : NULL) &&
           (place->taints == taints || (taints && json_equal(place->taints, taints)));
    meta_unref(place->meta);
    place->meta = node ? meta_ref(node->meta) : NULL;
    json_decref(place->taints);
    place->taints = json_incref(taints);
    place->cordoned = cordoned;
    return !same;
}

static const char *label_of(const struct place *place, const char *key)
{
    const char *value = place->meta ? meta_label(place->meta, key) : NULL;

    for (size_t i = 0; !value && i < place->n_labels; i++)
        if (strcmp(place->labels[i].key, key) == 0)
            value = place->labels[i].value;
    return value;
}

/* Labels. */

static char *misfit_selector(const struct place *place, const struct pod_spec *spec)
{
    const char *key;
    json_t *wanted;

    json_object_foreach(spec->node_selector, key, wanted)
    {
        const char *has = label_of(place, key), *text = json_string_value(wanted);

        if (!has || !text || strcmp(has, text) != 0)
            return mem_printf("nodeSelector asks for %s=%s, node %s has %s", key, text ? text : "",
                              place->name, has ? has : "no such label");
    }
    return NULL;
}

static bool has_value(const json_t *values, const char *text)
{
    const json_t *value;
    size_t i;

    json_array_foreach((json_t *)(uintptr_t)values, i, value)
    {
        if (json_string_value(value) && strcmp(json_string_value(value), text) == 0)
            return true;
    }
    return false;
}

static bool compares(const char *has, const json_t *values, int sign)
{
    const char *text = json_string_value(json_array_get(values, 0));
    char *has_end, *text_end;
    long long own, limit;

    if (!has || !text)
        return false;
    own = strtoll(has, &has_end, 10);
    limit = strtoll(text, &text_end, 10);
    return *has && !*has_end && *text && !*text_end && (sign < 0 ? own < limit : own > limit);
}

static bool matches(const char *has, const char *op, const json_t *values)
{
    if (!op)
        return false;
    if (strcmp(op, "In") == 0)
        return has && has_value(values, has);
    if (strcmp(op, "NotIn") == 0)
        return !has || !has_value(values, has);
    if (strcmp(op, "Exists") == 0)
        return has != NULL;
    if (strcmp(op, "DoesNotExist") == 0)
        return !has;
    if (strcmp(op, "Gt") == 0)
        return compares(has, values, 1);
    return strcmp(op, "Lt") == 0 && compares(has, values, -1);
}

/* The first requirement that does not hold, or NULL. */
static const json_t *failing(const struct place *place, const json_t *requirements, bool fields)
{
    const json_t *requirement;
    size_t i;

    json_array_foreach((json_t *)(uintptr_t)requirements, i, requirement)
    {
        const char *key = json_string_value(json_object_get(requirement, "key"));
        const char *op = json_string_value(json_object_get(requirement, "operator"));
        const char *has = NULL;

        if (fields)
            has = key && strcmp(key, "metadata.name") == 0 ? place->name : NULL;
        else if (key)
            has = label_of(place, key);
        if (!matches(has, op, json_object_get(requirement, "values")))
            return requirement;
    }
    return NULL;
}

/* Terms are alternatives; one without requirements matches nothing. */
static char *misfit_affinity(const struct place *place, const struct pod_spec *spec)
{
    const json_t *required = json_object_get(json_object_get(spec->affinity, "nodeAffinity"),
                                             "requiredDuringSchedulingIgnoredDuringExecution");
    const json_t *terms = json_object_get(required, "nodeSelectorTerms"), *term;
    const json_t *first = NULL;
    size_t i;

    if (!required)
        return NULL;
    json_array_foreach((json_t *)(uintptr_t)terms, i, term)
    {
        const json_t *expressions = json_object_get(term, "matchExpressions");
        const json_t *fields = json_object_get(term, "matchFields");
        const json_t *wrong = failing(place, expressions, false);

        if (!wrong)
            wrong = failing(place, fields, true);
        if (!wrong && (json_array_size(expressions) || json_array_size(fields)))
            return NULL;
        if (!first)
            first = wrong;
    }
    if (!first)
        return mem_printf("nodeAffinity has no term that could match node %s", place->name);

    const char *key = json_string_value(json_object_get(first, "key"));
    const char *has = key ? label_of(place, key) : NULL;
    char *values = json_dumps(json_object_get(first, "values"), JSON_ENCODE_ANY);
    char *text = mem_printf("nodeAffinity asks for %s %s %s, node %s has %s", key ? key : "",
                            json_string_value(json_object_get(first, "operator")),
                            values ? values : "", place->name, has ? has : "no such label");

    mem_free(values);
    return text;
}

/* Taints. */

static bool tolerates(const json_t *toleration, const char *key, const char *value,
                      const char *effect)
{
    const char *own_key = json_string_value(json_object_get(toleration, "key"));
    const char *own_effect = json_string_value(json_object_get(toleration, "effect"));
    const char *own_value = json_string_value(json_object_get(toleration, "value"));
    const char *op = json_string_value(json_object_get(toleration, "operator"));

    if (own_effect && *own_effect && strcmp(own_effect, effect) != 0)
        return false;
    if (own_key && *own_key && strcmp(own_key, key) != 0)
        return false;
    if (op && strcmp(op, "Exists") == 0)
        return true;
    return own_key && *own_key && strcmp(own_value ? own_value : "", value) == 0;
}

static bool is_tolerated(const struct pod_spec *spec, const char *key, const char *value,
                         const char *effect)
{
    const json_t *toleration;
    size_t i;

    json_array_foreach(spec->tolerations, i, toleration)
    {
        if (tolerates(toleration, key, value, effect))
            return true;
    }
    return false;
}

static const char *or_empty(const json_t *text)
{
    return json_string_value(text) ? json_string_value(text) : "";
}

static char *misfit_taints(const struct place *place, const struct pod_spec *spec)
{
    const json_t *taint;
    size_t i;

    if (place->cordoned &&
        !is_tolerated(spec, "node.kubernetes.io/unschedulable", "", "NoSchedule"))
        return mem_printf("node %s is cordoned and takes no new pods: uncordon it", place->name);
    json_array_foreach(place->taints, i, taint)
    {
        const char *key = or_empty(json_object_get(taint, "key"));
        const char *value = or_empty(json_object_get(taint, "value"));
        const char *effect = or_empty(json_object_get(taint, "effect"));

        if (strcmp(effect, "PreferNoSchedule") != 0 && !is_tolerated(spec, key, value, effect))
            return mem_printf("node %s has taint %s%s%s:%s: add a toleration or remove the taint",
                              place->name, key, *value ? "=" : "", value, effect);
    }
    return NULL;
}

/* Resources. */

static bool is_plain(const char *name)
{
    static const char *const plain[] = {"cpu", "memory", "ephemeral-storage", "pods"};

    for (size_t i = 0; i < countof(plain); i++)
        if (strcmp(name, plain[i]) == 0)
            return true;
    return false;
}

struct unknown {
    const struct places *places;
    const struct pod_spec *spec;
    const char *name;
};

static void look_at_resource(void *arg, const char *name)
{
    struct unknown *unknown = arg;
    const struct resource_names *extras = &unknown->places->extras;

    for (size_t i = 0; i < extras->count; i++)
        if (strcmp(extras->names[i], name) == 0)
            return;
    if (!is_plain(name) && pod_spec_request(unknown->spec, name) > 0)
        unknown->name = name;
}

static char *misfit_unknown(const struct places *places, const struct pod_spec *spec)
{
    struct unknown unknown = {places, spec, NULL};
    long long asked;

    if (places->extras.open)
        return NULL;
    pod_spec_each_resource(spec, look_at_resource, &unknown);
    if (!unknown.name)
        return NULL;
    asked = pod_spec_request(spec, unknown.name);
    return mem_printf("needs %lld %s, the node has none: start with --node-resources %s=%lld if "
                      "the machine has them",
                      asked, unknown.name, unknown.name, asked);
}

struct amount places_need(const struct places *places, const struct pod_spec *spec)
{
    struct pod_resources requests = pod_spec_requests(spec);
    struct amount need = {
        amount_clamp(requests.cpu_milli), amount_clamp(requests.memory_bytes), 1, {0}};

    for (size_t i = 0; i < places->extras.count; i++)
        need.extra[i] = amount_clamp(pod_spec_request(spec, places->extras.names[i]));
    return need;
}

static int64_t number_of(const struct str_map *map, const char *name,
                         int64_t (*number)(quantity_nano value), int64_t missing)
{
    quantity_nano value;

    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->items[i].key, name) == 0 &&
            quantity_parse(map->items[i].value, &value, NULL))
            return amount_clamp(number(value));
    return missing;
}

struct amount amount_of_map(const struct str_map *map, const struct resource_names *extras,
                            int64_t missing)
{
    struct amount amount = {number_of(map, "cpu", quantity_milli, missing),
                            number_of(map, "memory", quantity_whole, missing),
                            number_of(map, "pods", quantity_whole, missing),
                            {0}};

    for (size_t i = 0; i < AMOUNT_EXTRA; i++)
        amount.extra[i] =
            i < extras->count ? number_of(map, extras->names[i], quantity_whole, missing) : missing;
    return amount;
}

/* Fitting. */

static char *misfit(const struct places *places, const struct place *place,
                    const struct pod_spec *spec, struct amount need)
{
    char *why = misfit_taints(place, spec);

    if (!why)
        why = misfit_selector(place, spec);
    if (!why)
        why = misfit_affinity(place, spec);
    if (!why)
        why = misfit_unknown(places, spec);
    if (!why)
        why = shortfall_of_node(need, place->capacity, &places->extras);
    return why;
}

uint64_t places_fit(const struct places *places, const struct pod_spec *spec, struct amount need,
                    char **why)
{
    char *first = NULL;
    uint64_t fits = 0;

    for (size_t i = 0; i < places->count; i++) {
        char *reason = misfit(places, &places->items[i], spec, need);

        if (!reason)
            fits |= UINT64_C(1) << i;
        else if (!first)
            first = reason;
        else
            mem_free(reason);
    }
    *why = NULL;
    if (!fits && places->count > 1) {
        *why = mem_printf("none of %zu nodes will do; the first: %s", places->count, first);
    } else if (!fits) {
        *why = first;
        return 0;
    }
    mem_free(first);
    return fits;
}

/* The first place that can take each, so that room for large pods stays in one piece. */
bool places_try(const struct places *places, const struct amount *freed, struct place_wish *wishes,
                size_t n)
{
    struct amount used[PLACES_MAX];

    for (size_t i = 0; i < places->count; i++)
        used[i] = freed ? amount_minus(places->items[i].used, freed[i]) : places->items[i].used;
    for (size_t w = 0; w < n; w++) {
        wishes[w].place = -1;
        for (size_t i = 0; i < places->count && wishes[w].place < 0; i++) {
            struct amount after = amount_add(used[i], wishes[w].need);

            if (!(wishes[w].fits >> i & 1) || !amount_within(after, places->items[i].capacity))
                continue;
            wishes[w].place = (int)i;
            used[i] = after;
        }
        if (wishes[w].place < 0)
            return false;
    }
    return true;
}
