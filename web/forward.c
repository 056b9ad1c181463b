/*
 * Passes a request of the page on to the API server and the answer back.
 *
 * Only method, path, query, media types and body pass; no other header does, in either direction.
 * The answer to a change of a Secret, a ConfigMap, a Service or a claim passes without its data.
 *
 * Bodies of requests and answers are held until the other side has taken them, a large answer until
 * its client has read it. A site counts these bytes of all its requests and refuses more than its
 * bound, so that clients which do not read cannot use up the memory.
 */
#include <string.h>
#include <sys/queue.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "web/allowed_requests.h"
#include "web/internal.h"

enum {
    LIMIT_MS = 55000,
    ANSWER_BYTES_MAX = 64 << 20,
    FOLLOW_BACKLOG_MAX = 16 << 20,
    PIECE_BYTES = 256 << 10, /* a longer answer is sent in pieces, as its client reads it */
    PREFIX_SEGMENTS = 2
};

struct forward {
    struct web_stream stream;
    struct upstream_call call;
    char *target, *accept, *content_type, *body;
    struct buf gathered; /* what has been received of the answer; then what is sent of it */
    size_t sent;         /* how much of it has been sent */
    size_t held;         /* the share of this request in what the site counts, in bytes */
    struct task stop;    /* ends a followed log whose client does not read */
    bool is_blind, too_large, crowded;
    bool sends;          /* the answer is complete and is sent in pieces */
    bool follows, begun; /* the answer is sent as it comes; its head has been sent */
};

/* Sets the number of bytes that this request holds. False, and nothing is changed, when all requests
 * together would hold too many. Fewer bytes than before are always fine. */
static bool set_held(struct forward *forward, size_t bytes)
{
    struct forward_budget *budget = forward->stream.server->forwards;

    if (bytes > forward->held && budget->held - forward->held + bytes > budget->max)
        return false;
    budget->held += bytes - forward->held;
    forward->held = bytes;
    return true;
}

static bool refuse_crowd(const struct web_server *server, struct error *err)
{
    return error_set(err, ERR_TOO_MANY, "",
                     "the page's requests already hold %zu of %zu bytes in all (limit): try again "
                     "later, or ask for less at a time",
                     server->forwards->held, server->forwards->max);
}

static void release(struct forward *forward)
{
    set_held(forward, 0);
    loop_cancel(forward->stream.server->loop, &forward->stop);
    upstream_call_release(&forward->call);
    mem_free(forward->target);
    mem_free(forward->accept);
    mem_free(forward->content_type);
    mem_free(forward->body);
    buf_release(&forward->gathered);
    mem_free(forward);
}

static void on_stop(struct task *task)
{
    struct forward *forward = container_of(task, struct forward, stop);
    struct api_response *response = forward->stream.response;

    release(forward);
    response->abort(response);
}

static void begin(struct forward *forward)
{
    static const char *const headers[] = {"Cache-Control: no-store"};
    struct api_response *response = forward->stream.response;

    forward->begun = true;
    response->head(response, 200, "text/plain; charset=utf-8", headers, 1);
}

/* Passes on a part of a log that grows. */
static void pass(struct forward *forward, const char *bytes, size_t len)
{
    struct api_response *response = forward->stream.response;

    if (forward->stop.posted)
        return;
    if (!forward->begun)
        begin(forward);
    response->data(response, bytes, len);
    if (response->backlog(response) > FOLLOW_BACKLOG_MAX ||
        !set_held(forward, response->backlog(response)))
        loop_post(forward->stream.server->loop, &forward->stop);
}

static void on_data(struct upstream_call *call, const char *bytes, size_t len)
{
    struct forward *forward = container_of(call, struct forward, call);

    if (forward->follows) {
        pass(forward, bytes, len);
        return;
    }
    if (forward->too_large || forward->crowded)
        return;
    forward->too_large = forward->gathered.len + len > ANSWER_BYTES_MAX;
    forward->crowded = !forward->too_large && !set_held(forward, forward->held + len);
    if (forward->too_large || forward->crowded) {
        set_held(forward, forward->held - forward->gathered.len);
        buf_release(&forward->gathered);
    } else {
        buf_add(&forward->gathered, bytes, len);
    }
}

/* Keeps of an object what says which one it is. A refusal keeps its reason and the fields that it
 * is about, because its message may repeat their values. */
static void write_blind(const struct buf *answer, struct buf *out)
{
    static const char *const kept[] = {"name", "namespace", "uid", "resourceVersion", "generation"};
    scoped(json) json_t *doc =
        json_loadb(answer->data ? answer->data : "", answer->len, JSON_DECODE_ANY, NULL);
    scoped(json) json_t *shown = json_object(), *meta = json_object(), *fields = json_array();
    static const char *const status[] = {"status", "reason", "code"};
    bool is_status = json_object_get(doc, "reason") || json_object_get(doc, "code");
    size_t i;
    json_t *cause;

    json_object_set(shown, "apiVersion", json_object_get(doc, "apiVersion"));
    json_object_set(shown, "kind", json_object_get(doc, "kind"));
    for (i = 0; i < countof(kept); i++)
        json_object_set(meta, kept[i], json_object_get(json_object_get(doc, "metadata"), kept[i]));
    json_object_set(shown, "metadata", meta);
    for (i = 0; is_status && i < countof(status); i++)
        json_object_set(shown, status[i], json_object_get(doc, status[i]));
    json_array_foreach(doc_at(doc, "details.causes"), i, cause)
        json_array_append(fields, json_object_get(cause, "field"));
    if (is_status)
        json_object_set_new(shown, "message",
                            json_string("the server refused the object; its message is not shown, "
                                        "because it may contain data"));
    if (json_array_size(fields))
        json_object_set(shown, "fields", fields);
    json_text(shown, out);
}

/* Ends a followed log, which may have had no line. One that broke off is not ended as a whole. */
static void end_followed(struct forward *forward)
{
    struct api_response *response = forward->stream.response;
    bool whole = forward->call.err.code == ERR_NONE;

    if (!forward->begun)
        begin(forward);
    release(forward);
    if (whole)
        response->end(response);
    else
        response->abort(response);
}

/* Sends what the client has room for. The callback `drained` continues. */
static void send_pieces(struct forward *forward)
{
    struct api_response *response = forward->stream.response;
    const struct buf *answer = &forward->gathered;

    while (forward->sent < answer->len) {
        size_t left = answer->len - forward->sent;
        size_t len = left < PIECE_BYTES ? left : PIECE_BYTES;

        if (response->backlog(response) >= PIECE_BYTES)
            return;
        response->data(response, answer->data + forward->sent, len);
        forward->sent += len;
    }
    release(forward);
    response->end(response);
}

/* Sends the answer that has been gathered. The body of the request is no longer needed. */
static void send_gathered(struct forward *forward, const struct web_response *head)
{
    mem_free(take(forward->body));
    set_held(forward, forward->gathered.len);
    forward->sends = true;
    web_respond_head_now(forward->stream.response, head);
    send_pieces(forward);
}

static void drained(struct web_stream *stream)
{
    struct forward *forward = container_of(stream, struct forward, stream);

    if (forward->sends)
        send_pieces(forward);
    else if (forward->begun)
        set_held(forward, stream->response->backlog(stream->response));
}

static void on_done(struct upstream_call *call)
{
    struct forward *forward = container_of(call, struct forward, call);
    struct web_response answer = {.status = call->status, .media_type = call->media_type};
    struct api_response *response = forward->stream.response;
    const struct buf *text = call->text.len ? &call->text : &forward->gathered;
    struct error err = call->err;

    if (forward->begun || (forward->follows && call->status == 200)) {
        end_followed(forward);
        return;
    }
    if (forward->too_large)
        error_set(&err, ERR_TOO_LARGE, "",
                  "the answer is larger than %d bytes: ask for pages of it (limit)",
                  ANSWER_BYTES_MAX);
    if (forward->crowded)
        refuse_crowd(forward->stream.server, &err);
    if (call->status == 0 || forward->too_large || forward->crowded) {
        web_respond_error_now(response, &err);
        release(forward);
        return;
    }
    if (!*answer.media_type)
        answer.media_type = "application/json";
    if (forward->is_blind) {
        write_blind(text, &answer.body);
        answer.media_type = "application/json";
    } else if (call->text.len == 0) {
        send_gathered(forward, &answer);
        return;
    } else {
        buf_add(&answer.body, text->data, text->len);
    }
    web_respond_now(response, &answer);
    release(forward);
}

static void cancel(struct web_stream *stream)
{
    release(container_of(stream, struct forward, stream));
}

static const struct web_stream_ops ops = {.cancel = cancel, .drained = drained};
static const struct web_stream_ops follow_ops = {
    .cancel = cancel, .drained = drained, .long_running = true};

static bool may_change(const struct web_server *server, struct error *err)
{
    struct upstream_info info;

    upstream_info(server->options.upstream, &info);
    if (server->options.read_only)
        return error_set(err, ERR_FORBIDDEN, "",
                         "this page only looks: 'jobflow ui' was started with --read-only");
    return info.live || error_set(err, ERR_FORBIDDEN, "", "nothing can be changed: %s",
                                  info.reason ? info.reason : "no process runs");
}

static const char *method_text(enum api_method method)
{
    static const char *const texts[API_METHOD_N] = {
        [API_GET] = "GET",     [API_HEAD] = "GET",      [API_POST] = "POST",
        [API_PATCH] = "PATCH", [API_DELETE] = "DELETE",
    };

    return texts[method];
}

static void *start(struct web_server *server, const struct api_request *request,
                   struct api_response *response, enum gateway_pass how)
{
    struct forward *forward;
    struct error err = {0};

    if (request->body_len > server->forwards->max - server->forwards->held) {
        refuse_crowd(server, &err);
        return web_respond_error(server, response, &err);
    }
    forward = mem_alloc(sizeof *forward);

    forward->follows = how == GATEWAY_FOLLOW;
    forward->stop.run = on_stop;
    forward->stream = (struct web_stream){forward->follows ? &follow_ops : &ops, server, response};
    forward->is_blind = how == GATEWAY_BLIND;
    forward->target = mem_strdup(gateway_target(request->target));
    forward->accept = forward->is_blind ? NULL : mem_strdup(request->accept);
    forward->content_type = mem_strdup(request->content_type);
    if (request->body_len) {
        set_held(forward, request->body_len);
        forward->body = mem_array(request->body_len, 1);
        memcpy(forward->body, request->body, request->body_len);
    }
    forward->call = (struct upstream_call){
        .method = method_text(request->method),
        .target = forward->target,
        .accept = forward->accept,
        .content_type = forward->content_type,
        .body = forward->body,
        .body_len = request->body_len,
        .limit_ms = forward->follows ? 0 : LIMIT_MS,
        .data = on_data,
        .done = on_done,
    };
    upstream_start(server->options.upstream, &forward->call);
    return &forward->stream;
}

/* Whether the path is that of this subresource of a flow. */
static bool is_of_flow(const struct request_target *target, const char *subresource)
{
    /* The path is /ui/api/apis/GROUP/VERSION/namespaces/NS/jobflows/NAME/SUBRESOURCE. */
    static const size_t segments = 10;

    return target->n_segments == segments && strcmp(target->segments[7], "jobflows") == 0 &&
           strcmp(target->segments[9], subresource) == 0;
}

static bool is_at_rest(const struct web_server *server)
{
    struct upstream_info info;

    upstream_info(server->options.upstream, &info);
    return info.kind == UPSTREAM_STORE;
}

void *web_forward(struct web_server *server, const struct web_request *request,
                  struct api_response *response)
{
    const struct gateway_request asked = {.target = &request->target,
                                          .from = PREFIX_SEGMENTS,
                                          .method = request->http->method,
                                          .content_type = request->http->content_type};
    struct error err = {0};
    enum gateway_pass how = GATEWAY_REFUSED;

    if (gateway_target(request->http->target))
        how = gateway_may_pass(&asked, &err);
    else
        error_set(&err, ERR_BAD_REQUEST, "", "the path has a byte that an URL may not have");
    if (how == GATEWAY_REFUSED)
        return web_respond_error(server, response, &err);
    /* The graph is made by the program itself, so that every server has it. */
    if (is_of_flow(&request->target, "graph"))
        return web_graph(server, request, response);
    if (is_at_rest(server) &&
        (is_of_flow(&request->target, "steps") || is_of_flow(&request->target, "progress")))
        return web_raw(server, request, response);
    if ((how == GATEWAY_CHANGE || how == GATEWAY_BLIND) && !may_change(server, &err))
        return web_respond_error(server, response, &err);
    return start(server, request->http, response, how);
}
