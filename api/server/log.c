/*
 * The log subresource of pods. Ref: spec/kube-api.md 6.10.
 */
#include "api/server/stream.h"
#include "api/types/pod.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include <string.h>

enum { FOLLOW_MS = 100 };

struct log_stream {
    struct api_stream stream;
    struct timer poll;
    char *ns, *name, *uid, *container;
    bool previous, timestamps, follow;
    int64_t tail_lines, since_ms, limit_bytes, offset;
};

static void log_release(struct api_stream *stream)
{
    struct log_stream *log = container_of(stream, struct log_stream, stream);

    timer_stop(stream->api->loop, &log->poll);
    mem_free(log->ns);
    mem_free(log->name);
    mem_free(log->uid);
    mem_free(log->container);
    mem_free(log);
}

/* The pod as it is now; NULL once it is gone or another one has its name. */
static const struct object *current_pod(const struct log_stream *log)
{
    const struct object *pod = store_get(log->stream.api->store, &kind_pod, log->ns, log->name);

    return pod && strcmp(object_uid(pod), log->uid) == 0 ? pod : NULL;
}

static bool container_over(const struct object *pod, const char *name)
{
    const struct pod_status *status = pod_status_of(pod);

    if (status->phase == POD_SUCCEEDED || status->phase == POD_FAILED)
        return true;
    for (size_t i = 0; i < status->init_containers.count; i++)
        if (strcmp(status->init_containers.items[i].name, name) == 0)
            return status->init_containers.items[i].state == CONTAINER_TERMINATED;
    return false;
}

static void log_step(struct log_stream *log)
{
    const struct object *pod = current_pod(log);
    struct api_logs *logs = &log->stream.api->logs;
    bool over =
        !pod ||
        container_over(pod, log->container); /* before reading: its last words are then read too */
    scoped(buf) struct buf text = {0};

    if (pod)
        logs->read(logs->ctx, pod, log->container, log->previous, log->timestamps, log->tail_lines,
                   log->since_ms, log->limit_bytes, &log->offset, &text, NULL);
    if (text.len)
        log->stream.answer->data(log->stream.answer, text.data, text.len);
    if (!log->follow || over) {
        stream_end(&log->stream);
        return;
    }
    timer_start(log->stream.api->loop, &log->poll, FOLLOW_MS);
}

static void log_poll(struct timer *timer)
{
    log_step(container_of(timer, struct log_stream, poll));
}

static void log_begin(struct task *task)
{
    struct api_stream *stream = container_of(task, struct api_stream, task);
    struct log_stream *log = container_of(stream, struct log_stream, stream);

    log->stream.answer->head(log->stream.answer, 200, "text/plain", NULL);
    log_step(log);
}

static void list_names(struct buf *out, const struct pod_spec *spec)
{
    for (size_t i = 0; i < spec->containers.count; i++)
        buf_printf(out, "%s%s", i ? " " : "", spec->containers.items[i].name);
}

/* The container meant; NULL with the error kubectl knows. */
static const char *choose_container(const struct object *pod, const char *wanted, struct error *err)
{
    const struct pod_spec *spec = pod_spec_of(pod);
    scoped(buf) struct buf names = {0};

    if (!wanted || !*wanted) {
        if (spec->containers.count == 1)
            return spec->containers.items[0].name;
        list_names(&names, spec);
        error_set(err, ERR_BAD_REQUEST, "",
                  "a container name must be specified for pod %s, choose one of: [%s]",
                  object_name(pod), names.data);
        return NULL;
    }
    for (size_t i = 0; i < spec->containers.count; i++)
        if (strcmp(spec->containers.items[i].name, wanted) == 0)
            return wanted;
    for (size_t i = 0; i < spec->init_containers.count; i++)
        if (strcmp(spec->init_containers.items[i].name, wanted) == 0)
            return wanted;
    error_set(err, ERR_BAD_REQUEST, "", "container %s is not valid for pod %s", wanted,
              object_name(pod));
    return NULL;
}

static bool parse_since(const struct api_call *call, int64_t *out_ms, struct error *err)
{
    const char *time = target_query(&call->target, "sinceTime");
    int64_t seconds;

    *out_ms = 0;
    if (!target_query_int(&call->target, "sinceSeconds", 0, 1, &seconds, err))
        return false;
    if (seconds)
        *out_ms = loop_wall_ms(call->api->loop) - seconds * 1000;
    return !time || !*time || time_parse(time, out_ms, err);
}

struct api_stream *verb_log(const struct api_call *call)
{
    const struct object *pod =
        store_get(call->api->store, &kind_pod, call->route.ns, call->route.name);
    struct log_stream *log;
    const char *container = NULL;
    int64_t tail, limit, since;
    struct error err = {0};

    if (!pod)
        error_set(&err, ERR_NOT_FOUND, "", "pods \"%s\" not found", call->route.name);
    else if (!call->api->has_logs)
        error_set(&err, ERR_UNAVAILABLE, "", "this process keeps no logs");
    else
        container = choose_container(pod, target_query(&call->target, "container"), &err);
    if (!container || !target_query_int(&call->target, "tailLines", -1, 0, &tail, &err) ||
        !target_query_int(&call->target, "limitBytes", -1, 1, &limit, &err) ||
        !parse_since(call, &since, &err))
        return reply_error(call, &err);
    log = mem_alloc(sizeof *log);
    log->ns = mem_strdup(call->route.ns);
    log->name = mem_strdup(call->route.name);
    log->uid = mem_strdup(object_uid(pod));
    log->container = mem_strdup(container);
    log->previous = target_query_bool(&call->target, "previous");
    log->timestamps = target_query_bool(&call->target, "timestamps");
    log->follow = target_query_bool(&call->target, "follow") && !log->previous;
    log->tail_lines = tail;
    log->limit_bytes = limit;
    log->since_ms = since;
    log->poll.fire = log_poll;
    stream_init(&log->stream, call->api, call->answer, log_release);
    log->stream.task.run = log_begin;
    loop_post(call->api->loop, &log->stream.task);
    return &log->stream;
}
