/*
 * Decides which part of the gateway answers a request, once its sender is known.
 */
#include "web/site.h"

#include <openssl/crypto.h>
#include <string.h>

#include "api/server/auth/identity.h"
#include "base/mem.h"
#include "web/allowed_requests.h"
#include "web/internal.h"
#include "web/request_check.h"

enum {
    SIGNIN_BODY_MAX = 1 << 10,
    CONTROL_BODY_MAX = 64 << 10,
    FORWARD_BODY_MAX = 64 << 20,
    FORWARD_BYTES_MAX = 256 << 20,
    PLAN_BODY_MAX = 4 << 20,
    NS_PER_MS = 1000000,
};

/* Headers of every answer, which forbid scripts and frames of others. Ref: WEB-039, WEB-040. */
static const char headers[] =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src "
    "'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "X-Frame-Options: DENY\r\n"
    "Permissions-Policy: accelerometer=(), autoplay=(), camera=(), clipboard-read=(), "
    "clipboard-write=(self), display-capture=(), fullscreen=(), geolocation=(), gyroscope=(), "
    "magnetometer=(), microphone=(), midi=(), payment=(), usb=()\r\n";

typedef void *(*part_fn)(struct web_server *server, const struct web_request *request,
                         struct api_response *response);

struct web_site {
    struct http_handler handler;
    struct web_site_options options;
    struct loop *loop;
    struct signins *signins;
    struct forward_budget forwards;
    struct assets *assets;       /* NULL: a program without the page */
    struct web_server no_signin; /* answers requests without a sign-in; it has nothing behind it */
    struct identity
        *identity; /* the identity of all signed-in pages, which keeps connections from eviction */
    int64_t used_ns; /* monotonic time of the last request */
    bool is_off;
    LIST_HEAD(, web_exchange) exchanges;
};

static struct web_site *of(struct http_handler *handler)
{
    return container_of(handler, struct web_site, handler);
}

static bool is_json(const struct api_request *request)
{
    return request->content_type && strncmp(request->content_type, "application/json", 16) == 0 &&
           strchr("; ", request->content_type[16]);
}

enum needs { NEEDS_NOTHING, NEEDS_KEY };

/* clang-format off */
static const struct part {
    const char *first, *second; /* first two segments of the path; second NULL: any */
    enum needs needs;
    size_t body_max;
    enum api_method method;     /* the only method; OTHER: the part decides */
    part_fn answer;
} parts[] = {
    {"a",       NULL,      NEEDS_NOTHING, 0,                API_OTHER, web_asset},
    {"signin",  NULL,      NEEDS_NOTHING, SIGNIN_BODY_MAX,  API_POST,  web_sign_in},
    {"ticket",  NULL,      NEEDS_NOTHING, SIGNIN_BODY_MAX,  API_POST,  web_ticket},
    {"signout", NULL,      NEEDS_KEY,     CONTROL_BODY_MAX, API_POST,  web_sign_out},
    {"api",     NULL,      NEEDS_KEY,     FORWARD_BODY_MAX, API_OTHER, web_forward},
    {"v1",      "me",      NEEDS_KEY,     0,                API_GET,   web_whoami},
    {"v1",      "explain", NEEDS_KEY,     0,                API_GET,   web_explain},
    {"v1",      "foresee", NEEDS_KEY,     0,                API_GET,   web_foresee},
    {"v1",      "report",  NEEDS_KEY,     0,                API_GET,   web_report},
    {"v1",      "trace",   NEEDS_KEY,     0,                API_GET,   web_trace},
    {"v1",      "plan",    NEEDS_KEY,     PLAN_BODY_MAX,    API_POST,  web_plan},
    {"v1",      "stream",  NEEDS_KEY,     CONTROL_BODY_MAX, API_OTHER, web_stream},
};
/* clang-format on */

/* Returns the part for a path below /ui/; NULL: there is none. `*out_shell`: the path is one of the
 * page's own. */
static const struct part *part_of(const struct request_target *target, bool *out_shell)
{
    const char *first = target->n_segments > 1 ? target->segments[1] : "";
    const char *second = target->n_segments > 2 ? target->segments[2] : "";
    bool known = strcmp(first, "v1") == 0;

    for (size_t i = 0; i < countof(parts); i++) {
        if (strcmp(first, parts[i].first) != 0)
            continue;
        known = true;
        if (!parts[i].second || strcmp(parts[i].second, second) == 0)
            return &parts[i];
    }
    *out_shell = !known;
    return NULL;
}

/* The same bytes whatever is wrong, and whether what was asked for exists or not. */
static void *refuse_key(struct web_server *server, struct api_response *response)
{
    struct error err = {0};

    error_set(&err, ERR_UNAUTHORIZED, "", "this browser is not signed in: %s",
              server->site->options.another_link);
    return web_respond_error(server, response, &err);
}

static void *answer_part(struct web_server *server, const struct web_request *request,
                         struct api_response *response)
{
    bool is_shell = false;
    const struct part *part = part_of(&request->target, &is_shell);

    if (request->http->method == API_OPTIONS || request->http->method == API_OTHER)
        return web_refuse_method(server, response);
    if (is_shell)
        return web_shell(server, request, response);
    if ((!part || part->needs == NEEDS_KEY) && request->signin == SIGNIN_NONE)
        return refuse_key(server, response);
    if (!part)
        return web_refuse(server, response, ERR_NOT_FOUND, "there is nothing at this path");
    if (part->method != API_OTHER && part->method != request->http->method)
        return web_refuse_method(server, response);
    if (request->http->method == API_POST && strcmp(part->first, "api") != 0 &&
        !is_json(request->http))
        return web_refuse(server, response, ERR_MEDIA_TYPE, "the body must be application/json");
    if (part->body_max < request->http->body_len)
        return web_refuse(server, response, ERR_TOO_LARGE, "the body is too large");
    return part->answer(server, request, response);
}

/* Takes the request apart. False with the error that refuses it. */
static bool read_request(struct web_site *site, const struct api_request *http, struct arena *arena,
                         struct web_request *out, struct error *err)
{
    *out = (struct web_request){.http = http};
    if (site->is_off || !site->assets)
        return error_set(err, ERR_NOT_FOUND, "", "%s",
                         site->assets ? "the page is off (--ui)"
                                      : "this program was built without the page");
    if (!request_target_parse(http->target, arena, &out->target, err) ||
        !request_head_parse(http->head, http->head_len, &out->head, err))
        return false;
    if (out->target.n_segments == 0 || strcmp(out->target.segments[0], "ui") != 0)
        return error_set(err, ERR_NOT_FOUND, "", "the page is at /ui/");
    out->signin = signins_find(site->signins, out->head.cookie, out->head.key);
    return true;
}

/* Returns what answers for the user of the request; NULL with the error of one that cannot be
 * asked. */
static struct web_server *server_for(struct web_site *site, const struct web_request *request,
                                     struct error *err)
{
    const char *credential = signins_credential(site->signins, request->signin);

    return credential ? site->options.server_of(site->options.ctx, credential, err)
                      : &site->no_signin;
}

/* Begins the answer that the caller makes. */
static struct web_exchange *exchange_open(struct web_site *site, struct api_response *response)
{
    struct web_exchange *exchange = web_exchange_new(response);

    exchange->site = site;
    exchange->server = &site->no_signin;
    return exchange;
}

/* Takes note of the answer, which a part has begun. */
static void *exchange_begin(struct web_exchange *exchange, void *stream)
{
    exchange->stream = stream;
    LIST_INSERT_HEAD(&exchange->site->exchanges, exchange, all);
    return exchange;
}

static void *handle(struct http_handler *handler, const struct api_request *http,
                    struct api_response *response)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct web_site *site = of(handler);
    struct web_exchange *exchange = exchange_open(site, response);
    struct web_server *server;
    struct web_request request;
    struct error err = {0};

    site->used_ns = loop_mono_ns(site->loop);
    if (!read_request(site, http, arena, &request, &err))
        return exchange_begin(exchange,
                              web_respond_error(&site->no_signin, &exchange->response, &err));
    server = server_for(site, &request, &err);
    if (!server)
        return exchange_begin(exchange,
                              web_respond_error(&site->no_signin, &exchange->response, &err));
    exchange->server = server;
    exchange->signin = request.signin;
    return exchange_begin(exchange, answer_part(server, &request, &exchange->response));
}

static void *authorize(struct http_handler *handler, const struct api_request *http,
                       struct api_response *response, size_t *out_body_max)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct web_site *site = of(handler);
    struct web_request request;
    const struct part *part;
    struct error err = {0};
    bool is_shell = false;

    if (read_request(site, http, arena, &request, &err)) {
        part = part_of(&request.target, &is_shell);
        if (is_shell || (part && part->needs == NEEDS_NOTHING) || request.signin != SIGNIN_NONE) {
            *out_body_max = part ? part->body_max : 0;
            return NULL;
        }
    }
    struct web_exchange *exchange = exchange_open(site, response);

    return exchange_begin(exchange,
                          err.code == ERR_NONE
                              ? refuse_key(&site->no_signin, &exchange->response)
                              : web_respond_error(&site->no_signin, &exchange->response, &err));
}

static void *refuse(struct http_handler *handler, const struct error *err,
                    struct api_response *response)
{
    struct web_site *site = of(handler);
    struct web_exchange *exchange = exchange_open(site, response);

    return exchange_begin(exchange, web_respond_error(&site->no_signin, &exchange->response, err));
}

static bool check_head(struct http_handler *handler, const char *bytes, size_t len,
                       const struct request_head *head, struct error *err)
{
    return request_check(of(handler)->options.hosts, bytes, len, head, err);
}

static struct identity *identify(struct http_handler *handler, const struct api_request *http)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct web_site *site = of(handler);
    struct web_request request;
    struct identity *identity = site->identity;

    if (!read_request(site, http, arena, &request, NULL) || request.signin == SIGNIN_NONE)
        return NULL;
    if (site->options.identity_of) /* the credential may have ended since it was looked at */
        identity = site->options.identity_of(site->options.ctx,
                                             signins_credential(site->signins, request.signin));
    return identity ? identity_ref(identity) : NULL;
}

static void cancel(void *stream)
{
    web_exchange_cancel(stream);
}

static void drained(void *stream)
{
    const struct web_exchange *exchange = stream;

    if (exchange->stream->ops->drained)
        exchange->stream->ops->drained(exchange->stream);
}

static bool is_long_running(const void *stream)
{
    const struct web_exchange *exchange = stream;

    return exchange && exchange->stream->ops->long_running;
}

static const struct http_handler_ops ops = {
    .check_head = check_head,
    .identify = identify,
    .handle = handle,
    .authorize = authorize,
    .refuse = refuse,
    .cancel = cancel,
    .drained = drained,
    .is_long_running = is_long_running,
    .headers = headers,
    .keeps_head = true,
};

const struct web_site_options *web_site_options(const struct web_site *site)
{
    return &site->options;
}

void web_exchange_ended(struct web_site *site)
{
    site->used_ns = loop_mono_ns(site->loop);
    if (site->options.ended)
        site->options.ended(site->options.ctx);
}

/* Ends the answers that go on of a sign-in; SIGNIN_NONE: of all of them. Answers in one piece were
 * allowed when they were asked for. */
static void end_exchanges(struct web_site *site, uint64_t signin, const char *why)
{
    struct web_exchange *exchange, *next;

    for (exchange = LIST_FIRST(&site->exchanges); exchange; exchange = next) {
        next = LIST_NEXT(exchange, all);
        if (exchange->stream->ops->long_running &&
            (signin == SIGNIN_NONE || exchange->signin == signin))
            web_exchange_finish(exchange, why);
    }
}

static void on_ended(void *ctx, uint64_t signin, const char *credential, const char *why)
{
    struct web_site *site = ctx;

    end_exchanges(site, signin, why);
    if (site->options.ended)
        site->options.ended(site->options.ctx);
}

static bool is_good(void *ctx, const char *credential)
{
    const struct web_site *site = ctx;

    return !site->options.good || site->options.good(site->options.ctx, credential);
}

static void on_misused(void *ctx)
{
    const struct web_site *site = ctx;

    if (site->options.warn)
        site->options.warn(site->options.ctx,
                           "a link was used a second time by another client: somebody else may "
                           "have had it; the sign-in that it made has ended");
}

struct web_site *web_site_new(const struct web_site_options *options, struct error *err)
{
    struct web_site *site = mem_alloc(sizeof *site);

    site->options = *options;
    site->loop = options->loop;
    site->forwards.max =
        options->forward_bytes_max ? options->forward_bytes_max : FORWARD_BYTES_MAX;
    site->handler.ops = &ops;
    site->signins = signins_new(&(const struct signins_options){
        .loop = options->loop,
        .cookie_prefix = options->hosts ? "__Secure-" : "",
        .another_link = options->another_link,
        .path = options->signins_path,
        .good = is_good,
        .ended = on_ended,
        .misused = on_misused,
        .ctx = site,
    });
    site->identity = identity_new("page", NULL, 0);
    site->used_ns = loop_mono_ns(site->loop);
    if (options->assets) {
        site->assets = assets_new(options->assets, options->assets_len, signins_id(site->signins),
                                  options->take_token != NULL, err);
        if (!site->assets) {
            web_site_free(site);
            return NULL;
        }
    }
    web_site_take(site, &site->no_signin);
    return site;
}

void web_site_take(struct web_site *site, struct web_server *server)
{
    server->site = site;
    server->loop = site->loop;
    server->signins = site->signins;
    server->assets = site->assets;
    server->forwards = &site->forwards;
}

void web_site_free(struct web_site *site)
{
    if (!site)
        return;
    assets_free(site->assets);
    signins_free(site->signins);
    identity_unref(site->identity);
    mem_free(site);
}

struct http_handler *web_site_handler(struct web_site *site)
{
    return &site->handler;
}

void web_site_switch(struct web_site *site, bool on)
{
    if (!on && !site->is_off)
        end_exchanges(site, SIGNIN_NONE, "the daemon's page was switched off");
    site->is_off = !on;
}

void web_site_ticket(struct web_site *site, int64_t life_ms, struct buf *out)
{
    char ticket[SIGNIN_SECRET_TEXT + 1];

    signins_ticket(site->signins, "", life_ms, ticket);
    buf_str(out, ticket);
    OPENSSL_cleanse(ticket, sizeof ticket);
}

int64_t web_site_idle_ms(const struct web_site *site)
{
    const struct web_exchange *exchange;

    LIST_FOREACH(exchange, &site->exchanges, all)
    {
        if (exchange->stream->ops->long_running)
            return 0;
    }
    return (loop_mono_ns(site->loop) - site->used_ns) / NS_PER_MS;
}

void web_site_check(struct web_site *site)
{
    signins_check(site->signins);
}

bool web_site_uses(const struct web_site *site, const struct web_server *server,
                   const char *credential)
{
    const struct web_exchange *exchange;

    LIST_FOREACH(exchange, &site->exchanges, all)
    {
        if (exchange->server == server)
            return true;
    }
    return signins_has(site->signins, credential);
}

void web_site_stop(struct web_site *site, const char *why)
{
    end_exchanges(site, SIGNIN_NONE, why);
}
