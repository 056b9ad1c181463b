/*
 * Follows logs by reading the runtime's files ten times a second, those of pods that may still
 * write.
 */
#include "cli/run/pod_logs.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/collections/hash.h"
#include "base/mem.h"
#include "view/reason.h"

enum { POLL_MS = 100, PIECE_MAX = 64 << 10 };

/* One container whose output is being followed. */
struct stream {
    char *key; /* key of the log: uid/container */
    const char *container;
    char uid[37];
    char *label;
    int64_t offset;
    struct log_line line;
    struct buf partial; /* text of an unfinished line */
    UT_hash_handle hh;
};

struct pod_logs {
    struct loop *loop;
    struct runtime *runtime;
    struct store_watch *watch;
    struct timer poll;
    struct stream *streams;
    struct pod_logs_sink sink;
};

static void pass_lines(struct buf *partial, struct log_line *line, const struct pod_logs_sink *sink)
{
    char *start = partial->data, *end;

    if (!partial->len)
        return;
    while ((end = memchr(start, '\n', partial->len - (size_t)(start - partial->data)))) {
        sink->whole(sink->ctx, line, start, (size_t)(end - start));
        start = end + 1;
    }
    partial->len -= (size_t)(start - partial->data);
    memmove(partial->data, start, partial->len);
    if (partial->len >= PIECE_MAX) { /* a very long line is cut into pieces */
        sink->whole(sink->ctx, line, partial->data, partial->len);
        partial->len = 0;
    }
}

static void read_stream(struct pod_logs *logs, struct stream *stream)
{
    const struct log_query options = {
        .container = stream->container, .tail_lines = -1, .limit_bytes = -1};

    int64_t before = stream->offset;

    logs->runtime->ops->read_log(logs->runtime, stream->uid, &options, &stream->offset,
                                 &stream->partial, NULL);
    pass_lines(&stream->partial, &stream->line, &logs->sink);
    if (stream->partial.len && stream->offset != before)
        logs->sink.growing(logs->sink.ctx, &stream->line, stream->partial.data,
                           stream->partial.len);
}

static void stream_free(struct pod_logs *logs, struct stream *stream)
{
    if (stream->partial.len) /* a last line without its newline */
        logs->sink.whole(logs->sink.ctx, &stream->line, stream->partial.data, stream->partial.len);
    HASH_DEL(logs->streams, stream);
    buf_release(&stream->partial);
    mem_free(stream->key);
    mem_free(stream->label);
    mem_free(stream);
}

static void poll_streams(struct pod_logs *logs)
{
    struct stream *stream, *next;

    HASH_ITER(hh, logs->streams, stream, next)
    read_stream(logs, stream);
}

static void poll_now(struct timer *timer)
{
    struct pod_logs *logs = container_of(timer, struct pod_logs, poll);

    poll_streams(logs);
    if (logs->streams)
        timer_start(logs->loop, &logs->poll, POLL_MS);
}

static bool is_over(const struct object *pod)
{
    return pod_phase_ended(pod_status_phase(pod));
}

static void follow_container(struct pod_logs *logs, const struct object *pod,
                             const struct pod_container *container, bool several, bool over)
{
    char *key = mem_printf("%s/%s", object_uid(pod), container->name);
    const char *slash = strchr(key, '/');
    struct stream *stream;

    HASH_FIND_STR(logs->streams, key, stream);
    if (stream) {
        mem_free(key);
        if (over) { /* the last output of the step is printed before its end */
            read_stream(logs, stream);
            stream_free(logs, stream);
        }
        return;
    }
    stream = mem_alloc(sizeof *stream);
    stream->key = key;
    stream->container = slash + 1;
    snprintf(stream->uid, sizeof stream->uid, "%s", object_uid(pod));
    stream->label = several ? mem_printf("%s/%s", object_name(pod), container->name)
                            : mem_strdup(object_name(pod));
    stream->line.label = stream->label;
    HASH_ADD_KEYPTR(hh, logs->streams, stream->key, strlen(stream->key), stream);
    if (over) {
        read_stream(logs, stream);
        stream_free(logs, stream);
    } else if (!timer_armed(&logs->poll))
        timer_start(logs->loop, &logs->poll, POLL_MS);
}

/* Follows the logs of the containers of a pod. `over`: the pod has ended, or is gone. */
static void take_pod(struct pod_logs *logs, const struct object *pod, bool over)
{
    const struct pod_spec *spec = pod_spec_of(pod);
    bool several = spec->containers.count + spec->init_containers.count > 1;

    for (size_t i = 0; i < spec->init_containers.count; i++)
        follow_container(logs, pod, &spec->init_containers.items[i], several, over);
    for (size_t i = 0; i < spec->containers.count; i++)
        follow_container(logs, pod, &spec->containers.items[i], several, over);
}

/* Pods that were over before the run began were printed by an earlier run. */
static void take_present(void *arg, const struct object *pod)
{
    if (pod_status_phase(pod) != POD_PENDING && !is_over(pod))
        take_pod(arg, pod, false);
}

static bool pod_changed(void *ctx, enum store_change change, const struct object *old,
                        const struct object *pod)
{
    bool deleted = change == STORE_DELETED;
    bool ended_before = deleted ? is_over(pod) : old && is_over(old);

    if (pod_status_phase(pod) != POD_PENDING && !ended_before)
        take_pod(ctx, pod, deleted || is_over(pod));
    return true;
}

struct pod_logs *pod_logs_follow_all(struct loop *loop, struct store *store,
                                     struct runtime *runtime, const struct pod_logs_sink *sink)
{
    struct pod_logs *logs = mem_alloc(sizeof *logs);
    const struct store_watch_options options = {.kind = &kind_pod,
                                                .since_revision = store_revision(store),
                                                .changed = pod_changed,
                                                .ctx = logs};

    logs->loop = loop;
    logs->runtime = runtime;
    logs->sink = *sink;
    logs->poll.fire = poll_now;
    store_each(store, &kind_pod, NULL, take_present, logs);
    logs->watch = store_watch_open(store, &options, NULL);
    return logs;
}

void pod_logs_finish(struct pod_logs *logs)
{
    struct stream *stream, *next;

    if (!logs)
        return;
    poll_streams(logs);
    timer_stop(logs->loop, &logs->poll);
    if (logs->watch)
        store_watch_close(logs->watch);
    HASH_ITER(hh, logs->streams, stream, next)
    stream_free(logs, stream);
    mem_free(logs);
}

struct tail {
    struct runtime *runtime;
    int lines;
    const struct pod_logs_sink *sink;
};

static void tail_status(const struct tail *tail, struct log_line *line,
                        const struct container_status *container)
{
    scoped(buf) struct buf text = {0};

    buf_printf(&text, "container %s: ", container->name);
    reason_container_ended(container, &text);
    tail->sink->whole(tail->sink->ctx, line, text.data, text.len);
}

static void tail_pod(void *arg, const struct object *pod)
{
    const struct tail *tail = arg;
    const struct pod_status *status = pod_status_of(pod);

    for (size_t i = 0; i < status->init_containers.count + status->containers.count; i++) {
        const struct container_status *container =
            i < status->init_containers.count
                ? &status->init_containers.items[i]
                : &status->containers.items[i - status->init_containers.count];
        const struct log_query options = {
            .container = container->name, .tail_lines = tail->lines, .limit_bytes = -1};
        struct log_line line = {.label = object_name(pod)};
        scoped(buf) struct buf text = {0};
        int64_t offset = 0;

        if (container->state != CONTAINER_TERMINATED || container->exit_code == 0)
            continue;
        tail->runtime->ops->read_log(tail->runtime, object_uid(pod), &options, &offset, &text,
                                     NULL);
        tail_status(tail, &line, container);
        pass_lines(&text, &line, tail->sink);
        if (text.len)
            tail->sink->whole(tail->sink->ctx, &line, text.data, text.len);
    }
}

void pod_logs_tail(struct store *store, struct runtime *runtime, const char *job_uid, int lines,
                   const struct pod_logs_sink *sink)
{
    struct tail tail = {runtime, lines, sink};

    store_each_owned(store, &kind_pod, job_uid, tail_pod, &tail);
}
