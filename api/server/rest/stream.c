/*
 * Streams: the responses that are being produced. Each is registered with the API and runs as a
 * task of the loop: at once, when the store is durable, or when the transport's backlog is gone.
 */
#include "api/server/rest/internal.h"

static void stream_run(struct task *task)
{
    struct api_stream *stream = container_of(task, struct api_stream, task);

    stream->awaits_commit = false;
    stream->ops->run(stream);
}

static bool is_write(const struct api_request *request)
{
    return request->method != API_GET && request->method != API_HEAD;
}

/* Lets the stream wait until everything accepted so far is durable. For a write the commit is
 * hastened, but so that writes of other clients can join it. */
static void await_commit(struct api_stream *stream, const struct api_call *call)
{
    store_when_durable(call->api->store, &stream->task);
    if (is_write(call->request))
        store_hurry_together(call->api->store);
}

void stream_start(struct api_stream *stream, const struct api_call *call,
                  const struct stream_ops *ops, enum stream_start when)
{
    struct api *api = call->api;

    stream->ops = ops;
    stream->api = api;
    stream->response = call->response;
    stream->traffic = call->traffic;
    stream->user = call->user;
    LIST_INSERT_HEAD(&api->streams, stream, all);
    stream->task.run = stream_run;
    stream->awaits_commit = when == STREAM_DURABLE;
    if (stream->awaits_commit)
        await_commit(stream, call);
    else
        loop_post(api->loop, &stream->task);
}

void stream_continue(struct api_stream *stream)
{
    stream->awaits_drain = stream->response->backlog(stream->response) > BACKLOG_LOW;
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

bool api_is_long_running(const struct api_stream *stream)
{
    return stream->ops->long_running;
}

size_t api_response_size(const struct api_stream *stream)
{
    return stream->ops->size ? stream->ops->size(stream) : API_SIZE_UNKNOWN;
}

void api_cancel(struct api_stream *stream)
{
    LIST_REMOVE(stream, all);
    if (stream->awaits_commit)
        store_forget(stream->api->store, &stream->task);
    loop_cancel(stream->api->loop, &stream->task);
    traffic_leave(&stream->api->traffic, stream->traffic, stream->user);
    stream->ops->release(stream);
}

void stream_end(struct api_stream *stream)
{
    struct api_response *response = stream->response;

    api_cancel(stream);
    response->end(response);
}

void stream_abort(struct api_stream *stream)
{
    struct api_response *response = stream->response;

    api_cancel(stream);
    response->abort(response);
}
