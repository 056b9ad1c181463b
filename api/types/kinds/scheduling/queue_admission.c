/*
 * Admission of Queues: defaults, resources and the tree.
 *
 * Queues form a tree by spec.parent below the queue root, which need not exist as an object. The
 * rules of the tree look at all stored queues, with the new version of the written queue in place
 * of its old one. The legacy hierarchy annotations are checked as well, for clients that still set
 * them.
 */
#include <stdlib.h>
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/scheduling/internal.h"
#include "api/types/kinds/scheduling/queue.h"
#include "api/types/text/quantity.h"
#include "base/mem.h"

#define ANNOTATION_HIERARCHY         "volcano.sh/hierarchy"
#define ANNOTATION_HIERARCHY_WEIGHTS "volcano.sh/hierarchy-weights"

enum { DEPTH_MAX = 5 };

static const char root_name[] = "root";

void queue_mutate(const struct admission *adm, json_t *body, const struct object *draft)
{
    json_t *spec = json_object_get(body, "spec");

    if (!spec) {
        spec = json_object();
        json_object_set_new(body, "spec", spec);
    }
    if (!json_object_get(spec, "reclaimable"))
        json_object_set_new(spec, "reclaimable", json_true());
    if (!json_object_get(spec, "weight")) /* a body without a spec gets the default, too */
        json_object_set_new(spec, "weight", json_integer(1));
}

/* Like upstream, this compares the beginning of the text: "rooted" counts as below root. */
struct meta *queue_mutate_meta(const struct meta *meta)
{
    const char *path = meta_annotation(meta, ANNOTATION_HIERARCHY);
    const char *weights = meta_annotation(meta, ANNOTATION_HIERARCHY_WEIGHTS);
    scoped_str new_path = NULL;
    scoped_str new_weights = NULL;
    struct kv *annotations;
    struct meta draft = *meta, *changed;

    if (!path || !*path || !weights || !*weights ||
        strncmp(path, root_name, strlen(root_name)) == 0)
        return NULL;
    new_path = mem_printf("%s/%s", root_name, path);
    new_weights = mem_printf("1/%s", weights);
    annotations = mem_array(meta->n_annotations, sizeof *annotations);
    for (uint32_t i = 0; i < meta->n_annotations; i++) {
        annotations[i] = meta->annotations[i];
        if (strcmp(annotations[i].key, ANNOTATION_HIERARCHY) == 0)
            annotations[i].value = new_path;
        else if (strcmp(annotations[i].key, ANNOTATION_HIERARCHY_WEIGHTS) == 0)
            annotations[i].value = new_weights;
    }
    draft.annotations = annotations;
    changed = meta_new(&draft);
    mem_free(annotations);
    return changed;
}

static const struct str_pair *entry_of(const struct str_map *map, const char *name)
{
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->items[i].key, name) == 0)
            return &map->items[i];
    return NULL;
}

static bool find(const struct str_map *map, const char *name, quantity_nano *out)
{
    const struct str_pair *entry = entry_of(map, name);

    return entry && quantity_parse(entry->value, out, NULL);
}

static void check_not_negative(const struct str_map *map, const char *path,
                               struct error_list *errors)
{
    quantity_nano value;

    for (size_t i = 0; i < map->count; i++)
        if (quantity_parse(map->items[i].value, &value, NULL) && value < 0)
            FINDING(errors, ("%s[%s]", path, map->items[i].key),
                    "Invalid value: \"%s\": must be greater than or equal to 0",
                    map->items[i].value);
}

/* The rule that no resource of `map` exceeds the amount in `most`. What `most` does not name is
 * unlimited. */
struct comparison {
    const struct str_map *map;
    const char *map_path;
    const struct str_map *most;
    const char *most_name; /* name of the limit in the message: "deserved", "capability of queue
                            * q" */
};

static void check_within(const struct comparison *c, struct error_list *errors)
{
    for (size_t i = 0; i < c->map->count; i++) {
        const struct str_pair *own = &c->map->items[i];
        quantity_nano value, most;

        if (quantity_parse(own->value, &value, NULL) && find(c->most, own->key, &most) &&
            quantity_compare(value, most) > 0)
            FINDING(errors, ("%s[%s]", c->map_path, own->key),
                    "Invalid value: \"%s\": must not be more than %s", own->value, c->most_name);
    }
}

/* A guarantee asks for at least as much in deserved. Volcano's tests look for the rules' words. */
static void check_deserved_covers(const struct queue_spec *spec, struct error_list *errors)
{
    for (size_t i = 0; i < spec->guarantee.count; i++) {
        const struct str_pair *least = &spec->guarantee.items[i];
        const struct str_pair *own = entry_of(&spec->deserved, least->key);
        quantity_nano value, guarantee;

        if (!quantity_parse(least->value, &guarantee, NULL))
            continue;
        if (!own)
            FINDING(errors, ("spec.deserved[%s]", least->key),
                    "Required value: deserved[%s] must be >= guarantee[%s]=%s", least->key,
                    least->key, least->value);
        else if (quantity_parse(own->value, &value, NULL) && quantity_compare(value, guarantee) < 0)
            FINDING(errors, ("spec.deserved[%s]", own->key),
                    "Invalid value: \"%s\": deserved[%s]=%s must be >= guarantee[%s]=%s",
                    own->value, own->key, own->value, own->key, least->value);
    }
}

static void check_deserved_within(const struct queue_spec *spec, struct error_list *errors)
{
    for (size_t i = 0; i < spec->deserved.count; i++) {
        const struct str_pair *own = &spec->deserved.items[i];
        const struct str_pair *most = entry_of(&spec->capability, own->key);
        quantity_nano value, capability;

        if (most && quantity_parse(own->value, &value, NULL) &&
            quantity_parse(most->value, &capability, NULL) &&
            quantity_compare(value, capability) > 0)
            FINDING(errors, ("spec.deserved[%s]", own->key),
                    "Invalid value: \"%s\": deserved[%s]=%s must be <= capability[%s]=%s",
                    own->value, own->key, own->value, own->key, most->value);
    }
}

static void check_resources(const struct queue_spec *spec, struct error_list *errors)
{
    check_not_negative(&spec->capability, "spec.capability", errors);
    check_not_negative(&spec->deserved, "spec.deserved", errors);
    check_not_negative(&spec->guarantee, "spec.guarantee.resource", errors);
    check_deserved_covers(spec, errors);
    check_deserved_within(spec, errors);
}

void queue_validate(const struct admission *adm, const struct object *old,
                    const struct object *queue, struct error_list *errors)
{
    check_resources(queue_spec_of(queue), errors);
}

static size_t parts_of(const char *path)
{
    size_t parts = 1;

    for (const char *at = path; (at = strchr(at, '/')) != NULL; at++)
        parts++;
    return parts;
}

static bool weights_positive(const char *weights)
{
    for (const char *at = weights; at; at = strchr(at, '/')) {
        char *end;

        at += *at == '/';
        if (strtod(at, &end) <= 0 || end == at || (*end && *end != '/'))
            return false;
    }
    return true;
}

struct below_search {
    const char *path;
    const char *self;
    const char *found; /* name of a queue below the path */
};

static void look_below(void *arg, const struct object *queue)
{
    struct below_search *search = arg;
    const char *path = meta_annotation(queue->meta, ANNOTATION_HIERARCHY);
    size_t len = strlen(search->path);

    if (path && strcmp(object_name(queue), search->self) != 0 &&
        strncmp(path, search->path, len) == 0 && path[len] == '/')
        search->found = object_name(queue);
}

static const char *annotation_or_empty(const struct object *queue, const char *key)
{
    const char *value = meta_annotation(queue->meta, key);

    return value ? value : "";
}

static void check_hierarchy(const struct admission *adm, const struct object *queue,
                            struct error_list *errors)
{
    const char *path = annotation_or_empty(queue, ANNOTATION_HIERARCHY);
    const char *weights = annotation_or_empty(queue, ANNOTATION_HIERARCHY_WEIGHTS);
    struct below_search search = {.path = path, .self = object_name(queue)};

    if (!*path && !*weights)
        return;
    if (!*weights)
        FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_HIERARCHY_WEIGHTS),
                "Required value: %s is denied without it: give one weight for each part of \"%s\", "
                "such as \"1/2\" for \"root/a\"",
                ANNOTATION_HIERARCHY, path);
    else if (parts_of(path) != parts_of(weights))
        FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_HIERARCHY),
                "%s must have the same length with %s: \"%s\" and \"%s\"", ANNOTATION_HIERARCHY,
                ANNOTATION_HIERARCHY_WEIGHTS, path, weights);
    else if (!weights_positive(weights))
        FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_HIERARCHY_WEIGHTS),
                "Invalid value: \"%s\": each weight must be a number, and must be larger than 0",
                weights);
    if (adm->each)
        adm->each(adm->ctx, &kind_queue, "", look_below, &search);
    if (search.found)
        FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_HIERARCHY),
                "%s is not allowed to be in the sub path of queue %s", path, search.found);
}

static const char *parent_of(const struct object *queue)
{
    const char *parent = queue_spec_of(queue)->parent;

    return parent && *parent ? parent : root_name;
}

/* The stored children of one queue, without `self`, of which the caller has a newer version. */
struct children {
    const char *parent;
    const char *self;
    size_t count, cap;
    const struct object **items;
};

static void release_children(struct children *children)
{
    mem_free(children->items);
}

static void add_child(void *arg, const struct object *queue)
{
    struct children *children = arg;
    const char *name = object_name(queue);

    if (strcmp(parent_of(queue), children->parent) != 0 || strcmp(name, root_name) == 0 ||
        (children->self && strcmp(name, children->self) == 0))
        return;
    if (children->count == children->cap) {
        children->cap = children->cap ? 2 * children->cap : 16;
        children->items = mem_resize(children->items, children->cap * sizeof *children->items);
    }
    children->items[children->count++] = queue;
}

static void find_children(const struct admission *adm, struct children *children)
{
    if (adm->each)
        adm->each(adm->ctx, &kind_queue, "", add_child, children);
}

static void check_depth(const struct admission *adm, const struct object *queue,
                        struct error_list *errors)
{
    const char *parent = parent_of(queue);
    int depth = 1;

    while (strcmp(parent, root_name) != 0) {
        const struct object *above = lookup(adm, &kind_queue, "", parent);

        if (strcmp(parent, object_name(queue)) == 0) {
            FINDING(errors, ("spec.parent"),
                    "Invalid value: \"%s\": the queue would be above itself",
                    queue_spec_of(queue)->parent);
            return;
        }
        if (++depth > DEPTH_MAX) {
            FINDING(errors, ("spec.parent"),
                    "Invalid value: \"%s\": queues may be at most %d deep below root",
                    queue_spec_of(queue)->parent, DEPTH_MAX);
            return;
        }
        if (!above)
            return;
        parent = parent_of(above);
    }
}

static void check_parent(const struct admission *adm, const struct object *queue,
                         struct error_list *errors)
{
    const char *name = object_name(queue), *parent = parent_of(queue);
    struct children siblings = {.parent = parent, .self = name};
    const struct object *above;
    quantity_nano pods;

    if (strcmp(name, root_name) == 0)
        return;
    if (strcmp(parent, name) == 0) {
        FINDING(errors, ("spec.parent"), "Invalid value: \"%s\": a queue cannot be its own parent",
                parent);
        return;
    }
    if (strcmp(parent, root_name) == 0)
        return;
    above = lookup(adm, &kind_queue, "", parent);
    if (!above) {
        FINDING(errors, ("spec.parent"),
                "Not found: \"%s\": failed to get parent queue: create it first", parent);
        return;
    }
    check_depth(adm, queue, errors);
    find_children(adm, &siblings);
    if (!siblings.count && find(queue_allocated_of(above), "pods", &pods) && pods > 0)
        FINDING(errors, ("spec.parent"),
                "Forbidden: queue %s has allocated pods and cannot become a parent: wait until "
                "they are gone",
                parent);
    release_children(&siblings);
}

/* Adds one resource list to a sum whose texts lie in the arena. */
static void add_resources(struct arena *arena, struct str_map *sum, const struct str_map *more)
{
    for (size_t i = 0; i < more->count; i++) {
        const struct str_pair *pair = &more->items[i];
        quantity_nano total = 0, value = 0;
        size_t at = 0;

        while (at < sum->count && strcmp(sum->items[at].key, pair->key) != 0)
            at++;
        if (at == sum->count) {
            struct str_pair *grown = arena_array(arena, sum->count + 1, sizeof *grown);

            if (sum->count)
                memcpy(grown, sum->items, sum->count * sizeof *grown);
            sum->items = grown;
            sum->items[sum->count++] = (struct str_pair){pair->key, "0"};
        }
        quantity_parse(sum->items[at].value, &total, NULL);
        quantity_parse(pair->value, &value, NULL);
        sum->items[at].value = arena_alloc(arena, QUANTITY_TEXT_MAX);
        quantity_print(total + value, QUANTITY_DECIMAL, (char *)(uintptr_t)sum->items[at].value);
    }
}

struct sums {
    struct str_map guarantee, deserved;
};

static struct sums sum_up(struct arena *arena, const struct children *children,
                          const struct queue_spec *also)
{
    struct sums sums = {0};

    for (size_t i = 0; i < children->count; i++) {
        const struct queue_spec *spec = queue_spec_of(children->items[i]);

        add_resources(arena, &sums.guarantee, &spec->guarantee);
        add_resources(arena, &sums.deserved, &spec->deserved);
    }
    if (also) {
        add_resources(arena, &sums.guarantee, &also->guarantee);
        add_resources(arena, &sums.deserved, &also->deserved);
    }
    return sums;
}

/* Checks each resource of the queue's capability against the nearest ancestor that defines it. */
static void check_ancestors(const struct admission *adm, const struct object *queue,
                            struct error_list *errors)
{
    const struct str_map *own = &queue_spec_of(queue)->capability;
    const struct object *above = lookup(adm, &kind_queue, "", parent_of(queue));

    for (size_t i = 0; i < own->count; i++) {
        const struct object *at = above;

        for (int depth = 0; at && depth <= DEPTH_MAX; depth++) {
            quantity_nano most, value;

            if (find(&queue_spec_of(at)->capability, own->items[i].key, &most)) {
                if (quantity_parse(own->items[i].value, &value, NULL) &&
                    quantity_compare(value, most) > 0)
                    FINDING(errors, ("spec.capability[%s]", own->items[i].key),
                            "Invalid value: \"%s\": must not be more than capability of queue %s "
                            "above it",
                            own->items[i].value, object_name(at));
                break;
            }
            at = strcmp(object_name(at), root_name) == 0
                     ? NULL
                     : lookup(adm, &kind_queue, "", parent_of(at));
        }
    }
}

static void check_sums(const struct admission *adm, const struct object *queue,
                       struct error_list *errors)
{
    scoped(arena) struct arena *arena = arena_new(0);
    const struct queue_spec *spec = queue_spec_of(queue);
    const char *name = object_name(queue), *parent = parent_of(queue);
    const struct object *above = lookup(adm, &kind_queue, "", parent);
    struct children siblings = {.parent = parent, .self = name}, below = {.parent = name};
    struct sums sums;

    find_children(adm, &below);
    sums = sum_up(arena, &below, NULL);
    check_within(&(struct comparison){&sums.guarantee, "spec.guarantee.resource", &spec->guarantee,
                                      "spec.guarantee.resource of this queue (children together)"},
                 errors);
    check_within(&(struct comparison){&sums.deserved, "spec.deserved", &spec->deserved,
                                      "spec.deserved of this queue (children together)"},
                 errors);
    for (size_t i = 0; i < below.count; i++)
        check_within(&(struct comparison){&queue_spec_of(below.items[i])->capability,
                                          "spec.capability", &spec->capability,
                                          "spec.capability of this queue (a child has it)"},
                     errors);
    release_children(&below);
    if (!above)
        return;
    find_children(adm, &siblings);
    sums = sum_up(arena, &siblings, spec);
    check_within(&(struct comparison){&sums.guarantee, "spec.guarantee.resource",
                                      &queue_spec_of(above)->guarantee,
                                      "the parent's guarantee (siblings together)"},
                 errors);
    check_within(&(struct comparison){&sums.deserved, "spec.deserved",
                                      &queue_spec_of(above)->deserved,
                                      "the parent's deserved (siblings together)"},
                 errors);
    release_children(&siblings);
    check_ancestors(adm, queue, errors);
}

static bool maps_equal(const struct str_map *a, const struct str_map *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        quantity_nano left, right;

        if (!find(a, a->items[i].key, &left) || !find(b, a->items[i].key, &right) ||
            quantity_compare(left, right) != 0)
            return false;
    }
    return true;
}

static bool resources_equal(const struct queue_spec *a, const struct queue_spec *b)
{
    return maps_equal(&a->capability, &b->capability) && maps_equal(&a->deserved, &b->deserved) &&
           maps_equal(&a->guarantee, &b->guarantee);
}

static void check_state(const struct object *queue, struct error_list *errors)
{
    const char *state = queue_state_of(queue);

    if (*state && strcmp(state, "Open") != 0 && strcmp(state, "Closed") != 0)
        FINDING(errors, ("status.state"),
                "Unsupported value: \"%s\": supported values: \"Open\", \"Closed\"", state);
}

void queue_validate_in_context(const struct admission *adm, const struct object *old,
                               const struct object *queue, struct error_list *errors)
{
    bool is_root = strcmp(object_name(queue), root_name) == 0;
    bool moved = !old || strcmp(parent_of(old), parent_of(queue)) != 0;
    bool resized = !old || !resources_equal(queue_spec_of(old), queue_spec_of(queue));

    if (!old || old->status != queue->status)
        check_state(queue, errors);
    check_hierarchy(adm, queue, errors);
    if (is_root) {
        if (old && resized)
            FINDING(errors, ("spec"),
                    "Forbidden: capability, deserved and guarantee of queue root may not change");
        return;
    }
    if (moved)
        check_parent(adm, queue, errors);
    if (moved || resized)
        check_sums(adm, queue, errors);
}

bool queue_validate_delete(const struct admission *adm, const struct object *queue,
                           struct error *err)
{
    const char *name = object_name(queue);
    struct children below = {.parent = name};

    if (strcmp(name, "default") == 0 || strcmp(name, root_name) == 0)
        return error_set(err, ERR_FORBIDDEN, "", "`%s` queue can not be deleted", name);
    find_children(adm, &below);
    release_children(&below);
    if (below.count)
        return error_set(
            err, ERR_FORBIDDEN, "",
            "queue %s can not be deleted because it has %zu child queues: delete them first", name,
            below.count);
    return true;
}
