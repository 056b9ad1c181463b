/*
 * The answers of a connection: what the API says, as bytes of HTTP/1.1.
 *
 *   head ───┐              end of the turn
 *   data  ──┼─► head, out ──────────────────┬─► packet ─► socket (in flight) ─► written ─► the API
 *   lines ──┘   lines ─► round of the pacer ┘                                              goes on
 *
 * What is said within one turn goes out as one packet, and so do the answers to several requests.
 * If what is said is the whole answer, it has its length; if not, it and all that follow are
 * chunks. Lines are bytes that many are told: they are kept by reference until the socket takes
 * them, so that a thousand slow readers hold one copy. The API sees as backlog what waits here and
 * what the kernel has not taken yet. What is refused before it reaches the API is answered from
 * here, and the connection then closes.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/server/http/internal.h"
#include "api/server/message/status.h"
#include "api/types/blob.h"
#include "base/mem.h"

enum { LINES_IN_FLIGHT_MAX = 64 << 10 };

static struct exchange *of(const struct api_response *response)
{
    return container_of((struct api_response *)(size_t)response, struct exchange, response);
}

/* ---- out ---- */

/* Room before the bytes of a chunk, for its length: what has gathered goes out as it lies. */
static const char chunk_room[] = "00000000\r\n";
enum { CHUNK_ROOM = sizeof chunk_room - 1, CHUNK_DIGITS = 8 };

static void take_chunk(struct exchange *x, struct io_packet *packet)
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

/* The first flush of an answer that is not complete decides for chunks. */
static void take_head(struct exchange *x, struct buf *packet)
{
    enum { FRAME_BYTES = 64 }; /* more than a length, or the marks of a chunk, take */

    buf_reserve(packet, x->head.len + x->out.len + FRAME_BYTES);
    buf_add(packet, x->head.data, x->head.len);
    buf_clear(&x->head);
    x->chunked = !x->ended || x->lines.n > 0;
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

/* The lines are one chunk more. */
static void take_lines(struct exchange *x, struct io_packet *packet)
{
    buf_printf(&packet->bytes, "%zx\r\n", x->lines.bytes);
    packet->lines = x->lines.at;
    packet->n_lines = x->lines.n;
    buf_str(&packet->after, "\r\n");
    x->lines = (struct exchange_lines){0};
}

/* What has gathered, as bytes of HTTP; true when nothing of it is left. */
static bool take_answer(struct exchange *x, struct io_packet *packet)
{
    bool may_take = !packet->n_lines && x->connection->io.in_flight < LINES_IN_FLIGHT_MAX;

    if (x->head.len)
        take_head(x, &packet->bytes);
    else if (x->out.len && !x->head_only)
        take_chunk(x, packet);
    buf_clear(&x->out);
    if (x->lines.n && !may_take)
        return false;
    if (x->lines.n)
        take_lines(x, packet);
    if (x->ended && x->chunked && !x->head_only)
        buf_str(packet->n_lines ? &packet->after : &packet->bytes, "0\r\n\r\n");
    return x->ended;
}

/* Behind lines nothing can follow in the same packet but their end. */
static void take_packet(struct connection *c, struct io_packet *packet)
{
    while (c->first && !packet->n_lines) {
        struct exchange *x = c->first;

        if (!take_answer(x, packet))
            return;
        c->parting = !x->keep_alive;
        c->lingers = x->lingers;
        exchange_pop(c);
        connection_progress(c);
        if (c->parting)
            return;
    }
}

void response_flush(struct connection *c)
{
    struct io_packet packet = {0};

    take_packet(c, &packet);
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

/* What has been said goes out when the turn is over. */
static void flush_later(struct exchange *x)
{
    loop_post(x->connection->loop, &x->connection->flush);
}

/* ---- what the API says ---- */

/* Headers of its own that an answer brings take the place of ours. */
static bool has_header(const char *const *headers, size_t n_headers, const char *name)
{
    for (size_t i = 0; i < n_headers; i++)
        if (strncmp(headers[i], name, strlen(name)) == 0)
            return true;
    return false;
}

/* The same for a second: most answers of a busy server are of one that has been. */
static const char *date_of(time_t now)
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
    struct loop *loop = x->connection->loop;

    x->status = status;
    snprintf(x->id, sizeof x->id, "%016llx", (unsigned long long)clock_random(loop_clock(loop)));
    buf_printf(&x->head,
               "HTTP/1.1 %d %s\r\n"
               "Date: %s\r\n"
               "Audit-Id: %s\r\n"
               "X-Content-Type-Options: nosniff\r\n",
               status, status_http_phrase(status), date_of((time_t)(loop_wall_ms(loop) / 1000)),
               x->id);
    if (content_type)
        buf_printf(&x->head, "Content-Type: %s\r\n", content_type);
    if (!x->keep_alive)
        buf_str(&x->head, "Connection: close\r\n");
    x->has_head = true;
}

static void answer_head(struct api_response *response, int status, const char *content_type,
                        const char *const *headers, size_t n_headers)
{
    struct exchange *x = of(response);

    begin_head(x, status, content_type);
    if (!has_header(headers, n_headers, "Cache-Control:"))
        buf_str(&x->head, "Cache-Control: no-cache, private\r\n");
    for (size_t i = 0; i < n_headers; i++)
        buf_printf(&x->head, "%s\r\n", headers[i]);
    flush_later(x);
}

static void answer_line(struct api_response *response, struct blob *line)
{
    struct exchange *x = of(response);

    mem_grow(x->lines.at, x->lines.n, x->lines.cap);
    x->lines.at[x->lines.n++] = blob_ref(line);
    x->lines.bytes += line->len;
    x->bytes_out += line->len;
    if (x->long_running)
        watch_batcher_add(api_watch_batcher(x->connection->env->api), &x->batch_entry);
    else
        flush_later(x);
}

/* Behind lines, other bytes are one more. No bytes are none: a chunk of them would be the end. */
static void answer_data(struct api_response *response, const void *bytes, size_t len)
{
    struct exchange *x = of(response);

    if (!len)
        return;
    if (x->lines.n) {
        scoped(blob) struct blob *line = blob_new(bytes, len);

        answer_line(response, line);
        return;
    }
    if (x->chunked && x->out.len == 0)
        buf_add(&x->out, chunk_room, CHUNK_ROOM);
    buf_add(&x->out, bytes, len);
    x->bytes_out += x->head_only ? 0 : len;
    flush_later(x);
}

static void answer_about(struct api_response *response, const struct object *object)
{
    struct exchange *x = of(response);
    const char *ns = object_namespace(object);

    buf_clear(&x->object);
    buf_printf(&x->object, "%s%s%s", ns, *ns ? "/" : "", object_name(object));
    x->revision = object->revision;
}

static void answer_end(struct api_response *response)
{
    struct exchange *x = of(response);

    x->request = NULL;
    x->ended = true;
    x->long_running = false;
    watch_batcher_remove(&x->batch_entry);
    exchange_record(x);
    if (x->has_head)
        flush_later(x);
    else /* the API is being taken down before it could say anything */
        connection_close(x->connection);
}

static void answer_cut(struct api_response *response)
{
    struct exchange *x = of(response);

    x->request = NULL;
    x->long_running = false;
    watch_batcher_remove(&x->batch_entry);
    exchange_record(x);
    connection_close(x->connection);
}

static size_t answer_backlog(const struct api_response *response)
{
    const struct exchange *x = of(response);

    return x->connection->io.in_flight + x->out.len + x->lines.bytes;
}

/* ---- refusals ---- */

/* The answer that ends the connection. */
static struct exchange *last_words(struct connection *c, int status, const char *content_type)
{
    struct exchange *x = c->asking ? c->asking : exchange_begin(c);

    io_read_stop(&c->io);
    c->state = ANSWERING;
    x->keep_alive = false;
    x->ended = true;
    begin_head(x, status, content_type);
    return x;
}

void response_refuse(struct connection *c, const struct error *err)
{
    struct exchange *x = last_words(c, error_http_status(err->code), "application/json");

    x->lingers = true;
    status_write_error(err, &(struct status_subject){0}, &x->out);
    exchange_record(x);
    exchange_enqueue(c);
    flush_later(x);
}

void response_end_early(struct connection *c)
{
    io_read_stop(&c->io);
    c->state = ANSWERING;
    c->asking->keep_alive = false;
    c->asking->lingers = true;
    exchange_enqueue(c);
}

void response_refuse_slow(struct connection *c)
{
    struct exchange *x = last_words(c, HTTP_STATUS_REQUEST_TIMEOUT, NULL);

    exchange_record(x);
    exchange_enqueue(c);
    flush_later(x);
}

/* What was asked for may still happen: it is in the store's hands. */
void response_refuse_late(struct connection *c)
{
    struct exchange *x = c->first;
    struct error err = {0};

    api_cancel(take(x->request));
    error_set(&err, ERR_TIMEOUT, "",
              "the request was not answered in %d s; whether it takes effect is not known",
              ANSWER_MS / 1000);
    io_read_stop(&c->io);
    c->state = ANSWERING;
    x->keep_alive = false;
    x->lingers = x->ended = true;
    begin_head(x, error_http_status(err.code), "application/json");
    status_write_error(&err, &(struct status_subject){0}, &x->out);
    exchange_record(x);
    flush_later(x);
}

/* ---- life ---- */

void response_init(struct exchange *x)
{
    x->batch_entry.send = on_round;
    x->response = (struct api_response){
        .head = answer_head,
        .data = answer_data,
        .blob = answer_line,
        .end = answer_end,
        .backlog = answer_backlog,
        .abort = answer_cut,
        .object = answer_about,
    };
}

void response_init_connection(struct connection *c)
{
    c->flush.run = on_flush;
}
