/*
 * Dispatches requests: each is authorized, routed to its verb or page, and counted against the
 * bounds. Also creates and frees the API.
 */
#include <string.h>

#include "api/server/api.h"
#include "api/server/auth/authz.h"
#include "api/server/message/protobuf_tables.h"
#include "api/server/rest/internal.h"
#include "api/server/rest/watch_batcher.h"
#include "api/server/schema/crd.h"
#include "base/mem.h"

enum api_method api_method_of(const char *name)
{
    static const char *const names[API_OTHER] = {
        [API_GET] = "GET",     [API_HEAD] = "HEAD",     [API_POST] = "POST",      [API_PUT] = "PUT",
        [API_PATCH] = "PATCH", [API_DELETE] = "DELETE", [API_OPTIONS] = "OPTIONS"};

    for (size_t i = 0; i < countof(names); i++)
        if (strcmp(names[i], name) == 0)
            return (enum api_method)i;
    return API_OTHER;
}

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
    [ROUTE_PROGRESS]     = {[API_GET] = verb_progress},
    [ROUTE_TEMPLATE]     = {[API_GET] = verb_template, [API_HEAD] = verb_template},
    [ROUTE_INSTANTIATE]  = {[API_POST] = verb_instantiate},
    [ROUTE_LOG]          = {[API_GET] = verb_log},
    [ROUTE_EVICTION]     = {[API_POST] = verb_evict},
    [ROUTE_BINDING]      = {[API_POST] = verb_bind},
    [ROUTE_EXEC]         = {[API_GET] = verb_stream_unsupported, [API_POST] = verb_stream_unsupported},
    [ROUTE_ATTACH]       = {[API_GET] = verb_stream_unsupported, [API_POST] = verb_stream_unsupported},
    [ROUTE_PORT_FORWARD] = {[API_GET] = verb_stream_unsupported, [API_POST] = verb_stream_unsupported},
};
/* clang-format on */

static verb_fn verb_at(const struct route *route, enum api_method method)
{
    return route->name ? object_verbs[route->sub][method] : collection_verbs[method];
}

/* Namespaces have no deletecollection, built-in kinds are read-only, and objects that belong to a
 * namespace are created and deleted within one. */
static bool accepts_verb(const struct route *route, verb_fn verb)
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
                 call->request->method == API_GET && request_query_bool(&call->target, "watch");

    return verb && accepts_verb(&call->route, verb) ? (watch ? verb_watch : verb) : NULL;
}

static enum accept_endpoint endpoint_of(verb_fn verb)
{
    if (verb == verb_list || verb == verb_steps)
        return ACCEPT_LIST;
    return verb == verb_get || verb == verb_watch ? ACCEPT_ITEM : ACCEPT_PLAIN;
}

/* Reviews have no kind. Of custom kinds only a Scale has this form. */
static enum accept_protobuf protobuf_of(const struct route *route)
{
    return !route->kind || protobuf_has(route->kind) || route->sub == ROUTE_SCALE
               ? PROTOBUF_POSSIBLE
               : PROTOBUF_UNKNOWN;
}

/* SEC-04: decides by the form of the request, before anything is looked up. After a refusal the
 * route is resolved only for the details of the Status. */
static bool authorize(struct api_call *call, struct error *err)
{
    const struct identity *identity = call->request->identity;
    struct authz_attributes attributes;

    if (!identity)
        return true;
    authz_attributes_of(&call->target, call->request->method, call->request->target, &attributes);
    if (authz_allows(identity, &attributes))
        return true;
    authz_refuse(identity, &attributes, err);
    if (route_find(&call->target, &call->route, NULL))
        call->name = call->route.name;
    return false;
}

/* The first page that knows the path responds; NULL when the path is not a page. */
static struct api_stream *page_of(const struct api_call *call)
{
    static struct api_stream *(*const pages[])(const struct api_call *call) = {
        page_health, page_discovery, page_openapi, page_review, page_backup, page_submit};
    struct api_stream *page = NULL;

    for (size_t i = 0; i < countof(pages) && !page; i++)
        page = pages[i](call);
    return page;
}

static enum traffic_class traffic_of(const struct api_call *call, verb_fn verb)
{
    bool follows = (verb == verb_log && request_query_bool(&call->target, "follow")) ||
                   (verb == verb_progress && request_query_bool(&call->target, "watch"));

    if (verb == verb_watch || follows)
        return TRAFFIC_WATCHING;
    return call->request->method == API_GET || call->request->method == API_HEAD ? TRAFFIC_READING
                                                                                 : TRAFFIC_CHANGING;
}

/* Counts the request against L-25 and L-26. This process itself is not bounded; administrators are
 * bounded only in total, because controllers and dashboards hold a thousand watches. */
static bool admit(struct api_call *call, verb_fn verb, struct error *err)
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

/* Of the pages only submissions are bounded: they change what is stored. */
static bool admit_page(struct api_call *call, struct error *err)
{
    bool submits = call->request->method == API_POST && submit_is_path(&call->target);

    return !submits || admit(call, NULL, err);
}

struct watch_batcher *api_watch_batcher(struct api *api)
{
    return api->batcher;
}

void api_set_daemon(struct api *api)
{
    api->is_daemon = true;
}

void api_set_confinement(struct api *api, const struct api_confinement *confinement)
{
    api->confinement = *confinement;
}

void api_set_limits(struct api *api, const struct traffic_limits *limits)
{
    traffic_limit(&api->traffic, limits);
}

void api_set_submissions(struct api *api, const struct api_submission_limits *limits)
{
    api->submission_items = limits->items;
    if (api->submit_retention)
        submit_retention_set(api->submit_retention, limits->retention_ms);
}

void api_record(struct api *api, const struct request_record *record)
{
    traffic_record(&api->traffic, record);
}

struct api_stream *api_refuse(struct api *api, const struct error *err,
                              struct api_response *response)
{
    const struct api_request request = {.method = API_OTHER, .target = ""};
    const struct api_call call = {.api = api, .request = &request, .response = response};

    return reply_error(&call, err);
}

struct api_stream *api_authorize(struct api *api, const struct api_request *request,
                                 struct api_response *response, size_t *out_body_max)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct api_call call = {.api = api, .request = request, .response = response, .arena = arena};
    struct error err = {0};

    if (!request_target_parse(request->target, arena, &call.target, &err) ||
        !authorize(&call, &err))
        return reply_error(&call, &err);
    route_find(&call.target, &call.route, NULL);
    *out_body_max = body_limits(&call)->max_bytes;
    return NULL;
}

struct api_stream *api_handle(struct api *api, const struct api_request *request,
                              struct api_response *response)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct api_call call = {.api = api, .request = request, .response = response, .arena = arena};
    struct api_stream *page;
    struct error err = {0};
    verb_fn verb;

    if (!request_target_parse(request->target, arena, &call.target, &err))
        return reply_error(&call, &err);
    if (!authorize(&call, &err) || !admit_page(&call, &err))
        return reply_error(&call, &err);
    page = page_of(&call);
    if (page)
        return page;
    if (!route_find(&call.target, &call.route, &err))
        return reply_error(&call, &err);
    call.name = call.route.name;
    call.store = call.route.kind->built_in ? crd_store(api) : api->store;
    verb = verb_of(&call);
    if (!verb) {
        call.route = (struct route){0};
        error_set(&err, ERR_METHOD, "",
                  "the server does not allow this method on the requested resource");
        return reply_error(&call, &err);
    }
    if (verb != verb_log && verb != verb_stream_unsupported &&
        !accept_negotiate(request->accept, endpoint_of(verb), protobuf_of(&call.route), &call.media,
                          &err))
        return reply_error(&call, &err);
    if (!admit(&call, verb, &err) || !confinement_require(&call, &err))
        return reply_error(&call, &err);
    // cppcheck-suppress returnDanglingLifetime ; the stream returned keeps nothing of the call
    return verb(&call);
}

struct api *api_new(struct loop *loop, struct registry *registry, const struct api_logs *logs)
{
    struct api *api = mem_alloc(sizeof *api);

    api->loop = loop;
    api->registry = registry;
    api->store = registry_store(registry);
    traffic_init(&api->traffic, loop_metrics(loop));
    store_metrics_start(&api->store_metrics, loop_metrics(loop), api->store);
    api->event_cache = watch_event_cache_new();
    api->batcher = watch_batcher_new(loop);
    if (!store_is_read_only(api->store)) {
        api->submit_addresses = submit_addresses_start(registry);
        api->submit_retention = submit_retention_start(loop, registry, SUBMIT_RETENTION_MS);
    }
    if (logs)
        api->logs = *logs;
    return api;
}

static void finish_stream(struct api_stream *stream)
{
    if (stream->ops->finish)
        stream->ops->finish(stream);
    stream_end(stream);
}

void api_end_long_running(struct api *api)
{
    struct api_stream *stream, *next;

    api->stopping = true;
    for (stream = LIST_FIRST(&api->streams); stream; stream = next) {
        next = LIST_NEXT(stream, all);
        if (stream->ops->long_running)
            finish_stream(stream);
    }
}

void api_free(struct api *api)
{
    if (!api)
        return;
    while (!LIST_EMPTY(&api->streams))
        finish_stream(LIST_FIRST(&api->streams));
    watch_event_cache_free(api->event_cache);
    watch_batcher_free(api->batcher);
    openapi_free(api->openapi);
    store_metrics_stop(&api->store_metrics);
    store_close(api->crds);
    submit_retention_stop(api->submit_retention);
    submit_addresses_stop(api->submit_addresses);
    traffic_release(&api->traffic);
    mem_free(api->backup_path);
    mem_free(api);
}
