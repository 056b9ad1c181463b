/*
 * Sends the responses of a connection: turns the API's callbacks into bytes of HTTP/1.1.
 *
 *   head() ─► head ──┐ end of the turn
 *   data() ─► out  ──┼──────────────────────► packet ─► socket (in flight) ─► written ─► stream
 *   blob() ─► blobs ─┘ round of the batcher                                              continues
 *
 * Everything produced within one turn of the loop goes out as one packet, even if it belongs to
 * several responses. A response that is complete within the turn has a Content-Length; otherwise it
 * is sent in chunks. Blobs are bytes shared by many connections: they are kept by reference until
 * the socket takes them, so that a thousand slow clients of a watch hold one copy. The backlog that
 * the API sees is what waits here plus what the kernel has not taken. Requests that are refused
 * before they reach the API are answered here, and the connection then closes.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/server/http/internal.h"
#include "api/server/message/status.h"
#include "api/types/blob.h"
#include "base/mem.h"

enum { BLOBS_IN_FLIGHT_MAX = 64 << 10 };

static struct exchange *exchange_of(const struct api_response *response)
{
    return container_of((struct api_response *)(size_t)response, struct exchange, response);
}

/* A placeholder for the length of a chunk, written before its bytes, so that `out` can be sent
 * without copying. */
static const char chunk_room[] = "00000000\r\n";
enum { CHUNK_ROOM = sizeof chunk_room - 1, CHUNK_DIGITS = 8 };

static void move_chunk(struct exchange *x, struct io_packet *packet)
{
    char digits[CHUNK_DIGITS + 1];

    snprintf(digits, sizeof digits, "%0*zx", CHUNK_DIGITS, x->out.len - CHUNK_ROOM);
    memcpy(x->out.data, digits, CHUNK_DIGITS);
    buf_str(&x->out, "\r\n");
    if (packet->bytes.len) {
        buf_add(&packet->bytes, x->out.data, x->out.len);
        return;
    }
    buf_release(&packet->bytes);
    packet->bytes = x->out;
    x->out = (struct buf){0};
}

/* Writes the head, with what has gathered of the body. A response that is not complete by now is
 * sent in chunks. */
static void write_head(struct exchange *x, struct buf *packet)
{
    enum { FRAME_BYTES = 64 }; /* enough for Content-Length, or the framing of a chunk */

    buf_reserve(packet, x->head.len + x->out.len + FRAME_BYTES);
    buf_add(packet, x->head.data, x->head.len);
    buf_clear(&x->head);
    x->chunked = x->progress != RESPONSE_ENDED || x->blobs.n > 0;
    if (x->chunked)
        buf_str(packet, "Transfer-Encoding: chunked\r\n\r\n");
    else
        buf_printf(packet, "Content-Length: %zu\r\n\r\n", x->out.len);
    if (x->out.len && !x->head_only && x->chunked)
        buf_printf(packet, "%zx\r\n", x->out.len);
    if (!x->head_only)
        buf_add(packet, x->out.data, x->out.len);
    if (x->out.len && !x->head_only && x->chunked)
        buf_str(packet, "\r\n");
    buf_clear(&x->out);
}

/* Adds the blobs as one more chunk. */
static void move_blobs(struct exchange *x, struct io_packet *packet)
{
    buf_printf(&packet->bytes, "%zx\r\n", x->blobs.bytes);
    packet->blobs = x->blobs.at;
    packet->n_blobs = x->blobs.n;
    buf_str(&packet->after, "\r\n");
    x->blobs = (struct exchange_blobs){0};
}

/* Moves the bytes that are ready into the packet; true when that completes the response. */
static bool fill_from_exchange(struct exchange *x, struct io_packet *packet)
{
    bool may_move = !packet->n_blobs && x->connection->io.in_flight < BLOBS_IN_FLIGHT_MAX;

    if (x->head.len)
        write_head(x, &packet->bytes);
    else if (x->out.len && !x->head_only)
        move_chunk(x, packet);
    buf_clear(&x->out);
    if (x->blobs.n && !may_move)
        return false;
    if (x->blobs.n)
        move_blobs(x, packet);
    if (x->progress == RESPONSE_ENDED && x->chunked && !x->head_only)
        buf_str(packet->n_blobs ? &packet->after : &packet->bytes, "0\r\n\r\n");
    return x->progress == RESPONSE_ENDED;
}

/* Fills the packet from the pending exchanges in order. A packet ends with the first blobs. */
static void fill_packet(struct connection *c, struct io_packet *packet)
{
    while (c->first && !packet->n_blobs) {
        struct exchange *x = c->first;

        if (!fill_from_exchange(x, packet))
            return;
        c->after = x->after;
        exchange_pop(c);
        connection_progress(c);
        if (c->after != KEEP_OPEN)
            return;
    }
}

void response_flush(struct connection *c)
{
    struct io_packet packet = {0};

    fill_packet(c, &packet);
    if (packet.bytes.len)
        io_send(&c->io, &packet);
    io_packet_release(&packet);
}

static void send_all(struct connection *c)
{
    response_flush(c);
    if (c->state != CLOSING)
        connection_advance(c);
}

static void on_flush(struct task *task)
{
    send_all(container_of(task, struct connection, flush));
}

static void on_round(struct watch_batch_entry *batch_entry)
{
    send_all(container_of(batch_entry, struct exchange, batch_entry)->connection);
}

/* Arranges that the response is sent at the end of the turn. */
static void flush_later(struct exchange *x)
{
    loop_post(x->connection->loop, &x->connection->flush);
}

/* Returns whether the API has set the header, which then replaces the default. */
static bool has_header(const char *const *headers, size_t n_headers, const char *name)
{
    for (size_t i = 0; i < n_headers; i++)
        if (strncmp(headers[i], name, strlen(name)) == 0)
            return true;
    return false;
}

/* Returns the Date header, cached for the current second. */
static const char *http_date(time_t now)
{
    static time_t last = -1;
    static char text[64];
    struct tm parts;

    if (now != last)
        strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &parts));
    last = now;
    return text;
}

static void begin_head(struct exchange *x, int status, const char *content_type)
{
    const char *more = x->handler->ops->headers;
    struct loop *loop = x->connection->loop;

    x->status = status;
    snprintf(x->id, sizeof x->id, "%016llx", (unsigned long long)clock_random(loop_clock(loop)));
    buf_printf(&x->head,
               "HTTP/1.1 %d %s\r\n"
               "Date: %s\r\n"
               "Audit-Id: %s\r\n"
               "X-Content-Type-Options: nosniff\r\n",
               status, status_http_phrase(status), http_date((time_t)(loop_wall_ms(loop) / 1000)),
               x->id);
    if (content_type)
        buf_printf(&x->head, "Content-Type: %s\r\n", content_type);
    if (more)
        buf_str(&x->head, more);
    if (x->after != KEEP_OPEN)
        buf_str(&x->head, "Connection: close\r\n");
    x->progress = RESPONSE_BEGUN;
}

static void on_head(struct api_response *response, int status, const char *content_type,
                    const char *const *headers, size_t n_headers)
{
    struct exchange *x = exchange_of(response);

    begin_head(x, status, content_type);
    if (!has_header(headers, n_headers, "Cache-Control:"))
        buf_str(&x->head, "Cache-Control: no-cache, private\r\n");
    for (size_t i = 0; i < n_headers; i++)
        buf_printf(&x->head, "%s\r\n", headers[i]);
    flush_later(x);
}

static void on_blob(struct api_response *response, struct blob *blob)
{
    struct exchange *x = exchange_of(response);
    struct http_handler *handler = x->handler;

    mem_grow(x->blobs.at, x->blobs.n, x->blobs.cap);
    x->blobs.at[x->blobs.n++] = blob_ref(blob);
    x->blobs.bytes += blob->len;
    x->bytes_out += blob->len;
    if (x->long_running && handler->ops->batcher)
        watch_batcher_add(handler->ops->batcher(handler), &x->batch_entry);
    else
        flush_later(x);
}

/* Once blobs wait, further bytes become a blob, too, to keep the order. An empty piece is skipped:
 * an empty chunk would end the response. */
static void on_data(struct api_response *response, const void *bytes, size_t len)
{
    struct exchange *x = exchange_of(response);

    if (!len)
        return;
    if (x->blobs.n) {
        scoped(blob) struct blob *blob = blob_new(bytes, len);

        on_blob(response, blob);
        return;
    }
    if (x->chunked && x->out.len == 0)
        buf_add(&x->out, chunk_room, CHUNK_ROOM);
    buf_add(&x->out, bytes, len);
    x->bytes_out += x->head_only ? 0 : len;
    flush_later(x);
}

static void on_object(struct api_response *response, const struct object *object)
{
    struct exchange *x = exchange_of(response);
    const char *ns = object_namespace(object);

    buf_clear(&x->object);
    buf_printf(&x->object, "%s%s%s", ns, *ns ? "/" : "", object_name(object));
    x->revision = object->revision;
}

static void on_end(struct api_response *response)
{
    struct exchange *x = exchange_of(response);
    bool begun = x->progress != RESPONSE_NOT_BEGUN;

    x->stream = NULL;
    x->progress = RESPONSE_ENDED;
    watch_batcher_remove(&x->batch_entry);
    exchange_record(x);
    if (begun)
        flush_later(x);
    else /* the API stops before it could respond */
        connection_close(x->connection);
}

static void on_abort(struct api_response *response)
{
    struct exchange *x = exchange_of(response);

    x->stream = NULL;
    watch_batcher_remove(&x->batch_entry);
    exchange_record(x);
    connection_close(x->connection);
}

static void on_discard(struct api_response *response)
{
    exchange_drop_blobs(&exchange_of(response)->blobs);
}

static size_t on_backlog(const struct api_response *response)
{
    const struct exchange *x = exchange_of(response);

    return x->connection->io.in_flight + x->out.len + x->blobs.bytes;
}

/* Starts the response that ends the connection. */
static struct exchange *begin_final_response(struct connection *c, int status,
                                             const char *content_type)
{
    struct exchange *x = c->reading ? c->reading : exchange_begin(c);

    io_read_stop(&c->io);
    c->state = RESPONDING;
    x->after = CLOSE_AFTER;
    begin_head(x, status, content_type);
    x->progress = RESPONSE_ENDED;
    return x;
}

void response_refuse(struct connection *c, const struct error *err)
{
    struct exchange *x = begin_final_response(c, error_http_status(err->code), "application/json");

    x->after = LINGER_AFTER;
    status_write_error(err, &(struct status_subject){0}, &x->out);
    exchange_record(x);
    exchange_enqueue(c);
    flush_later(x);
}

void response_end_early(struct connection *c)
{
    io_read_stop(&c->io);
    c->state = RESPONDING;
    c->reading->after = LINGER_AFTER;
    exchange_enqueue(c);
}

void response_refuse_slow(struct connection *c)
{
    struct exchange *x = begin_final_response(c, HTTP_STATUS_REQUEST_TIMEOUT, NULL);

    exchange_record(x);
    exchange_enqueue(c);
    flush_later(x);
}

/* The store may still carry out the request. */
void response_refuse_late(struct connection *c)
{
    struct exchange *x = c->first;
    struct error err = {0};

    x->handler->ops->cancel(take(x->stream));
    error_set(&err, ERR_TIMEOUT, "",
              "the request was not answered in %d s; whether it takes effect is not known",
              RESPONSE_MS / 1000);
    io_read_stop(&c->io);
    c->state = RESPONDING;
    x->after = LINGER_AFTER;
    begin_head(x, error_http_status(err.code), "application/json");
    x->progress = RESPONSE_ENDED;
    status_write_error(&err, &(struct status_subject){0}, &x->out);
    exchange_record(x);
    flush_later(x);
}

void response_init(struct exchange *x)
{
    x->batch_entry.send = on_round;
    x->response = (struct api_response){
        .head = on_head,
        .data = on_data,
        .blob = on_blob,
        .end = on_end,
        .backlog = on_backlog,
        .discard = on_discard,
        .abort = on_abort,
        .object = on_object,
    };
}

void response_init_connection(struct connection *c)
{
    c->flush.run = on_flush;
}
