/*
 * Stands between the transport and a part of the gateway, so that the site knows which answers are
 * under way, of which sign-in, and can end them.
 */
#include "base/mem.h"
#include "web/internal.h"

static struct web_exchange *of(struct api_response *response)
{
    return container_of(response, struct web_exchange, response);
}

static struct api_response *release(struct web_exchange *exchange)
{
    struct api_response *real = exchange->real;
    struct web_site *site = exchange->site;

    LIST_REMOVE(exchange, all);
    mem_free(exchange);
    web_exchange_ended(site);
    return real;
}

static void on_head(struct api_response *response, int status, const char *content_type,
                    const char *const *headers, size_t n_headers)
{
    struct api_response *real = of(response)->real;

    real->head(real, status, content_type, headers, n_headers);
}

static void on_data(struct api_response *response, const void *bytes, size_t len)
{
    struct api_response *real = of(response)->real;

    real->data(real, bytes, len);
}

static size_t on_backlog(const struct api_response *response)
{
    const struct api_response *real = of((struct api_response *)(size_t)response)->real;

    return real->backlog(real);
}

static void on_end(struct api_response *response)
{
    struct api_response *real = release(of(response));

    real->end(real);
}

static void on_abort(struct api_response *response)
{
    struct api_response *real = release(of(response));

    real->abort(real);
}

struct web_exchange *web_exchange_new(struct api_response *real)
{
    struct web_exchange *exchange = mem_alloc(sizeof *exchange);

    exchange->real = real;
    exchange->response = (struct api_response){
        .head = on_head, .data = on_data, .end = on_end, .backlog = on_backlog, .abort = on_abort};
    return exchange;
}

void web_exchange_cancel(struct web_exchange *exchange)
{
    exchange->stream->ops->cancel(exchange->stream);
    release(exchange);
}

void web_exchange_finish(struct web_exchange *exchange, const char *why)
{
    struct web_stream *stream = exchange->stream;
    struct api_response *real;

    if (stream->ops->finish) {
        stream->ops->finish(stream, why);
        return;
    }
    stream->ops->cancel(stream);
    real = release(exchange);
    real->abort(real);
}
