/*
 * Puts feeds, cache and writes together behind struct cluster_ops.
 *
 * Changes are queued and told from a task. A new watcher first gets every object of the cache; the
 * changes that were queued before are then skipped for it.
 */
#include "api/cluster_remote/cluster_remote.h"

#include <string.h>

#include "api/cluster_remote/feed.h"
#include "api/cluster_remote/refresh.h"
#include "base/log.h"
#include "base/mem.h"

/* A change that the watchers have not been told yet. */
struct change {
    STAILQ_ENTRY(change) next;
    uint64_t number;
    enum cluster_change what;
    struct object *old, *object;
};

struct watching {
    struct watching *next;
    struct cluster_watcher *watcher; /* NULL: it was removed while changes were told */
    uint64_t since;                  /* number of the last change that it must not be told */
    bool introduced;                 /* it has got the objects of the cache */
};

struct cluster_remote {
    struct cluster cluster;
    struct cluster_remote_options options;
    struct cache *cache;
    struct write_chains *writes;
    struct feed *feeds; /* [n_feeds] */
    size_t n_feeds, n_synced;
    STAILQ_HEAD(, change) changes;
    uint64_t last; /* number of the newest change */
    struct watching *watchers[KIND_ALL_N];
    struct task tell;
    unsigned telling; /* depth of nested deliveries; removed watchers are freed at 0 */
};

static struct cluster_remote *of(const struct cluster *cluster)
{
    return container_of((struct cluster *)(uintptr_t)cluster, struct cluster_remote, cluster);
}

static const struct object *remote_get(struct cluster *c, const struct kind *kind, const char *ns,
                                       const char *name)
{
    return cache_get(of(c)->cache, kind, ns, name);
}

static void remote_each(struct cluster *c, const struct kind *kind, const char *ns,
                        void (*visit)(void *arg, const struct object *object), void *arg)
{
    cache_each(of(c)->cache, kind, ns, visit, arg);
}

static void remote_each_owned(struct cluster *c, const struct kind *kind, const char *owner_uid,
                              void (*visit)(void *arg, const struct object *object), void *arg)
{
    cache_each_owned(of(c)->cache, kind, owner_uid, visit, arg);
}

static void remote_create(struct cluster *c, struct cluster_call *call, struct object *draft)
{
    write_chains_create(of(c)->writes, call, draft);
}

static void remote_update(struct cluster *c, struct cluster_call *call, struct object *object)
{
    write_chains_update(of(c)->writes, call, object);
}

static void remote_update_status(struct cluster *c, struct cluster_call *call,
                                 const struct object *object, struct blob *status)
{
    write_chains_update_status(of(c)->writes, call, object, status);
}

static void remote_remove(struct cluster *c, struct cluster_call *call, const struct kind *kind,
                          const char *ns, const char *name, const struct cluster_removal *how)
{
    write_chains_remove(of(c)->writes, call, kind, ns, name, how);
}

/* A server answers a write after it has committed it. */
static void remote_when_durable(struct cluster *c, struct task *task)
{
    loop_post(c->loop, task);
}

static void remote_forget(struct cluster *c, struct task *task)
{
    loop_cancel(c->loop, task);
}

static void on_changed(void *ctx, enum cluster_change what, const struct object *old,
                       const struct object *object)
{
    struct cluster_remote *remote = ctx;
    struct change *change;

    if (!remote->watchers[object->kind->id])
        return;
    change = mem_alloc(sizeof *change);
    *change = (struct change){.number = ++remote->last,
                              .what = what,
                              .old = object_ref(old),
                              .object = object_ref(object)};
    STAILQ_INSERT_TAIL(&remote->changes, change, next);
    loop_post(remote->cluster.loop, &remote->tell);
}

static bool on_busy(void *ctx, const struct kind *kind, const char *ns, const char *name)
{
    return write_chains_is_busy(((struct cluster_remote *)ctx)->writes, kind, ns, name);
}

static bool covers(void *ctx, const struct object *object)
{
    const struct cluster_remote *remote = ctx;

    for (size_t i = 0; i < remote->n_feeds; i++)
        if (feed_covers(&remote->feeds[i], object))
            return true;
    return false;
}

static void tell_one(struct cluster_remote *remote, const struct change *change)
{
    for (struct watching *at = remote->watchers[change->object->kind->id]; at; at = at->next)
        if (at->watcher && at->introduced && change->number > at->since)
            at->watcher->changed(at->watcher, change->what, change->old, change->object);
}

static void introduce_one(void *arg, const struct object *object)
{
    struct watching *watching = arg;

    if (watching->watcher)
        watching->watcher->changed(watching->watcher, CHANGE_ADDED, NULL, object);
}

static void introduce(struct cluster_remote *remote, struct watching *watching,
                      const struct kind *kind)
{
    watching->introduced = true;
    watching->since = remote->last;
    cache_each(remote->cache, kind, NULL, introduce_one, watching);
}

static void free_removed(struct cluster_remote *remote)
{
    for (size_t id = 0; remote->telling == 0 && id < KIND_ALL_N; id++) {
        for (struct watching **at = &remote->watchers[id]; *at;) {
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

static void change_free(struct change *change)
{
    object_unref(change->old);
    object_unref(change->object);
    mem_free(change);
}

static void tell(struct task *task)
{
    struct cluster_remote *remote = container_of(task, struct cluster_remote, tell);
    struct change *change;

    remote->telling++;
    for (size_t id = 0; id < KIND_ALL_N; id++)
        for (struct watching *at = remote->watchers[id]; at; at = at->next)
            if (!at->introduced)
                introduce(remote, at, kind_of_cluster_by_id((enum kind_id)id));
    while ((change = STAILQ_FIRST(&remote->changes))) {
        STAILQ_REMOVE_HEAD(&remote->changes, next);
        tell_one(remote, change);
        change_free(change);
    }
    remote->telling--;
    free_removed(remote);
}

static void remote_watch(struct cluster *c, struct cluster_watcher *watcher)
{
    struct cluster_remote *remote = of(c);
    struct watching **at = &remote->watchers[watcher->kind->id];

    while (*at)
        at = &(*at)->next;
    *at = mem_alloc(sizeof **at);
    (*at)->watcher = watcher;
    loop_post(c->loop, &remote->tell);
}

static void remote_unwatch(struct cluster *c, struct cluster_watcher *watcher)
{
    struct cluster_remote *remote = of(c);

    for (struct watching *at = remote->watchers[watcher->kind->id]; at; at = at->next)
        if (at->watcher == watcher)
            at->watcher = NULL;
    free_removed(remote);
}

static void remote_refresh(struct cluster *c, struct cluster_refresh *refresh)
{
    struct cluster_remote *remote = of(c);
    const struct refresh_options options = {
        .remote = remote->options.calls, .cache = remote->cache, .covers = covers, .ctx = remote};

    refresh_start(&options, refresh);
}

static void remote_refresh_cancel(struct cluster *c, struct cluster_refresh *refresh)
{
    refresh_cancel(refresh);
}

static const struct cluster_ops ops = {
    .get = remote_get,
    .each = remote_each,
    .each_owned = remote_each_owned,
    .create = remote_create,
    .update = remote_update,
    .update_status = remote_update_status,
    .remove = remote_remove,
    .watch = remote_watch,
    .unwatch = remote_unwatch,
    .when_durable = remote_when_durable,
    .forget = remote_forget,
    .refresh = remote_refresh,
    .refresh_cancel = remote_refresh_cancel,
};

static const struct cache_ops cache_ops = {on_changed, on_busy};

static void on_synced(struct feed *feed)
{
    struct cluster_remote *remote = feed->ctx;

    if (++remote->n_synced == remote->n_feeds)
        remote->options.synced(remote->options.ctx);
}

static void on_unsupported(struct feed *feed, const struct error *err)
{
    struct cluster_remote *remote = feed->ctx;

    remote->options.unsupported(remote->options.ctx, err);
}

static void add_feed(struct cluster_remote *remote, const struct cluster_remote_kind *row,
                     const char *ns)
{
    remote->feeds[remote->n_feeds++] = (struct feed){.cache = remote->cache,
                                                     .kind = row->kind,
                                                     .ns = ns,
                                                     .label = row->label,
                                                     .value = row->value,
                                                     .streams = &remote->options.streamed_lists,
                                                     .synced = on_synced,
                                                     .unsupported = on_unsupported,
                                                     .ctx = remote};
}

/* Each namespace has a feed of its own. */
static void add_feeds(struct cluster_remote *remote, const struct cluster_remote_kind *row)
{
    char *const *namespaces = remote->options.namespaces;

    if (!namespaces || !row->kind->namespaced)
        add_feed(remote, row, NULL);
    else
        for (size_t i = 0; namespaces[i]; i++)
            add_feed(remote, row, namespaces[i]);
}

struct cluster *cluster_remote_new(struct loop *loop, const struct cluster_remote_options *options)
{
    struct cluster_remote *remote = mem_alloc(sizeof *remote);
    const struct cluster_remote_kind *row;
    size_t n_rows = 0, n_namespaces = 0;
    struct write_chains_options writes;

    remote->cluster = (struct cluster){
        .ops = &ops, .loop = loop, .event_component = "jobflow-controller", .events_unseen = true};
    remote->options = *options;
    STAILQ_INIT(&remote->changes);
    remote->tell.run = tell;
    remote->cache = cache_new(loop, &cache_ops, remote);
    writes = (struct write_chains_options){.loop = loop,
                                           .remote = options->calls,
                                           .cache = remote->cache,
                                           .max_in_flight = options->max_in_flight,
                                           .status_by_patch = options->status_by_patch,
                                           .covers = covers,
                                           .ctx = remote};
    remote->writes = write_chains_new(&writes);
    cluster_remote_fence(&remote->cluster, "this process does not lead yet");
    for (row = options->kinds; row->kind; row++)
        n_rows++;
    while (options->namespaces && options->namespaces[n_namespaces])
        n_namespaces++;
    remote->feeds = mem_array(n_rows * (n_namespaces + 1) + 1, sizeof *remote->feeds);
    for (row = options->kinds; row->kind; row++)
        add_feeds(remote, row);
    return &remote->cluster;
}

void cluster_remote_start(struct cluster *cluster)
{
    struct cluster_remote *remote = of(cluster);

    for (size_t i = 0; i < remote->n_feeds; i++)
        feed_start(&remote->feeds[i], remote->options.streams);
}

void cluster_remote_free(struct cluster *cluster)
{
    struct cluster_remote *remote;
    struct change *change;

    if (!cluster)
        return;
    remote = of(cluster);
    for (size_t i = 0; i < remote->n_feeds; i++)
        feed_stop(&remote->feeds[i]);
    write_chains_free(remote->writes);
    cluster_events_release(cluster);
    loop_cancel(cluster->loop, &remote->tell);
    while ((change = STAILQ_FIRST(&remote->changes))) {
        STAILQ_REMOVE_HEAD(&remote->changes, next);
        change_free(change);
    }
    for (size_t id = 0; id < KIND_ALL_N; id++)
        for (struct watching *at = remote->watchers[id]; at; at = at->next)
            at->watcher = NULL;
    free_removed(remote);
    cache_free(remote->cache);
    mem_free(remote->feeds);
    mem_free(remote);
}

bool cluster_remote_is_synced(const struct cluster *cluster)
{
    return of(cluster)->n_synced == of(cluster)->n_feeds;
}

void cluster_remote_fence(struct cluster *cluster, const char *why)
{
    write_chains_fence(of(cluster)->writes, why);
}

void cluster_remote_unfence(struct cluster *cluster)
{
    write_chains_unfence(of(cluster)->writes);
}

struct write_chains_stats cluster_remote_stats(const struct cluster *cluster)
{
    return write_chains_stats(of(cluster)->writes);
}
