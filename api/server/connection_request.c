/*
 * The request of a connection: from bytes to a call of the API.
 *
 *   in ─► head: whole, checked as raw bytes ─► llhttp: framing, body ─► who asks ─► api_handle
 *
 * A head is looked at once it is complete, and what of it we act on is copied; the parser then has
 * only the framing to find out. Bytes behind the end of a request stay in `in`: they are the next
 * one. Whatever is wrong ends in a refusal (connection_answer.c) and the end of the connection.
 */
#include "api/server/connection_impl.h"
#include "api/server/head.h"
#include <string.h>
#include <strings.h>

enum {
    AGENT_BYTES_MAX = 256, /* of the User-Agent */
};

enum api_method request_method(const struct connection *c)
{
    static const struct {
        llhttp_method_t theirs;
        enum api_method ours;
    } rows[] = {
        {HTTP_GET, API_GET},         {HTTP_HEAD, API_HEAD},   {HTTP_POST, API_POST},
        {HTTP_PUT, API_PUT},         {HTTP_PATCH, API_PATCH}, {HTTP_DELETE, API_DELETE},
        {HTTP_OPTIONS, API_OPTIONS},
    };

    for (size_t i = 0; i < countof(rows); i++)
        if (rows[i].theirs == (llhttp_method_t)c->parser.method)
            return rows[i].ours;
    return API_OTHER;
}

/* ---- who asks, for what ---- */

static const char *text_or_null(const struct buf *buf)
{
    return buf->len ? buf->data : NULL;
}

/* Who the client's certificate names: asked once, when the handshake is over. */
static void look_at_certificate(struct connection *c)
{
    enum { GROUPS_MAX = 32 };
    scoped(buf) struct buf user = {0}, groups = {0};
    const char *list[GROUPS_MAX];
    enum tls_certificate shown;
    size_t n = 0;

    if (c->looked_at_certificate || !c->io.tls)
        return;
    c->looked_at_certificate = true;
    shown = tls_peer(c->io.tls, &user, &groups);
    c->certificate_refused = shown == TLS_CERTIFICATE_UNKNOWN;
    if (shown != TLS_CERTIFICATE_GOOD)
        return;
    for (size_t at = 0; at < groups.len && n < GROUPS_MAX; at += strlen(groups.data + at) + 1)
        list[n++] = groups.data + at;
    c->certificate = identity_new(user.data, list, n);
}

static bool authenticate(struct connection *c, struct error *err)
{
    struct credentials credentials = {.socket = c->socket_identity, .peer = c->peer};

    if (!c->env->authn || c->identity)
        return true;
    look_at_certificate(c);
    credentials.certificate = c->certificate;
    credentials.certificate_refused = c->certificate_refused;
    if (c->authorization.len)
        credentials.authorization =
            (struct head_value){c->authorization.data, c->authorization.len};
    c->identity = authn_identify(c->env->authn, &credentials, err);
    if (c->identity && identity_role(c->identity, NULL) == ROLE_ADMIN)
        c->is_admin = true;
    return c->identity != NULL;
}

static struct api_request request_of(const struct connection *c)
{
    return (struct api_request){
        .method = request_method(c),
        .target = c->target.data ? c->target.data : "",
        .accept = text_or_null(&c->accept),
        .content_type = text_or_null(&c->content_type),
        .accept_encoding = text_or_null(&c->accept_encoding),
        .user_agent = text_or_null(&c->user_agent),
        .body = c->body.data,
        .body_len = c->body.len,
        .identity = c->identity,
    };
}

static struct api_stream *refusal(struct connection *c, const struct error *err)
{
    return api_refuse(c->env->api, err, &c->answer);
}

/* Whether a body may come; otherwise the API answers already. */
static bool judge(struct connection *c)
{
    struct api_request request;
    struct error err = {0};

    if (authenticate(c, &err)) {
        request = request_of(c);
        c->request = api_judge(c->env->api, &request, &c->answer, &c->body_max);
    } else {
        c->request = refusal(c, &err);
    }
    return !c->request;
}

static void dispatch(struct connection *c)
{
    struct api_request request;
    struct error err = {0};

    timer_start(c->loop, &c->deadline, ANSWER_MS);
    c->state = ANSWERING;
    c->head_only = request_method(c) == API_HEAD;
    if (!authenticate(c, &err)) {
        c->request = refusal(c, &err);
        return;
    }
    request = request_of(c);
    c->request = api_handle(c->env->api, &request, &c->answer);
    c->endless = api_is_endless(c->request);
    if (c->endless)
        timer_stop(c->loop, &c->deadline);
}

/* ---- the parser's callbacks ---- */

static int on_target(llhttp_t *parser, const char *at, size_t len)
{
    struct connection *c = parser->data;

    buf_add(&c->target, at, len);
    return 0;
}

static int refuse_size(struct connection *c)
{
    error_set(&c->refused, ERR_TOO_LARGE, "", "Request entity too large: limit is %zu",
              c->body_max);
    return -1;
}

/* A body that is on its way is read only when its sender may send it. One that is here already is
 * judged with its request, so that the connection can go on. */
static int on_headers(llhttp_t *parser)
{
    struct connection *c = parser->data;
    bool chunked = parser->flags & F_CHUNKED;

    c->body_max = c->in.len;
    if (!chunked && parser->content_length <= c->in.len - c->head_len)
        return 0;
    if (!judge(c))
        return -1;
    return parser->content_length > c->body_max ? refuse_size(c) : 0;
}

/* Whether one more large body may be read. */
static bool become_large(struct connection *c)
{
    if (!c->env->large_bodies || c->is_large)
        return true;
    if (*c->env->large_bodies >= LARGE_BODIES_MAX)
        return error_set(&c->refused, ERR_TOO_MANY, "",
                         "%d bodies of more than %d bytes are being read already; try again later",
                         LARGE_BODIES_MAX, LARGE_BODY_BYTES);
    ++*c->env->large_bodies;
    c->is_large = true;
    return true;
}

static int on_body(llhttp_t *parser, const char *at, size_t len)
{
    struct connection *c = parser->data;

    if (c->body.len + len > c->body_max)
        return refuse_size(c);
    if (c->body.len + len > LARGE_BODY_BYTES && !become_large(c))
        return -1;
    buf_add(&c->body, at, len);
    return 0;
}

static int on_message(llhttp_t *parser)
{
    struct connection *c = parser->data;

    c->message_done = true;
    c->keep_alive = llhttp_should_keep_alive(parser);
    return HPE_PAUSED; /* what follows is the next request */
}

/* ---- reading ---- */

static void drop_consumed(struct connection *c, size_t n)
{
    c->in.len -= n;
    memmove(c->in.data, c->in.data + n, c->in.len);
    c->searched = 0;
}

static void keep_value(struct buf *to, struct head_value value)
{
    buf_clear(to);
    buf_add(to, value.text, value.len);
}

/* Whether the head is there, and good. */
static bool take_head(struct connection *c)
{
    size_t len = head_length(c->in.data, c->in.len, c->searched);
    struct error err = {0};
    struct head head;

    c->searched = c->in.len;
    if (len > HEAD_BYTES_MAX || (!len && c->in.len > HEAD_BYTES_MAX)) {
        head_refuse_size(c->in.data, HEAD_BYTES_MAX, &err);
        answer_refuse(c, &err);
        return false;
    }
    if (!len)
        return false;
    if (!head_parse(c->in.data, len, &head, &err) ||
        (c->env->hosts && !host_check(c->env->hosts, &head, &err))) {
        answer_refuse(c, &err);
        return false;
    }
    c->head_len = len;
    keep_value(&c->accept, head.accept);
    keep_value(&c->accept_encoding, head.accept_encoding);
    keep_value(&c->content_type, head.content_type);
    keep_value(&c->authorization, head.authorization);
    if (head.user_agent.len > AGENT_BYTES_MAX)
        head.user_agent.len = AGENT_BYTES_MAX;
    keep_value(&c->user_agent, head.user_agent);
    c->wants_continue =
        head.expect.len == 12 && strncasecmp(head.expect.text, "100-continue", 12) == 0;
    return true;
}

static void send_continue(struct connection *c)
{
    struct buf go_on = {0};

    c->wants_continue = false;
    buf_str(&go_on, "HTTP/1.1 100 Continue\r\n\r\n");
    answer_send(c, &go_on);
}

/* Feed the parser; a complete request is dispatched. */
static void take_body(struct connection *c)
{
    enum llhttp_errno result = llhttp_execute(&c->parser, c->in.data, c->in.len);
    struct error err = {0};

    if (c->message_done || result == HPE_OK) {
        drop_consumed(c, result == HPE_OK
                             ? c->in.len
                             : (size_t)(llhttp_get_error_pos(&c->parser) - c->in.data));
        if (c->message_done)
            dispatch(c);
        else if (c->wants_continue)
            send_continue(c);
        return;
    }
    if (c->request) {
        answer_early(c);
        return;
    }
    error_set(&err, ERR_BAD_REQUEST, "", "the request is not HTTP/1.1: %s",
              llhttp_get_error_reason(&c->parser));
    answer_refuse(c, c->refused.code == ERR_NONE ? &err : &c->refused);
}

void request_consume(struct connection *c)
{
    if (c->state == READING_HEAD && c->in.len > 0) {
        if (c->searched == 0) { /* its first bytes */
            timer_start(c->loop, &c->deadline, HEAD_MS);
            c->began_ms = loop_wall_ms(c->loop);
            c->began_ns = loop_mono_ns(c->loop);
        }
        if (!take_head(c))
            return;
        c->state = READING_BODY;
        timer_start(c->loop, &c->deadline, BODY_MS);
    }
    if (c->state == READING_BODY && c->in.len > 0)
        take_body(c);
}

/* ---- life ---- */

void request_init(struct connection *c)
{
    llhttp_settings_init(&c->settings);
    c->settings.on_url = on_target;
    c->settings.on_headers_complete = on_headers;
    c->settings.on_body = on_body;
    c->settings.on_message_complete = on_message;
}

void request_reset(struct connection *c)
{
    identity_unref(take(c->identity));
    llhttp_init(&c->parser, HTTP_REQUEST, &c->settings);
    c->parser.data = c;
    c->searched = 0;
    c->refused = (struct error){0};
    c->message_done = c->wants_continue = false;
    if (c->is_large)
        --*c->env->large_bodies;
    c->is_large = false;
}
