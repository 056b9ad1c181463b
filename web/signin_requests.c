/*
 * Answers the requests that sign a browser in and out, and those that ask for a link.
 */
#include <openssl/crypto.h>
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"
#include "web/internal.h"

enum { TICKET_MS = 10 * 60 * 1000 }; /* how long a link works */

/* Returns the body as a document, which the caller releases; NULL for anything else. */
static json_t *read_body(const struct api_request *request)
{
    return json_loadb(request->body_len ? request->body : "", request->body_len,
                      JSON_REJECT_DUPLICATES, NULL);
}

/* Exchanges the ticket of a link. A text that is no ticket counts as a try with a wrong one. */
static bool by_ticket(struct web_server *server, const struct web_request *request,
                      const json_t *body, struct signin_keys *out, struct error *err)
{
    const char *ticket = json_string_value(json_object_get(body, "ticket"));
    const struct signin_try attempt = {.ticket = ticket ? ticket : "",
                                       .len = ticket ? strlen(ticket) : 0,
                                       .cookie = request->head.cookie,
                                       .peer = request->http->peer};

    return signins_redeem(server->signins, &attempt, out, err);
}

/* Exchanges a token, which is not stored. */
static bool by_token(struct web_server *server, const struct web_request *request,
                     const char *token, struct signin_keys *out, struct error *err)
{
    const struct web_site_options *options = web_site_options(server->site);
    scoped(buf) struct buf credential = {0};
    const char *peer = request->http->peer;

    if (!signins_count_try(server->signins, peer, err))
        return false;
    if (options->take_token(options->ctx, token, peer, &credential)) {
        signins_make(server->signins, credential.data, out);
        return true;
    }
    signins_log_failure(server->signins, peer);
    return error_set(err, ERR_UNAUTHORIZED, "",
                     "the daemon does not know this token: it may be revoked or over");
}

void *web_sign_in(struct web_server *server, const struct web_request *request,
                  struct api_response *response)
{
    const struct web_site_options *options = web_site_options(server->site);
    scoped(json) json_t *body = read_body(request->http);
    const char *token = json_string_value(json_object_get(body, "token"));
    struct signin_keys keys = {0};
    struct buf cookie = {0};
    struct web_response answer = {.status = 200};
    struct error err = {0};
    void *stream;

    if (!(token && options->take_token ? by_token(server, request, token, &keys, &err)
                                       : by_ticket(server, request, body, &keys, &err)))
        return web_respond_error(server, response, &err);
    signins_write_cookie(server->signins, keys.cookie, &cookie);
    answer.headers[0] = cookie.data;
    buf_printf(&answer.body, "{\"key\":\"%s\",\"id\":\"%s\"}", keys.key,
               signins_id(server->signins));
    stream = web_respond(server, response, &answer);
    OPENSSL_cleanse(&keys, sizeof keys);
    secret_wipe(&cookie);
    if (options->signed_in)
        options->signed_in(options->ctx);
    return stream;
}

void *web_sign_out(struct web_server *server, const struct web_request *request,
                   struct api_response *response)
{
    struct buf cookie = {0};
    struct web_response answer = {.status = 200};
    void *stream;

    signins_end(server->signins, request->signin, "signed out");
    signins_write_cookie(server->signins, NULL, &cookie);
    answer.headers[0] = cookie.data;
    buf_str(&answer.body, "{}");
    stream = web_respond(server, response, &answer);
    buf_release(&cookie);
    return stream;
}

void *web_ticket(struct web_server *server, const struct web_request *request,
                 struct api_response *response)
{
    const struct web_site_options *options = web_site_options(server->site);
    scoped(buf) struct buf credential = {0};
    char ticket[SIGNIN_SECRET_TEXT + 1];
    struct web_response answer = {.status = 201};
    void *stream;

    if (!options->may_link)
        return web_refuse(server, response, ERR_NOT_FOUND, "there is nothing at this path");
    if (request->signin != SIGNIN_NONE || !request->http->identity ||
        !options->may_link(options->ctx, request->http->identity, &credential))
        return web_refuse(server, response, ERR_UNAUTHORIZED,
                          "a link is made for a client that shows a token, or asks over the "
                          "daemon's socket");
    signins_ticket(server->signins, credential.data, TICKET_MS, ticket);
    buf_printf(&answer.body, "{\"ticket\":\"%s\"", ticket);
    if (options->url)
        buf_printf(&answer.body, ",\"url\":\"%s\"", options->url);
    buf_char(&answer.body, '}');
    OPENSSL_cleanse(ticket, sizeof ticket);
    stream = web_respond(server, response, &answer);
    return stream;
}
