/*
 * A transport of the API client that passes each exchange to a function of the test.
 */
#include "tests/support/scripted_server.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"

struct scripted_server {
    struct transport base;
    struct loop *loop;
    scripted_fn serve;
    void *ctx;
    struct pending *first; /* list of the exchanges in flight */
    struct buf log;
    int64_t began_ns;
    bool renews;
};

/* One exchange that is in flight. */
struct pending {
    struct scripted_server *server;
    struct exchange *exchange;
    struct pending *next;
    struct task task;   /* calls the function of the test */
    struct timer limit; /* the deadline of the exchange */
    bool open;
};

static struct scripted_server *of(struct transport *transport)
{
    return container_of(transport, struct scripted_server, base);
}

static void forget(struct pending *pending)
{
    struct pending **at = &pending->server->first;

    while (*at != pending)
        at = &(*at)->next;
    *at = pending->next;
    loop_cancel(pending->server->loop, &pending->task);
    timer_stop(pending->server->loop, &pending->limit);
    pending->exchange->carrier = NULL;
    mem_free(pending);
}

static void end(struct pending *pending, enum error_code code, const char *why)
{
    struct exchange *exchange = pending->exchange;
    struct error err = {0};

    forget(pending);
    if (code != ERR_NONE)
        error_set(&err, code, "", "%s", why);
    exchange->done(exchange, code == ERR_NONE ? NULL : &err);
}

static void on_limit(struct timer *timer)
{
    end(container_of(timer, struct pending, limit), ERR_TIMEOUT, "no answer in time");
}

static bool is_pending(const struct scripted_server *server, const struct pending *pending)
{
    for (const struct pending *one = server->first; one; one = one->next)
        if (one == pending)
            return true;
    return false;
}

static void answer(struct pending *pending, const struct scripted_exchange *ask)
{
    struct scripted_server *server = pending->server;
    struct exchange *exchange = pending->exchange;

    if (!ask->status) {
        end(pending, ERR_UNAVAILABLE, "connection refused");
        return;
    }
    exchange->status = ask->status;
    exchange->retry_after_s = ask->retry_after_s;
    if (ask->text.len)
        exchange->data(exchange, ask->text.data, ask->text.len);
    if (!is_pending(server, pending))
        return;
    if (ask->stays_open)
        pending->open = true;
    else
        end(pending, ERR_NONE, NULL);
}

static void serve(struct task *task)
{
    struct pending *pending = container_of(task, struct pending, task);
    struct scripted_server *server = pending->server;
    struct exchange *exchange = pending->exchange;
    scoped_str body =
        exchange->body ? mem_printf("%.*s", (int)exchange->body_len, (const char *)exchange->body)
                       : mem_strdup("");
    struct scripted_exchange ask = {
        .method = exchange->method,
        .target = exchange->target,
        .body = body,
        .at_ms = (loop_mono_ns(server->loop) - server->began_ns) / 1000000,
    };

    buf_printf(&server->log, "%" PRId64 " %s %s\n", ask.at_ms, ask.method, ask.target);
    server->serve(server->ctx, &ask);
    exchange->sent = ask.status || ask.sent;
    if (!ask.silent)
        answer(pending, &ask);
    buf_release(&ask.text);
}

static void start(struct transport *transport, struct exchange *exchange)
{
    struct pending *pending = mem_alloc(sizeof *pending);

    *pending = (struct pending){
        .server = of(transport),
        .exchange = exchange,
        .next = of(transport)->first,
        .task.run = serve,
        .limit.fire = on_limit,
    };
    of(transport)->first = pending;
    exchange->carrier = pending;
    loop_post(of(transport)->loop, &pending->task);
    if (exchange->limit_ms)
        timer_start(of(transport)->loop, &pending->limit, exchange->limit_ms);
}

static void cancel(struct transport *transport, struct exchange *exchange)
{
    forget(exchange->carrier);
}

static bool refused(struct transport *transport)
{
    return of(transport)->renews;
}

static const struct transport_ops ops = {start, cancel, refused};

static struct pending *open_exchange(const struct scripted_server *server)
{
    for (struct pending *one = server->first; one; one = one->next)
        if (one->open)
            return one;
    return NULL;
}

void scripted_send(struct scripted_server *server, const char *text)
{
    scripted_send_bytes(server, text, strlen(text));
}

void scripted_push(struct scripted_server *server, const char *text)
{
    struct exchange *exchange = open_exchange(server)->exchange;

    exchange->data(exchange, text, strlen(text));
}

void scripted_send_bytes(struct scripted_server *server, const void *bytes, size_t len)
{
    struct exchange *exchange = open_exchange(server)->exchange;

    exchange->data(exchange, bytes, len);
    loop_settle(server->loop);
}

void scripted_end(struct scripted_server *server, enum scripted_end how)
{
    struct pending *pending = open_exchange(server);

    if (how == SCRIPTED_BROKEN)
        end(pending, ERR_UNAVAILABLE, "connection reset");
    else
        end(pending, ERR_NONE, NULL);
    loop_settle(server->loop);
}

bool scripted_has_open(const struct scripted_server *server)
{
    return open_exchange(server) != NULL;
}

const char *scripted_requests(const struct scripted_server *server)
{
    return server->log.data ? server->log.data : "";
}

void scripted_renews(struct scripted_server *server, bool renews)
{
    server->renews = renews;
}

struct transport *scripted_transport(struct scripted_server *server)
{
    return &server->base;
}

struct scripted_server *scripted_new(struct loop *loop, scripted_fn serve_fn, void *ctx)
{
    struct scripted_server *server = mem_alloc(sizeof *server);

    server->base.ops = &ops;
    server->loop = loop;
    server->serve = serve_fn;
    server->ctx = ctx;
    server->began_ns = loop_mono_ns(loop);
    return server;
}

void scripted_free(struct scripted_server *server)
{
    while (server->first)
        forget(server->first);
    buf_release(&server->log);
    mem_free(server);
}
