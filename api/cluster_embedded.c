/*
 * The cluster interface on the embedded registry and store.
 *
 * A write runs inside the call, so the cache has it at once. Its `done` is queued and runs from a
 * task, in the order of the writes. The store's listener delivers changes, also in the order of the
 * writes. A new watcher first gets the objects that exist when its task runs; changes up to that
 * revision are then skipped for it. Deletions since the watch began are not skipped, because the
 * owner of the watch may have read the object from the cache before. An object that settles
 * (api/registry/settle) is held back, and delivered as it is when it has settled.
 */
#include "api/cluster_embedded.h"

#include "base/log.h"
#include "base/mem.h"

/* The result of a write, queued until its `done` has run. */
struct answer {
    struct answer *next;
    struct cluster_call *call;
    struct object *result; /* object of the answer, owned; NULL after a removal or a failure */
    struct error *err;     /* error of the answer, owned; NULL on success */
};

struct watching {
    struct watching *next;
    struct cluster_watcher *watcher; /* watcher to be told; NULL: it was removed during delivery */
    bool introduced;                 /* it has got the existing objects */
    int64_t since; /* revision up to which it needs no change: that of its introduction, before it
                    * that at which the watch began */
};

struct embedded {
    struct cluster cluster;
    struct registry *registry;
    struct store *store;

    struct answer *first, **last, *spare;
    struct task deliver;

    struct store_listener listener;
    struct settle_listener settled;
    struct watching *watchers[KIND_N];
    struct task introduce; /* delivers the existing objects to new watchers */
    unsigned telling;      /* depth of nested deliveries; unwatched entries are freed at 0 */
};

static struct embedded *embedded_of(struct cluster *c)
{
    return container_of(c, struct embedded, cluster);
}

static const struct object *embedded_get(struct cluster *c, const struct kind *kind, const char *ns,
                                         const char *name)
{
    return store_get(embedded_of(c)->store, kind, ns, name);
}

static void embedded_each(struct cluster *c, const struct kind *kind, const char *ns,
                          void (*visit)(void *arg, const struct object *object), void *arg)
{
    store_each(embedded_of(c)->store, kind, ns, visit, arg);
}

static void embedded_each_owned(struct cluster *c, const struct kind *kind, const char *owner_uid,
                                void (*visit)(void *arg, const struct object *object), void *arg)
{
    store_each_owned(embedded_of(c)->store, kind, owner_uid, visit, arg);
}

static struct answer *answer_new(struct embedded *e)
{
    struct answer *answer = e->spare;

    if (!answer)
        return mem_alloc(sizeof *answer);
    e->spare = answer->next;
    *answer = (struct answer){0};
    return answer;
}

static void answer_release(struct embedded *e, struct answer *answer)
{
    object_unref(answer->result);
    mem_free(answer->err);
    answer->next = e->spare;
    e->spare = answer;
}

static void deliver(struct task *task)
{
    struct embedded *e = container_of(task, struct embedded, deliver);
    struct answer *answer = e->first;

    e->first = NULL;
    e->last = &e->first;
    while (answer) {
        struct answer *next = answer->next;

        answer->call->done(answer->call, answer->result, answer->err);
        answer_release(e, answer);
        answer = next;
    }
}

static struct error *first_error(const struct error_list *errors)
{
    struct error *err = mem_alloc(sizeof *err);

    error_list_ok(errors, err);
    return err;
}

static void log_refused(const struct error_list *errors)
{
    struct error err;

    error_list_ok(errors, &err);
    if (err.code == ERR_STORAGE) /* the store has already logged it */
        return;
    log_warn("write refused", kv_str("field", err.field), kv_str("error", err.message));
}

/* Queues the result of a write. `errors` is released. */
static void answer_call(struct embedded *e, struct cluster_call *call, bool ok,
                        const struct object *result, struct error_list *errors)
{
    struct answer *answer;

    if (!call) {
        if (!ok)
            log_refused(errors);
        error_list_release(errors);
        return;
    }
    answer = answer_new(e);
    answer->call = call;
    if (ok)
        answer->result = object_ref(result);
    else
        answer->err = first_error(errors);
    error_list_release(errors);
    *e->last = answer;
    e->last = &answer->next;
    loop_post(e->cluster.loop, &e->deliver);
}

static void embedded_create(struct cluster *c, struct cluster_call *call, struct object *draft)
{
    struct embedded *e = embedded_of(c);
    struct error_list errors = {0};
    const struct object *result = NULL;
    bool ok = registry_create_object(e->registry, draft, &result, &errors);

    answer_call(e, call, ok, result, &errors);
}

static void embedded_update(struct cluster *c, struct cluster_call *call, struct object *object)
{
    struct embedded *e = embedded_of(c);
    struct error_list errors = {0};
    const struct object *result = NULL;
    bool ok = registry_update_object(e->registry, object, &result, &errors);

    answer_call(e, call, ok, result, &errors);
}

static void embedded_update_status(struct cluster *c, struct cluster_call *call,
                                   const struct object *object, struct blob *status)
{
    struct embedded *e = embedded_of(c);
    struct error_list errors = {0};
    const struct object *result = NULL;
    bool ok = registry_update_status(e->registry, object, status, &result, &errors);

    answer_call(e, call, ok, result, &errors);
}

static void embedded_remove(struct cluster *c, struct cluster_call *call, const struct kind *kind,
                            const char *ns, const char *name, const struct cluster_removal *how)
{
    static const enum registry_propagation propagation[] = {
        [PROPAGATE_BACKGROUND] = REGISTRY_BACKGROUND,
        [PROPAGATE_FOREGROUND] = REGISTRY_FOREGROUND,
        [PROPAGATE_ORPHAN] = REGISTRY_ORPHAN,
    };
    const struct registry_delete deletion = {
        .uid = how->uid,
        .revision = how->revision,
        .grace_s = how->grace_s,
        .propagation = propagation[how->propagation],
        .internal = true,
    };
    struct embedded *e = embedded_of(c);
    struct error_list errors = {0};
    bool ok = registry_delete(e->registry, (struct registry_target){kind, ns, name}, &deletion,
                              NULL, &errors);

    answer_call(e, call, ok, NULL, &errors);
}

static void free_given_up(struct embedded *e)
{
    if (e->telling > 0)
        return;
    for (size_t id = 0; id < KIND_N; id++) {
        for (struct watching **at = &e->watchers[id]; *at;) {
            struct watching *watching = *at;

            if (watching->watcher) {
                at = &watching->next;
                continue;
            }
            *at = watching->next;
            mem_free(watching);
        }
    }
}

static void tell_one(const struct watching *at, enum cluster_change change,
                     const struct object *old, const struct object *object)
{
    if (at->watcher && object->revision > at->since)
        at->watcher->changed(at->watcher, change, old, object);
}

/* Tells a watcher that has not got the existing objects yet of one that is gone. */
static void tell_end(const struct watching *at, const struct object *old,
                     const struct object *object)
{
    tell_one(at, CHANGE_ADDED, NULL, object);
    tell_one(at, CHANGE_DELETED, old, object);
}

static void tell(struct embedded *e, enum cluster_change change, const struct object *old,
                 const struct object *object)
{
    e->telling++;
    for (struct watching *at = e->watchers[object->kind->id]; at; at = at->next) {
        if (at->introduced)
            tell_one(at, change, old, object);
        else if (change == CHANGE_DELETED)
            tell_end(at, old, object);
    }
    e->telling--;
}

static void changed(struct store_listener *listener, enum store_change change,
                    const struct object *old, const struct object *object)
{
    static const enum cluster_change words[] = {
        [STORE_ADDED] = CHANGE_ADDED,
        [STORE_MODIFIED] = CHANGE_MODIFIED,
        [STORE_DELETED] = CHANGE_DELETED,
    };
    struct embedded *e = container_of(listener, struct embedded, listener);

    if (registry_settling(e->registry, object)) {
        if (change != STORE_DELETED)
            return;
        registry_settle_now(e->registry, object);
        /* A watcher never sees the end of an object that it does not know. */
        tell(e, CHANGE_ADDED, NULL, object);
    }
    tell(e, words[change], old, object);
}

static void settled(struct settle_listener *listener, const struct object *object)
{
    tell(container_of(listener, struct embedded, settled), CHANGE_ADDED, NULL, object);
}

static void introduce_one(void *arg, const struct object *object)
{
    struct watching *watching = arg;

    if (watching->watcher)
        watching->watcher->changed(watching->watcher, CHANGE_ADDED, NULL, object);
}

static void introduce_end(void *arg, enum store_change change, const struct object *old,
                          const struct object *object)
{
    const struct watching *watching = arg;

    if (change == STORE_DELETED && watching->watcher && object->kind == watching->watcher->kind)
        tell_end(watching, old, object);
}

static void introduce(struct task *task)
{
    struct embedded *e = container_of(task, struct embedded, introduce);

    e->telling++;
    for (size_t id = 0; id < KIND_N; id++) {
        for (struct watching *at = e->watchers[id]; at; at = at->next) {
            if (at->introduced)
                continue;
            store_each_undelivered(e->store, introduce_end, at);
            at->introduced = true;
            at->since = store_revision(e->store);
            store_each(e->store, kind_by_id((enum kind_id)id), NULL, introduce_one, at);
        }
    }
    e->telling--;
    free_given_up(e);
}

static void embedded_watch(struct cluster *c, struct cluster_watcher *watcher)
{
    struct embedded *e = embedded_of(c);
    struct watching **at = &e->watchers[watcher->kind->id];

    while (*at)
        at = &(*at)->next;
    *at = mem_alloc(sizeof **at);
    **at = (struct watching){.watcher = watcher, .since = store_revision(e->store)};
    loop_post(c->loop, &e->introduce);
}

static void embedded_unwatch(struct cluster *c, struct cluster_watcher *watcher)
{
    struct embedded *e = embedded_of(c);

    for (struct watching *at = e->watchers[watcher->kind->id]; at; at = at->next)
        if (at->watcher == watcher)
            at->watcher = NULL;
    free_given_up(e);
}

static void embedded_when_durable(struct cluster *c, struct task *task)
{
    store_when_durable(embedded_of(c)->store, task);
}

static void embedded_forget(struct cluster *c, struct task *task)
{
    store_forget(embedded_of(c)->store, task);
}

static void embedded_hurry(struct cluster *c)
{
    store_hurry(embedded_of(c)->store);
}

static const struct cluster_ops ops = {
    .get = embedded_get,
    .each = embedded_each,
    .each_owned = embedded_each_owned,
    .create = embedded_create,
    .update = embedded_update,
    .update_status = embedded_update_status,
    .remove = embedded_remove,
    .watch = embedded_watch,
    .unwatch = embedded_unwatch,
    .when_durable = embedded_when_durable,
    .forget = embedded_forget,
    .hurry = embedded_hurry,
};

struct cluster *cluster_embedded_new(struct loop *loop, struct registry *registry)
{
    struct embedded *e = mem_alloc(sizeof *e);

    e->cluster = (struct cluster){.ops = &ops, .loop = loop};
    e->registry = registry;
    e->store = registry_store(registry);
    e->last = &e->first;
    e->deliver.run = deliver;
    e->introduce.run = introduce;
    e->listener.changed = changed;
    store_listen(e->store, &e->listener);
    e->settled.settled = settled;
    registry_on_settled(registry, &e->settled);
    return &e->cluster;
}

void cluster_embedded_free(struct cluster *cluster)
{
    struct embedded *e;

    if (!cluster)
        return;
    e = embedded_of(cluster);
    cluster_events_release(cluster);
    store_unlisten(e->store, &e->listener);
    registry_on_settled(e->registry, NULL);
    loop_cancel(cluster->loop, &e->deliver);
    loop_cancel(cluster->loop, &e->introduce);
    while (e->first) {
        struct answer *answer = e->first;

        e->first = answer->next;
        answer_release(e, answer);
    }
    while (e->spare) {
        struct answer *answer = e->spare;

        e->spare = answer->next;
        mem_free(answer);
    }
    for (size_t id = 0; id < KIND_N; id++)
        for (struct watching *at = e->watchers[id]; at; at = at->next)
            at->watcher = NULL;
    free_given_up(e);
    mem_free(e);
}
