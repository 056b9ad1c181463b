/*
 * Gathers the objects of an owner by the cluster's index of owners.
 */
#include "schedule/owned.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void owned_list_release(struct owned_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        object_unref(list->items[i]);
    mem_free(list->items);
    *list = (struct owned_list){0};
}

bool owned_by(const struct object *owner, const struct object *object)
{
    const struct owner_ref *controller = meta_controller(object->meta);

    return controller && strcmp(controller->uid, object_uid(owner)) == 0;
}

struct gathering {
    const struct object *owner;
    struct owned_list *list;
};

static void gather(void *arg, const struct object *object)
{
    const struct gathering *g = arg;

    if (!owned_by(g->owner, object))
        return;
    mem_grow(g->list->items, g->list->count, g->list->cap);
    g->list->items[g->list->count++] = object_ref(object);
}

static int by_creation(const void *a, const void *b)
{
    const struct object *one = *(struct object *const *)a, *other = *(struct object *const *)b;
    int64_t before = meta_created_ms(one->meta), after = meta_created_ms(other->meta);

    if (before != after)
        return before < after ? -1 : 1;
    return strcmp(object_name(one), object_name(other));
}

void owned_gather(struct cluster *cluster, const struct kind *kind, const struct object *owner,
                  struct owned_list *out)
{
    struct gathering g = {owner, out};

    cluster_each_owned(cluster, kind, object_uid(owner), gather, &g);
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, by_creation);
}
