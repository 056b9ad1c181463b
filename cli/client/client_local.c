/*
 * Answers API requests in this process from the store of a data directory in which no process runs,
 * or in which one is stopped.
 *
 * Controllers and the node are not started, so nothing changes by itself. Watches and followed logs
 * would never end, so they end as soon as all present data has been sent.
 *
 * A store may hold hundreds of thousands of jobs and pods, so only the needed part is loaded:
 * requests for flows, templates or events, and watches of them, load the store without jobs and
 * pods; requests for one job or its pods load the objects with that name. Every other request loads
 * the whole store.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "api/server/api.h"
#include "api/server/rest/route.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/kinds/pod/pod_log.h"
#include "base/clock.h"
#include "base/encoding/jsonscan.h"
#include "base/mem.h"
#include "cli/client/internal.h"
#include "cli/engine/engine.h"
#include "cli/engine/serving.h"
#include "node/runtime/runtime.h"

/* An engine over the whole store or over a part of it. */
struct side {
    struct engine *engine; /* engine of the data directory; NULL: not opened yet */
    struct api *api;
};

struct local {
    struct client base;
    struct side few, named, all;
    char *name; /* the name whose objects `named` holds */
    bool changes;
};

/* One request in progress. */
struct exchange {
    struct api_response answer;
    struct client_call *call;
    struct api_stream *stream;
    bool failed; /* the store cannot be read; the call's `err` has the reason */
};

static struct local *of(struct client *client)
{
    return container_of(client, struct local, base);
}

static struct exchange *exchange_of(const struct api_response *answer)
{
    return container_of((struct api_response *)(size_t)answer, struct exchange, answer);
}

static void on_head(struct api_response *answer, int status, const char *content_type,
                    const char *const *headers, size_t n_headers)
{
    static const char warning[] = "Warning: ";

    struct client_call *call = exchange_of(answer)->call;

    call->status = status;
    snprintf(call->media_type, sizeof call->media_type, "%s", content_type ? content_type : "");
    for (size_t i = 0; i < n_headers; i++)
        if (strncmp(headers[i], warning, sizeof warning - 1) == 0)
            client_take_warning(headers[i] + sizeof warning - 1,
                                strlen(headers[i]) - (sizeof warning - 1));
}

static void on_data(struct api_response *answer, const void *bytes, size_t len)
{
    client_take_data(exchange_of(answer)->call, bytes, len);
}

static void finish(struct exchange *exchange)
{
    struct client_call *call = exchange->call;

    call->transport = NULL;
    mem_free(exchange);
    client_take_end(call);
}

static void on_end(struct api_response *answer)
{
    finish(exchange_of(answer));
}

static void on_cut(struct api_response *answer)
{
    struct exchange *exchange = exchange_of(answer);

    error_set(&exchange->call->err, ERR_UNAVAILABLE, "", "the answer broke off");
    finish(exchange);
}

static size_t on_backlog(const struct api_response *answer)
{
    return 0;
}

static bool is_part(const struct kind *kind)
{
    return kind == &kind_job_flow || kind == &kind_job_template || kind == &kind_event;
}

/* Parses a plain GET, which may be a watch. Returns false for a request that only the whole store
 * can answer. */
static bool plain_get(const struct api_request *request, struct arena *arena,
                      struct request_target *target, struct route *route)
{
    return request->method == API_GET &&
           request_target_parse(request->target, arena, target, NULL) &&
           route_find(target, route, NULL) && route->kind &&
           (route->sub == ROUTE_MAIN || route->sub == ROUTE_STATUS);
}

/* Returns the one name that is requested: that of an object, or of the job whose pods are listed.
 * Owned, or NULL. */
static char *name_asked(const struct request_target *target, const struct route *route)
{
    static const char of_job[] = LABEL_JOB_NAME "=";
    const char *labels = request_query(target, "labelSelector");

    if (route->kind->few)
        return NULL;
    if (route->name)
        return mem_strdup(route->name);
    if (route->kind == &kind_pod && labels && !strchr(labels, ',') &&
        strncmp(labels, of_job, sizeof of_job - 1) == 0)
        return mem_strdup(labels + sizeof of_job - 1);
    return NULL;
}

static bool open_side(struct local *local, struct side *side, const struct engine_options *part,
                      struct error *err);

/* Returns the engine over the objects with this name, or NULL when another engine must answer. */
static struct side *named_side(struct local *local, char *name, struct error *err)
{
    const struct engine_options part = {.name_only = name};

    if (!name || local->all.engine || (local->name && strcmp(local->name, name) != 0)) {
        mem_free(name);
        return NULL;
    }
    if (local->name) {
        mem_free(name);
        return &local->named;
    }
    local->name = name;
    return open_side(local, &local->named, &part, err) ? &local->named : NULL;
}

/* Returns the engine that answers the request, NULL with `err` set when it cannot be opened: one over
 * the part of the store that a plain GET needs where there is such a part, else the whole store's. */
static struct side *side_for(struct local *local, const struct api_request *request,
                             struct error *err)
{
    static const struct engine_options whole = {0};
    scoped(arena) struct arena *arena = arena_new(0);
    struct side *named = NULL;
    struct request_target target;
    struct route route;

    if (local->few.engine && plain_get(request, arena, &target, &route)) {
        if (is_part(route.kind))
            return &local->few;
        if (!request_query_bool(&target, "watch"))
            named = named_side(local, name_asked(&target, &route), err);
    }
    if (named || (err->code != ERR_NONE && !local->all.engine))
        return named;
    return local->all.engine || open_side(local, &local->all, &whole, err) ? &local->all : NULL;
}

static void local_start(struct client *client, struct client_call *call)
{
    const struct api_request request = {
        .method = call->method ? api_method_of(call->method) : API_GET,
        .target = call->target,
        .accept = call->accept,
        .content_type = call->content_type,
        .body = call->body,
        .body_len = call->body_len,
    };
    struct side *side = side_for(of(client), &request, &call->err);
    struct exchange *exchange = mem_alloc(sizeof *exchange);

    exchange->answer = (struct api_response){on_head, on_data, on_end, on_backlog, on_cut};
    exchange->call = call;
    call->transport = exchange;
    if (side)
        exchange->stream = api_handle(side->api, &request, &exchange->answer);
    else
        exchange->failed = true;
}

static void local_cancel(struct client_call *call)
{
    struct exchange *exchange = call->transport;

    if (!exchange->failed)
        api_cancel(exchange->stream);
    mem_free(exchange);
    call->transport = NULL;
}

static bool exchange_failed(const struct client_call *call)
{
    return ((const struct exchange *)call->transport)->failed;
}

static struct client_call *first_failed(const struct client *client)
{
    struct client_call *call;

    LIST_FOREACH(call, &client->calls, in_flight)
    {
        if (exchange_failed(call))
            return call;
    }
    return NULL;
}

/* Returns the first watch or followed log in flight; all present data has been sent by now. */
static struct client_call *first_endless(const struct client *client)
{
    struct client_call *call;

    LIST_FOREACH(call, &client->calls, in_flight)
    {
        if (!exchange_failed(call) &&
            api_is_long_running(((const struct exchange *)call->transport)->stream))
            return call;
    }
    return NULL;
}

static void settle(struct side *side)
{
    if (side->engine)
        loop_settle(engine_loop(side->engine));
}

static enum client_ran local_run(struct client *client, int64_t timeout_ms)
{
    while (!LIST_EMPTY(&client->calls) && !client->stopped) {
        struct client_call *call = first_failed(client);

        if (call) {
            finish(call->transport);
            continue;
        }
        settle(&of(client)->few);
        settle(&of(client)->named);
        settle(&of(client)->all);
        call = client->stopped ? NULL : first_endless(client);
        if (call) {
            struct exchange *exchange = call->transport;

            api_cancel(exchange->stream);
            finish(exchange);
        }
    }
    return client->stopped ? CLIENT_STOPPED : CLIENT_IDLE;
}

static void close_side(struct side *side)
{
    if (!side->engine)
        return;
    api_free(side->api);
    engine_stop(side->engine);
}

static void add_pod_uid(void *uids, const struct object *pod)
{
    buf_add(uids, object_uid(pod), strlen(object_uid(pod)) + 1);
}

static void add_log_uid(void *uids, const struct object *log)
{
    const char *uid = pod_log_of(log)->uid;

    if (uid)
        buf_add(uids, uid, strlen(uid) + 1);
}

/* Removes the log files of pods that were deleted: no node does it now. */
static void sweep_logs(const struct local *local)
{
    const struct store *store = engine_store(local->all.engine);
    scoped(buf) struct buf uids = {0};

    store_each(store, &kind_pod, NULL, add_pod_uid, &uids);
    store_each(store, &kind_pod_log, NULL, add_log_uid, &uids);
    runtime_log_sweep(local->base.data_dir, uids.data, uids.len);
}

/* Before the store is closed, background work caused by a change (garbage collection of dependents)
 * is finished. */
static void local_close(struct client *client)
{
    struct local *local = of(client);

    if (local->changes) {
        settle(&local->all);
        sweep_logs(local);
    }
    close_side(&local->few);
    close_side(&local->named);
    close_side(&local->all);
    mem_free(local->name);
    mem_free(local);
}

static const struct client_ops ops = {
    .is_live = false,
    .start = local_start,
    .cancel = local_cancel,
    .run = local_run,
    .close = local_close,
};

static bool read_log(void *ctx, const char *uid, const struct log_query *query, int64_t *offset,
                     struct buf *out, struct error *err)
{
    const struct local *local = ctx;

    return runtime_log_read(local->base.data_dir, uid, query, offset, out, err);
}

/* SQLite lets one process at a time open the file, and processes that open it at once may block
 * each other. They wait here for a lock while the store is loaded. Returns the lock's descriptor,
 * which the caller closes. */
static int load_lock(const char *data_dir)
{
    int fd = open(data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    while (fd >= 0 && flock(fd, LOCK_EX) < 0 && errno == EINTR)
        ;
    return fd;
}

static bool open_side(struct local *local, struct side *side, const struct engine_options *part,
                      struct error *err)
{
    const struct engine_options options = {
        .data_dir = local->base.data_dir,
        .read_only = !local->changes,
        .stopped_holder = local->base.holder == HOLDER_STOPPED,
        .few_only = part->few_only,
        .name_only = part->name_only,
    };
    int queue = local->base.holder == HOLDER_STOPPED ? -1 : load_lock(local->base.data_dir);

    side->engine = engine_start(&options, err);
    if (queue >= 0)
        close(queue);
    if (!side->engine)
        return false;
    side->api = api_new(engine_loop(side->engine), engine_registry(side->engine),
                        &(const struct api_logs){read_log, local});
    api_set_conversions(side->api, &serving_conversions);
    if (local->changes)
        api_enable_backups(side->api, engine_data_dir(side->engine));
    return true;
}

static void take_newest(void *arg, const struct object *object)
{
    int64_t *newest_ms = arg, ended_ms = 0;

    if (object->kind == &kind_job_flow && object->status)
        jsonscan_time(jsonscan_member(object->status->text, "completionTime"), &ended_ms);
    if (object->meta->created_at_ms > *newest_ms)
        *newest_ms = object->meta->created_at_ms;
    if (ended_ms > *newest_ms)
        *newest_ms = ended_ms;
}

/* The virtual clock of a simulation may run ahead of the wall clock. Moves the clock of this
 * process forward to the newest time in the store, so that no age is negative. */
static void advance_clock_to_store(const struct store *store)
{
    static const struct kind *const kinds[] = {&kind_job_flow, &kind_event};
    int64_t newest_ms = 0, ahead_ms;

    for (size_t i = 0; i < countof(kinds); i++)
        store_each(store, kinds[i], NULL, take_newest, &newest_ms);
    ahead_ms = newest_ms - clock_wall_ms(clock_real());
    if (ahead_ms > 0)
        clock_real_lead_ms(ahead_ms);
}

struct client *client_local_open(const char *data_dir, enum client_access access,
                                 enum client_holder holder, struct error *err)
{
    static const struct engine_options few = {.few_only = true}, whole = {0};
    struct local *local = mem_alloc(sizeof *local);
    bool ok;

    local->base.ops = &ops;
    local->base.data_dir = mem_strdup(data_dir);
    local->changes = access == CLIENT_CHANGE;
    local->base.holder = holder;
    ok = local->changes ? open_side(local, &local->all, &whole, err)
                        : open_side(local, &local->few, &few, err);
    if (ok) {
        advance_clock_to_store(engine_store((local->changes ? local->all : local->few).engine));
        return &local->base;
    }
    mem_free(local->base.data_dir);
    mem_free(local);
    return NULL;
}
