/*
 * The list is read in one piece: it is selected by a label, so that it is short.
 */
#include "api/cluster_remote/refresh.h"

#include "api/client/resource_path.h"
#include "api/cluster_remote/feed.h"
#include "api/types/text/json_text.h"
#include "base/log.h"
#include "base/mem.h"

enum { LIMIT_MS = 30000, AGAIN_MS = 1000 };

struct run {
    struct refresh_options options;
    struct cluster_refresh *refresh;
    struct remote_call call;
    struct timer again;
    char *target;
};

static void run_free(struct run *run)
{
    timer_stop(remote_loop(run->options.remote), &run->again);
    remote_call_release(&run->call);
    mem_free(run->target);
    mem_free(run);
}

static void take_item(const struct run *run, json_t *item)
{
    struct error err = {0};
    scoped(object) struct object *object = feed_decode(run->refresh->kind, item, &err);

    if (object)
        cache_take(run->options.cache, object,
                   run->options.covers(run->options.ctx, object) ? CACHE_FOLLOWED : CACHE_ANSWERED,
                   0);
    else
        log_warn("an object of the cluster is left out", kv_str("kind", run->refresh->kind->name),
                 kv_str("error", err.message));
}

static void on_again(struct timer *timer)
{
    struct run *run = container_of(timer, struct run, again);

    remote_start(run->options.remote, &run->call);
}

static void on_done(struct remote_call *call)
{
    struct run *run = container_of(call, struct run, call);
    struct cluster_refresh *refresh = run->refresh;
    scoped(json) json_t *list = NULL;
    struct error err = {0};
    json_t *item;
    size_t i;

    if (!remote_ok(call, &err)) {
        log_warn("a list of the cluster failed", kv_str("kind", refresh->kind->name),
                 kv_str("error", err.message));
        timer_start(remote_loop(run->options.remote), &run->again, AGAIN_MS);
        return;
    }
    list = json_read(call->text.data ? call->text.data : "", call->text.len);
    json_array_foreach(json_object_get(list, "items"), i, item) take_item(run, item);
    run_free(run);
    refresh->backend = NULL;
    refresh->done(refresh);
}

void refresh_start(const struct refresh_options *options, struct cluster_refresh *refresh)
{
    scoped_str selector = mem_printf("%s=%s", refresh->label, refresh->value);
    scoped(buf) struct buf target = {0};
    struct run *run = mem_alloc(sizeof *run);

    resource_write_path(refresh->kind, refresh->ns, NULL, &target);
    resource_write_query("labelSelector", selector, &target);
    run->options = *options;
    run->refresh = refresh;
    run->target = buf_take(&target);
    run->again.fire = on_again;
    run->call.target = run->target;
    run->call.limit_ms = LIMIT_MS;
    run->call.done = on_done;
    refresh->backend = run;
    remote_start(options->remote, &run->call);
}

void refresh_cancel(struct cluster_refresh *refresh)
{
    struct run *run = refresh->backend;

    if (run)
        run_free(run);
    refresh->backend = NULL;
}
