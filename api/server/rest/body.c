/*
 * Decodes request bodies. The content type decides between JSON, YAML and protobuf; each becomes a
 * JSON document, within the limits of the kind.
 */
#include <string.h>
#include <strings.h>

#include "api/server/message/accept.h"
#include "api/server/message/protobuf.h"
#include "api/server/rest/internal.h"
#include "api/types/text/yaml.h"

static bool is_type(const char *content_type, const char *type)
{
    size_t n = strcspn(content_type, "; \t");

    return n == strlen(type) && strncasecmp(content_type, type, n) == 0;
}

/* A flow of many steps and a submission of many jobs may be large. */
static bool is_large(const struct api_call *call)
{
    return call->route.kind == &kind_job_flow || submit_is_path(&call->target);
}

static json_t *parse_yaml(const struct api_call *call, struct error_list *duplicates,
                          struct error *err)
{
    scoped(yaml_reader) struct yaml_reader *reader =
        yaml_reader_new(call->request->body, call->request->body_len,
                        is_large(call) ? &yaml_limits_flow : &yaml_limits_body);
    scoped(json) json_t *first = NULL;
    json_t *next = NULL;

    yaml_reader_report_duplicates(reader, duplicates);
    if (!yaml_reader_next(reader, &first, err) || (first && !yaml_reader_next(reader, &next, err)))
        return NULL;
    if (first && !next)
        return take(first);
    json_decref(next);
    error_set(err, ERR_BAD_REQUEST, "", "the body must hold exactly one object, it holds %s",
              first ? "several" : "none");
    return NULL;
}

/* Custom kinds have no protobuf form, as in a cluster; only DeleteOptions for them and their scale
 * do. A request without a kind is a review, which may be protobuf. */
static bool takes_protobuf(const struct api_call *call)
{
    return call->request->method != API_PATCH &&
           (!call->route.kind || !kind_is_custom(call->route.kind) ||
            call->route.sub == ROUTE_SCALE || call->request->method == API_DELETE);
}

const struct json_limits *body_limits(const struct api_call *call)
{
    return is_large(call) ? &json_limits_flow : &json_limits_body;
}

static json_t *parse(const struct api_call *call, struct error_list *duplicates, struct error *err)
{
    const struct json_limits *limits = body_limits(call);
    const char *type = call->request->content_type;
    size_t len = call->request->body_len;

    if (len > limits->max_bytes) {
        error_set(err, ERR_TOO_LARGE, "", "Request entity too large: limit is %zu",
                  limits->max_bytes);
        return NULL;
    }
    if (type && is_type(type, PROTOBUF_TYPE))
        return protobuf_parse(call->request->body, len, limits, err);
    if (type &&
        (is_type(type, "application/yaml") || is_type(type, "application/apply-patch+yaml")))
        return parse_yaml(call, duplicates, err);
    return json_parse_lenient(call->request->body ? call->request->body : "", len, limits,
                              duplicates, err);
}

json_t *body_parse(const struct api_call *call, struct error_list *duplicates, struct error *err)
{
    const char *type = call->request->content_type;
    bool is_patch = call->request->method == API_PATCH;
    struct error why = {0};
    json_t *doc;

    if (type && !is_patch && !is_type(type, "application/json") &&
        !is_type(type, "application/yaml") &&
        !(is_type(type, PROTOBUF_TYPE) && takes_protobuf(call))) {
        error_set(err, ERR_MEDIA_TYPE, "",
                  "the body of the request was in an unknown format - accepted media types "
                  "include: application/json, application/yaml%s",
                  takes_protobuf(call) ? ", " PROTOBUF_TYPE : "");
        return NULL;
    }
    doc = parse(call, duplicates, &why);
    if (doc)
        return doc;
    *err = why;
    if (why.code == ERR_BAD_REQUEST && !is_patch && call->route.kind &&
        !(type && is_type(type, PROTOBUF_TYPE)))
        error_prefix(err,
                     "the object provided is unrecognized (must be of type %s): couldn't get "
                     "version/kind; json parse error: ",
                     call->route.kind->name);
    return NULL;
}
