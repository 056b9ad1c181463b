/*
 * The answer of a connection: what the API says, as bytes of HTTP/1.1.
 *
 *   head ─┐              end of the turn
 *   data ─┼─► head, out ──────────► packet ─► socket (in flight) ─► written ─┬─► the API goes on
 *   end  ─┘                                                                  └─► next request
 *
 * What is said within one turn goes out as one packet. If that is the whole answer, it has its
 * length; if not, it and all that follow are chunks. The API sees as backlog what waits here and
 * what the kernel has not taken yet. What is refused before it reaches the API is answered from
 * here, and the connection then closes.
 */
#include "api/server/connection_impl.h"
#include "api/server/status.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct connection *of(const struct api_answer *answer)
{
    return container_of((struct api_answer *)(size_t)answer, struct connection, answer);
}

void answer_tell(struct connection *c)
{
    const struct record record = {
        .identity = c->identity,
        .method = request_method(c),
        .method_name = llhttp_method_name((llhttp_method_t)c->parser.method),
        .target = c->target.data ? c->target.data : "",
        .peer = c->peer ? c->peer : "",
        .user_agent = c->user_agent.data ? c->user_agent.data : "",
        .id = c->id,
        .object = c->object.data ? c->object.data : "",
        .revision = c->revision,
        .status = c->status,
        .began_ms = c->began_ms,
        .duration_ns = loop_mono_ns(c->loop) - c->began_ns,
        .bytes_in = c->body.len,
        .bytes_out = c->bytes_out,
    };

    if (c->status)
        api_note(c->env->api, &record, c->endless);
    if (c->env->answered && c->status)
        c->env->answered(c->env->ctx, &record);
    c->status = 0;
}

/* ---- out ---- */

void answer_written(struct connection *c)
{
    const struct connection_io *io = &c->io;

    if (io->in_flight > 0)
        timer_start(c->loop, &c->deadline, STALL_MS);
    else if (c->state == ANSWERING)
        timer_stop(c->loop, &c->deadline);
    if (io->in_flight > 0 || c->state != ANSWERING || c->flush.posted)
        return;
    if (c->ended)
        connection_next(c);
    else if (c->request)
        api_drained(c->request);
}

void answer_send(struct connection *c, struct buf *bytes)
{
    if (c->io.in_flight == 0 && c->state == ANSWERING)
        timer_start(c->loop, &c->deadline, STALL_MS);
    io_send(&c->io, bytes);
}

/* Room before the bytes of a chunk, for its length: what has gathered goes out as it lies. */
static const char chunk_room[] = "00000000\r\n";
enum { CHUNK_ROOM = sizeof chunk_room - 1, CHUNK_DIGITS = 8 };

static void take_chunk(struct connection *c, struct buf *packet)
{
    char digits[CHUNK_DIGITS + 1];

    snprintf(digits, sizeof digits, "%0*zx", CHUNK_DIGITS, c->out.len - CHUNK_ROOM);
    memcpy(c->out.data, digits, CHUNK_DIGITS);
    buf_str(&c->out, "\r\n");
    *packet = c->out;
    c->out = (struct buf){0};
}

/* The first flush of an answer that is not complete decides for chunks. */
static void take_head(struct connection *c, struct buf *packet)
{
    enum { FRAME_BYTES = 64 }; /* more than a length, or the marks of a chunk, take */

    buf_reserve(packet, c->head.len + c->out.len + FRAME_BYTES);
    buf_add(packet, c->head.data, c->head.len);
    buf_clear(&c->head);
    c->chunked = !c->ended;
    if (c->chunked)
        buf_str(packet, "Transfer-Encoding: chunked\r\n\r\n");
    else
        buf_printf(packet, "Content-Length: %zu\r\n\r\n", c->out.len);
    if (c->out.len && !c->head_only && c->chunked)
        buf_printf(packet, "%zx\r\n", c->out.len);
    if (!c->head_only)
        buf_add(packet, c->out.data, c->out.len);
    if (c->out.len && !c->head_only && c->chunked)
        buf_str(packet, "\r\n");
    buf_clear(&c->out);
}

/* What has gathered, as bytes of HTTP. */
static void take_packet(struct connection *c, struct buf *packet)
{
    if (c->head.len)
        take_head(c, packet);
    else if (c->out.len && !c->head_only)
        take_chunk(c, packet);
    buf_clear(&c->out);
    if (c->ended && c->chunked && !c->head_only)
        buf_str(packet, "0\r\n\r\n");
}

static void on_flush(struct task *task)
{
    struct connection *c = container_of(task, struct connection, flush);
    scoped(buf) struct buf packet = {0};

    take_packet(c, &packet);
    if (packet.len)
        answer_send(c, &packet);
    else if (c->ended && c->io.in_flight == 0)
        connection_next(c);
}

void answer_flush(struct connection *c)
{
    scoped(buf) struct buf packet = {0};

    take_packet(c, &packet);
    if (packet.len)
        answer_send(c, &packet);
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

static void begin_head(struct connection *c, int status, const char *content_type)
{
    time_t now = (time_t)(loop_wall_ms(c->loop) / 1000);
    char date[64];
    struct tm parts;

    c->status = status;
    snprintf(c->id, sizeof c->id, "%016llx", (unsigned long long)clock_random(loop_clock(c->loop)));
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &parts));
    buf_printf(&c->head,
               "HTTP/1.1 %d %s\r\n"
               "Date: %s\r\n"
               "Audit-Id: %s\r\n"
               "X-Content-Type-Options: nosniff\r\n",
               status, status_http_phrase(status), date, c->id);
    if (content_type)
        buf_printf(&c->head, "Content-Type: %s\r\n", content_type);
    if (!c->keep_alive)
        buf_str(&c->head, "Connection: close\r\n");
    c->has_head = true;
}

static void answer_head(struct api_answer *answer, int status, const char *content_type,
                        const char *const *headers, size_t n_headers)
{
    struct connection *c = of(answer);

    begin_head(c, status, content_type);
    if (!has_header(headers, n_headers, "Cache-Control:"))
        buf_str(&c->head, "Cache-Control: no-cache, private\r\n");
    for (size_t i = 0; i < n_headers; i++)
        buf_printf(&c->head, "%s\r\n", headers[i]);
    loop_post(c->loop, &c->flush);
}

static void answer_data(struct api_answer *answer, const void *bytes, size_t len)
{
    struct connection *c = of(answer);

    if (c->chunked && c->out.len == 0)
        buf_add(&c->out, chunk_room, CHUNK_ROOM);
    buf_add(&c->out, bytes, len);
    c->bytes_out += c->head_only ? 0 : len;
    loop_post(c->loop, &c->flush);
}

static void answer_about(struct api_answer *answer, const struct object *object)
{
    struct connection *c = of(answer);
    const char *ns = object_namespace(object);

    buf_clear(&c->object);
    buf_printf(&c->object, "%s%s%s", ns, *ns ? "/" : "", object_name(object));
    c->revision = object->revision;
}

static void answer_end(struct api_answer *answer)
{
    struct connection *c = of(answer);

    c->request = NULL;
    c->ended = true;
    answer_tell(c);
    if (c->has_head)
        loop_post(c->loop, &c->flush);
    else /* the API is being taken down before it could say anything */
        connection_close(c);
}

static size_t answer_backlog(const struct api_answer *answer)
{
    const struct connection *c = of(answer);

    return c->io.in_flight + c->out.len;
}

/* ---- refusals ---- */

void answer_refuse(struct connection *c, const struct error *err)
{
    io_read_stop(&c->io);
    timer_stop(c->loop, &c->deadline);
    c->state = ANSWERING;
    c->keep_alive = false;
    c->lingers = true;
    c->ended = true;
    begin_head(c, error_http_status(err->code), "application/json");
    status_write_error(err, &(struct status_subject){0}, &c->out);
    answer_tell(c);
    loop_post(c->loop, &c->flush);
}

void answer_early(struct connection *c)
{
    io_read_stop(&c->io);
    timer_start(c->loop, &c->deadline, ANSWER_MS);
    c->state = ANSWERING;
    c->keep_alive = false;
    c->lingers = true;
}

void answer_refuse_slow(struct connection *c)
{
    io_read_stop(&c->io);
    c->state = ANSWERING;
    c->keep_alive = false;
    c->ended = true;
    begin_head(c, HTTP_STATUS_REQUEST_TIMEOUT, NULL);
    answer_tell(c);
    loop_post(c->loop, &c->flush);
}

/* What was asked for may still happen: it is in the store's hands. */
void answer_refuse_late(struct connection *c)
{
    struct error err = {0};

    api_cancel(take(c->request));
    error_set(&err, ERR_TIMEOUT, "",
              "the request was not answered in %d s; whether it takes effect is not known",
              ANSWER_MS / 1000);
    answer_refuse(c, &err);
}

/* ---- life ---- */

void answer_init(struct connection *c)
{
    c->flush.run = on_flush;
    c->answer = (struct api_answer){
        .head = answer_head,
        .data = answer_data,
        .end = answer_end,
        .backlog = answer_backlog,
        .about = answer_about,
    };
}

void answer_reset(struct connection *c)
{
    c->status = 0;
    c->bytes_out = 0;
    c->revision = 0;
    c->has_head = c->chunked = c->ended = c->endless = c->lingers = c->head_only = false;
}
