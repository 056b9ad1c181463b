/*
 * Matches pods with nodes by labels, taints and resources, and places them by first fit.
 * Ref: k8s.io/component-helpers scheduling/corev1, release 1.30.
 */
#include "node/scheduler/node_set.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/text/quantity.h"
#include "base/mem.h"
#include "node/scheduler/shortfall.h"

void node_set_init(struct node_set *node_set, const struct scheduler_node *options, size_t count,
                   const struct resource_names *extras)
{
    *node_set =
        (struct node_set){.items = mem_array(count, sizeof(struct node_info)), .count = count};
    if (extras)
        node_set->extras = *extras;
    for (size_t i = 0; i < count; i++) {
        struct node_info *node_info = &node_set->items[i];

        node_info->name = node_info->binder.node_name = options[i].name;
        node_info->capacity = options[i].capacity;
        node_info->labels = options[i].labels;
        node_info->n_labels = options[i].n_labels;
        node_set->capacity = amount_add(node_set->capacity, node_info->capacity);
    }
}

void node_set_release(struct node_set *node_set)
{
    for (size_t i = 0; i < node_set->count; i++) {
        meta_unref(node_set->items[i].meta);
        json_decref(node_set->items[i].taints);
        binder_release(&node_set->items[i].binder);
    }
    mem_free(node_set->items);
}

int node_set_find(const struct node_set *node_set, const char *name)
{
    for (size_t i = 0; name && i < node_set->count; i++)
        if (strcmp(node_set->items[i].name, name) == 0)
            return (int)i;
    return -1;
}

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

bool node_set_update(struct node_set *node_set, const char *name, const struct object *node)
{
    int at = node_set_find(node_set, name);
    scoped(json) json_t *body = node ? object_body_json(node) : NULL;
    json_t *spec = json_object_get(body, "spec");
    json_t *taints = json_object_get(spec, "taints");
    bool cordoned = json_is_true(json_object_get(spec, "unschedulable"));
    struct node_info *node_info;
    bool same;

    if (at < 0)
        return false;
    node_info = &node_set->items[at];
    same = node_info->cordoned == cordoned &&
           same_labels(node_info->meta, node ? node->meta : NULL) &&
           (node_info->taints == taints || (taints && json_equal(node_info->taints, taints)));
    meta_unref(node_info->meta);
    node_info->meta = node ? meta_ref(node->meta) : NULL;
    json_decref(node_info->taints);
    node_info->taints = json_incref(taints);
    node_info->cordoned = cordoned;
    return !same;
}

static const char *label_of(const struct node_info *node_info, const char *key)
{
    const char *value = node_info->meta ? meta_label(node_info->meta, key) : NULL;

    for (size_t i = 0; !value && i < node_info->n_labels; i++)
        if (strcmp(node_info->labels[i].key, key) == 0)
            value = node_info->labels[i].value;
    return value;
}

static char *misfit_selector(const struct node_info *node_info, const struct pod_spec *spec)
{
    const char *key;
    json_t *wanted;

    json_object_foreach(spec->node_selector, key, wanted)
    {
        const char *has = label_of(node_info, key), *text = json_string_value(wanted);

        if (!has || !text || strcmp(has, text) != 0)
            return mem_printf("nodeSelector asks for %s=%s, node %s has %s", key, text ? text : "",
                              node_info->name, has ? has : "no such label");
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

/* Returns the first requirement that the node does not meet, or NULL. */
static const json_t *failing(const struct node_info *node_info, const json_t *requirements,
                             bool fields)
{
    const json_t *requirement;
    size_t i;

    json_array_foreach((json_t *)(uintptr_t)requirements, i, requirement)
    {
        const char *key = json_string_value(json_object_get(requirement, "key"));
        const char *op = json_string_value(json_object_get(requirement, "operator"));
        const char *has = NULL;

        if (fields)
            has = key && strcmp(key, "metadata.name") == 0 ? node_info->name : NULL;
        else if (key)
            has = label_of(node_info, key);
        if (!matches(has, op, json_object_get(requirement, "values")))
            return requirement;
    }
    return NULL;
}

/* Returns why no term of the node affinity matches, or NULL when one does. Terms are alternatives;
 * a term without requirements matches no node. */
static char *misfit_affinity(const struct node_info *node_info, const struct pod_spec *spec)
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
        const json_t *wrong = failing(node_info, expressions, false);

        if (!wrong)
            wrong = failing(node_info, fields, true);
        if (!wrong && (json_array_size(expressions) || json_array_size(fields)))
            return NULL;
        if (!first)
            first = wrong;
    }
    if (!first)
        return mem_printf("nodeAffinity has no term that could match node %s", node_info->name);

    const char *key = json_string_value(json_object_get(first, "key"));
    const char *has = key ? label_of(node_info, key) : NULL;
    char *values = json_dumps(json_object_get(first, "values"), JSON_ENCODE_ANY);
    char *text = mem_printf("nodeAffinity asks for %s %s %s, node %s has %s", key ? key : "",
                            json_string_value(json_object_get(first, "operator")),
                            values ? values : "", node_info->name, has ? has : "no such label");

    mem_free(values);
    return text;
}

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

static char *misfit_taints(const struct node_info *node_info, const struct pod_spec *spec)
{
    const json_t *taint;
    size_t i;

    if (node_info->cordoned &&
        !is_tolerated(spec, "node.kubernetes.io/unschedulable", "", "NoSchedule"))
        return mem_printf("node %s is cordoned and takes no new pods: uncordon it",
                          node_info->name);
    json_array_foreach(node_info->taints, i, taint)
    {
        const char *key = or_empty(json_object_get(taint, "key"));
        const char *value = or_empty(json_object_get(taint, "value"));
        const char *effect = or_empty(json_object_get(taint, "effect"));

        if (strcmp(effect, "PreferNoSchedule") != 0 && !is_tolerated(spec, key, value, effect))
            return mem_printf("node %s has taint %s%s%s:%s: add a toleration or remove the taint",
                              node_info->name, key, *value ? "=" : "", value, effect);
    }
    return NULL;
}

static bool is_plain(const char *name)
{
    static const char *const plain[] = {"cpu", "memory", "ephemeral-storage", "pods"};

    for (size_t i = 0; i < countof(plain); i++)
        if (strcmp(name, plain[i]) == 0)
            return true;
    return false;
}

struct unknown {
    const struct node_set *node_set;
    const struct pod_spec *spec;
    const char *name;
};

static void look_at_resource(void *arg, const char *name)
{
    struct unknown *unknown = arg;
    const struct resource_names *extras = &unknown->node_set->extras;

    for (size_t i = 0; i < extras->count; i++)
        if (strcmp(extras->names[i], name) == 0)
            return;
    if (!is_plain(name) && pod_spec_request(unknown->spec, name) > 0)
        unknown->name = name;
}

static char *misfit_unknown(const struct node_set *node_set, const struct pod_spec *spec)
{
    struct unknown unknown = {node_set, spec, NULL};
    long long asked;

    if (node_set->extras.open)
        return NULL;
    pod_spec_each_resource(spec, look_at_resource, &unknown);
    if (!unknown.name)
        return NULL;
    asked = pod_spec_request(spec, unknown.name);
    return mem_printf("needs %lld %s, the node has none: start with --node-resources %s=%lld if "
                      "the machine has them",
                      asked, unknown.name, unknown.name, asked);
}

struct amount node_set_pod_need(const struct node_set *node_set, const struct pod_spec *spec)
{
    struct pod_resources requests = pod_spec_requests(spec);
    struct amount need = {
        amount_clamp(requests.cpu_milli), amount_clamp(requests.memory_bytes), 1, {0}};

    for (size_t i = 0; i < node_set->extras.count; i++)
        need.extra[i] = amount_clamp(pod_spec_request(spec, node_set->extras.names[i]));
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

static char *misfit(const struct node_set *node_set, const struct node_info *node_info,
                    const struct pod_spec *spec, struct amount need)
{
    char *why = misfit_taints(node_info, spec);

    if (!why)
        why = misfit_selector(node_info, spec);
    if (!why)
        why = misfit_affinity(node_info, spec);
    if (!why)
        why = misfit_unknown(node_set, spec);
    if (!why)
        why = shortfall_of_node(need, node_info->capacity, &node_set->extras);
    return why;
}

uint64_t node_set_feasible(const struct node_set *node_set, const struct pod_spec *spec,
                           struct amount need, char **why)
{
    char *first = NULL;
    uint64_t feasible = 0;

    for (size_t i = 0; i < node_set->count; i++) {
        char *reason = misfit(node_set, &node_set->items[i], spec, need);

        if (!reason)
            feasible |= UINT64_C(1) << i;
        else if (!first)
            first = reason;
        else
            mem_free(reason);
    }
    *why = NULL;
    if (!feasible && node_set->count > 1) {
        *why = mem_printf("none of %zu nodes will do; the first: %s", node_set->count, first);
    } else if (!feasible) {
        *why = first;
        return 0;
    }
    mem_free(first);
    return feasible;
}

/* Uses the first node that fits, in node order, which keeps large blocks of capacity free on later
 * nodes. */
bool node_set_try_place(const struct node_set *node_set, const struct amount *freed,
                        struct placement *placements, size_t n)
{
    struct amount used[SCHEDULER_NODES_MAX];

    for (size_t i = 0; i < node_set->count; i++)
        used[i] = freed ? amount_minus(node_set->items[i].used, freed[i]) : node_set->items[i].used;
    for (size_t w = 0; w < n; w++) {
        placements[w].node_index = -1;
        for (size_t i = 0; i < node_set->count && placements[w].node_index < 0; i++) {
            struct amount after = amount_add(used[i], placements[w].need);

            if (!(placements[w].feasible >> i & 1) ||
                !amount_within(after, node_set->items[i].capacity))
                continue;
            placements[w].node_index = (int)i;
            used[i] = after;
        }
        if (placements[w].node_index < 0)
            return false;
    }
    return true;
}
