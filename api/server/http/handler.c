/*
 * The API as the handler of a listener.
 */
#include "api/server/http/handler.h"

static struct api *api_of(struct http_handler *handler)
{
    return container_of(handler, struct api_handler, base)->api;
}

static void *handle(struct http_handler *handler, const struct api_request *request,
                    struct api_response *response)
{
    return api_handle(api_of(handler), request, response);
}

static void *authorize(struct http_handler *handler, const struct api_request *request,
                       struct api_response *response, size_t *out_body_max)
{
    return api_authorize(api_of(handler), request, response, out_body_max);
}

static void *refuse(struct http_handler *handler, const struct error *err,
                    struct api_response *response)
{
    return api_refuse(api_of(handler), err, response);
}

static void cancel(void *stream)
{
    api_cancel(stream);
}

static void drained(void *stream)
{
    api_drained(stream);
}

static bool is_long_running(const void *stream)
{
    return api_is_long_running(stream);
}

static size_t response_size(const void *stream)
{
    return api_response_size(stream);
}

static void record(struct http_handler *handler, const struct request_record *request)
{
    api_record(api_of(handler), request);
}

static struct watch_batcher *batcher(struct http_handler *handler)
{
    return api_watch_batcher(api_of(handler));
}

static const struct http_handler_ops ops = {
    .handle = handle,
    .authorize = authorize,
    .refuse = refuse,
    .cancel = cancel,
    .drained = drained,
    .is_long_running = is_long_running,
    .response_size = response_size,
    .record = record,
    .batcher = batcher,
};

struct http_handler *api_handler_init(struct api_handler *handler, struct api *api)
{
    *handler = (struct api_handler){{&ops}, api};
    return &handler->base;
}
