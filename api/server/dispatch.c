/*
 * Dispatch: a request is authorised, bounded and routed to its verb or page; then the life of the
 * streams that long answers are.
 */
#include <string.h>

#include "api/server/api.h"
#include "api/server/auth/authz.h"
#include "api/server/rest/backup.h"
#include "api/server/rest/health.h"
#include "api/server/rest/internal.h"
#include "api/server/rest/reviews.h"
#include "api/server/rest/watch_batcher.h"
#include "api/server/schema/crd.h"
#include "api/server/schema/discovery.h"
#include "api/server/schema/openapi.h"
#include "base/mem.h"

/* ---- streams ---- */

static void stream_run(struct task *task)
{
    struct api_stream *stream = container_of(task, struct api_stream, task);

    stream->awaits_commit = false;
    stream->ops->run(stream);
}

static bool changes(const struct api_request *request)
{
    return request->method != API_GET && request->method != API_HEAD;
}

/* Whoever changes something waits for the disk, together with all who do. */
static void await_commit(struct api_stream *stream, const struct api_call *call)
{
    store_when_durable(call->api->store, &stream->task);
    if (changes(call->request))
        store_hurry_together(call->api->store);
}

void stream_start(struct api_stream *stream, const struct api_call *call,
                  const struct stream_ops *ops, enum stream_start when)
{
    struct api *api = call->api;

    stream->ops = ops;
    stream->api = api;
    stream->answer = call->answer;
    stream->traffic = call->traffic;
    stream->user = call->user;
    stream->next = api->streams;
    stream->link = &api->streams;
    if (api->streams)
        api->streams->link = &stream->next;
    api->streams = stream;
    stream->task.run = stream_run;
    stream->awaits_commit = when == STREAM_DURABLE;
    if (stream->awaits_commit)
        await_commit(stream, call);
    else
        loop_post(api->loop, &stream->task);
}

void stream_again(struct api_stream *stream)
{
    stream->awaits_drain = stream->answer->backlog(stream->answer) > BACKLOG_LOW;
    if (!stream->awaits_drain)
        loop_post(stream->api->loop, &stream->task);
}

void api_drained(struct api_stream *stream)
{
    if (!stream->awaits_drain)
        return;
    stream->awaits_drain = false;
    loop_post(stream->api->loop, &stream->task);
}

bool api_is_endless(const struct api_stream *stream)
{
    return stream->ops->endless;
}

size_t api_held(const struct api_stream *stream)
{
    return stream->ops->held ? stream->ops->held(stream) : API_IN_PIECES;
}

struct pacer *api_pacer(struct api *api)
{
    return api->pacer;
}

void api_cancel(struct api_stream *stream)
{
    *stream->link = stream->next;
    if (stream->next)
        stream->next->link = stream->link;
    if (stream->awaits_commit)
        store_forget(stream->api->store, &stream->task);
    loop_cancel(stream->api->loop, &stream->task);
    traffic_leave(&stream->api->traffic, stream->traffic, stream->user);
    stream->ops->release(stream);
}

void stream_end(struct api_stream *stream)
{
    struct api_answer *answer = stream->answer;

    api_cancel(stream);
    answer->end(answer);
}

void stream_cut(struct api_stream *stream)
{
    struct api_answer *answer = stream->answer;

    api_cancel(stream);
    answer->cut(answer);
}

/* ---- dispatch ---- */

typedef struct api_stream *(*verb_fn)(const struct api_call *call);

/* clang-format off */
static const verb_fn collection_verbs[API_METHOD_N] = {
    [API_GET]    = verb_list,
    [API_HEAD]   = verb_list,
    [API_POST]   = verb_create,
    [API_DELETE] = verb_delete_collection,
};
static const verb_fn object_verbs[ROUTE_N][API_METHOD_N] = {
    [ROUTE_MAIN] = {
        [API_GET]    = verb_get,
        [API_HEAD]   = verb_get,
        [API_PUT]    = verb_update,
        [API_PATCH]  = verb_patch,
        [API_DELETE] = verb_delete,
    },
    [ROUTE_STATUS] = {
        [API_GET]    = verb_get,
        [API_HEAD]   = verb_get,
        [API_PUT]    = verb_update,
        [API_PATCH]  = verb_patch,
    },
    [ROUTE_SCALE]        = {[API_GET] = verb_scale_get, [API_PUT] = verb_scale_set, [API_PATCH] = verb_scale_set},
    [ROUTE_STEPS]        = {[API_GET] = verb_steps, [API_HEAD] = verb_steps},
    [ROUTE_TEMPLATE]     = {[API_GET] = verb_template, [API_HEAD] = verb_template},
    [ROUTE_INSTANTIATE]  = {[API_POST] = verb_instantiate},
    [ROUTE_LOG]          = {[API_GET] = verb_log},
    [ROUTE_EVICTION]     = {[API_POST] = verb_evict},
    [ROUTE_BINDING]      = {[API_POST] = verb_bind},
    [ROUTE_EXEC]         = {[API_GET] = verb_no_stream, [API_POST] = verb_no_stream},
    [ROUTE_ATTACH]       = {[API_GET] = verb_no_stream, [API_POST] = verb_no_stream},
    [ROUTE_PORT_FORWARD] = {[API_GET] = verb_no_stream, [API_POST] = verb_no_stream},
};
/* clang-format on */

static verb_fn verb_at(const struct route *route, enum api_method method)
{
    return route->name ? object_verbs[route->sub][method] : collection_verbs[method];
}

/* Namespaces are deleted one by one; things in namespaces are made and deleted within one. */
static bool takes(const struct route *route, verb_fn verb)
{
    if (verb == verb_delete_collection && route->kind == &kind_namespace)
        return false;
    if (route->kind->built_in)
        return verb == verb_get || verb == verb_list;
    return route->ns || (verb != verb_create && verb != verb_delete_collection);
}

static verb_fn verb_of(const struct api_call *call)
{
    verb_fn verb = verb_at(&call->route, call->request->method);
    bool watch = (verb == verb_list || verb == verb_get) && call->route.sub == ROUTE_MAIN &&
                 call->request->method == API_GET && target_query_bool(&call->target, "watch");

    return verb && takes(&call->route, verb) ? (watch ? verb_watch : verb) : NULL;
}

static enum accept_endpoint endpoint_of(verb_fn verb)
{
    if (verb == verb_list || verb == verb_steps)
        return ACCEPT_LIST;
    return verb == verb_get || verb == verb_watch ? ACCEPT_ITEM : ACCEPT_PLAIN;
}

/* SEC-04: by the form of the request, before anything is looked up. The route is for the answer's
 * details alone. */
static bool authorise(struct api_call *call, struct error *err)
{
    const struct identity *identity = call->request->identity;
    struct authz_ask ask;

    if (!identity)
        return true;
    authz_ask_of(&call->target, call->request->method, call->request->target, &ask);
    if (authz_allows(identity, &ask))
        return true;
    authz_refuse(identity, &ask, err);
    if (route_find(&call->target, &call->route, NULL))
        call->name = call->route.name;
    return false;
}

/* What is no resource: the first that knows the path answers. */
static struct api_stream *page_of(const struct api_call *call)
{
    static struct api_stream *(*const pages[])(const struct api_call *call) = {
        health_answer, discovery_answer, openapi_answer, review_answer, backup_answer};
    struct api_stream *page = NULL;

    for (size_t i = 0; i < countof(pages) && !page; i++)
        page = pages[i](call);
    return page;
}

static enum traffic_class traffic_of(const struct api_call *call, verb_fn verb)
{
    bool follows = verb == verb_log && target_query_bool(&call->target, "follow");

    if (verb == verb_watch || follows)
        return TRAFFIC_WATCHING;
    return call->request->method == API_GET || call->request->method == API_HEAD ? TRAFFIC_READING
                                                                                 : TRAFFIC_CHANGING;
}

/* L-25, L-26. This process itself is not bounded, and administrators by the whole alone: theirs are
 * the controllers and dashboards with a thousand watches. */
static bool let_in(struct api_call *call, verb_fn verb, struct error *err)
{
    const struct identity *identity = call->request->identity;
    enum traffic_class kind = identity ? traffic_of(call, verb) : TRAFFIC_NONE;
    bool bounded = identity && identity_role(identity, NULL) < ROLE_ADMIN;

    if (!traffic_enter(&call->api->traffic, kind, bounded ? identity->user : NULL, &call->user,
                       err))
        return false;
    call->traffic = kind;
    return true;
}

void api_be_daemon(struct api *api)
{
    api->is_daemon = true;
}

void api_limit(struct api *api, const struct traffic_limits *limits)
{
    traffic_limit(&api->traffic, limits);
}

void api_note(struct api *api, const struct record *record, bool endless)
{
    traffic_note(&api->traffic, record, endless);
}

struct api_stream *api_refuse(struct api *api, const struct error *err, struct api_answer *answer)
{
    const struct api_request request = {.method = API_OTHER, .target = ""};
    const struct api_call call = {.api = api, .request = &request, .answer = answer};

    return reply_error(&call, err);
}

struct api_stream *api_judge(struct api *api, const struct api_request *request,
                             struct api_answer *answer, size_t *out_body_max)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct api_call call = {.api = api, .request = request, .answer = answer, .arena = arena};
    struct error err = {0};

    if (!target_parse(request->target, arena, &call.target, &err) || !authorise(&call, &err))
        return reply_error(&call, &err);
    route_find(&call.target, &call.route, NULL);
    *out_body_max = body_limits(&call)->max_bytes;
    return NULL;
}

struct api_stream *api_handle(struct api *api, const struct api_request *request,
                              struct api_answer *answer)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct api_call call = {.api = api, .request = request, .answer = answer, .arena = arena};
    struct api_stream *page;
    struct error err = {0};
    verb_fn verb;

    if (!target_parse(request->target, arena, &call.target, &err))
        return reply_error(&call, &err);
    if (!authorise(&call, &err))
        return reply_error(&call, &err);
    page = page_of(&call);
    if (page)
        return page;
    if (!route_find(&call.target, &call.route, &err))
        return reply_error(&call, &err);
    call.name = call.route.name;
    call.store = call.route.kind->built_in ? definitions_store(api) : api->store;
    verb = verb_of(&call);
    if (!verb) {
        call.route = (struct route){0};
        error_set(&err, ERR_METHOD, "",
                  "the server does not allow this method on the requested resource");
        return reply_error(&call, &err);
    }
    if (verb != verb_log && verb != verb_no_stream &&
        !accept_choose(request->accept, endpoint_of(verb), &call.media, &err))
        return reply_error(&call, &err);
    if (!let_in(&call, verb, &err))
        return reply_error(&call, &err);
    // cppcheck-suppress returnDanglingLifetime ; the stream returned keeps nothing of the call
    return verb(&call);
}

/* ---- life ---- */

struct api *api_new(struct loop *loop, struct registry *registry, const struct api_logs *logs)
{
    struct api *api = mem_alloc(sizeof *api);

    api->loop = loop;
    api->registry = registry;
    api->store = registry_store(registry);
    traffic_init(&api->traffic, loop_metrics(loop));
    figures_start(&api->figures, loop_metrics(loop), api->store);
    api->lines = event_lines_new();
    api->pacer = pacer_new(loop);
    if (logs)
        api->logs = *logs;
    return api;
}

static void end_with_last_words(struct api_stream *stream)
{
    if (stream->ops->last)
        stream->ops->last(stream);
    stream_end(stream);
}

void api_end_endless(struct api *api)
{
    struct api_stream *stream, *next;

    api->stopping = true;
    for (stream = api->streams; stream; stream = next) {
        next = stream->next;
        if (stream->ops->endless)
            end_with_last_words(stream);
    }
}

void api_free(struct api *api)
{
    if (!api)
        return;
    while (api->streams)
        end_with_last_words(api->streams);
    event_lines_free(api->lines);
    pacer_free(api->pacer);
    openapi_free(api->openapi);
    figures_stop(&api->figures);
    store_close(api->definitions);
    traffic_release(&api->traffic);
    mem_free(api->backup_path);
    mem_free(api);
}
