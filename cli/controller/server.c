/*
 * A request to the server runs the loop of the process until the answer is there. That is possible
 * because nothing else runs on the loop yet.
 */
#include "cli/controller/server.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/client/kubeconfig.h"
#include "api/client/transport_http.h"
#include "api/types/kind.h"
#include "base/log.h"
#include "base/mem.h"

enum { ASK_LIMIT_MS = 10000, ASK_AGAIN_MS = 1000, MINOR_LEAST = 20, MINOR_SUPPORTED = 24 };

/* Returns whether the configuration is that of the pod in which this process runs. */
static bool is_account(const struct kubeconfig *config)
{
    return config->token_file &&
           strncmp(config->token_file, KUBECONFIG_ACCOUNT_DIR, strlen(KUBECONFIG_ACCOUNT_DIR)) == 0;
}

bool server_open(struct server *server, struct loop *loop, const struct client_endpoint *endpoint,
                 struct error *err)
{
    server->loop = loop;
    for (int use = 0; use < SERVER_USE_N; use++) {
        scoped(kubeconfig) struct kubeconfig config = {0};
        scoped_str host = NULL;

        if (!client_endpoint_config(endpoint, &config, err))
            return false;
        if (use == 0) {
            server->url = mem_strdup(config.server);
            server->user = mem_strdup(config.user);
            if (is_account(&config))
                server->namespace = mem_strdup(config.namespace);
        }
        server->transports[use] = transport_http_new(loop, &config, NULL, server->url, err);
        if (!server->transports[use])
            return false;
        host = kubeconfig_host(server->url);
        server->remotes[use] =
            remote_new(loop, server->transports[use], &(const struct remote_options){.host = host});
    }
    return true;
}

void server_close(struct server *server)
{
    for (int use = 0; use < SERVER_USE_N; use++) {
        remote_free(server->remotes[use]);
        transport_http_free(server->transports[use]);
    }
    mem_free(server->url);
    mem_free(server->user);
    mem_free(server->namespace);
}

struct ask {
    struct remote_call call;
    struct loop *loop;
    bool ended;
};

static void on_asked(struct remote_call *call)
{
    struct ask *ask = container_of(call, struct ask, call);

    ask->ended = true;
    loop_stop(ask->loop);
}

json_t *server_get(struct server *server, const char *target, struct error *err)
{
    struct ask ask = {.call = {.target = target, .limit_ms = ASK_LIMIT_MS, .done = on_asked},
                      .loop = server->loop};
    json_t *doc = NULL;

    remote_start(server->remotes[SERVER_CALLS], &ask.call);
    loop_run(server->loop);
    if (!ask.ended) /* a signal has stopped the loop */
        error_set(err, ERR_GONE, "", "interrupted");
    else if (remote_ok(&ask.call, err))
        doc = json_loadb(ask.call.text.data ? ask.call.text.data : "", ask.call.text.len, 0, NULL);
    if (ask.ended && !ask.call.status)
        err->code = ERR_UNAVAILABLE;
    else if (ask.ended && !doc && ask.call.status < 300)
        error_set(err, ERR_INTERNAL, "", "the answer to GET %s is no JSON", target);
    remote_call_release(&ask.call);
    return doc;
}

struct pause {
    struct timer timer;
    struct loop *loop;
    bool ended;
};

static void on_paused(struct timer *timer)
{
    struct pause *pause = container_of(timer, struct pause, timer);

    pause->ended = true;
    loop_stop(pause->loop);
}

/* Returns false when a signal has ended the pause. */
static bool wait_ms(struct loop *loop, int64_t ms)
{
    struct pause pause = {.timer.fire = on_paused, .loop = loop};

    timer_start(loop, &pause.timer, ms);
    loop_run(loop);
    timer_stop(loop, &pause.timer);
    return pause.ended;
}

bool server_wait(struct server *server, int64_t limit_ms, struct error *err)
{
    int64_t began_ns = loop_mono_ns(server->loop);

    for (;;) {
        scoped(json) json_t *version = server_get(server, "/version", err);
        int64_t passed_ms = (loop_mono_ns(server->loop) - began_ns) / 1000000;

        if (version)
            return true;
        if (err->code == ERR_UNAUTHORIZED || err->code == ERR_GONE)
            return false;
        if (passed_ms >= limit_ms) {
            err->code = ERR_TIMEOUT;
            return false;
        }
        log_info("the API server does not answer yet", kv_str("server", server->url),
                 kv_str("error", err->message));
        if (!wait_ms(server->loop, ASK_AGAIN_MS))
            return error_set(err, ERR_GONE, "", "interrupted");
    }
}

bool server_check_version(struct server *server, struct error *err)
{
    scoped(json) json_t *version = server_get(server, "/version", err);
    const char *text = json_string_value(json_object_get(version, "gitVersion"));
    const char *minor = json_string_value(json_object_get(version, "minor"));
    long number = minor ? strtol(minor, NULL, 10) : 0;

    if (!version)
        return false;
    server->minor = (int)number;
    if (number < MINOR_LEAST)
        return error_set(err, ERR_INVALID, "",
                         "%s runs Kubernetes %s: 1.%d is the oldest version that works",
                         server->url, text ? text : "of an unknown version", MINOR_LEAST);
    if (number < MINOR_SUPPORTED)
        log_warn("this version of Kubernetes is not supported", kv_str("version", text),
                 kv_int("oldestSupportedMinor", MINOR_SUPPORTED));
    return true;
}

enum { ADDRESSES_MAX = 32, PORT_TEXT_MAX = 6 };

/* Splits "https://host:port/path" or "host:port". The host of an IPv6 address has no brackets. */
static bool split_host(const char *url, char host[NI_MAXHOST], char port[PORT_TEXT_MAX])
{
    const char *slashes = strstr(url, "://"), *at = slashes ? slashes + 3 : url,
               *end = at + strcspn(at, "/"), *colon = NULL;
    bool in_brackets = *at == '[';
    const char *close = in_brackets ? memchr(at, ']', (size_t)(end - at)) : NULL;

    for (const char *c = close ? close : at; c < end; c++)
        if (*c == ':')
            colon = c;
    if ((in_brackets && !close) || (size_t)(end - at) >= NI_MAXHOST)
        return false;
    snprintf(host, NI_MAXHOST, "%.*s",
             (int)(in_brackets ? close - at - 1 : (colon ? colon : end) - at),
             in_brackets ? at + 1 : at);
    if (colon && (size_t)(end - colon) <= PORT_TEXT_MAX)
        snprintf(port, PORT_TEXT_MAX, "%.*s", (int)(end - colon - 1), colon + 1);
    else
        snprintf(port, PORT_TEXT_MAX, "%s", strncmp(url, "http:", 5) == 0 ? "80" : "443");
    return *host != '\0';
}

static void add_addresses(const char *host, const char *port, char **out, size_t *count)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char ip[INET6_ADDRSTRLEN];

    if (getaddrinfo(host, port, &hints, &found) != 0)
        return;
    for (const struct addrinfo *a = found; a && *count < ADDRESSES_MAX; a = a->ai_next)
        if (getnameinfo(a->ai_addr, a->ai_addrlen, ip, sizeof ip, NULL, 0, NI_NUMERICHOST) == 0)
            out[(*count)++] = mem_printf(a->ai_family == AF_INET6 ? "[%s]:%s" : "%s:%s", ip, port);
    freeaddrinfo(found);
}

char **server_addresses(const struct server *server, size_t more, size_t *out_count)
{
    char **out = mem_array(ADDRESSES_MAX + more + 1, sizeof *out);
    const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
    char own_host[NI_MAXHOST], own_port[PORT_TEXT_MAX];

    *out_count = 0;
    if (split_host(server->url, own_host, own_port))
        add_addresses(own_host, own_port, out, out_count);
    if (host && port)
        add_addresses(host, port, out, out_count);
    return out;
}

static bool lists_resource(const json_t *resources, const char *plural)
{
    const json_t *list = json_object_get(resources, "resources"), *row;
    size_t i;

    json_array_foreach(list, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));

        if (name && strcmp(name, plural) == 0)
            return true;
    }
    return false;
}

/* False when the server did not answer. */
static bool has_kind(struct server *server, const struct kind *kind, bool *out, struct error *err)
{
    scoped_str target =
        mem_printf("%s%s", *kind->group ? "/apis/" : "/api/", kind_api_version(kind));
    scoped(json) json_t *resources = server_get(server, target, err);

    if (!resources && err->code != ERR_NOT_FOUND)
        return false;
    *out = lists_resource(resources, kind->plural);
    return true;
}

bool server_find_missing_kind(struct server *server, const struct kind *const *kinds,
                              const struct kind **out, struct error *err)
{
    bool found = true;

    for (*out = NULL; *kinds && found; kinds++) {
        if (!has_kind(server, *kinds, &found, err))
            return false;
        *out = found ? NULL : *kinds;
    }
    return true;
}
