/*
 * Answers requests for the page itself and for its files. They need no sign-in, because they hold no
 * data.
 */
#include <string.h>

#include "api/server/message/gzip.h"
#include "base/mem.h"
#include "web/internal.h"

static bool is_read(enum api_method method)
{
    return method == API_GET || method == API_HEAD;
}

static bool names_tag(struct header_value header, const char *tag)
{
    return header.text && memmem(header.text, header.len, tag, strlen(tag)) != NULL;
}

void *web_shell(struct web_server *server, const struct web_request *request,
                struct api_response *response)
{
    const struct buf *shell = assets_shell(server->assets);
    scoped_str tag =
        mem_printf("\"%s-%s\"", assets_digest(server->assets), signins_id(server->signins));
    scoped_str etag = mem_printf("ETag: %s", tag);
    struct web_response answer = {.status = 200,
                                  .media_type = "text/html; charset=utf-8",
                                  .headers = {"Cache-Control: no-cache", etag}};

    if (!is_read(request->http->method))
        return web_refuse_method(server, response);
    if (names_tag(request->head.if_none_match, tag))
        answer.status = 304;
    else
        buf_add(&answer.body, shell->data, shell->len);
    return web_respond(server, response, &answer);
}

void *web_asset(struct web_server *server, const struct web_request *request,
                struct api_response *response)
{
    const struct request_target *target = &request->target;
    bool ours =
        target->n_segments == 4 && strcmp(target->segments[2], assets_digest(server->assets)) == 0;
    const struct asset *asset = ours ? assets_find(server->assets, target->segments[3]) : NULL;
    bool gzip = gzip_is_accepted(request->http->accept_encoding);
    struct web_response answer = {.status = 200,
                                  .headers = {"Cache-Control: public, max-age=31536000, immutable",
                                              "Vary: Accept-Encoding",
                                              gzip ? "Content-Encoding: gzip" : NULL}};

    if (!is_read(request->http->method))
        return web_refuse_method(server, response);
    if (!asset)
        return web_refuse(server, response, ERR_NOT_FOUND, "there is no such file of this page");
    answer.media_type = asset->media_type;
    if (gzip)
        buf_add(&answer.body, asset->gzipped, asset->gzipped_len);
    else
        assets_inflate(asset, &answer.body);
    return web_respond(server, response, &answer);
}
