#include "tests/support/api.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* ---- the rig ---- */

void api_rig_start(struct api_rig *rig, const struct api_rig_options *options)
{
    static const struct api_rig_options defaults;
    const struct store_options store = {
        .directory = options ? options->directory : NULL,
        .watch_window = options ? options->watch_window : 0,
    };
    struct registry_options registry = {0};

    if (!options)
        options = &defaults;
    registry.flows.deletion_protection = options->deletion_protection;
    rig->clock = clock_virtual_new(1767225600000, 7); /* 2026-01-01T00:00:00Z */
    rig->loop = loop_new(rig->clock);
    rig->store = store_open(rig->loop, &store, NULL);
    rig->registry = registry_new(rig->loop, rig->store, &registry);
    rig->api = api_new(rig->loop, rig->registry, options->logs);
    loop_settle(rig->loop);
}

void api_rig_stop(struct api_rig *rig)
{
    api_free(rig->api);
    registry_free(rig->registry);
    store_close(rig->store);
    loop_free(rig->loop);
    clock_free(rig->clock);
}

/* ---- taps ---- */

static struct api_tap *of(const struct api_answer *answer)
{
    return container_of((struct api_answer *)(size_t)answer, struct api_tap, answer);
}

static void on_head(struct api_answer *answer, int status, const char *content_type,
                    const char *const *headers, size_t n_headers)
{
    struct api_tap *tap = of(answer);

    tap->status = status;
    mem_free(tap->content_type);
    tap->content_type = mem_strdup(content_type);
    for (size_t i = 0; i < n_headers; i++)
        buf_printf(&tap->headers, "%s\n", headers[i]);
}

static void on_data(struct api_answer *answer, const void *bytes, size_t len)
{
    buf_add(&of(answer)->body, bytes, len);
}

static void on_end(struct api_answer *answer)
{
    of(answer)->ended = true;
    of(answer)->stream = NULL;
}

static void on_cut(struct api_answer *answer)
{
    of(answer)->cut = true;
    of(answer)->stream = NULL;
}

static size_t on_backlog(const struct api_answer *answer)
{
    return of(answer)->backlog;
}

static enum api_method method_of(const char *name)
{
    static const char *const names[] = {
        [API_GET] = "GET",     [API_HEAD] = "HEAD",     [API_POST] = "POST",      [API_PUT] = "PUT",
        [API_PATCH] = "PATCH", [API_DELETE] = "DELETE", [API_OPTIONS] = "OPTIONS"};

    for (size_t i = 0; i < countof(names); i++)
        if (strcmp(names[i], name) == 0)
            return (enum api_method)i;
    return API_OTHER;
}

int api_tap_start(struct api_rig *rig, struct api_tap *tap, const char *method, const char *target,
                  const struct api_ask *ask)
{
    const struct api_request request = {
        .method = method_of(method),
        .target = target,
        .accept = ask->accept,
        .content_type = ask->content_type,
        .accept_encoding = ask->accept_encoding,
        .user_agent = ask->user_agent,
        .identity = ask->identity,
        .body = ask->body,
        .body_len = ask->body_len ? ask->body_len
                    : ask->body   ? strlen(ask->body)
                                  : 0,
    };

    api_tap_release(tap);
    tap->answer = (struct api_answer){on_head, on_data, on_end, on_backlog, on_cut};
    tap->stream = api_handle(rig->api, &request, &tap->answer);
    loop_settle(rig->loop);
    return tap->status;
}

void api_tap_release(struct api_tap *tap)
{
    if (tap->stream)
        api_cancel(tap->stream);
    mem_free(tap->content_type);
    buf_release(&tap->headers);
    buf_release(&tap->body);
    *tap = (struct api_tap){.backlog = tap->backlog};
}

/* ---- looking ---- */

static const json_t *at(const json_t *value, const char *path)
{
    char step[128];

    while (value && *path) {
        size_t n = strcspn(path, ".");

        snprintf(step, sizeof step, "%.*s", (int)n, path);
        value = isdigit((unsigned char)step[0]) && json_is_array(value)
                    ? json_array_get(value, (size_t)strtoul(step, NULL, 10))
                    : json_object_get(value, step);
        path += n + (path[n] == '.');
    }
    return value;
}

static char *text_of(const json_t *value)
{
    char *dumped, *copy;

    if (!value || json_is_string(value))
        return mem_strdup(json_string_value(value));
    dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    copy = mem_strdup(dumped);
    free(dumped);
    return copy;
}

json_t *api_tap_json(const struct api_tap *tap)
{
    return json_loadb(tap->body.data ? tap->body.data : "", tap->body.len, JSON_REJECT_DUPLICATES,
                      NULL);
}

char *api_tap_at(const struct api_tap *tap, const char *path)
{
    scoped(json) json_t *doc = api_tap_json(tap);

    return text_of(at(doc, path));
}

size_t api_tap_lines(const struct api_tap *tap)
{
    size_t n = 0;

    for (size_t i = 0; i < tap->body.len; i++)
        n += tap->body.data[i] == '\n';
    return n;
}

char *api_tap_event(const struct api_tap *tap, size_t n, const char *path)
{
    const char *line = tap->body.data, *end;
    scoped(json) json_t *doc = NULL;
    scoped_str text = NULL;

    for (; line && n; n--)
        line = (end = strchr(line, '\n')) ? end + 1 : NULL;
    end = line ? strchr(line, '\n') : NULL;
    if (!end)
        return NULL;
    doc = json_loadb(line, (size_t)(end - line), JSON_REJECT_DUPLICATES, NULL);
    text = text_of(at(json_object_get(doc, "object"), path));
    return mem_printf("%s %s", json_string_value(json_object_get(doc, "type")),
                      text ? text : "(none)");
}
