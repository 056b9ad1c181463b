/*
 * The envelope of Kubernetes protobuf: runtime.Unknown {1 typeMeta {1 apiVersion, 2 kind}, 2 raw}
 * behind four magic bytes.
 */
#include "api/server/message/protobuf.h"

#include <string.h>

#include "api/server/message/protobuf_tables.h"
#include "api/types/schema/protobuf.h"
#include "base/mem.h"

static const char magic[4] = "k8s";

/* Returns the text of a field of the envelope (owned); it has no NUL. */
static char *text_of(const struct pb_item *item, struct error *err)
{
    if (item->bytes.len && memchr(item->bytes.at, '\0', item->bytes.len)) {
        pb_broken(err, "a text has a NUL, which is not allowed");
        return NULL;
    }
    return mem_printf("%.*s", (int)item->bytes.len,
                      item->bytes.len ? (const char *)item->bytes.at : "");
}

static json_t *parse_object(const char *version, const char *kind, struct pb_span raw,
                            const struct json_limits *limits, struct error *err)
{
    const struct schema *metadata, *schema = protobuf_schema_of(version, kind, &metadata);
    json_t *object;

    if (!schema) {
        error_set(
            err, ERR_BAD_REQUEST, "",
            "no protobuf message of kind \"%.128s\" in version \"%.128s\" is known here; send "
            "JSON",
            kind, version);
        return NULL;
    }
    object = schema_from_protobuf(schema, metadata, raw, limits, err);
    if (!object)
        return NULL;
    if (json_object_set_new(object, "apiVersion", json_string(version)) < 0 ||
        json_object_set_new(object, "kind", json_string(kind)) < 0) {
        json_decref(object);
        pb_broken(err, "a text is not UTF-8");
        return NULL;
    }
    return object;
}

json_t *protobuf_parse(const void *bytes, size_t len, const struct json_limits *limits,
                       struct error *err)
{
    scoped_str version = NULL;
    scoped_str kind = NULL;
    struct pb_item parts[2], type[2];
    struct error why = {0};
    json_t *object = NULL;

    if (len < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) {
        error_set(err, ERR_BAD_REQUEST, "",
                  "provided data does not appear to be a protobuf message, expected prefix [107 56 "
                  "115 0]");
        return NULL;
    }
    if (pb_take_fields(
            (struct pb_span){(const unsigned char *)bytes + sizeof magic, len - sizeof magic},
            parts, countof(parts), &why) &&
        pb_take_fields(parts[0].bytes, type, countof(type), &why) &&
        (version = text_of(&type[0], &why)) && (kind = text_of(&type[1], &why)))
        object = parse_object(version, kind, parts[1].bytes, limits, &why);
    if (!object)
        *err = why;
    return object;
}

/* The list of a kind: {1 metadata, 2 items}. Items have no apiVersion and kind of their own. */
static bool write_list(const char *version, const char *kind, const json_t *list, struct buf *out)
{
    size_t len = strlen(kind), i;
    scoped_str item_kind = mem_printf("%.*s", (int)(len > 4 ? len - 4 : 0), kind);
    scoped(buf) struct buf meta = {0};
    const struct schema *metadata, *schema = protobuf_schema_of(version, item_kind, &metadata);
    json_t *item;

    if (!schema)
        return false;
    schema_to_protobuf(protobuf_list_meta, NULL, json_object_get(list, "metadata"), &meta);
    pb_put_message(out, 1, &meta);
    json_array_foreach(json_object_get(list, "items"), i, item)
    {
        scoped(buf) struct buf message = {0};

        schema_to_protobuf(schema, metadata, item, &message);
        pb_put_message(out, 2, &message);
    }
    return true;
}

bool protobuf_write(const json_t *object, struct buf *out)
{
    const char *version = json_string_value(json_object_get(object, "apiVersion"));
    const char *kind = json_string_value(json_object_get(object, "kind"));
    const struct schema *metadata,
        *schema = version && kind ? protobuf_schema_of(version, kind, &metadata) : NULL;
    scoped(buf) struct buf type = {0}, raw = {0};

    if (schema)
        schema_to_protobuf(schema, metadata, object, &raw);
    else if (!version || !kind || !write_list(version, kind, object, &raw))
        return false;
    pb_put_text(&type, 1, version);
    pb_put_text(&type, 2, kind);
    buf_add(out, magic, sizeof magic);
    pb_put_message(out, 1, &type);
    pb_put_message(out, 2, &raw);
    return true;
}

bool protobuf_from_json(const char *text, size_t len, struct buf *out)
{
    scoped(json) json_t *object = json_read(text, len);

    return object && protobuf_write(object, out);
}

/* {1 type, 2 object {1 raw}} behind its length in four bytes, the highest first. */
void protobuf_watch_event(const char *type, const char *text, size_t len, struct buf *out)
{
    scoped(buf) struct buf object = {0}, raw = {0}, event = {0};

    protobuf_from_json(text, len, &object);
    pb_put_message(&raw, 1, &object);
    pb_put_text(&event, 1, type);
    pb_put_message(&event, 2, &raw);
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_char(out, (char)(event.len >> shift));
    buf_add(out, event.data, event.len);
}
