#include "tests/support/scripted_server.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"

struct scripted_server {
    struct transport base;
    struct loop *loop;
    scripted_fn serve;
    void *ctx;
    struct carried *first; /* under way */
    struct buf log;
    int64_t began_ns;
    bool renews;
};

/* One exchange under way. */
struct carried {
    struct scripted_server *scripted;
    struct exchange *exchange;
    struct carried *next;
    struct task task;   /* it is served */
    struct timer limit; /* it took too long */
    bool open;
};

static struct scripted_server *of(struct transport *transport)
{
    return container_of(transport, struct scripted_server, base);
}

static void forget(struct carried *carried)
{
    struct carried **at = &carried->scripted->first;

    while (*at != carried)
        at = &(*at)->next;
    *at = carried->next;
    loop_cancel(carried->scripted->loop, &carried->task);
    timer_stop(carried->scripted->loop, &carried->limit);
    carried->exchange->carrier = NULL;
    mem_free(carried);
}

static void end(struct carried *carried, enum error_code code, const char *why)
{
    struct exchange *exchange = carried->exchange;
    struct error err = {0};

    forget(carried);
    if (code != ERR_NONE)
        error_set(&err, code, "", "%s", why);
    exchange->done(exchange, code == ERR_NONE ? NULL : &err);
}

static void on_limit(struct timer *timer)
{
    end(container_of(timer, struct carried, limit), ERR_TIMEOUT, "no answer in time");
}

static bool is_under_way(const struct scripted_server *scripted, const struct carried *carried)
{
    for (const struct carried *one = scripted->first; one; one = one->next)
        if (one == carried)
            return true;
    return false;
}

static void answer(struct carried *carried, const struct scripted_exchange *ask)
{
    struct scripted_server *scripted = carried->scripted;
    struct exchange *exchange = carried->exchange;

    if (!ask->status) {
        end(carried, ERR_UNAVAILABLE, "connection refused");
        return;
    }
    exchange->status = ask->status;
    exchange->retry_after_s = ask->retry_after_s;
    if (ask->text.len)
        exchange->data(exchange, ask->text.data, ask->text.len);
    if (!is_under_way(scripted, carried))
        return;
    if (ask->stays_open)
        carried->open = true;
    else
        end(carried, ERR_NONE, NULL);
}

static void serve(struct task *task)
{
    struct carried *carried = container_of(task, struct carried, task);
    struct scripted_server *scripted = carried->scripted;
    struct exchange *exchange = carried->exchange;
    scoped_str body =
        exchange->body ? mem_printf("%.*s", (int)exchange->body_len, (const char *)exchange->body)
                       : mem_strdup("");
    struct scripted_exchange ask = {
        .method = exchange->method,
        .target = exchange->target,
        .body = body,
        .at_ms = (loop_mono_ns(scripted->loop) - scripted->began_ns) / 1000000,
    };

    buf_printf(&scripted->log, "%" PRId64 " %s %s\n", ask.at_ms, ask.method, ask.target);
    scripted->serve(scripted->ctx, &ask);
    exchange->sent = ask.status || ask.sent;
    if (!ask.silent)
        answer(carried, &ask);
    buf_release(&ask.text);
}

static void start(struct transport *transport, struct exchange *exchange)
{
    struct carried *carried = mem_alloc(sizeof *carried);

    *carried = (struct carried){
        .scripted = of(transport),
        .exchange = exchange,
        .next = of(transport)->first,
        .task.run = serve,
        .limit.fire = on_limit,
    };
    of(transport)->first = carried;
    exchange->carrier = carried;
    loop_post(of(transport)->loop, &carried->task);
    if (exchange->limit_ms)
        timer_start(of(transport)->loop, &carried->limit, exchange->limit_ms);
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

/* ---- the test's side ---- */

static struct carried *the_open(const struct scripted_server *scripted)
{
    for (struct carried *one = scripted->first; one; one = one->next)
        if (one->open)
            return one;
    return NULL;
}

void scripted_send(struct scripted_server *scripted, const char *text)
{
    scripted_send_bytes(scripted, text, strlen(text));
}

void scripted_send_bytes(struct scripted_server *scripted, const void *bytes, size_t len)
{
    struct exchange *exchange = the_open(scripted)->exchange;

    exchange->data(exchange, bytes, len);
    loop_settle(scripted->loop);
}

void scripted_end(struct scripted_server *scripted, enum scripted_end how)
{
    struct carried *carried = the_open(scripted);

    if (how == SCRIPTED_BROKEN)
        end(carried, ERR_UNAVAILABLE, "connection reset");
    else
        end(carried, ERR_NONE, NULL);
    loop_settle(scripted->loop);
}

bool scripted_has_open(const struct scripted_server *scripted)
{
    return the_open(scripted) != NULL;
}

const char *scripted_requests(const struct scripted_server *scripted)
{
    return scripted->log.data ? scripted->log.data : "";
}

void scripted_renews(struct scripted_server *scripted, bool renews)
{
    scripted->renews = renews;
}

struct transport *scripted_transport(struct scripted_server *scripted)
{
    return &scripted->base;
}

struct scripted_server *scripted_new(struct loop *loop, scripted_fn serve_fn, void *ctx)
{
    struct scripted_server *scripted = mem_alloc(sizeof *scripted);

    scripted->base.ops = &ops;
    scripted->loop = loop;
    scripted->serve = serve_fn;
    scripted->ctx = ctx;
    scripted->began_ns = loop_mono_ns(loop);
    return scripted;
}

void scripted_free(struct scripted_server *scripted)
{
    while (scripted->first)
        forget(scripted->first);
    buf_release(&scripted->log);
    mem_free(scripted);
}
