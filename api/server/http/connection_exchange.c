/*
 * Exchanges: requests and their responses, in the order in which the requests came.
 *
 *   head complete ─► reading ─► pending: first … last ─► response handed to the socket ─► spare
 *
 * Several exchanges are pending at once only while each response is complete and waits for nothing
 * but the disk. Such requests have been decided in their order, and one commit serves them all.
 */
#include "api/server/http/internal.h"
#include "api/types/blob.h"
#include "base/mem.h"

enum {
    KEPT_BYTES_MAX = 16 << 10,     /* larger buffers are freed, not kept for the next exchange */
    PENDING_MAX = 64,              /* exchanges without a response */
    PENDING_BYTES_MAX = 256 << 10, /* total size of the pending responses */
};

static void each_buffer(struct exchange *x, void (*act)(struct buf *buf))
{
    struct buf *const buffers[] = {&x->target, &x->user_agent, &x->head, &x->out, &x->object};

    for (size_t i = 0; i < countof(buffers); i++)
        act(buffers[i]);
}

static void empty(struct buf *buf)
{
    buf_clear(buf);
    if (buf->cap > KEPT_BYTES_MAX)
        buf_release(buf);
}

void exchange_drop_blobs(struct exchange_blobs *blobs)
{
    for (size_t i = 0; i < blobs->n; i++)
        blob_unref(blobs->at[i]);
    mem_free(blobs->at);
    *blobs = (struct exchange_blobs){0};
}

static void exchange_free(struct exchange *x)
{
    if (!x)
        return;
    if (x->stream)
        x->handler->ops->cancel(take(x->stream));
    exchange_record(x);
    watch_batcher_remove(&x->batch_entry);
    exchange_drop_blobs(&x->blobs);
    identity_unref(x->identity);
    each_buffer(x, buf_release);
    mem_free(x);
}

/* Resets an exchange to its initial state but keeps the memory of its buffers. */
static void clean(struct exchange *x)
{
    struct exchange fresh = {.connection = x->connection};

    each_buffer(x, empty);
    fresh.target = x->target;
    fresh.user_agent = x->user_agent;
    fresh.head = x->head;
    fresh.out = x->out;
    fresh.object = x->object;
    exchange_drop_blobs(&x->blobs);
    identity_unref(x->identity);
    *x = fresh;
}

struct exchange *exchange_begin(struct connection *c)
{
    struct exchange *x = take(c->spare);

    if (!x)
        x = mem_alloc(sizeof *x);
    x->connection = c;
    x->handler = c->handler;
    x->method = API_OTHER;
    x->method_name = "-";
    x->after = CLOSE_AFTER; /* changed when the request has been read to its end */
    x->began_ms = c->began_ms;
    x->began_ns = c->began_ns;
    response_init(x);
    c->reading = x;
    return x;
}

void exchange_enqueue(struct connection *c)
{
    struct exchange *x = take(c->reading);

    *c->last = x;
    c->last = &x->next;
}

void exchange_pop(struct connection *c)
{
    struct exchange *x = c->first;

    c->first = x->next;
    if (!c->first)
        c->last = &c->first;
    watch_batcher_remove(&x->batch_entry);
    if (c->spare) {
        exchange_free(x);
        return;
    }
    clean(x);
    c->spare = x;
}

void exchange_drop_all(struct connection *c)
{
    while (c->first) {
        struct exchange *x = c->first;

        c->first = x->next;
        exchange_free(x);
    }
    c->last = &c->first;
    exchange_free(take(c->reading));
    exchange_free(take(c->spare));
}

/* Returns the size of the response; API_SIZE_UNKNOWN while it is not known. */
static size_t response_size(const struct exchange *x)
{
    const struct http_handler_ops *ops = x->handler->ops;

    if (!x->stream)
        return 0;
    return ops->response_size ? ops->response_size(x->stream) : API_SIZE_UNKNOWN;
}

bool exchange_has_room(const struct connection *c)
{
    size_t n = 0, bytes = 0;

    for (const struct exchange *x = c->first; x; x = x->next) {
        size_t size = response_size(x);

        if (x->after != KEEP_OPEN || size == API_SIZE_UNKNOWN)
            return false;
        bytes += size + x->out.len;
        n++;
    }
    return n < PENDING_MAX && bytes <= PENDING_BYTES_MAX && c->io.in_flight <= PENDING_BYTES_MAX;
}

void exchange_record(struct exchange *x)
{
    const struct connection *c = x->connection;
    const struct request_record record = {
        .identity = x->identity,
        .method = x->method,
        .method_name = x->method_name,
        .target = x->target.data ? x->target.data : "",
        .peer = c->peer ? c->peer : "",
        .user_agent = x->user_agent.data ? x->user_agent.data : "",
        .id = x->id,
        .object = x->object.data ? x->object.data : "",
        .revision = x->revision,
        .status = x->status,
        .long_running = x->long_running,
        .began_ms = x->began_ms,
        .duration_ns = loop_mono_ns(c->loop) - x->began_ns,
        .bytes_in = x->bytes_in,
        .bytes_out = x->bytes_out,
    };

    if (!x->status)
        return;
    if (x->handler->ops->record)
        x->handler->ops->record(x->handler, &record);
    if (c->env->answered)
        c->env->answered(c->env->ctx, &record);
    x->status = 0;
}
