/*
 * From request to verb, and the answers that are known at once.
 */
#include "api/server/api.h"
#include "api/server/stream.h"
#include "api/types/status.h"
#include "base/mem.h"
#include <string.h>

void stream_init(struct api_stream *stream, struct api *api, struct api_answer *answer,
                 void (*release)(struct api_stream *stream))
{
    stream->api = api;
    stream->answer = answer;
    stream->release = release;
    stream->next = api->streams;
    stream->link = &api->streams;
    if (api->streams)
        api->streams->link = &stream->next;
    api->streams = stream;
}

void api_cancel(struct api_stream *stream)
{
    *stream->link = stream->next;
    if (stream->next)
        stream->next->link = stream->link;
    if (stream->awaits_commit) { /* the store still holds the task: it frees the stream when it runs
                                  */
        stream->answer = NULL;
        return;
    }
    loop_cancel(stream->api->loop, &stream->task);
    stream->release(stream);
}

void stream_end(struct api_stream *stream)
{
    struct api_answer *answer = stream->answer;

    api_cancel(stream);
    answer->end(answer);
}

/* ---- answers in one piece ---- */

static void reply_release(struct api_stream *stream)
{
    buf_release(&stream->body);
    mem_free(stream);
}

static void reply_send(struct task *task)
{
    struct api_stream *stream = container_of(task, struct api_stream, task);

    stream->awaits_commit = false;
    if (!stream->answer) { /* cancelled meanwhile */
        stream->release(stream);
        return;
    }
    stream->answer->head(stream->answer, stream->status, stream->content_type, NULL);
    stream->answer->data(stream->answer, stream->body.data, stream->body.len);
    stream_end(stream);
}

struct api_stream *reply_body(const struct api_call *call, int status, const char *content_type,
                              struct buf *body, enum reply_when when)
{
    struct api_stream *stream = mem_alloc(sizeof *stream);

    stream_init(stream, call->api, call->answer, reply_release);
    stream->status = status;
    stream->content_type = content_type;
    stream->body = *body;
    *body = (struct buf){0};
    stream->task.run = reply_send;
    stream->awaits_commit = when == REPLY_DURABLE;
    if (stream->awaits_commit)
        store_when_durable(call->api->store, &stream->task);
    else
        loop_post(call->api->loop, &stream->task);
    return stream;
}

struct api_stream *reply_object(const struct api_call *call, int status,
                                const struct object *object, enum reply_when when)
{
    scoped(buf) struct buf body = {0};

    object_write(object, &body);
    buf_char(&body, '\n');
    return reply_body(call, status, "application/json", &body, when);
}

struct api_stream *reply_errors(const struct api_call *call, const struct error_list *errors)
{
    scoped(json) json_t *status = status_from_errors(errors, call->route.kind, call->route.name);
    scoped(buf) struct buf body = {0};
    char *text = json_dumps(status, JSON_COMPACT);

    buf_str(&body, text);
    buf_char(&body, '\n');
    free(text);
    return reply_body(call, error_http_status(errors->items[0].code), "application/json", &body,
                      REPLY_NOW);
}

struct api_stream *reply_error(const struct api_call *call, const struct error *err)
{
    struct error_list errors = {0};
    struct api_stream *stream;

    error_list_append(&errors, err);
    stream = reply_errors(call, &errors);
    error_list_release(&errors);
    return stream;
}

/* ---- dispatch ---- */

typedef struct api_stream *(*verb_fn)(const struct api_call *call);

static verb_fn verb_of(const struct api_call *call)
{
    static const verb_fn on_item[] = {
        [API_GET] = verb_get,     [API_HEAD] = verb_get,      [API_PUT] = verb_update,
        [API_PATCH] = verb_patch, [API_DELETE] = verb_delete, [API_OTHER] = NULL};
    static const verb_fn on_collection[] = {[API_GET] = verb_list,
                                            [API_HEAD] = verb_list,
                                            [API_POST] = verb_create,
                                            [API_OTHER] = NULL};

    if (call->route.sub == ROUTE_LOG)
        return call->request->method == API_GET ? verb_log : NULL;
    if (call->request->method == API_GET && target_query_bool(&call->target, "watch"))
        return verb_watch;
    return call->route.name ? on_item[call->request->method] : on_collection[call->request->method];
}

struct api_stream *api_handle(struct api *api, const struct api_request *request,
                              struct api_answer *answer)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct api_call call = {.api = api, .request = request, .answer = answer, .arena = arena};
    struct error err = {0};
    verb_fn verb;

    call.table = request->accept && strstr(request->accept, "as=Table") != NULL;
    if (!target_parse(request->target, arena, &call.target, &err) ||
        !route_find(&call.target, &call.route, &err))
        return reply_error(&call, &err);
    verb = verb_of(&call);
    if (!verb) {
        error_set(&err, ERR_METHOD, "",
                  "the server does not allow this method on the requested resource");
        return reply_error(&call, &err);
    }
    return verb(&call);
}

struct api *api_new(struct loop *loop, struct registry *registry, const struct api_logs *logs)
{
    struct api *api = mem_alloc(sizeof *api);

    api->loop = loop;
    api->registry = registry;
    api->store = registry_store(registry);
    if (logs) {
        api->logs = *logs;
        api->has_logs = true;
    }
    return api;
}

void api_free(struct api *api)
{
    if (!api)
        return;
    while (api->streams)
        stream_end(api->streams);
    mem_free(api);
}
