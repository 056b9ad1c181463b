/*
 * A transport of the API client whose exchanges are handled by api_handle. Bytes of a response are
 * gathered and handed over from a task, so that a callback may cancel its exchange.
 */
#include "tests/support/api_transport.h"

#include <string.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/loop/loop.h"
#include "base/mem.h"

struct api_transport {
    struct transport base;
    struct loop *loop;
    struct api *api;
    api_fate_fn fate;
    void *ctx;
    LIST_HEAD(, trip) trips;
    struct buf log; /* one line for each request: "METHOD target" */
};

/* One exchange on its way. */
struct trip {
    struct api_transport *transport;
    struct exchange *exchange;
    struct api_response response;
    struct api_stream *stream; /* NULL: none, or it has ended */
    struct task task;          /* begins the exchange, later hands bytes over */
    struct timer limit;
    enum api_fate fate;
    struct buf bytes; /* bytes that were not handed over yet */
    bool begun, ended, broken;
    LIST_ENTRY(trip) all;
};

static struct trip *trip_of(const struct api_response *response)
{
    return container_of((struct api_response *)(uintptr_t)response, struct trip, response);
}

static void trip_free(struct trip *trip)
{
    struct loop *loop = trip->transport->loop;

    if (trip->stream)
        api_cancel(trip->stream);
    loop_cancel(loop, &trip->task);
    timer_stop(loop, &trip->limit);
    trip->exchange->carrier = NULL;
    buf_release(&trip->bytes);
    LIST_REMOVE(trip, all);
    mem_free(trip);
}

static void end(struct trip *trip, enum error_code code, const char *why)
{
    struct exchange *exchange = trip->exchange;
    struct error err = {0};

    trip_free(trip);
    if (code != ERR_NONE)
        error_set(&err, code, "", "%s", why);
    exchange->done(exchange, code == ERR_NONE ? NULL : &err);
}

static void on_head(struct api_response *response, int status, const char *content_type,
                    const char *const *headers, size_t n_headers)
{
    if (trip_of(response)->fate == API_ANSWERED)
        trip_of(response)->exchange->status = status;
}

static void on_data(struct api_response *response, const void *bytes, size_t len)
{
    struct trip *trip = trip_of(response);

    buf_add(&trip->bytes, bytes, len);
    loop_post(trip->transport->loop, &trip->task);
}

static void on_end(struct api_response *response)
{
    struct trip *trip = trip_of(response);

    trip->stream = NULL;
    trip->ended = true;
    loop_post(trip->transport->loop, &trip->task);
}

static void on_abort(struct api_response *response)
{
    trip_of(response)->broken = true;
    on_end(response);
}

static size_t on_backlog(const struct api_response *response)
{
    return 0;
}

static void hand_in(struct trip *trip)
{
    const struct exchange *exchange = trip->exchange;
    const struct api_request request = {
        .method = api_method_of(exchange->method),
        .target = exchange->target,
        .accept = exchange->accept,
        .content_type = exchange->content_type,
        .body = exchange->body,
        .body_len = exchange->body_len,
    };

    trip->response = (struct api_response){
        .head = on_head, .data = on_data, .end = on_end, .backlog = on_backlog, .abort = on_abort};
    trip->stream = api_handle(trip->transport->api, &request, &trip->response);
}

static void refuse(struct trip *trip, int status, const char *text)
{
    trip->exchange->status = status;
    trip->exchange->retry_after_s = status == 429 ? 1 : 0;
    trip->exchange->data(trip->exchange, text, strlen(text));
    end(trip, ERR_NONE, NULL);
}

static void begin(struct trip *trip)
{
    struct api_transport *transport = trip->transport;
    struct exchange *exchange = trip->exchange;

    buf_printf(&transport->log, "%s %s\n", exchange->method, exchange->target);
    trip->begun = true;
    trip->fate = transport->fate
                     ? transport->fate(transport->ctx, exchange->method, exchange->target)
                     : API_ANSWERED;
    exchange->sent = trip->fate != API_UNREACHABLE;
    switch (trip->fate) {
    case API_ANSWERED:
    case API_ANSWER_LOST:
        hand_in(trip);
        break;
    case API_UNREACHABLE:
        end(trip, ERR_UNAVAILABLE, "connection refused");
        break;
    case API_REQUEST_LOST:
        end(trip, ERR_UNAVAILABLE, "connection reset");
        break;
    case API_HANGS:
        break;
    case API_BUSY:
        refuse(trip, 429, "{\"kind\":\"Status\",\"code\":429,\"message\":\"too many requests\"}");
        break;
    case API_FAILS:
        refuse(trip, 500, "{\"kind\":\"Status\",\"code\":500,\"message\":\"no luck\"}");
        break;
    }
}

static bool is_open(const struct api_transport *transport, const struct trip *trip)
{
    const struct trip *one;

    LIST_FOREACH(one, &transport->trips, all)
    {
        if (one == trip)
            return true;
    }
    return false;
}

/* Hands over what has come. The exchange may be cancelled meanwhile. */
static void go_on(struct task *task)
{
    struct trip *trip = container_of(task, struct trip, task);
    struct api_transport *transport = trip->transport;
    struct buf bytes = trip->bytes;

    if (!trip->begun) {
        begin(trip);
        return;
    }
    trip->bytes = (struct buf){0};
    if (bytes.len && trip->fate == API_ANSWERED)
        trip->exchange->data(trip->exchange, bytes.data, bytes.len);
    buf_release(&bytes);
    if (!is_open(transport, trip) || !trip->ended)
        return;
    if (trip->fate == API_ANSWER_LOST || trip->broken)
        end(trip, ERR_UNAVAILABLE, "connection reset");
    else
        end(trip, ERR_NONE, NULL);
}

static void on_limit(struct timer *timer)
{
    end(container_of(timer, struct trip, limit), ERR_TIMEOUT, "no answer in time");
}

static void start(struct transport *base, struct exchange *exchange)
{
    struct api_transport *transport = container_of(base, struct api_transport, base);
    struct trip *trip = mem_alloc(sizeof *trip);

    trip->transport = transport;
    trip->exchange = exchange;
    trip->task.run = go_on;
    trip->limit.fire = on_limit;
    exchange->carrier = trip;
    LIST_INSERT_HEAD(&transport->trips, trip, all);
    loop_post(transport->loop, &trip->task);
    if (exchange->limit_ms)
        timer_start(transport->loop, &trip->limit, exchange->limit_ms);
}

static void cancel(struct transport *base, struct exchange *exchange)
{
    trip_free(exchange->carrier);
}

static bool refused(struct transport *base)
{
    return false;
}

static const struct transport_ops ops = {start, cancel, refused};

struct api_transport *api_transport_new(struct loop *loop, struct api *api)
{
    struct api_transport *transport = mem_alloc(sizeof *transport);

    transport->base.ops = &ops;
    transport->loop = loop;
    transport->api = api;
    LIST_INIT(&transport->trips);
    return transport;
}

void api_transport_free(struct api_transport *transport)
{
    buf_release(&transport->log);
    mem_free(transport);
}

struct transport *api_transport_base(struct api_transport *transport)
{
    return &transport->base;
}

void api_transport_plan(struct api_transport *transport, api_fate_fn fate, void *ctx)
{
    transport->fate = fate;
    transport->ctx = ctx;
}

void api_transport_break(struct api_transport *transport)
{
    struct trip *trip, *next;

    for (trip = LIST_FIRST(&transport->trips); trip; trip = next) {
        next = LIST_NEXT(trip, all);
        if (!trip->begun)
            continue;
        if (trip->stream)
            api_cancel(take(trip->stream));
        trip->ended = trip->broken = true;
        loop_post(transport->loop, &trip->task);
    }
}

unsigned api_transport_count(const struct api_transport *transport, const char *method,
                             const char *part)
{
    const char *line = transport->log.data ? transport->log.data : "";
    unsigned count = 0;

    while (*line) {
        size_t len = strcspn(line, "\n");
        scoped_str text = mem_printf("%.*s", (int)len, line);
        bool is_method =
            !method || (strncmp(text, method, strlen(method)) == 0 && text[strlen(method)] == ' ');

        count += is_method && (!part || strstr(text, part));
        line += len + (line[len] == '\n');
    }
    return count;
}
