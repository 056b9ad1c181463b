/*
 * Probes and hooks, read. See handler.h.
 */
#include "node/runtime/handler.h"

#include <string.h>

#include "api/types/text/doc.h"

const json_t *action_doc(const struct pod_container *container, enum action_place place)
{
    switch (place) {
    case AT_STARTUP:
        return container->startup;
    case AT_LIVENESS:
        return container->liveness;
    case AT_READINESS:
        return container->readiness;
    case AT_POST_START:
        return json_object_get(container->lifecycle, "postStart");
    case AT_PRE_STOP:
        return json_object_get(container->lifecycle, "preStop");
    case AT_N:
        break;
    }
    return NULL;
}

const char *action_place_text(enum action_place place)
{
    static const char *const texts[AT_N] = {"startupProbe", "livenessProbe", "readinessProbe",
                                            "lifecycle.postStart", "lifecycle.preStop"};

    return texts[place];
}

bool action_any(const struct pod_container *container)
{
    return container->startup || container->liveness || container->readiness ||
           container->lifecycle;
}

/* ---- handlers ---- */

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
        return error_set(err, ERR_INVALID, "port", "port \"%s\" is none the container declares",
                         name);
    return (*out >= 1 && *out <= UINT16_MAX) ||
           error_set(err, ERR_INVALID, "port", "port %d is not between 1 and 65535", (int)*out);
}

static bool own_host(const json_t *doc, struct error *err)
{
    const char *host = doc_text(doc, "host");

    return !host || !*host ||
           error_set(err, ERR_INVALID, "host",
                     "host \"%s\": only the pod's own address is asked; leave host out", host);
}

static bool exec_of(const struct pod_container *container, const json_t *doc, struct arena *arena,
                    struct action *out, struct error *err)
{
    const json_t *command = json_object_get(doc, "command");

    out->n_argv = json_array_size(command);
    out->argv = arena_array(arena, out->n_argv + 1, sizeof *out->argv);
    for (size_t i = 0; i < out->n_argv; i++)
        out->argv[i] = json_string_value(json_array_get(command, i));
    return out->n_argv || error_set(err, ERR_INVALID, "command", "the command is empty");
}

static bool http_of(const struct pod_container *container, const json_t *doc, struct arena *arena,
                    struct action *out, struct error *err)
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
                   struct action *out, struct error *err)
{
    return own_host(doc, err) && port_of(container, doc, &out->port, err);
}

static bool sleep_of(const struct pod_container *container, const json_t *doc, struct arena *arena,
                     struct action *out, struct error *err)
{
    out->sleep_s = json_integer_value(json_object_get(doc, "seconds"));
    return true;
}

static bool grpc_of(const struct pod_container *container, const json_t *doc, struct arena *arena,
                    struct action *out, struct error *err)
{
    out->service = doc_text(doc, "service");
    return port_of(container, doc, &out->port, err);
}

static const struct {
    const char *member;
    enum action_kind kind;
    bool (*read)(const struct pod_container *container, const json_t *doc, struct arena *arena,
                 struct action *out, struct error *err);
} handlers[] = {
    {"exec", ACTION_EXEC, exec_of},    {"httpGet", ACTION_HTTP, http_of},
    {"tcpSocket", ACTION_TCP, tcp_of}, {"sleep", ACTION_SLEEP, sleep_of},
    {"grpc", ACTION_GRPC, grpc_of},
};

bool action_of(const struct pod_container *container, const json_t *doc, struct arena *arena,
               struct action *out, struct error *err)
{
    *out = (struct action){0};
    for (size_t i = 0; i < countof(handlers); i++) {
        const json_t *handler = json_object_get(doc, handlers[i].member);

        if (!handler)
            continue;
        out->kind = handlers[i].kind;
        return handlers[i].read(container, handler, arena, out, err);
    }
    return true;
}

/* ---- all of a pod ---- */

static bool check_one(const struct pod_container *container, struct arena *arena, struct error *err)
{
    struct action action;

    for (enum action_place place = 0; place < AT_N; place++) {
        bool hook = place == AT_POST_START || place == AT_PRE_STOP;
        bool ok = action_of(container, action_doc(container, place), arena, &action, err);

        if (ok && hook && action.kind == ACTION_TCP)
            ok = error_set(err, ERR_INVALID, "tcpSocket",
                           "tcpSocket is no hook; use exec, httpGet or sleep");
        if (!ok) {
            error_prefix(err, "container %s: %s: ", container->name, action_place_text(place));
            return false;
        }
    }
    return true;
}

bool action_check(const struct pod_spec *spec, struct error *err)
{
    struct arena *arena = NULL;
    bool ok = true;

    for (size_t i = 0; ok && i < spec->init_containers.count + spec->containers.count; i++) {
        const struct pod_container *c =
            i < spec->init_containers.count
                ? &spec->init_containers.items[i]
                : &spec->containers.items[i - spec->init_containers.count];

        if (!action_any(c))
            continue;
        if (!arena)
            arena = arena_new(0);
        ok = check_one(c, arena, err);
    }
    arena_free(arena);
    return ok;
}
