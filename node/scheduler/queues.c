/*
 * Accounts for the use of queues and orders the queues that have waiting groups. Every operation
 * costs O(log queues + depth).
 */
#include "node/scheduler/queues.h"

#include <string.h>

#include "base/mem.h"
#include "node/scheduler/node_set.h"

/* Largest depth of a tree of queues; admission allows 5, so more means a cycle. */
enum { DEPTH_MAX = 16 };

static bool queue_before(const struct heap_item *left, const struct heap_item *right)
{
    const struct queue *a = container_of(left, struct queue, active_item);
    const struct queue *b = container_of(right, struct queue, active_item);

    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->share < b->share || b->share < a->share)
        return a->share < b->share;
    return strcmp(a->name, b->name) < 0;
}

void queues_init(struct queues *queues, struct amount capacity, const struct resource_names *extras,
                 bool (*before)(const struct fit_item *a, const struct fit_item *b))
{
    *queues = (struct queues){.active = {.before = queue_before},
                              .capacity = capacity,
                              .extras = *extras,
                              .before = before};
}

void queues_release(struct queues *queues)
{
    struct queue *queue, *next;

    HASH_ITER(hh, queues->table, queue, next)
    {
        HASH_DELETE(hh, queues->table, queue);
        mem_free(queue->name);
        mem_free(queue);
    }
    heap_release(&queues->active);
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
    queue->limit = amount_unlimited();
    queue->reclaimable = true;
    queue->waiting.before = queues->before;
    HASH_ADD_KEYPTR(hh, queues->table, queue->name, strlen(queue->name), queue);
    return queue;
}

/* Adds the queue to the active ones, or removes it. A queue is active while it has waiting groups
 * and is neither blocked nor skipped. */
static void requeue(struct queues *queues, struct queue *queue)
{
    bool belongs = queue->waiting.count && !queue->blocked_by && !queue->passed;

    if (belongs && !heap_has(&queue->active_item))
        heap_add(&queues->active, &queue->active_item, 0);
    else if (!belongs)
        heap_remove(&queues->active, &queue->active_item);
}

static void unblock_dependents(struct queues *queues, struct queue *by)
{
    while (by->blocked) {
        struct queue *queue = by->blocked;

        by->blocked = queue->next_blocked;
        queue->next_blocked = queue->blocked_by = NULL;
        requeue(queues, queue);
    }
}

double queues_share(const struct queues *queues, struct amount used)
{
    struct amount all = queues->capacity;
    double most = 0;

    for (size_t kind = 0; kind < 3 + queues->extras.count; kind++) {
        int64_t there = *amount_at(&all, kind);
        double share = (double)*amount_at(&used, kind) / (double)(there > 0 ? there : 1);

        most = share > most ? share : most;
    }
    return most;
}

static double share_of(const struct queues *queues, const struct queue *queue)
{
    return queues_share(queues, queue->used) / (queue->weight > 0 ? queue->weight : 1);
}

static struct amount unmet_of(const struct queue *queue, struct amount used, struct amount below)
{
    struct amount own = amount_max(amount_minus(queue->guarantee, used), (struct amount){0});

    return amount_max(own, below);
}

/* Returns the change of a sum over all trees when `queue` uses `more` in addition to what its chain
 * uses now. */
static struct amount sum_after(struct amount sum, const struct queue *queue, struct amount more,
                               bool from_nothing)
{
    struct amount change = {0};
    int depth = 0;

    for (; queue && depth < DEPTH_MAX; queue = queue->parent, depth++) {
        const struct tally *tally = from_nothing ? &queue->promised : &queue->unmet;
        struct amount used = from_nothing ? more : amount_add(queue->used, more);
        struct amount now = unmet_of(queue, used, amount_add(tally->below, change));

        change = amount_minus(now, tally->here);
    }
    return amount_add(sum, change);
}

struct amount queues_kept(const struct queues *queues, const struct queue *queue,
                          struct amount more)
{
    return queues->guaranteed ? sum_after(queues->kept, queue, more, false) : queues->kept;
}

struct amount queues_promised(const struct queues *queues, const struct queue *queue,
                              struct amount need)
{
    return queues->guaranteed ? sum_after(queues->promised, queue, need, true) : queues->promised;
}

bool queue_guarantees(const struct queue *queue, struct amount more)
{
    struct amount guarantee = queue->guarantee, used = queue->used;
    bool any = false;

    for (size_t kind = 0; kind < AMOUNT_KINDS; kind++) {
        int64_t kept = *amount_at(&guarantee, kind);

        if (kept && *amount_at(&used, kind) + *amount_at(&more, kind) > kept)
            return false;
        any = any || kept;
    }
    return any;
}

bool queue_has_guarantee(const struct queue *queue)
{
    int depth = 0;

    for (; queue && depth < DEPTH_MAX; queue = queue->parent, depth++)
        if (!amount_within(queue->guarantee, (struct amount){0}))
            return true;
    return false;
}

static void set_tally(struct tally *tally, struct amount now, struct amount *above)
{
    *above = amount_add(*above, amount_minus(now, tally->here));
    tally->here = now;
}

static void set_unmet(struct queues *queues, struct queue *queue)
{
    set_tally(&queue->unmet, unmet_of(queue, queue->used, queue->unmet.below),
              queue->parent ? &queue->parent->unmet.below : &queues->kept);
}

static void set_promised(struct queues *queues, struct queue *queue)
{
    set_tally(&queue->promised, unmet_of(queue, (struct amount){0}, queue->promised.below),
              queue->parent ? &queue->parent->promised.below : &queues->promised);
}

/* Recomputes guarantees after a change of the tree or of a guarantee, level by level from the
 * leaves. */
static void recompute_guarantees(struct queues *queues)
{
    struct queue *queue, *next;

    queues->guaranteed = false;
    queues->kept = queues->promised = (struct amount){0};
    HASH_ITER(hh, queues->table, queue, next)
    {
        queue->unmet = queue->promised = (struct tally){0};
        queues->guaranteed =
            queues->guaranteed || !amount_within(queue->guarantee, (struct amount){0});
    }
    for (int round = 0; queues->guaranteed && round < DEPTH_MAX; round++) {
        HASH_ITER(hh, queues->table, queue, next)
        {
            set_unmet(queues, queue);
            set_promised(queues, queue);
        }
    }
}

void queue_charge(struct queues *queues, struct queue *queue, struct amount from, struct amount to)
{
    bool less = !amount_within(from, to);
    int depth = 0;

    for (; queue && depth < DEPTH_MAX; queue = queue->parent, depth++) {
        queue->used = amount_add(queue->used, amount_minus(to, from));
        queue->share = share_of(queues, queue);
        if (queues->guaranteed)
            set_unmet(queues, queue);
        heap_moved(&queues->active, &queue->active_item);
        if (less && queue->blocked)
            unblock_dependents(queues, queue);
    }
}

struct queue *queue_full(struct queue *queue, struct amount need, struct amount own)
{
    int depth = 0;

    for (; queue && depth < DEPTH_MAX; queue = queue->parent, depth++)
        if (!amount_fits(need, amount_minus(queue->used, own), queue->limit))
            return queue;
    return NULL;
}

struct amount queue_room(const struct queue *queue)
{
    struct amount room = amount_unlimited();
    int depth = 0;

    for (; queue && depth < DEPTH_MAX; queue = queue->parent, depth++)
        if (queue->limited)
            room = amount_min(room, amount_minus(queue->limit, queue->used));
    return room;
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

void queue_join(struct queues *queues, struct queue *queue, struct fit_item *item,
                struct amount need)
{
    fit_queue_add(&queue->waiting, item, need);
    /* The new group may need less than the refused one, and may pass it unless the queue is fifo. */
    if (queue->blocked_by && (!queue->fifo || fit_queue_first(&queue->waiting) == item))
        unblock(queue);
    requeue(queues, queue);
}

void queue_leave(struct queues *queues, struct queue *queue, struct fit_item *item)
{
    bool was_first = fit_queue_first(&queue->waiting) == item;

    fit_queue_remove(&queue->waiting, item);
    if (queue->tried == item)
        queue->tried = NULL;
    if (was_first && queue->blocked_by)
        unblock(queue);
    requeue(queues, queue);
}

void queues_unblock(struct queues *queues)
{
    struct queue *queue, *next;

    HASH_ITER(hh, queues->table, queue, next)
    unblock_dependents(queues, queue);
}

void queue_block(struct queues *queues, struct queue *queue, struct queue *by)
{
    if (queue->blocked_by)
        return;
    queue->blocked_by = by;
    queue->next_blocked = by->blocked;
    by->blocked = queue;
    requeue(queues, queue);
}

struct queue *queues_next(struct queues *queues)
{
    struct heap_item *first = heap_first(&queues->active);

    return first ? container_of(first, struct queue, active_item) : NULL;
}

void queue_refuse(struct queues *queues, struct queue *queue, struct queue *limiter,
                  const struct fit_item *tried)
{
    queue->refused = true;
    queue->limiter = limiter;
    queue->tried = tried;
    queue->tries = 0;
    queue->next_refused = queues->refused;
    queues->refused = queue;
}

void queue_pass_over(struct queues *queues, struct queue *queue)
{
    queue->passed = true;
    requeue(queues, queue);
}

void queues_next_pass(struct queues *queues)
{
    while (queues->refused) {
        struct queue *queue = queues->refused;

        queues->refused = queue->next_refused;
        queue->next_refused = queue->limiter = NULL;
        queue->tried = NULL;
        queue->refused = queue->passed = false;
        requeue(queues, queue);
    }
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
        parent = NULL; /* admission rejects a cycle; here it is ignored */
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
    queue->open = !*state || strcmp(state, "Open") == 0;
    queue->weight = spec->weight > 0 ? spec->weight : 1;
    queue->priority = spec->priority;
    queue->fifo = spec->dequeue_strategy && strcmp(spec->dequeue_strategy, "fifo") == 0;
    queue->reclaimable = spec->reclaimable != 0;
    queue->has_deserved = spec->deserved.count > 0;
    queue->limit = amount_of_map(&spec->capability, &queues->extras, AMOUNT_UNLIMITED);
    queue->limited = !amount_equal(queue->limit, amount_unlimited());
    queue->deserved =
        amount_of_map(&spec->deserved, &queues->extras, queue->has_deserved ? AMOUNT_UNLIMITED : 0);
    queue->guarantee = amount_of_map(&spec->guarantee, &queues->extras, 0);
    set_parent(queues, queue, spec->parent);
    recompute_guarantees(queues);
    queue->share = share_of(queues, queue);
    heap_moved(&queues->active, &queue->active_item);
    queues_unblock(queues);
}

void queues_unset(struct queues *queues, const char *name)
{
    struct queue *queue = queues_named(queues, name);

    queue->exists = queue->open = false;
    queue->guarantee = (struct amount){0};
    recompute_guarantees(queues);
    unblock_dependents(queues, queue);
}
