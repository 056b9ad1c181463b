/*
 * Writes an object, or a list item by item, in the negotiated form: as stored, under another
 * group's names (group_alias.h), as table rows, or as metadata alone.
 */
#include "api/server/rest/render.h"

#include <string.h>

static bool parse_include(const struct api_call *call, enum table_object *out, struct error *err)
{
    static const struct {
        const char *text;
        enum table_object include;
    } rows[] = {{"", TABLE_OBJECT_METADATA},
                {"Metadata", TABLE_OBJECT_METADATA},
                {"Object", TABLE_OBJECT_FULL},
                {"None", TABLE_OBJECT_NONE}};
    const char *text = request_query(&call->target, "includeObject");

    *out = TABLE_OBJECT_METADATA;
    if (!text || call->media.form != MEDIA_TABLE)
        return true;
    for (size_t i = 0; i < countof(rows); i++)
        if (strcmp(rows[i].text, text) == 0) {
            *out = rows[i].include;
            return true;
        }
    return error_set(err, ERR_BAD_REQUEST, "",
                     "Unable to convert to Table as requested: includeObject: Invalid value: "
                     "\"%s\": must be 'Metadata', 'Object', 'None', or empty",
                     text);
}

bool render_init(struct render *render, const struct api_call *call, struct error *err)
{
    *render = (struct render){
        .kind = call->route.kind,
        .alias = call->route.alias,
        .form = call->media.form,
        .table =
            {
                .kind = call->route.kind,
                .version = call->media.version,
                .now_ms = loop_wall_ms(call->api->loop),
            },
    };
    return parse_include(call, &render->table.include, err);
}

typedef void (*write_object_fn)(const struct kind *kind, const struct object *object,
                                struct buf *out);

static void render_one(const struct render *render, const struct object *object,
                       write_object_fn write, struct buf *out)
{
    switch (render->form) {
    case MEDIA_TABLE:
        table_row(&render->table, object, out);
        break;
    case MEDIA_PARTIAL:
        table_write_partial(&render->table, object, out);
        break;
    case MEDIA_DISCOVERY: /* never negotiated for objects */
    case MEDIA_PROTOBUF:  /* made from the JSON */
    case MEDIA_JSON:
        if (render->alias)
            group_alias_write(render->alias, object, out);
        else
            write(render->kind, object, out);
        break;
    }
}

static void write_whole(const struct kind *kind, const struct object *object, struct buf *out)
{
    object_write(object, out);
}

void render_object(const struct render *render, const struct object *object,
                   enum table_columns columns, struct buf *out)
{
    const struct table_head head = {.revision = object->revision, .columns = columns};

    if (render->form == MEDIA_TABLE)
        table_begin(&render->table, &head, out);
    render_one(render, object, write_whole, out);
    if (render->form == MEDIA_TABLE)
        table_end(out);
}

void render_api_version(const struct render *render, struct buf *out)
{
    if (render->alias)
        group_alias_api_version(render->alias, out);
    else
        buf_str(out, kind_api_version(render->kind));
}

void render_list_begin(const struct render *render, const struct table_head *head, struct buf *out)
{
    scoped(buf) struct buf version = {0};
    struct jsonw w = jsonw_to(out);
    char text[80];

    if (render->form == MEDIA_TABLE) {
        table_begin(&render->table, head, out);
        return;
    }
    jsonw_open(&w);
    if (render->form == MEDIA_PARTIAL) {
        jsonw_member_str(&w, "kind", "PartialObjectMetadataList");
        snprintf(text, sizeof text, "meta.k8s.io/%s", render->table.version);
        jsonw_member_str(&w, "apiVersion", text);
    } else {
        snprintf(text, sizeof text, "%sList", render->kind->name);
        jsonw_member_str(&w, "kind", text);
        render_api_version(render, &version);
        jsonw_member_str(&w, "apiVersion", version.data);
    }
    jsonw_member_open(&w, "metadata");
    snprintf(text, sizeof text, "%lld", (long long)head->revision);
    jsonw_member_str(&w, "resourceVersion", text);
    jsonw_member_str_opt(&w, "continue", head->continue_token);
    jsonw_member_int_opt(&w, "remainingItemCount", head->remaining);
    jsonw_close(&w);
    jsonw_member_open_list(&w, "items");
}

/* Writes a list item. As in kube-apiserver, items of built-in kinds omit apiVersion and kind, items
 * of custom kinds repeat them. */
static void write_item(const struct kind *kind, const struct object *object, struct buf *out)
{
    size_t at = out->len, n;
    char prefix[160];

    object_write(object, out);
    if (kind_is_custom(kind))
        return;
    n = (size_t)snprintf(prefix, sizeof prefix, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",",
                         kind_api_version(kind), kind->name);
    if (n >= sizeof prefix || out->len - at <= n || memcmp(out->data + at, prefix, n) != 0)
        return;
    memmove(out->data + at + 1, out->data + at + n, out->len - at - n + 1);
    out->len -= n - 1;
}

void render_list_item(const struct render *render, const struct object *object, struct buf *out)
{
    render_one(render, object, write_item, out);
}

void render_list_end(const struct render *render, struct buf *out)
{
    if (render->form == MEDIA_TABLE)
        table_end(out);
    else
        buf_str(out, "]}");
    buf_char(out, '\n');
}
