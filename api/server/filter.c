/*
 * Selectors of list and watch.
 */
#include "api/server/stream.h"
#include <string.h>

static const struct {
    const char *field;
    size_t offset;
} selectable[] = {
    {"metadata.name", offsetof(struct api_filter, name)},
    {"metadata.namespace", offsetof(struct api_filter, ns)},
    {"involvedObject.uid", offsetof(struct api_filter, involved_uid)},
    {"involvedObject.name", offsetof(struct api_filter, involved_name)},
    {"involvedObject.kind", offsetof(struct api_filter, involved_kind)},
};

static bool take_requirement(const struct api_call *call, const char *text, size_t len,
                             struct api_filter *out, struct error *err)
{
    const char *equals = memchr(text, '=', len);
    size_t key_len = equals ? (size_t)(equals - text) : 0;

    if (!equals || (key_len && text[key_len - 1] == '!'))
        return error_set(err, ERR_BAD_REQUEST, "fieldSelector",
                         "\"%.*s\" is not of the form field=value", (int)len, text);
    equals += equals[1] == '=';
    for (size_t i = 0; i < countof(selectable); i++)
        if (strlen(selectable[i].field) == key_len &&
            memcmp(selectable[i].field, text, key_len) == 0) {
            *(const char **)((char *)out + selectable[i].offset) =
                arena_strndup(call->arena, equals + 1, len - (size_t)(equals + 1 - text));
            return true;
        }
    return error_set(err, ERR_BAD_REQUEST, "fieldSelector", "field label not supported: %.*s",
                     (int)key_len, text);
}

bool filter_parse(const struct api_call *call, struct api_filter *out, struct error *err)
{
    const char *labels = target_query(&call->target, "labelSelector");
    const char *fields = target_query(&call->target, "fieldSelector");

    *out = (struct api_filter){.name = call->route.name};
    for (size_t n; fields && *fields; fields += n + (fields[n] == ',')) {
        n = strcspn(fields, ",");
        if (n > 0 && !take_requirement(call, fields, n, out, err))
            return false;
    }
    if (labels && *labels) {
        out->labels = selector_parse(labels, err);
        return out->labels != NULL;
    }
    return true;
}

void filter_release(struct api_filter *filter)
{
    if (filter->labels)
        selector_free(filter->labels);
    *filter = (struct api_filter){0};
}

static bool involves(const struct api_filter *filter, const struct object *event)
{
    scoped(json) json_t *body = object_body_json(event);
    const json_t *involved = json_object_get(body, "involvedObject");
    const char *uid = json_string_value(json_object_get(involved, "uid"));
    const char *name = json_string_value(json_object_get(involved, "name"));
    const char *kind = json_string_value(json_object_get(involved, "kind"));

    return (!filter->involved_uid || (uid && strcmp(uid, filter->involved_uid) == 0)) &&
           (!filter->involved_name || (name && strcmp(name, filter->involved_name) == 0)) &&
           (!filter->involved_kind || (kind && strcmp(kind, filter->involved_kind) == 0));
}

bool filter_matches(const struct api_filter *filter, const struct object *object)
{
    if (filter->name && strcmp(filter->name, object_name(object)) != 0)
        return false;
    if (filter->ns && strcmp(filter->ns, object_namespace(object)) != 0)
        return false;
    if (filter->labels && !selector_matches(filter->labels, object->meta))
        return false;
    if (filter->involved_uid || filter->involved_name || filter->involved_kind)
        return object->kind == &kind_event && involves(filter, object);
    return true;
}
