/*
 * Runs calls to an API server. A call is tried, waits before a retry, waits for new credentials,
 * and is finished.
 */
#include "api/client/remote.h"

#include <stdio.h>
#include <string.h>

#include "api/client/answer.h"
#include "base/compiler.h"
#include "base/loop/metrics.h"
#include "base/mem.h"

enum { NS_PER_S = 1000000000, FAILURE_BYTES_MAX = 1 << 20 };
static const size_t answer_bytes_max = (size_t)1 << 30; /* guards against endless responses */

static const double duration_ends[] = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30};
static const struct metric_def requests_def = {"rest_client_requests_total",
                                               "Requests to the API server that have ended",
                                               METRIC_COUNTER,
                                               {"method", "code", "host"}};
static const struct metric_def durations_def = {"rest_client_request_duration_seconds",
                                                "Time until the whole answer, without watches",
                                                METRIC_HISTOGRAM,
                                                {"verb", "host"},
                                                duration_ends,
                                                countof(duration_ends)};

struct remote {
    struct loop *loop;
    char *host; /* name under which requests are counted; NULL: they are not */
    struct transport *transport;
    struct remote_options options;
    int64_t next_ns; /* earliest start of the next call, burst not counted */
};

struct remote *remote_new(struct loop *loop, struct transport *transport,
                          const struct remote_options *options)
{
    struct remote *remote = mem_alloc(sizeof *remote);

    remote->loop = loop;
    remote->transport = transport;
    if (options)
        remote->options = *options;
    remote->host = mem_strdup(remote->options.host);
    remote->options.host = remote->host;
    return remote;
}

void remote_free(struct remote *remote)
{
    if (remote)
        mem_free(remote->host);
    mem_free(remote);
}

struct loop *remote_loop(const struct remote *remote)
{
    return remote->loop;
}

static struct remote_call *call_of(struct exchange *exchange)
{
    return container_of(exchange, struct remote_call, exchange);
}

static void on_warning(struct exchange *exchange, const char *text, size_t len)
{
    struct remote_call *call = call_of(exchange);

    if (call->warning)
        call->warning(call, text, len);
}

static void finish(struct remote_call *call)
{
    call->under_way = false;
    if (call->done)
        call->done(call);
}

static void fail(struct remote_call *call, enum error_code code, const char *why)
{
    remote_cancel(call);
    call->status = 0;
    error_set(&call->err, code, "", "%s", why);
    finish(call);
}

static void take_media_type(struct remote_call *call)
{
    memcpy(call->media_type, call->exchange.media_type, sizeof call->media_type);
}

static void on_data(struct exchange *exchange, const char *bytes, size_t len)
{
    struct remote_call *call = call_of(exchange);
    bool success = exchange->status < 300;

    call->status = exchange->status;
    take_media_type(call);
    if (call->data && success)
        call->data(call, bytes, len);
    else if (call->text.len + len <= (success ? answer_bytes_max : FAILURE_BYTES_MAX))
        buf_add(&call->text, bytes, len);
    else if (success)
        fail(call, ERR_TOO_LARGE, "the server's answer does not end");
}

static void try_now(struct timer *timer)
{
    struct remote_call *call = container_of(timer, struct remote_call, timer);
    struct exchange *exchange = &call->exchange;

    call->began_ns = loop_mono_ns(call->remote->loop);
    buf_clear(&call->text);
    exchange->status = exchange->retry_after_s = 0;
    exchange->sent = false;
    exchange->media_type[0] = '\0';
    call->remote->transport->ops->start(call->remote->transport, exchange);
}

static bool is_busy(const struct exchange *exchange)
{
    return (exchange->status == 429 || exchange->status >= 500) && exchange->retry_after_s > 0 &&
           exchange->retry_after_s <= REMOTE_RETRY_AFTER_MAX_S;
}

/* Returns whether the request can be repeated without side effects. */
static bool is_harmless(const struct exchange *exchange)
{
    return strcmp(exchange->method, "GET") == 0 || !exchange->sent;
}

/* Returns the delay before the next attempt; -1: no further attempt. */
static int64_t wait_before_next(struct remote_call *call, bool lost)
{
    const struct exchange *exchange = &call->exchange;
    struct transport *transport = call->remote->transport;

    if (lost) {
        bool told = call->data && exchange->status; /* the owner already has part of the body */

        if (call->lost_tries >= call->patience || told || !is_harmless(exchange))
            return -1;
        call->lost_tries++;
        return backoff_next_ms(&call->backoff, loop_clock(call->remote->loop));
    }
    if (exchange->status == 401 && !call->renewed && transport->ops->refused(transport)) {
        call->renewed = true;
        return 0;
    }
    if (!call->once && is_busy(exchange) && call->busy_tries < REMOTE_TRIES_MAX) {
        call->busy_tries++;
        return (int64_t)exchange->retry_after_s * 1000;
    }
    return -1;
}

/* Counts an attempt that has ended. Without an answer its code is "<error>", as that of client-go. */
static void count(const struct remote_call *call, bool answered)
{
    const struct remote *remote = call->remote;
    struct metrics *metrics = remote->host ? loop_metrics(remote->loop) : NULL;
    int64_t took_ns = loop_mono_ns(remote->loop) - call->began_ns;
    const char *method = call->exchange.method;
    char code[16] = "<error>";

    if (!metrics)
        return;
    if (answered)
        snprintf(code, sizeof code, "%d", call->exchange.status);
    metric_add(metric_of(metrics_family(metrics, &requests_def),
                         (const char *const[]){method, code, remote->host}),
               1);
    if (!call->data)
        metric_observe(metric_of(metrics_family(metrics, &durations_def),
                                 (const char *const[]){method, remote->host}),
                       (double)took_ns / NS_PER_S);
}

static void on_done(struct exchange *exchange, const struct error *err)
{
    struct remote_call *call = call_of(exchange);
    int64_t wait_ms = wait_before_next(call, err != NULL);

    count(call, !err);
    if (wait_ms >= 0) {
        timer_start(call->remote->loop, &call->timer, wait_ms);
        return;
    }
    call->status = err ? 0 : exchange->status;
    take_media_type(call);
    if (err)
        call->err = *err;
    finish(call);
}

/* Rate limit: a token bucket of `burst` tokens, refilled `per_second`. Returns the time until a
 * token is available. */
static int64_t wait_for_turn_ns(struct remote *remote)
{
    int64_t each_ns, now_ns = loop_mono_ns(remote->loop), wait_ns;

    if (remote->options.per_second <= 0)
        return 0;
    each_ns = NS_PER_S / remote->options.per_second;
    if (remote->next_ns < now_ns)
        remote->next_ns = now_ns;
    remote->next_ns += each_ns;
    wait_ns = remote->next_ns - each_ns * remote->options.burst - now_ns;
    return wait_ns > 0 ? wait_ns : 0;
}

void remote_start(struct remote *remote, struct remote_call *call)
{
    call->remote = remote;
    call->exchange = (struct exchange){
        .method = call->method ? call->method : "GET",
        .target = call->target,
        .accept = call->accept,
        .content_type = call->content_type,
        .user_agent = call->user_agent,
        .body = call->body,
        .body_len = call->body_len,
        .limit_ms = call->limit_ms,
        .gathered = !call->data,
        .warning = on_warning,
        .data = on_data,
        .done = on_done,
    };
    call->status = 0;
    call->err = (struct error){0};
    buf_clear(&call->text);
    call->busy_tries = call->lost_tries = 0;
    call->backoff = BACKOFF_USUAL;
    call->renewed = false;
    call->under_way = true;
    call->timer.fire = try_now;
    timer_start_ns(remote->loop, &call->timer, wait_for_turn_ns(remote));
}

void remote_cancel(struct remote_call *call)
{
    if (!call->under_way)
        return;
    call->under_way = false;
    timer_stop(call->remote->loop, &call->timer);
    if (call->exchange.carrier)
        call->remote->transport->ops->cancel(call->remote->transport, &call->exchange);
}

void remote_call_release(struct remote_call *call)
{
    remote_cancel(call);
    buf_release(&call->text);
}

bool remote_ok(const struct remote_call *call, struct error *err)
{
    if (call->err.code != ERR_NONE) {
        if (err)
            *err = call->err;
        return false;
    }
    return answer_ok(call->status, &call->text, err);
}
