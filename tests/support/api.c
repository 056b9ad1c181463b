/*
 * Starts the API in process, sends it requests and records the responses.
 */
#include "tests/support/api.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void api_fixture_start(struct api_fixture *fixture, const struct api_fixture_options *options)
{
    static const struct api_fixture_options defaults;
    const struct store_options store = {
        .directory = options ? options->directory : NULL,
        .watch_window = options ? options->watch_window : 0,
    };
    struct registry_options registry = {0};

    if (!options)
        options = &defaults;
    registry.flows.deletion_protection = options->deletion_protection;
    registry.limits.objects = options->objects_max;
    /* The clock begins at 2026-01-01T00:00:00Z. */
    fixture->clock = clock_virtual_new(1767225600000, 7 + options->lives);
    fixture->loop = loop_new(fixture->clock);
    fixture->store = store_open(fixture->loop, &store, NULL);
    fixture->registry = registry_new(fixture->loop, fixture->store, &registry);
    fixture->api = api_new(fixture->loop, fixture->registry, options->logs);
    loop_settle(fixture->loop);
}

void api_fixture_stop(struct api_fixture *fixture)
{
    api_free(fixture->api);
    registry_free(fixture->registry);
    store_close(fixture->store);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
}

static struct api_capture *of(const struct api_response *response)
{
    return container_of((struct api_response *)(size_t)response, struct api_capture, response);
}

static void on_head(struct api_response *response, int status, const char *content_type,
                    const char *const *headers, size_t n_headers)
{
    struct api_capture *capture = of(response);

    capture->status = status;
    mem_free(capture->content_type);
    capture->content_type = mem_strdup(content_type);
    for (size_t i = 0; i < n_headers; i++)
        buf_printf(&capture->headers, "%s\n", headers[i]);
}

static void on_data(struct api_response *response, const void *bytes, size_t len)
{
    buf_add(&of(response)->body, bytes, len);
}

static void on_end(struct api_response *response)
{
    of(response)->ended = true;
    of(response)->stream = NULL;
}

static void on_abort(struct api_response *response)
{
    of(response)->aborted = true;
    of(response)->stream = NULL;
}

static size_t on_backlog(const struct api_response *response)
{
    return of(response)->backlog;
}

int api_capture_start(struct api_fixture *fixture, struct api_capture *capture, const char *method,
                      const char *target, const struct api_request_options *options)
{
    const struct api_request request = {
        .method = api_method_of(method),
        .target = target,
        .accept = options->accept,
        .content_type = options->content_type,
        .accept_encoding = options->accept_encoding,
        .user_agent = options->user_agent,
        .identity = options->identity,
        .body = options->body,
        .body_len = options->body_len ? options->body_len
                    : options->body   ? strlen(options->body)
                                      : 0,
    };

    api_capture_release(capture);
    capture->response = (struct api_response){on_head, on_data, on_end, on_backlog, on_abort};
    capture->stream = api_handle(fixture->api, &request, &capture->response);
    loop_settle(fixture->loop);
    return capture->status;
}

void api_capture_release(struct api_capture *capture)
{
    if (capture->stream)
        api_cancel(capture->stream);
    mem_free(capture->content_type);
    buf_release(&capture->headers);
    buf_release(&capture->body);
    *capture = (struct api_capture){.backlog = capture->backlog};
}

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

json_t *api_capture_json(const struct api_capture *capture)
{
    return json_loadb(capture->body.data ? capture->body.data : "", capture->body.len,
                      JSON_REJECT_DUPLICATES, NULL);
}

char *api_capture_at(const struct api_capture *capture, const char *path)
{
    scoped(json) json_t *doc = api_capture_json(capture);

    return text_of(at(doc, path));
}

size_t api_capture_lines(const struct api_capture *capture)
{
    size_t n = 0;

    for (size_t i = 0; i < capture->body.len; i++)
        n += capture->body.data[i] == '\n';
    return n;
}

char *api_capture_event(const struct api_capture *capture, size_t n, const char *path)
{
    const char *line = capture->body.data, *end;
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
