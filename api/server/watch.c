/*
 * Watches: the present state as ADDED when asked for, then every durable change, one JSON document
 * a line.
 *
 * An object that begins to match the selectors is ADDED, one that ceases to is DELETED with its old
 * content. Ref: spec/kube-api.md 8.5.
 */
#include "api/server/stream.h"
#include "api/server/table.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

enum { BACKLOG_MAX = 4 << 20 /* L-27 */ };

struct watch {
    struct api_stream stream;
    struct arena *arena; /* owns the filter's strings */
    struct api_filter filter;
    const struct kind *kind;
    char *ns; /* NULL = all */
    struct store_watch *source;
    struct timer deadline;
    int64_t since;
    bool table, definitions_sent, initial;
};

static const char *const change_names[] = {
    [STORE_ADDED] = "ADDED", [STORE_MODIFIED] = "MODIFIED", [STORE_DELETED] = "DELETED"};

static void watch_release(struct api_stream *stream)
{
    struct watch *watch = container_of(stream, struct watch, stream);

    if (watch->source)
        store_watch_close(watch->source);
    timer_stop(stream->api->loop, &watch->deadline);
    filter_release(&watch->filter);
    arena_free(watch->arena);
    mem_free(watch->ns);
    mem_free(watch);
}

static void send_line(struct watch *watch, const char *type, const char *json, size_t len)
{
    scoped(buf) struct buf line = {0};

    buf_printf(&line, "{\"type\":\"%s\",\"object\":", type);
    buf_add(&line, json, len);
    buf_str(&line, "}\n");
    watch->stream.answer->data(watch->stream.answer, line.data, line.len);
}

static void send_object(struct watch *watch, enum store_change change, const struct object *object)
{
    scoped(buf) struct buf text = {0};

    if (watch->table) {
        const struct table_options options = {.now_ms = loop_wall_ms(watch->stream.api->loop),
                                              .revision = object->revision};

        table_write(watch->kind, &object, 1, !watch->definitions_sent, &options, &text);
        watch->definitions_sent = true;
    } else {
        object_write(object, &text);
    }
    send_line(watch, change_names[change], text.data, text.len);
}

static void send_error(struct watch *watch, const struct error *err)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    jsonw_open(&w);
    jsonw_member_str(&w, "kind", "Status");
    jsonw_member_str(&w, "apiVersion", "v1");
    jsonw_member_open(&w, "metadata");
    jsonw_close(&w);
    jsonw_member_str(&w, "status", "Failure");
    jsonw_member_str(&w, "message", err->message);
    jsonw_member_str(&w, "reason", error_reason(err->code));
    jsonw_member_int(&w, "code", error_http_status(err->code));
    jsonw_close(&w);
    send_line(watch, "ERROR", text.data, text.len);
}

static bool on_change(void *ctx, enum store_change change, const struct object *old,
                      const struct object *object)
{
    struct watch *watch = ctx;
    bool now = change != STORE_DELETED && filter_matches(&watch->filter, object);
    bool before = change == STORE_DELETED
                      ? filter_matches(&watch->filter, object)
                      : change == STORE_MODIFIED && old && filter_matches(&watch->filter, old);

    if (now)
        send_object(watch, before ? STORE_MODIFIED : STORE_ADDED, object);
    else if (before)
        send_object(watch, STORE_DELETED, change == STORE_DELETED ? object : old);
    if (watch->stream.answer->backlog(watch->stream.answer) <= BACKLOG_MAX)
        return true;
    watch->source = NULL; /* ended by our answer */
    loop_post(watch->stream.api->loop, &watch->stream.task);
    return false;
}

static void send_present(void *arg, const struct object *object)
{
    struct watch *watch = arg;

    if (filter_matches(&watch->filter, object))
        send_object(watch, STORE_ADDED, object);
}

static struct watch *watch_of(struct task *task)
{
    struct api_stream *stream = container_of(task, struct api_stream, task);

    return container_of(stream, struct watch, stream);
}

static void watch_end(struct task *task)
{
    stream_end(container_of(task, struct api_stream, task));
}

static void watch_deadline(struct timer *timer)
{
    stream_end(&container_of(timer, struct watch, deadline)->stream);
}

/* The present state is accepted but perhaps not durable: begin once it is. */
static void watch_begin(struct task *task)
{
    struct watch *watch = watch_of(task);
    struct store_watch_options options = {.kind = watch->kind,
                                          .ns = watch->ns,
                                          .since_revision = watch->since,
                                          .changed = on_change,
                                          .ctx = watch};
    struct error err = {0};

    watch->stream.awaits_commit = false;
    if (!watch->stream.answer) {
        watch_release(&watch->stream);
        return;
    }
    watch->stream.answer->head(watch->stream.answer, 200, "application/json", NULL);
    task->run = watch_end;
    if (watch->initial) {
        options.since_revision = store_revision(watch->stream.api->store);
        store_each(watch->stream.api->store, watch->kind, watch->ns, send_present, watch);
    }
    watch->source = store_watch_open(watch->stream.api->store, &options, &err);
    if (!watch->source) {
        send_error(watch, &err);
        stream_end(&watch->stream);
    }
}

struct api_stream *verb_watch(const struct api_call *call)
{
    struct watch *watch = mem_alloc(sizeof *watch);
    struct api_call own = *call;
    struct error err = {0};
    int64_t timeout_s;
    bool ok;

    watch->arena = arena_new(0);
    own.arena = watch->arena;
    own.target = call->target;
    ok = target_query_int(&call->target, "timeoutSeconds", 0, 0, &timeout_s, &err) &&
         target_query_int(&call->target, "resourceVersion", 0, 0, &watch->since, &err) &&
         filter_parse(&own, &watch->filter, &err);
    if (watch->filter.name)
        watch->filter.name = arena_strdup(watch->arena, watch->filter.name);
    stream_init(&watch->stream, call->api, call->answer, watch_release);
    if (!ok) {
        api_cancel(&watch->stream);
        return reply_error(call, &err);
    }
    watch->kind = call->route.kind;
    watch->ns = mem_strdup(call->route.kind->namespaced ? call->route.ns : NULL);
    watch->table = call->table;
    watch->initial = watch->since == 0;
    watch->deadline.fire = watch_deadline;
    if (timeout_s)
        timer_start(call->api->loop, &watch->deadline, timeout_s * 1000);
    watch->stream.task.run = watch_begin;
    watch->stream.awaits_commit = true;
    store_when_durable(call->api->store, &watch->stream.task);
    return &watch->stream;
}
