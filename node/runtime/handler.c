/*
 * Reads the handlers of probes and hooks from their JSON documents. Each kind of handler has one
 * row and one reader.
 */
#include "node/runtime/handler.h"

#include <string.h>

#include "api/types/text/doc.h"
#include "node/runtime/runtime.h"

const json_t *handler_doc(const struct pod_container *container, enum handler_use use)
{
    switch (use) {
    case STARTUP_PROBE:
        return container->startup;
    case LIVENESS_PROBE:
        return container->liveness;
    case READINESS_PROBE:
        return container->readiness;
    case POST_START_HOOK:
        return json_object_get(container->lifecycle, "postStart");
    case PRE_STOP_HOOK:
        return json_object_get(container->lifecycle, "preStop");
    case HANDLER_USE_N:
        break;
    }
    return NULL;
}

const char *handler_use_text(enum handler_use use)
{
    static const char *const texts[HANDLER_USE_N] = {"startupProbe", "livenessProbe",
                                                     "readinessProbe", "lifecycle.postStart",
                                                     "lifecycle.preStop"};

    return texts[use];
}

bool container_has_handlers(const struct pod_container *container)
{
    return container->startup || container->liveness || container->readiness ||
           container->lifecycle;
}

static bool port_of(const struct pod_container *container, const json_t *doc, int32_t *out,
                    struct error *err)
{
    const json_t *port = json_object_get(doc, "port");
    const char *name = json_string_value(port);

    *out = (int32_t)json_integer_value(port);
    for (size_t i = 0; name && i < container->ports.count; i++)
        if (container->ports.items[i].name && strcmp(container->ports.items[i].name, name) == 0)
            *out = container->ports.items[i].port;
    if (name && !*out)
        return error_set(err, ERR_INVALID, "port", "the container declares no port named \"%s\"",
                         name);
    return (*out >= 1 && *out <= UINT16_MAX) ||
           error_set(err, ERR_INVALID, "port", "port %d is not between 1 and 65535", (int)*out);
}

static bool own_host(const json_t *doc, struct error *err)
{
    const char *host = doc_text(doc, "host");

    return !host || !*host ||
           error_set(
               err, ERR_INVALID, "host",
               "host \"%s\": probes and hooks connect to the pod's own address only; leave it out",
               host);
}

static bool exec_of(const struct pod_container *container, const json_t *doc, struct arena *arena,
                    struct handler *out, struct error *err)
{
    const json_t *command = json_object_get(doc, "command");

    out->n_argv = json_array_size(command);
    out->argv = arena_array(arena, out->n_argv + 1, sizeof *out->argv);
    for (size_t i = 0; i < out->n_argv; i++)
        out->argv[i] = json_string_value(json_array_get(command, i));
    return out->n_argv || error_set(err, ERR_INVALID, "command", "the command is empty");
}

static bool http_of(const struct pod_container *container, const json_t *doc, struct arena *arena,
                    struct handler *out, struct error *err)
{
    const json_t *headers = json_object_get(doc, "httpHeaders");
    size_t n = json_array_size(headers);
    struct probe_header *rows = arena_array(arena, n, sizeof *rows);

    for (size_t i = 0; i < n; i++)
        rows[i] = (struct probe_header){doc_text(json_array_get(headers, i), "name"),
                                        doc_text(json_array_get(headers, i), "value")};
    out->http = (struct probe_http){
        .path = doc_text(doc, "path"),
        .scheme = doc_text(doc, "scheme"),
        .headers = rows,
        .n_headers = n,
    };
    return own_host(doc, err) && port_of(container, doc, &out->port, err);
}

static bool tcp_of(const struct pod_container *container, const json_t *doc, struct arena *arena,
                   struct handler *out, struct error *err)
{
    return own_host(doc, err) && port_of(container, doc, &out->port, err);
}

static bool sleep_of(const struct pod_container *container, const json_t *doc, struct arena *arena,
                     struct handler *out, struct error *err)
{
    out->sleep_s = json_integer_value(json_object_get(doc, "seconds"));
    return true;
}

static bool grpc_of(const struct pod_container *container, const json_t *doc, struct arena *arena,
                    struct handler *out, struct error *err)
{
    out->service = doc_text(doc, "service");
    return port_of(container, doc, &out->port, err);
}

static const struct {
    const char *member;
    enum handler_kind kind;
    bool (*read)(const struct pod_container *container, const json_t *doc, struct arena *arena,
                 struct handler *out, struct error *err);
} handlers[] = {
    {"exec", HANDLER_EXEC, exec_of},    {"httpGet", HANDLER_HTTP, http_of},
    {"tcpSocket", HANDLER_TCP, tcp_of}, {"sleep", HANDLER_SLEEP, sleep_of},
    {"grpc", HANDLER_GRPC, grpc_of},
};

bool handler_read(const struct pod_container *container, const json_t *doc, struct arena *arena,
                  struct handler *out, struct error *err)
{
    *out = (struct handler){0};
    for (size_t i = 0; i < countof(handlers); i++) {
        const json_t *handler = json_object_get(doc, handlers[i].member);

        if (!handler)
            continue;
        out->kind = handlers[i].kind;
        return handlers[i].read(container, handler, arena, out, err);
    }
    return true;
}

static bool check_one(const struct pod_container *container, struct arena *arena, struct error *err)
{
    struct handler handler;

    for (enum handler_use use = 0; use < HANDLER_USE_N; use++) {
        bool hook = use == POST_START_HOOK || use == PRE_STOP_HOOK;
        bool ok = handler_read(container, handler_doc(container, use), arena, &handler, err);

        if (ok && hook && handler.kind == HANDLER_TCP)
            ok = error_set(err, ERR_INVALID, "tcpSocket",
                           "tcpSocket cannot be a hook; use exec, httpGet or sleep");
        if (!ok) {
            error_prefix(err, "container %s: %s: ", container->name, handler_use_text(use));
            return false;
        }
    }
    return true;
}

bool handlers_check(const struct pod_spec *spec, struct error *err)
{
    struct arena *arena = NULL;
    bool ok = true;

    for (size_t i = 0; ok && i < runtime_container_count(spec); i++) {
        const struct pod_container *c = runtime_container_at(spec, i);

        if (!container_has_handlers(c))
            continue;
        if (!arena)
            arena = arena_new(0);
        ok = check_one(c, arena, err);
    }
    arena_free(arena);
    return ok;
}
