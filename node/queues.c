/*
 * Accounts and waiting lines of the queues. Everything here costs O(log queues + depth).
 */
#include "node/queues.h"

#include <string.h>

#include "api/types/quantity.h"
#include "base/mem.h"

enum { DEPTH_MAX = 16 }; /* admission allows 5; more can only be a loop */

static bool queue_before(const struct order_item *left, const struct order_item *right)
{
    const struct queue *a = container_of(left, struct queue, place);
    const struct queue *b = container_of(right, struct queue, place);

    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->share < b->share || b->share < a->share)
        return a->share < b->share;
    return strcmp(a->name, b->name) < 0;
}

void queues_init(struct queues *queues, struct amount capacity,
                 bool (*before)(const struct order_item *a, const struct order_item *b))
{
    *queues =
        (struct queues){.active = {.before = queue_before}, .capacity = capacity, .before = before};
}

void queues_release(struct queues *queues)
{
    struct queue *queue, *next;

    HASH_ITER(hh, queues->table, queue, next)
    {
        HASH_DELETE(hh, queues->table, queue);
        order_release(&queue->waiting);
        mem_free(queue->name);
        mem_free(queue);
    }
    order_release(&queues->active);
}

struct queue *queues_named(struct queues *queues, const char *name)
{
    struct queue *queue;

    if (!name || !*name)
        name = "default";
    HASH_FIND(hh, queues->table, name, strlen(name), queue);
    if (queue)
        return queue;
    queue = mem_alloc(sizeof *queue);
    queue->name = mem_strdup(name);
    queue->weight = 1;
    queue->limit = (struct amount){AMOUNT_UNLIMITED, AMOUNT_UNLIMITED, AMOUNT_UNLIMITED};
    queue->waiting.before = queues->before;
    HASH_ADD_KEYPTR(hh, queues->table, queue->name, strlen(queue->name), queue);
    return queue;
}

/* A queue is among the active ones while somebody waits in it and nothing blocks it. */
static void place_queue(struct queues *queues, struct queue *queue)
{
    bool belongs = queue->waiting.count && !queue->blocked_by;

    if (belongs && !order_has(&queue->place))
        order_add(&queues->active, &queue->place);
    else if (!belongs)
        order_remove(&queues->active, &queue->place);
}

static void wake_blocked(struct queues *queues, struct queue *by)
{
    while (by->blocked) {
        struct queue *queue = by->blocked;

        by->blocked = queue->next_blocked;
        queue->next_blocked = queue->blocked_by = NULL;
        place_queue(queues, queue);
    }
}

static double share_of(const struct queues *queues, const struct queue *queue)
{
    const struct amount *used = &queue->used, *all = &queues->capacity;
    double share = (double)used->pods / (double)(all->pods ? all->pods : 1);
    double cpu = (double)used->cpu_milli / (double)(all->cpu_milli ? all->cpu_milli : 1);
    double memory =
        (double)used->memory_bytes / (double)(all->memory_bytes ? all->memory_bytes : 1);

    if (cpu > share)
        share = cpu;
    if (memory > share)
        share = memory;
    return share / (queue->weight > 0 ? queue->weight : 1);
}

void queue_charge(struct queues *queues, struct queue *queue, struct amount from, struct amount to)
{
    bool less = !amount_within(from, to);
    int depth = 0;

    for (; queue && depth < DEPTH_MAX; queue = queue->parent, depth++) {
        queue->used = amount_add(queue->used, amount_minus(to, from));
        queue->share = share_of(queues, queue);
        order_moved(&queues->active, &queue->place);
        if (less && queue->blocked)
            wake_blocked(queues, queue);
    }
}

struct queue *queue_full(struct queue *queue, struct amount need)
{
    int depth = 0;

    for (; queue && depth < DEPTH_MAX; queue = queue->parent, depth++)
        if (!amount_within(amount_add(queue->used, need), queue->limit))
            return queue;
    return NULL;
}

struct queue *queue_never(struct queue *queue, struct amount need)
{
    int depth = 0;

    for (; queue && depth < DEPTH_MAX; queue = queue->parent, depth++)
        if (!amount_within(need, queue->limit))
            return queue;
    return NULL;
}

static void unblock(struct queue *queue)
{
    struct queue **at = &queue->blocked_by->blocked;

    while (*at != queue)
        at = &(*at)->next_blocked;
    *at = queue->next_blocked;
    queue->next_blocked = queue->blocked_by = NULL;
}

void queue_join(struct queues *queues, struct queue *queue, struct order_item *item)
{
    order_add(&queue->waiting, item);
    /* A new first one may need less than the one that was refused. */
    if (queue->blocked_by && order_first(&queue->waiting) == item)
        unblock(queue);
    place_queue(queues, queue);
}

void queue_leave(struct queues *queues, struct queue *queue, struct order_item *item)
{
    bool was_first = order_first(&queue->waiting) == item;

    order_remove(&queue->waiting, item);
    if (was_first && queue->blocked_by)
        unblock(queue);
    place_queue(queues, queue);
}

void queue_block(struct queues *queues, struct queue *queue, struct queue *by)
{
    if (queue->blocked_by)
        return;
    queue->blocked_by = by;
    queue->next_blocked = by->blocked;
    by->blocked = queue;
    place_queue(queues, queue);
}

struct queue *queues_next(struct queues *queues)
{
    struct order_item *first = order_first(&queues->active);

    return first ? container_of(first, struct queue, place) : NULL;
}

static int64_t limit_of(const struct str_map *map, const char *resource,
                        int64_t (*number)(quantity_nano value))
{
    quantity_nano value;

    for (size_t i = 0; i < map->count; i++)
        if (!strcmp(map->items[i].key, resource) &&
            quantity_parse(map->items[i].value, &value, NULL))
            return amount_clamp(number(value));
    return AMOUNT_UNLIMITED;
}

static bool below(const struct queue *queue, const struct queue *ancestor)
{
    int depth = 0;

    for (; queue && depth < DEPTH_MAX; queue = queue->parent, depth++)
        if (queue == ancestor)
            return true;
    return queue != NULL;
}

static void set_parent(struct queues *queues, struct queue *queue, const char *name)
{
    struct queue *parent = NULL;
    struct amount used = queue->used;

    if (strcmp(queue->name, "root") != 0)
        parent = queues_named(queues, name && *name ? name : "root");
    if (parent && below(parent, queue))
        parent = NULL; /* a loop: refused by admission, harmless here */
    if (parent == queue->parent)
        return;
    queue_charge(queues, queue->parent, used, (struct amount){0});
    queue->parent = parent;
    queue_charge(queues, queue->parent, (struct amount){0}, used);
}

void queues_set(struct queues *queues, const struct object *object)
{
    const struct queue_spec *spec = queue_spec_of(object);
    struct queue *queue = queues_named(queues, object_name(object));
    const char *state = queue_state_of(object);

    queue->exists = true;
    queue->open = !*state || !strcmp(state, "Open");
    queue->weight = spec->weight > 0 ? spec->weight : 1;
    queue->priority = spec->priority;
    queue->limit.cpu_milli = limit_of(&spec->capability, "cpu", quantity_milli);
    queue->limit.memory_bytes = limit_of(&spec->capability, "memory", quantity_whole);
    queue->limit.pods = limit_of(&spec->capability, "pods", quantity_whole);
    set_parent(queues, queue, spec->parent);
    queue->share = share_of(queues, queue);
    order_moved(&queues->active, &queue->place);
    wake_blocked(queues, queue);
}

void queues_unset(struct queues *queues, const char *name)
{
    struct queue *queue = queues_named(queues, name);

    queue->exists = queue->open = false;
    wake_blocked(queues, queue);
}
