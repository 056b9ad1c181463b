/*
 * Decides which write is sent next.
 *
 * Roots with ready writes stand in a circle. The first root sends up to WRITES_ROOT_TURN requests,
 * then the next root has its turn. Within a root removals and statuses go before creates, and
 * creates before other updates. Events wait until nothing else can be sent, and use an eighth of
 * the limit of requests under way.
 */
#include "api/cluster_remote/internal.h"

enum { EVENTS_SHARE = 8, ROOT_DEPTH_MAX = 4 };

/* Returns the object that gives the root its name: the last object in the chain of controllers that
 * the cache knows. `owner` is set to the reference to a controller that the cache does not know, or
 * to NULL. */
static const struct object *topmost(struct write_chains *writes, const struct object *object,
                                    const struct owner_ref **owner)
{
    for (int depth = 0; depth < ROOT_DEPTH_MAX; depth++) {
        const struct kind *kind;
        const struct object *above;

        *owner = meta_controller(object->meta);
        kind = *owner ? kind_by_gvk((*owner)->api_version, (*owner)->kind) : NULL;
        above =
            kind ? cache_get(writes->options.cache, kind, object_namespace(object), (*owner)->name)
                 : NULL;
        if (!above)
            break;
        object = above;
    }
    return object;
}

static char *root_key(struct write_chains *writes, const struct write *write)
{
    const struct object *object =
        write->object ? write->object
                      : cache_get(writes->options.cache, write->kind, write->ns, write->name);
    const struct owner_ref *owner = NULL;
    const struct object *top = object ? topmost(writes, object, &owner) : NULL;

    if (owner)
        return mem_strdup(owner->uid);
    if (top && *object_uid(top))
        return mem_strdup(object_uid(top));
    return mem_printf("%d/%s/%s", write->kind->id, write->ns, write->name);
}

static struct write_root *root_of(struct write_chains *writes, const struct write *write)
{
    scoped_str key = root_key(writes, write);
    size_t len = strlen(key);
    struct write_root *root;

    HASH_FIND_STR(writes->roots, key, root);
    if (root)
        return root;
    root = mem_alloc(sizeof *root + len + 1);
    memcpy(root->key, key, len + 1);
    for (int i = 0; i < WRITE_CLASS_N; i++)
        TAILQ_INIT(&root->ready[i]);
    root->credit = WRITES_ROOT_TURN;
    HASH_ADD_KEYPTR(hh, writes->roots, root->key, len, root);
    TAILQ_INSERT_TAIL(&writes->turns, root, turn);
    return root;
}

void write_queue_add(struct write *write)
{
    struct write_chains *writes = write->writes;

    write->step = STEP_QUEUED;
    if (write->class == CLASS_EVENT) {
        TAILQ_INSERT_TAIL(&writes->events, write, ready);
    } else {
        write->root = root_of(writes, write);
        write->root->count++;
        TAILQ_INSERT_TAIL(&write->root->ready[write->class], write, ready);
    }
    loop_post(writes->options.loop, &writes->pump);
}

void write_queue_remove(struct write *write)
{
    struct write_chains *writes = write->writes;
    struct write_root *root = write->root;

    if (write->step != STEP_QUEUED)
        return;
    if (!root) {
        TAILQ_REMOVE(&writes->events, write, ready);
        return;
    }
    TAILQ_REMOVE(&root->ready[write->class], write, ready);
    write->root = NULL;
    if (--root->count)
        return;
    TAILQ_REMOVE(&writes->turns, root, turn);
    HASH_DEL(writes->roots, root);
    mem_free(root);
}

static struct write *first_of(const struct write_root *root)
{
    for (int i = 0; i < WRITE_CLASS_N; i++)
        if (!TAILQ_EMPTY(&root->ready[i]))
            return TAILQ_FIRST(&root->ready[i]);
    return NULL;
}

/* Returns the next write of the root whose turn it is, and ends the turn with its last request. */
static struct write *next_of_roots(struct write_chains *writes)
{
    struct write_root *root = TAILQ_FIRST(&writes->turns);

    if (!root)
        return NULL;
    if (--root->credit == 0) {
        root->credit = WRITES_ROOT_TURN;
        TAILQ_REMOVE(&writes->turns, root, turn);
        TAILQ_INSERT_TAIL(&writes->turns, root, turn);
    }
    return first_of(root);
}

static unsigned events_allowed(const struct write_chains *writes)
{
    unsigned share = writes->in_flight_limit.size / EVENTS_SHARE;

    return share ? share : 1;
}

static struct write *next(struct write_chains *writes)
{
    struct write *write = next_of_roots(writes);

    if (write)
        return write;
    return writes->events_in_flight < events_allowed(writes) ? TAILQ_FIRST(&writes->events) : NULL;
}

void write_queue_run(struct task *task)
{
    struct write_chains *writes = container_of(task, struct write_chains, pump);
    struct write *write;

    while (!writes->fenced && writes->in_flight < writes->in_flight_limit.size &&
           (write = next(writes))) {
        write_queue_remove(write);
        write_send(write);
    }
}

void write_queue_answered(struct write *write)
{
    struct write_chains *writes = write->writes;

    writes->in_flight--;
    writes->events_in_flight -= write->class == CLASS_EVENT;
    loop_post(writes->options.loop, &writes->pump);
}
