/*
 * The transport over HTTP: to the unix socket of a data directory, or to the server of a
 * kubeconfig.
 *
 * Calls run through api/client/remote on the client's own event loop. Ended calls are queued and
 * their callbacks run between two runs of the loop, so that a callback may run the client again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/client/remote.h"
#include "api/client/transport_http.h"
#include "api/server/http/unix_path.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/net/peer.h"
#include "cli/client/internal.h"
#include "cli/engine/serving.h"

struct http {
    struct client base;
    struct loop *loop;
    struct unix_path socket;
    struct transport *transport;
    struct remote *remote;
    struct pending *ended, **e_end; /* queue of ended calls whose callbacks have not run yet */
    bool is_server, owns_loop;
};

/* One call in flight. */
struct pending {
    struct remote_call remote;
    struct client_call *call;
    struct http *http;
    struct pending *next;
    bool has_ended;
};

static struct http *of(struct client *client)
{
    return container_of(client, struct http, base);
}

static struct pending *pending_of(struct remote_call *remote)
{
    return container_of(remote, struct pending, remote);
}

static void on_warning(struct remote_call *remote, const char *text, size_t len)
{
    client_take_warning(text, len);
}

static void on_data(struct remote_call *remote, const char *bytes, size_t len)
{
    struct http *http = pending_of(remote)->http;
    struct client_call *call = pending_of(remote)->call;

    call->status = remote->status;
    client_take_data(call, bytes, len);
    if (http->base.stopped)
        loop_stop(http->loop);
}

static void on_done(struct remote_call *remote)
{
    struct pending *pending = pending_of(remote);
    struct http *http = pending->http;

    pending->has_ended = true;
    *http->e_end = pending;
    http->e_end = &pending->next;
    loop_stop(http->loop);
}

static void http_start(struct client *client, struct client_call *call)
{
    struct http *http = of(client);
    struct pending *pending = mem_alloc(sizeof *pending);

    pending->http = http;
    pending->call = call;
    pending->remote = (struct remote_call){
        .method = call->method,
        .target = call->target,
        .accept = call->accept,
        .content_type = call->content_type,
        .body = call->body,
        .body_len = call->body_len,
        .limit_ms = http->is_server && !call->data ? REMOTE_LIMIT_MS : 0,
        .data = call->data ? on_data : NULL,
        .warning = on_warning,
        .done = on_done,
    };
    call->transport = pending;
    remote_start(http->remote, &pending->remote);
}

static void pending_free(struct pending *pending)
{
    remote_call_release(&pending->remote);
    mem_free(pending);
}

static void leave_ended(struct http *http, struct pending *pending)
{
    struct pending **at = &http->ended;

    while (*at != pending)
        at = &(*at)->next;
    *at = pending->next;
    if (!*at)
        http->e_end = at;
}

static void http_cancel(struct client_call *call)
{
    struct pending *pending = call->transport;

    call->transport = NULL;
    if (pending->has_ended)
        leave_ended(pending->http, pending);
    pending_free(pending);
}

static void hand_over(struct pending *pending)
{
    struct client_call *call = pending->call;
    struct remote_call *remote = &pending->remote;

    call->transport = NULL;
    call->status = remote->status;
    snprintf(call->media_type, sizeof call->media_type, "%s", remote->media_type);
    if (remote->err.code != ERR_NONE) /* keep an error that the caller has already set */
        call->err = remote->err;
    buf_release(&call->text);
    call->text = remote->text;
    remote->text = (struct buf){0};
    pending_free(pending);
    client_take_end(call);
}

struct limit {
    struct timer timer;
    struct loop *loop;
    bool passed;
};

static void on_limit(struct timer *timer)
{
    struct limit *limit = container_of(timer, struct limit, timer);

    limit->passed = true;
    loop_stop(limit->loop);
}

static enum client_ran run_until(struct http *http, const struct limit *limit, bool without_calls)
{
    for (;;) {
        /* Runs every callback, even after one of them has called client_stop. */
        while (http->ended) {
            struct pending *pending = http->ended;

            leave_ended(http, pending);
            hand_over(pending);
        }
        if (http->base.stopped)
            return CLIENT_STOPPED;
        if (LIST_EMPTY(&http->base.calls) && !without_calls)
            return CLIENT_IDLE;
        if (limit->passed)
            return CLIENT_TIMED_OUT;
        loop_run(http->loop);
    }
}

static enum client_ran run_for(struct http *http, int64_t timeout_ms, bool without_calls)
{
    struct limit limit = {.timer.fire = on_limit, .loop = http->loop};
    enum client_ran ran;

    /* With a timeout of 0 the timer would fire before the loop polls its sockets, so poll them
     * once here. */
    if (timeout_ms == 0)
        uv_run(loop_uv(http->loop), UV_RUN_NOWAIT);
    if (timeout_ms >= 0)
        timer_start(http->loop, &limit.timer, timeout_ms);
    ran = run_until(http, &limit, without_calls);
    timer_stop(http->loop, &limit.timer);
    return ran;
}

static enum client_ran http_run(struct client *client, int64_t timeout_ms)
{
    return run_for(of(client), timeout_ms, false);
}

static void http_pass(struct client *client, int64_t timeout_ms)
{
    run_for(of(client), timeout_ms, true);
}

static struct remote *http_remote(struct client *client)
{
    return of(client)->remote;
}

static void http_close(struct client *client)
{
    struct http *http = of(client);

    remote_free(http->remote);
    transport_http_free(http->transport);
    if (http->owns_loop)
        loop_free(http->loop);
    unix_path_release(&http->socket);
    mem_free(http);
}

static const struct client_ops ops = {
    .is_live = true,
    .start = http_start,
    .cancel = http_cancel,
    .run = http_run,
    .pass = http_pass,
    .remote = http_remote,
    .close = http_close,
};

/* Connects to find out whether a process listens: a socket file may outlive its process. */
static bool is_listening(const struct unix_path *path, struct error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), result;

    memcpy(address.sun_path, path->text, sizeof address.sun_path);
    result = fd < 0 ? -1 : connect(fd, (const struct sockaddr *)&address, sizeof address);
    if (result < 0 && (errno == ECONNREFUSED || errno == ENOENT || errno == ENOTDIR))
        error_set(err, ERR_NOT_FOUND, "", "no process listens");
    else if (result < 0)
        error_errno(err, errno, "cannot connect to %s", path->text);
    else if (!peer_is_ours(fd, path->text, err))
        result = -1;
    if (fd >= 0)
        close(fd);
    return result == 0;
}

/* Opens the transport to the server in `config` and consumes `config`. Messages call the server
 * `shown`. */
static struct client *open_http(const char *shown, struct kubeconfig *config,
                                struct unix_path *socket, struct loop *loop, struct error *err)
{
    struct http *http = mem_alloc(sizeof *http);

    http->base.ops = &ops;
    http->base.data_dir = mem_strdup(shown);
    http->base.namespace = mem_strdup(config->namespace);
    http->is_server = socket == NULL;
    http->socket.directory = -1;
    http->e_end = &http->ended;
    http->owns_loop = loop == NULL;
    http->loop = loop ? loop : loop_new(clock_real());
    http->transport =
        transport_http_new(http->loop, config, socket ? socket->text : NULL, shown, err);
    if (socket) {
        http->socket = *socket;
        socket->directory = -1;
    }
    if (http->transport) {
        http->remote = remote_new(http->loop, http->transport, NULL);
        return &http->base;
    }
    client_close(&http->base);
    return NULL;
}

struct client *client_http_open(const char *data_dir, const char *token, struct loop *loop,
                                struct error *err)
{
    scoped_str path = mem_printf("%s/" SERVING_SOCKET, data_dir);
    scoped(unix_path) struct unix_path socket = {.directory = -1};
    scoped(kubeconfig) struct kubeconfig config = {.token = mem_strdup(token)};

    return unix_path_open(path, &socket, err) && is_listening(&socket, err)
               ? open_http(data_dir, &config, &socket, loop, err)
               : NULL;
}

static bool check_url(const char *url, struct error *err)
{
    return strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0 ||
           error_set(err, ERR_INVALID, "",
                     "--server: \"%s\" is no URL, like https://127.0.0.1:6480", url);
}

bool client_kube_config(const char *kubeconfig, const struct kubeconfig_options *options,
                        const char *url, const char *token_file, struct kubeconfig *out,
                        struct error *err)
{
    if ((url && !check_url(url, err)) ||
        (kubeconfig && !kubeconfig_read(kubeconfig, options, out, err)))
        return false;
    if (url) {
        mem_free(out->server);
        out->server = kubeconfig_server(url);
        out->insecure = out->insecure || options->insecure;
    }
    if (token_file)
        kubeconfig_use_token_file(out, token_file);
    return kubeconfig_impersonate(options, out, err);
}

struct client *client_kube_open(const char *kubeconfig, const struct kubeconfig_options *options,
                                const char *url, const char *token_file, struct loop *loop,
                                struct error *err)
{
    scoped(kubeconfig) struct kubeconfig server = {0};

    return client_kube_config(kubeconfig, options, url, token_file, &server, err)
               ? open_http(server.server, &server, NULL, loop, err)
               : NULL;
}

struct client *client_cluster_open(const char *host, const char *port, struct loop *loop,
                                   struct error *err)
{
    scoped(kubeconfig) struct kubeconfig server = {0};

    return kubeconfig_in_cluster(host, port, KUBECONFIG_ACCOUNT_DIR, &server, err)
               ? open_http(server.server, &server, NULL, loop, err)
               : NULL;
}
