/*
 * Who is signed in, what the server behind the gateway is, and what may be done there.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "web/internal.h"

enum { LIMIT_MS = 10000, NAMESPACE_MAX = 63 };

struct me {
    struct web_stream stream;
    struct upstream_call call;
    struct task task; /* answers for a store at rest, which is not asked */
    char *ns, *body;
    uint64_t signin;
};

void web_write_server(const struct web_server *server, json_t *object)
{
    struct upstream_info info;
    json_t *shown;

    upstream_info(server->options.upstream, &info);
    shown = json_pack("{s:s, s:s, s:b}", "kind", upstream_kind_text(info.kind), "name", info.name,
                      "live", (int)info.live);
    if (info.reason)
        json_object_set_new(shown, "reason", json_string(info.reason));
    json_object_set_new(object, "server", shown);
    json_object_set_new(object, "timeMs", json_integer(loop_wall_ms(server->loop)));
    json_object_set_new(object, "digest", json_string(assets_digest(server->assets)));
}

static void write_rights(const struct web_server *server, json_t *object)
{
    struct upstream_info info;
    const char *why = NULL;

    upstream_info(server->options.upstream, &info);
    json_object_set_new(object, "user", json_string(info.user));
    if (server->options.read_only)
        why = "'jobflow ui' was started with --read-only";
    else if (!info.live)
        why = info.reason ? info.reason : "no process runs";
    json_object_set_new(object, "readOnly", json_boolean(why != NULL));
    if (why)
        json_object_set_new(object, "readOnlyReason", json_string(why));
}

static void write_signin(const struct me *me, json_t *object)
{
    struct web_server *server = me->stream.server;
    int64_t idle_ms, whole_ms, now_ms = loop_wall_ms(server->loop);

    if (signins_ends(server->signins, me->signin, &idle_ms, &whole_ms))
        json_object_set_new(object, "signin",
                            json_pack("{s:I, s:I}", "idleEndsMs", (json_int_t)(now_ms + idle_ms),
                                      "endsMs", (json_int_t)(now_ms + whole_ms)));
}

static void release(struct me *me)
{
    loop_cancel(me->stream.server->loop, &me->task);
    upstream_call_release(&me->call);
    mem_free(me->ns);
    mem_free(me->body);
    mem_free(me);
}

/* `rules`: of a SelfSubjectRulesReview; NULL: the server does not tell. */
static void answer(struct me *me, const json_t *rules)
{
    const struct web_server_options *options = &me->stream.server->options;
    scoped(json) json_t *object = json_object();
    struct web_response content = {.status = 200};

    write_rights(me->stream.server, object);
    web_write_server(me->stream.server, object);
    json_object_set_new(object, "namespace", json_string(me->ns));
    if (options->open)
        json_object_set_new(
            object, "open",
            json_sprintf("%s/%s", upstream_namespace(options->upstream), options->open));
    json_object_set_new(object, "rules", rules ? json_deep_copy(rules) : json_null());
    write_signin(me, object);
    json_text(object, &content.body);
    web_respond_now(me->stream.response, &content);
    release(me);
}

static void on_done(struct upstream_call *call)
{
    struct me *me = container_of(call, struct me, call);
    scoped(json) json_t *review =
        call->status == 201 || call->status == 200
            ? json_loadb(call->text.data ? call->text.data : "", call->text.len, 0, NULL)
            : NULL;

    answer(me, doc_at(review, "status.resourceRules"));
}

static void on_turn(struct task *task)
{
    answer(container_of(task, struct me, task), NULL);
}

static void cancel(struct web_stream *stream)
{
    release(container_of(stream, struct me, stream));
}

static const struct web_stream_ops ops = {.cancel = cancel};

/* Whether the text may be a part of a JSON string and of a path. */
static bool is_namespace(const char *text)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return len > 0 && len <= NAMESPACE_MAX && !text[len];
}

void *web_whoami(struct web_server *server, const struct web_request *request,
                 struct api_response *response)
{
    const char *given = request_query(&request->target, "namespace");
    struct upstream *upstream = server->options.upstream;
    struct upstream_info info;
    struct error err = {0};
    struct me *me;

    if (given && !is_namespace(given)) {
        error_set(&err, ERR_BAD_REQUEST, "", "\"namespace\" is no name of a namespace");
        return web_respond_error(server, response, &err);
    }
    me = mem_alloc(sizeof *me);
    me->stream = (struct web_stream){&ops, server, response};
    me->ns = mem_strdup(given ? given : upstream_namespace(upstream));
    me->signin = request->signin;
    me->task.run = on_turn;
    upstream_info(upstream, &info);
    if (!info.live) {
        loop_post(server->loop, &me->task);
        return &me->stream;
    }
    me->body = mem_printf("{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":"
                          "\"SelfSubjectRulesReview\",\"spec\":{\"namespace\":\"%s\"}}",
                          me->ns);
    me->call = (struct upstream_call){
        .method = "POST",
        .target = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        .body = me->body,
        .body_len = strlen(me->body),
        .limit_ms = LIMIT_MS,
        .done = on_done,
    };
    upstream_start(upstream, &me->call);
    return &me->stream;
}
