/*
 * The log subresource of pods and PodLogs: sends what a container has written so far and, with
 * follow, what it writes until it has ended. Ref: spec/kube-api.md 6.10.
 *
 * The log before the present one (`previous`) is that of the container's earlier run, or else the
 * kept log of the pod that had the same name before.
 */
#include <string.h>

#include "api/server/rest/internal.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/kinds/pod/pod_log.h"
#include "base/mem.h"
#include "base/timefmt.h"

enum { FOLLOW_MS = 100 };

struct log_stream {
    struct api_stream stream;
    struct timer poll;
    char *ns, *name; /* namespace and name of the pod; NULL: a PodLog, which is complete */
    char *uid, *container;
    struct log_query query;
    int64_t offset;
    int32_t restarts; /* restarts of the container when the log was requested */
    struct buf text;  /* text that was read but not yet sent */
    bool has_head, done, follows;
};

static struct log_stream *log_of(struct api_stream *stream)
{
    return container_of(stream, struct log_stream, stream);
}

static void release(struct api_stream *stream)
{
    struct log_stream *log = log_of(stream);

    if (log->follows && --stream->api->followers == 0)
        store_watch_close(take(stream->api->pods));
    timer_stop(stream->api->loop, &log->poll);
    buf_release(&log->text);
    mem_free(log->ns);
    mem_free(log->name);
    mem_free(log->uid);
    mem_free(log->container);
    mem_free(log);
}

/* Returns the present version of the pod; NULL once it is deleted, even if another pod has its
 * name. */
static const struct object *current_pod(const struct log_stream *log)
{
    const struct object *pod =
        log->name ? store_get(log->stream.api->store, &kind_pod, log->ns, log->name) : NULL;

    return pod && strcmp(object_uid(pod), log->uid) == 0 ? pod : NULL;
}

static const struct container_status *status_of(const struct object *pod, const char *container)
{
    const struct pod_status *status = pod_status_of(pod);

    for (size_t i = 0; i < status->containers.count; i++)
        if (strcmp(status->containers.items[i].name, container) == 0)
            return &status->containers.items[i];
    for (size_t i = 0; i < status->init_containers.count; i++)
        if (strcmp(status->init_containers.items[i].name, container) == 0)
            return &status->init_containers.items[i];
    return NULL;
}

/* Returns true when nothing more will be written to this log. */
static bool is_complete(const struct log_stream *log, const struct object *pod)
{
    const struct pod_status *status = pod_status_of(pod);
    const struct container_status *container = status_of(pod, log->container);

    return status->phase == POD_SUCCEEDED || status->phase == POD_FAILED ||
           (container && (container->state == CONTAINER_TERMINATED ||
                          container->restart_count != log->restarts));
}

/* Reads on. It checks first whether the log is complete, so that text written between the check and
 * the read is not lost. */
static bool read_more(struct log_stream *log, struct error *err)
{
    const struct object *pod = current_pod(log);
    const struct api_logs *logs = &log->stream.api->logs;
    bool complete = !pod || is_complete(log, pod);

    if (!logs->read(logs->ctx, log->uid, &log->query, &log->offset, &log->text, err))
        return false;
    log->done = log->done || complete;
    return true;
}

static void send_text(struct log_stream *log)
{
    struct api_response *response = log->stream.response;

    if (!log->has_head)
        response->head(response, 200, "text/plain", NULL, 0);
    else if (!read_more(log, NULL))
        log->done = true;
    log->has_head = true;
    if (log->text.len)
        response->data(response, log->text.data, log->text.len);
    if (log->query.limit_bytes >= 0) {
        log->query.limit_bytes -= (int64_t)log->text.len;
        log->done = log->done || log->query.limit_bytes <= 0;
    }
    buf_release(&log->text);
}

static void run(struct api_stream *stream)
{
    struct log_stream *log = log_of(stream);

    send_text(log);
    if (log->done)
        stream_end(stream);
    else
        timer_start(stream->api->loop, &log->poll, FOLLOW_MS);
}

static void on_poll(struct timer *timer)
{
    stream_continue(&container_of(timer, struct log_stream, poll)->stream);
}

static void finish(struct api_stream *stream)
{
    struct log_stream *log = log_of(stream);

    if (!log->has_head)
        send_text(log);
    if (!log->done)
        send_text(log);
}

static const struct stream_ops once_ops = {run, release, finish};
static const struct stream_ops follow_ops = {run, release, finish, .long_running = true};

/* Sends the rest of a log as soon as its container has ended, before the client can see any
 * consequence of that end. */
static bool pod_changed(void *ctx, enum store_change change, const struct object *old,
                        const struct object *pod)
{
    const struct api *api = ctx;

    struct api_stream *stream;

    LIST_FOREACH(stream, &api->streams, all)
    {
        if (stream->ops == &follow_ops && strcmp(log_of(stream)->uid, object_uid(pod)) == 0 &&
            is_complete(log_of(stream), pod)) {
            timer_stop(api->loop, &log_of(stream)->poll);
            loop_post(api->loop, &stream->task);
        }
    }
    return true;
}

static void start_following(struct log_stream *log)
{
    struct api *api = log->stream.api;
    const struct store_watch_options options = {
        .kind = &kind_pod, .since_revision = -1, .changed = pod_changed, .ctx = api};

    log->follows = true;
    if (api->followers++ == 0)
        api->pods = store_watch_open(api->store, &options, NULL);
}

static void add_names(const struct object *pod, struct buf *out)
{
    const struct pod_spec *spec = pod_spec_of(pod);

    for (size_t i = 0; i < spec->containers.count; i++)
        buf_printf(out, "%s%s", i ? " " : "", spec->containers.items[i].name);
    buf_char(out, ']');
    if (spec->init_containers.count)
        buf_str(out, " or one of the init containers: [");
    for (size_t i = 0; i < spec->init_containers.count; i++)
        buf_printf(out, "%s%s", i ? " " : "", spec->init_containers.items[i].name);
    if (spec->init_containers.count)
        buf_char(out, ']');
}

/* Returns the name of the container, borrowed from the pod; NULL with kube-apiserver's error. */
static const char *choose_container(const struct object *pod, const char *wanted, struct error *err)
{
    const struct pod_spec *spec = pod_spec_of(pod);
    scoped(buf) struct buf names = {0};

    if (!wanted || !*wanted) {
        if (spec->containers.count == 1)
            return spec->containers.items[0].name;
        add_names(pod, &names);
        error_set(err, ERR_BAD_REQUEST, "",
                  "a container name must be specified for pod %s, choose one of: [%s",
                  object_name(pod), names.data);
        return NULL;
    }
    for (size_t i = 0; i < spec->containers.count; i++)
        if (strcmp(spec->containers.items[i].name, wanted) == 0)
            return spec->containers.items[i].name;
    for (size_t i = 0; i < spec->init_containers.count; i++)
        if (strcmp(spec->init_containers.items[i].name, wanted) == 0)
            return spec->init_containers.items[i].name;
    error_set(err, ERR_BAD_REQUEST, "", "container %s is not valid for pod %s", wanted,
              object_name(pod));
    return NULL;
}

static bool check_started(const struct object *pod, const struct log_stream *log, struct error *err)
{
    const struct container_status *container = status_of(pod, log->container);

    if (log->query.previous || !container || container->state != CONTAINER_WAITING ||
        container->restart_count > 0)
        return true;
    return error_set(err, ERR_BAD_REQUEST, "",
                     "container \"%s\" in pod \"%s\" is waiting to start: %s", log->container,
                     object_name(pod), container->reason ? container->reason : "ContainerCreating");
}

static bool parse_query(const struct api_call *call, struct log_query *out, struct error *err)
{
    const char *since_time = request_query(&call->target, "sinceTime");
    const char *since_s = request_query(&call->target, "sinceSeconds");
    int64_t seconds;

    out->previous = request_query_bool(&call->target, "previous");
    out->timestamps = request_query_bool(&call->target, "timestamps");
    if (!request_query_int_min(&call->target, "tailLines", -1, 0, &out->tail_lines, err) ||
        !request_query_int_min(&call->target, "limitBytes", -1, 1, &out->limit_bytes, err) ||
        !request_query_int_min(&call->target, "sinceSeconds", 0, 1, &seconds, err))
        return false;
    if (since_time && *since_time && since_s && *since_s)
        return error_set(err, ERR_INVALID, "[]",
                         "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be "
                         "specified");
    if (seconds > 0 && seconds < INT64_MAX / 1000)
        out->since_ms = loop_wall_ms(call->api->loop) - seconds * 1000;
    if (!since_time || !*since_time)
        return true;
    if (time_parse(since_time, &out->since_ms, err))
        return true;
    if (err)
        err->code = ERR_BAD_REQUEST;
    return false;
}

/* The kept log of the newest pod that had the name of `pod` before it and has this container. */
struct earlier_search {
    const struct object *pod;
    const char *container;
    const struct object *found;
};

static void visit_kept(void *arg, const struct object *kept)
{
    struct earlier_search *search = arg;
    const struct pod_log *facts = pod_log_of(kept);

    if (!facts->pod || !facts->uid || strcmp(facts->pod, object_name(search->pod)) != 0 ||
        strcmp(facts->uid, object_uid(search->pod)) == 0 ||
        strcmp(object_namespace(kept), object_namespace(search->pod)) != 0)
        return;
    for (size_t i = 0; i < facts->containers.count; i++)
        if (strcmp(facts->containers.items[i].name, search->container) == 0 &&
            (!search->found || search->found->revision < kept->revision))
            search->found = kept;
}

/* Looks among the logs kept for the pod's job, or for the flow of that job. */
static const struct pod_log *earlier_pod(const struct api *api, const struct object *pod,
                                         const char *container)
{
    const struct owner_ref *job = meta_controller(pod->meta);
    const struct object *stored = job ? store_get_uid(api->store, job->uid) : NULL;
    const struct owner_ref *flow = stored ? meta_controller(stored->meta) : NULL;
    struct earlier_search search = {pod, container, NULL};

    if (!job)
        return NULL;
    store_each_owned(api->store, &kind_pod_log, flow ? flow->uid : job->uid, visit_kept, &search);
    return search.found ? pod_log_of(search.found) : NULL;
}

/* Goes on to the log of the pod that had the same name before. */
static bool read_earlier_pod(struct log_stream *log, const struct object *pod)
{
    const struct api_logs *logs = &log->stream.api->logs;
    const struct pod_log *earlier = pod ? earlier_pod(log->stream.api, pod, log->container) : NULL;

    if (!earlier)
        return false;
    mem_free(log->uid);
    log->uid = mem_strdup(earlier->uid);
    log->query.previous = false;
    return logs->read(logs->ctx, log->uid, &log->query, &log->offset, &log->text, NULL);
}

/* Reads the first part at once, so that a failure can still be an error response. `pod` is NULL for
 * a PodLog. */
static bool log_open(struct log_stream *log, const struct object *pod, struct error *err)
{
    const struct container_status *container = pod ? status_of(pod, log->container) : NULL;
    const struct api_logs *logs = &log->stream.api->logs;
    bool previous = log->query.previous;

    log->restarts = container ? container->restart_count : 0;
    if (pod && !check_started(pod, log, err))
        return false;
    log->done = previous || !pod || is_complete(log, pod);
    if (logs->read(logs->ctx, log->uid, &log->query, &log->offset, &log->text, err) ||
        (previous && read_earlier_pod(log, pod)))
        return true;
    if (previous)
        error_set(err, ERR_BAD_REQUEST, "",
                  "previous terminated container \"%s\" in pod \"%s\" not found", log->container,
                  log->name ? log->name : "");
    return false;
}

/* Returns the container of a PodLog: the one that is named, or the only one. */
static const char *choose_kept(const struct object *kept, const char *wanted, struct error *err)
{
    const struct pod_log *facts = pod_log_of(kept);
    scoped(buf) struct buf names = {0};

    for (size_t i = 0; i < facts->containers.count; i++) {
        const char *name = facts->containers.items[i].name;

        if (name && (wanted && *wanted ? strcmp(name, wanted) == 0 : facts->containers.count == 1))
            return name;
        buf_printf(&names, "%s%s", i ? " " : "", name ? name : "");
    }
    error_set(err, ERR_BAD_REQUEST, "",
              wanted && *wanted
                  ? "container %s is not valid for the log of pod %s, choose one of: [%s]"
                  : "a container name must be specified for %s%s, choose one of: [%s]",
              wanted && *wanted ? wanted : "the log of pod ", facts->pod ? facts->pod : "",
              names.data ? names.data : "");
    return NULL;
}

static struct log_stream *stream_new(const struct api_call *call, const struct object *object,
                                     const char *container, const struct log_query *query)
{
    struct log_stream *log = mem_alloc(sizeof *log);
    bool is_pod = object->kind == &kind_pod;
    const char *uid = is_pod ? object_uid(object) : pod_log_of(object)->uid;

    log->stream.api = call->api;
    log->ns = mem_strdup(call->route.ns);
    log->name = is_pod ? mem_strdup(call->route.name) : NULL;
    log->uid = mem_strdup(uid ? uid : "");
    log->container = mem_strdup(container);
    log->query = *query;
    log->query.container = log->container;
    log->poll.fire = on_poll;
    return log;
}

struct api_stream *verb_log(const struct api_call *call)
{
    struct error err = {0};
    const struct object *object = find_object(call, &err);
    bool is_pod = call->route.kind == &kind_pod;
    bool follow = is_pod && request_query_bool(&call->target, "follow");
    const char *wanted = request_query(&call->target, "container"), *container = NULL;
    struct log_query query = {0};
    struct log_stream *log;

    if (object && !call->api->logs.read)
        error_set(&err, ERR_UNAVAILABLE, "", "this process has no pod logs");
    else if (object && parse_query(call, &query, &err))
        container =
            is_pod ? choose_container(object, wanted, &err) : choose_kept(object, wanted, &err);
    if (!container)
        return reply_option_error(call, "PodLogOptions", &err);
    log = stream_new(call, object, container, &query);
    if (!log_open(log, is_pod ? object : NULL, &err)) {
        release(&log->stream);
        return reply_error(call, &err);
    }
    log->done = log->done || !follow;
    stream_start(&log->stream, call, follow ? &follow_ops : &once_ops, STREAM_NOW);
    if (follow)
        start_following(log);
    return &log->stream;
}
