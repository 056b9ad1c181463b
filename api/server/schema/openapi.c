/*
 * Serves the OpenAPI documents of the kinds: v3 in one document per group and version; v2 in one
 * document of everything, as JSON or, for kubectl before 1.29, as protobuf. Ref: spec/kube-api.md
 * 5.
 *
 * The documents are built at the first request, which takes some ten milliseconds, and kept. The
 * URLs in the root of v3 contain the hash of their document, so clients may cache it for ever.
 */
#include "api/server/rest/internal.h"

#include <string.h>
#include <time.h>

#include "api/server/schema/openapi_build.h"
#include "api/types/text/json_text.h"
#include "base/collections/hash.h"
#include "base/mem.h"

enum { HASH_TEXT = 17, GROUPS_MAX = 16, YEAR_S = 365 * 24 * 3600 };

struct document {
    char *path; /* path of the group: "apis/GROUP/VERSION" or "api/v1" */
    struct buf text;
    char hash[HASH_TEXT];
};

struct openapi {
    struct document groups[GROUPS_MAX]; /* documents of the groups, [n_groups] */
    size_t n_groups;
    struct buf root, v2, v2_protobuf;
};

void openapi_free(struct openapi *openapi)
{
    if (!openapi)
        return;
    for (size_t i = 0; i < openapi->n_groups; i++) {
        mem_free(openapi->groups[i].path);
        buf_release(&openapi->groups[i].text);
    }
    buf_release(&openapi->root);
    buf_release(&openapi->v2);
    buf_release(&openapi->v2_protobuf);
    mem_free(openapi);
}

static void add_group(struct openapi *openapi, const struct api_group *group, json_t *schemas)
{
    struct document *document = &openapi->groups[openapi->n_groups++];
    scoped(json) json_t *doc = openapi_v3(group, schemas);

    document->path =
        mem_printf("api%s%s/%s", *group->name ? "s/" : "", group->name, group->version);
    json_text(doc, &document->text);
    snprintf(document->hash, HASH_TEXT, "%016llX",
             (unsigned long long)hash_stable(document->text.data, document->text.len));
}

static void write_root(struct openapi *openapi)
{
    struct jsonw w = jsonw_to(&openapi->root);

    jsonw_open(&w);
    jsonw_member_open(&w, "paths");
    for (size_t i = 0; i < openapi->n_groups; i++) {
        scoped_str url =
            mem_printf("/openapi/v3/%s?hash=%s", openapi->groups[i].path, openapi->groups[i].hash);

        jsonw_member_open(&w, openapi->groups[i].path);
        jsonw_member_str(&w, "serverRelativeURL", url);
        jsonw_close(&w);
    }
    jsonw_close(&w);
    jsonw_close(&w);
    buf_char(&openapi->root, '\n');
}

static const struct openapi *documents_of(struct api *api)
{
    scoped(json) json_t *schemas = NULL, *v2 = NULL;

    if (api->openapi)
        return api->openapi;
    api->openapi = mem_alloc(sizeof *api->openapi);
    schemas = openapi_schemas();
    for (const struct api_group *group = api_groups; group->name; group++)
        add_group(api->openapi, group, schemas);
    write_root(api->openapi);
    v2 = openapi_v2(schemas);
    json_text(v2, &api->openapi->v2);
    openapi_v2_protobuf(v2, &api->openapi->v2_protobuf);
    return api->openapi;
}

static struct api_stream *send_text(const struct api_call *call, const struct buf *text,
                                    struct reply *reply)
{
    reply->status = 200;
    buf_add(&reply->body, text->data, text->len);
    return reply_send(call, reply, STREAM_NOW);
}

/* Sends the v2 document. kubectl before 1.29 accepts only protobuf and cannot parse a content type
 * with an '@'. */
static struct api_stream *send_v2(const struct api_call *call)
{
    const struct openapi *openapi = documents_of(call->api);
    const char *accept = call->request->accept;
    bool protobuf = accept && strstr(accept, "com.github.proto-openapi.spec.v2");
    struct reply reply = {
        .content_type =
            protobuf ? "application/com.github.proto-openapi.spec.v2.v1.0+protobuf" : NULL,
        .headers = {"Vary: Accept"},
    };

    return send_text(call, protobuf ? &openapi->v2_protobuf : &openapi->v2, &reply);
}

static char *expires(const struct api_call *call)
{
    time_t at = (time_t)(loop_wall_ms(call->api->loop) / 1000) + YEAR_S;
    char date[64];
    struct tm parts;

    strftime(date, sizeof date, "Expires: %a, %d %b %Y %H:%M:%S GMT", gmtime_r(&at, &parts));
    return arena_strdup(call->arena, date);
}

static struct api_stream *send_document(const struct api_call *call,
                                        const struct document *document)
{
    const char *hash = request_query(&call->target, "hash");
    scoped_str etag = mem_printf("ETag: \"%s\"", document->hash);
    struct reply reply = {.headers = {"Vary: Accept", etag}};

    if (hash && strcmp(hash, document->hash) == 0) {
        reply.headers[2] = "Cache-Control: public, immutable";
        reply.headers[3] = expires(call);
    }
    return send_text(call, &document->text, &reply);
}

static struct api_stream *send_v3(const struct api_call *call)
{
    const struct openapi *openapi = documents_of(call->api);
    const char *const *segment = call->target.segments;
    scoped(buf) struct buf path = {0};
    struct reply reply = {.headers = {"Vary: Accept"}};

    for (size_t i = 2; i < call->target.n_segments; i++)
        buf_printf(&path, "%s%s", i > 2 ? "/" : "", segment[i]);
    if (!path.len)
        return send_text(call, &openapi->root, &reply);
    for (size_t i = 0; i < openapi->n_groups; i++)
        if (strcmp(openapi->groups[i].path, path.data) == 0)
            return send_document(call, &openapi->groups[i]);
    return NULL;
}

struct api_stream *page_openapi(const struct api_call *call)
{
    const char *const *segment = call->target.segments;
    size_t n = call->target.n_segments;

    if ((call->request->method != API_GET && call->request->method != API_HEAD) || n < 2 ||
        strcmp(segment[0], "openapi") != 0)
        return NULL;
    if (n == 2 && strcmp(segment[1], "v2") == 0)
        return send_v2(call);
    return strcmp(segment[1], "v3") == 0 ? send_v3(call) : NULL;
}
