/*
 * Opens what is in the data directory, notices when that changes, and carries calls.
 */
#include "web/upstream/upstream.h"

#include <string.h>
#include <sys/stat.h>

#include "api/store/dir/holder.h"
#include "api/types/text/doc.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/user_name.h"
#include "base/version.h"

enum { LOOK_MS = 500, PROBE_LIMIT_MS = 10000 };

/* The files of a store that no daemon has open; a command may still change it. */
struct stamp {
    struct timespec changed[2];
};

/* Questions to a new server. */
enum probe { PROBE_VERSION, PROBE_USER, PROBE_RIGHT, PROBE_N };

struct upstream {
    struct upstream_options options;
    struct client *client;
    unsigned generation;
    bool is_directory; /* the endpoint is a data directory, whose process may start and end */
    struct stamp stamp;
    struct timer look;
    LIST_HEAD(, upstream_call) calls;
    /* What the probes have found. */
    struct upstream_call probes[PROBE_N];
    unsigned probes_left;
    enum upstream_kind kind;
    char *user, *reason;
    bool may_change, known;
    char *right_body;
};

static void take_stamp(const char *data_dir, struct stamp *out)
{
    static const char *const files[] = {"store.db", "store.db-wal"};

    *out = (struct stamp){0};
    for (size_t i = 0; i < countof(files); i++) {
        scoped_str path = mem_printf("%s/%s", data_dir, files[i]);
        struct stat info;

        if (stat(path, &info) == 0)
            out->changed[i] = info.st_mtim;
    }
}

static void set_text(char **place, char *text)
{
    mem_free(*place);
    *place = text;
}

static void tell(struct upstream *upstream)
{
    if (upstream->options.changed)
        upstream->options.changed(upstream->options.ctx);
}

static json_t *document(const struct upstream_call *call)
{
    return call->status == 200 || call->status == 201
               ? json_loadb(call->text.data ? call->text.data : "", call->text.len, 0, NULL)
               : NULL;
}

static void take_version(struct upstream *upstream, const json_t *version)
{
    const char *mode = doc_text(version, "jobflowMode");
    const char *text = doc_text(version, "gitVersion");

    if (mode && strcmp(mode, "serve") == 0)
        upstream->kind = UPSTREAM_DAEMON;
    else
        upstream->kind = text && strstr(text, "jobflow") ? UPSTREAM_RUN : UPSTREAM_CLUSTER;
}

static void take_user(struct upstream *upstream, const json_t *review)
{
    const char *user = doc_text(review, "status.userInfo.username");

    /* The socket of a run admits its own user alone and has no other name for it. */
    set_text(&upstream->user, user && strcmp(user, "owner") != 0 ? mem_strdup(user) : user_name());
}

static void take_right(struct upstream *upstream, const json_t *review)
{
    upstream->may_change = json_is_true(doc_at(review, "status.allowed"));
}

static void (*const takers[PROBE_N])(struct upstream *, const json_t *) = {
    [PROBE_VERSION] = take_version, [PROBE_USER] = take_user, [PROBE_RIGHT] = take_right};

static void on_probed(struct upstream_call *call)
{
    struct upstream *upstream = call->upstream;
    scoped(json) json_t *doc = document(call);

    if (doc)
        takers[call - upstream->probes](upstream, doc);
    if (call->err.code != ERR_NONE)
        set_text(&upstream->reason, mem_strdup(call->err.message));
    if (--upstream->probes_left)
        return;
    upstream->known = upstream->user != NULL;
    if (!upstream->user)
        upstream->user = user_name();
    tell(upstream);
}

static void probe(struct upstream *upstream)
{
    static const char review[] =
        "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"SelfSubjectReview\"}";

    set_text(&upstream->right_body,
             mem_printf("{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":"
                        "\"SelfSubjectAccessReview\",\"spec\":{\"resourceAttributes\":{"
                        "\"namespace\":\"%s\",\"verb\":\"create\",\"group\":\"flow.volcano.sh\","
                        "\"resource\":\"jobflows\"}}}",
                        upstream_namespace(upstream)));
    upstream->probes[PROBE_VERSION].target = "/version";
    upstream->probes[PROBE_USER].target = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    upstream->probes[PROBE_USER].body = review;
    upstream->probes[PROBE_USER].body_len = sizeof review - 1;
    upstream->probes[PROBE_RIGHT].target = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    upstream->probes[PROBE_RIGHT].body = upstream->right_body;
    upstream->probes[PROBE_RIGHT].body_len = strlen(upstream->right_body);
    upstream->probes_left = PROBE_N;
    for (size_t i = 0; i < PROBE_N; i++) {
        struct upstream_call *call = &upstream->probes[i];

        call->method = call->body ? "POST" : "GET";
        call->limit_ms = PROBE_LIMIT_MS;
        call->done = on_probed;
        upstream_start(upstream, call);
    }
}

/* Takes note of a new server. */
static void arrive(struct upstream *upstream, struct client *client)
{
    const char *name = client_data_dir(client);
    bool live = client_is_live(client);

    upstream->client = client;
    upstream->generation++;
    upstream->is_directory = strstr(name, "://") == NULL;
    upstream->may_change = upstream->known = false;
    set_text(&upstream->user, NULL);
    set_text(&upstream->reason, live ? NULL : client_not_live_reason(client));
    upstream->kind = !upstream->is_directory ? UPSTREAM_CLUSTER
                     : live                  ? UPSTREAM_RUN
                                             : UPSTREAM_STORE;
    if (upstream->options.token) {
        upstream->kind = UPSTREAM_DAEMON;
        upstream->user = mem_strdup(upstream->options.user);
        upstream->known = true;
        return;
    }
    if (live) {
        probe(upstream);
        return;
    }
    upstream->user = user_name();
    upstream->known = true;
    take_stamp(name, &upstream->stamp);
}

static void finish(struct upstream_call *call)
{
    call->under_way = false;
    LIST_REMOVE(call, all);
    call->done(call);
}

static void on_interrupted(struct task *task)
{
    struct upstream_call *call = container_of(task, struct upstream_call, task);

    call->status = 0;
    error_set(&call->err, ERR_UNAVAILABLE, "", "the process behind the page has ended or changed");
    finish(call);
}

/* Ends what is under way with a server that is gone. */
static void interrupt_calls(struct upstream *upstream)
{
    struct upstream_call *call;

    LIST_FOREACH(call, &upstream->calls, all)
    {
        remote_cancel(&call->remote);
        call->task.run = on_interrupted;
        loop_post(upstream->options.loop, &call->task);
    }
}

static void open_again(struct upstream *upstream)
{
    struct error err = {0};
    struct client *next = client_open_on(upstream->options.loop, &upstream->options.endpoint, &err);

    if (!next) {
        set_text(&upstream->reason, mem_strdup(err.message));
        return;
    }
    for (size_t i = 0; i < PROBE_N; i++)
        upstream_cancel(&upstream->probes[i]);
    interrupt_calls(upstream);
    client_close(upstream->client);
    arrive(upstream, next);
    tell(upstream);
}

static bool has_changed(const struct upstream *upstream)
{
    const char *data_dir = client_data_dir(upstream->client);
    bool runs = holder_is_there(data_dir) && !holder_stopped(data_dir);
    struct stamp stamp;

    if (client_is_live(upstream->client))
        return !runs;
    take_stamp(data_dir, &stamp);
    return runs || memcmp(&stamp, &upstream->stamp, sizeof stamp) != 0;
}

static void on_look(struct timer *timer)
{
    struct upstream *upstream = container_of(timer, struct upstream, look);

    if (has_changed(upstream))
        open_again(upstream);
    timer_start(upstream->options.loop, &upstream->look, LOOK_MS);
}

struct upstream *upstream_new(const struct upstream_options *options, struct error *err)
{
    struct client *client =
        options->token
            ? client_open_as(options->loop, options->endpoint.data_dir, options->token, err)
            : client_open_on(options->loop, &options->endpoint, err);
    struct upstream *upstream;

    if (!client)
        return NULL;
    upstream = mem_alloc(sizeof *upstream);
    upstream->options = *options;
    upstream->look.fire = on_look;
    arrive(upstream, client);
    if (upstream->is_directory && !options->token)
        timer_start(options->loop, &upstream->look, LOOK_MS);
    return upstream;
}

void upstream_free(struct upstream *upstream)
{
    if (!upstream)
        return;
    timer_stop(upstream->options.loop, &upstream->look);
    for (size_t i = 0; i < PROBE_N; i++)
        upstream_call_release(&upstream->probes[i]);
    client_close(upstream->client);
    mem_free(upstream->user);
    mem_free(upstream->reason);
    mem_free(upstream->right_body);
    mem_free(upstream);
}

void upstream_info(const struct upstream *upstream, struct upstream_info *out)
{
    *out = (struct upstream_info){
        .kind = upstream->kind,
        .name = client_data_dir(upstream->client),
        .user = upstream->user ? upstream->user : "",
        .reason = upstream->reason,
        .live = client_is_live(upstream->client),
        .may_change = upstream->may_change,
        .known = upstream->known,
    };
}

const char *upstream_kind_text(enum upstream_kind kind)
{
#define UPSTREAM_TEXT(name, text) [UPSTREAM_##name] = (text),
    static const char *const texts[UPSTREAM_KIND_N] = {UPSTREAM_KINDS(UPSTREAM_TEXT)};
#undef UPSTREAM_TEXT

    return texts[kind];
}

const char *upstream_namespace(const struct upstream *upstream)
{
    return client_namespace(upstream->client, upstream->options.namespace);
}

unsigned upstream_generation(const struct upstream *upstream)
{
    return upstream->generation;
}

static struct upstream_call *of_remote(struct remote_call *remote)
{
    return container_of(remote, struct upstream_call, remote);
}

static void on_remote_data(struct remote_call *remote, const char *bytes, size_t len)
{
    struct upstream_call *call = of_remote(remote);

    call->status = remote->status;
    call->data(call, bytes, len);
}

static void on_remote_done(struct remote_call *remote)
{
    struct upstream_call *call = of_remote(remote);

    call->status = remote->status;
    call->media_type = remote->media_type;
    call->err = remote->err;
    call->text = remote->text;
    remote->text = (struct buf){0};
    finish(call);
}

static void start_remote(struct upstream_call *call)
{
    call->remote = (struct remote_call){
        .method = call->method,
        .target = call->target,
        .accept = call->accept,
        .content_type = call->content_type,
        .user_agent = "jobflow-ui/" JOBFLOW_VERSION,
        .body = call->body,
        .body_len = call->body_len,
        .limit_ms = call->limit_ms,
        .once = true,
        .data = call->data ? on_remote_data : NULL,
        .done = on_remote_done,
    };
    remote_start(client_remote(call->upstream->client), &call->remote);
}

static void on_local_data(struct client_call *local, const char *bytes, size_t len)
{
    struct upstream_call *call = container_of(local, struct upstream_call, local);

    call->status = local->status;
    call->data(call, bytes, len);
}

static void run_local(struct task *task)
{
    struct upstream_call *call = container_of(task, struct upstream_call, task);
    struct client *client = call->upstream->client;

    call->local = (struct client_call){
        .method = call->method,
        .target = call->target,
        .accept = call->accept,
        .content_type = call->content_type,
        .body = call->body,
        .body_len = call->body_len,
        .data = call->data ? on_local_data : NULL,
    };
    client_start(client, &call->local);
    client_run(client, -1);
    call->status = call->local.status;
    call->media_type = call->local.media_type;
    call->err = call->local.err;
    call->text = call->local.text;
    call->local.text = (struct buf){0};
    finish(call);
}

void upstream_start(struct upstream *upstream, struct upstream_call *call)
{
    buf_release(&call->text);
    call->upstream = upstream;
    call->status = 0;
    call->media_type = "";
    call->err = (struct error){0};
    call->under_way = true;
    call->is_local = !client_is_live(upstream->client);
    LIST_INSERT_HEAD(&upstream->calls, call, all);
    if (!call->is_local) {
        start_remote(call);
        return;
    }
    call->task.run = run_local;
    loop_post(upstream->options.loop, &call->task);
}

void upstream_cancel(struct upstream_call *call)
{
    if (!call->under_way)
        return;
    call->under_way = false;
    LIST_REMOVE(call, all);
    loop_cancel(call->upstream->options.loop, &call->task);
    remote_cancel(&call->remote);
}

void upstream_call_release(struct upstream_call *call)
{
    upstream_cancel(call);
    buf_release(&call->text);
    remote_call_release(&call->remote);
    client_call_release(&call->local);
}
