/*
 * Watches: delivery of durable changes, in order and without gaps.
 *
 * The list of changes keeps a window of past changes. A new watch waits in `starting` until its
 * task has delivered the window to it. From then on it is in the list of its kind and receives each
 * change when the commit of that change is reported. If a commit is reported first, starting
 * watches receive the window before the new changes.
 */
#include <string.h>

#include "api/store/internal.h"
#include "base/mem.h"

struct store_watch {
    struct store *store;
    struct store_watch *next;
    const struct kind *kind;
    char *ns; /* namespace that is watched, owned; NULL = all */
    int64_t since;
    bool is_starting;
    bool (*changed)(void *ctx, enum store_change change, const struct object *old,
                    const struct object *object);
    void *ctx;
};

/* Delivers a change. False when the watch was closed. */
static bool tell(struct store_watch *watch, const struct change *change)
{
    struct store *store = watch->store;
    bool goes_on;

    if (change->object->revision <= watch->since ||
        (watch->ns && strcmp(watch->ns, object_namespace(change->object)) != 0))
        return true;
    store->telling = watch;
    goes_on = watch->changed(watch->ctx, change->type, change->old, change->object);
    if (store->telling != watch) /* closed by its own callback */
        return false;
    store->telling = NULL;
    if (!goes_on)
        store_watch_close(watch);
    return goes_on;
}

static void tell_past(struct store_watch *watch, uint64_t end)
{
    const struct changes *changes = &watch->store->changes;

    for (uint64_t at = changes->first; at < end; at++) {
        const struct change *change = changes_at(changes, at);

        if (change->object->kind == watch->kind && !tell(watch, change))
            return;
    }
}

static void list_add(struct store_watch **list, struct store_watch *watch)
{
    while (*list)
        list = &(*list)->next;
    watch->next = NULL;
    *list = watch;
}

static void list_remove(struct store_watch **list, const struct store_watch *watch)
{
    while (*list != watch)
        list = &(*list)->next;
    *list = watch->next;
}

/* Delivers the changes before `end` to the starting watches. */
static void start_all(struct store *store, uint64_t end)
{
    while (store->starting) {
        struct store_watch *watch = store->starting;

        store->starting = watch->next;
        watch->is_starting = false;
        list_add(&store->watches[watch->kind->id], watch);
        tell_past(watch, end);
    }
    loop_cancel(store->loop, &store->start_watches);
}

static void start_task(struct task *task)
{
    struct store *store = container_of(task, struct store, start_watches);

    start_all(store, store->durable);
    store_window_trim(store);
}

void store_watch_deliver(struct store *store, uint64_t from)
{
    start_all(store, from);
    for (uint64_t at = from; at < store->durable; at++) {
        const struct change *change = changes_at(&store->changes, at);

        for (struct store_watch *watch = store->watches[change->object->kind->id]; watch;
             watch = store->next_watch) {
            store->next_watch = watch->next;
            tell(watch, change);
        }
    }
}

/* Drops the changes that every reader has received: listeners, starting watches and the commit. */
void store_window_trim(struct store *store)
{
    struct changes *changes = &store->changes;
    uint64_t end = store->durable;
    uint64_t wanted = (uint64_t)store->options.watch_window;

    if (store->starting)
        return;
    if (store->listeners && store->heard < end)
        end = store->heard;
    while (changes->first < end &&
           (store->durable - changes->first > wanted || changes->bytes > WINDOW_BYTES)) {
        store->window_revision = changes_at(changes, changes->first)->object->revision;
        changes_drop_first(changes);
    }
}

struct store_watch *store_watch_open(struct store *store, const struct store_watch_options *options,
                                     struct error *err)
{
    int64_t since = options->since_revision < 0 ? store->durable_revision : options->since_revision;
    struct store_watch *watch;

    if (since < store->window_revision) {
        error_set(err, ERR_GONE, "", "too old resource version: %lld (%lld)", (long long)since,
                  (long long)store->window_revision);
        return NULL;
    }
    watch = mem_alloc(sizeof *watch);
    *watch = (struct store_watch){
        .store = store,
        .kind = options->kind,
        .ns = mem_strdup(options->ns),
        .since = since,
        .is_starting = true,
        .changed = options->changed,
        .ctx = options->ctx,
    };
    list_add(&store->starting, watch);
    loop_post(store->loop, &store->start_watches);
    return watch;
}

void store_watch_close(struct store_watch *watch)
{
    struct store *store;

    if (!watch)
        return;
    store = watch->store;
    list_remove(watch->is_starting ? &store->starting : &store->watches[watch->kind->id], watch);
    if (store->telling == watch)
        store->telling = NULL;
    if (store->next_watch == watch)
        store->next_watch = watch->next;
    mem_free(watch->ns);
    mem_free(watch);
}

void store_watch_start(struct store *store)
{
    store->start_watches.run = start_task;
    store->window_revision = store->revision;
}

void store_watch_stop(struct store *store)
{
    loop_cancel(store->loop, &store->start_watches);
    while (store->starting)
        store_watch_close(store->starting);
    for (size_t id = 0; id < KIND_N; id++)
        while (store->watches[id])
            store_watch_close(store->watches[id]);
}
