/*
 * A decoder for protobuf messages that are described by tables.
 *
 * The input is untrusted: every length is checked against the bytes that are left, and messages
 * nest no deeper than their tables do.
 */
#include "api/server/message/protobuf.h"

#include <stdint.h>
#include <string.h>

#include "api/server/message/protobuf_tables.h"
#include "api/types/text/json_text.h"
#include "base/base64.h"
#include "base/timefmt.h"

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct span {
    const unsigned char *at;
    size_t len;
};

/* One field as encoded on the wire. */
struct item {
    uint64_t number;
    enum wire wire;
    uint64_t value;    /* for WIRE_VARINT */
    struct span bytes; /* for WIRE_BYTES, WIRE_32 and WIRE_64 */
};

static bool broken(struct error *err, const char *why)
{
    return error_set(err, ERR_BAD_REQUEST, "", "the protobuf message is damaged: %s", why);
}

static bool take_varint(struct span *rest, uint64_t *out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && rest->len; shift += 7) {
        unsigned char byte = *rest->at++;

        rest->len--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool take_bytes(struct span *rest, uint64_t len, struct span *out)
{
    if (len > rest->len)
        return false;
    *out = (struct span){rest->at, (size_t)len};
    rest->at += len;
    rest->len -= (size_t)len;
    return true;
}

/* Takes the next field; false at the end and, with `err` set, when the bytes are malformed. */
static bool take_item(struct span *rest, struct item *out, struct error *err)
{
    uint64_t key, len;

    if (!rest->len)
        return false;
    *out = (struct item){0};
    if (!take_varint(rest, &key))
        return broken(err, "it ends within a field");
    out->number = key >> 3;
    out->wire = (enum wire)(key & 7);
    switch (out->wire) {
    case WIRE_VARINT:
        return take_varint(rest, &out->value) || broken(err, "it ends within a number");
    case WIRE_64:
        return take_bytes(rest, 8, &out->bytes) || broken(err, "it ends within a number");
    case WIRE_32:
        return take_bytes(rest, 4, &out->bytes) || broken(err, "it ends within a number");
    case WIRE_BYTES:
        return (take_varint(rest, &len) && take_bytes(rest, len, &out->bytes)) ||
               broken(err, "a length goes beyond its end");
    }
    return broken(err, "a field has an unknown wire type");
}

/* Takes the fields 1 to n of a small message; of a repeated field the last one counts. */
static bool take_small(struct span message, struct item *out, size_t n, struct error *err)
{
    struct item item;

    memset(out, 0, n * sizeof *out);
    while (take_item(&message, &item, err))
        if (item.number >= 1 && item.number <= n)
            out[item.number - 1] = item;
    return err->code == ERR_NONE;
}

/* Converters of values. Each returns an owned value, or NULL with `err`. */

static json_t *text_of(struct span bytes, struct error *err)
{
    json_t *text =
        json_stringn((const char *)(bytes.at ? bytes.at : (const unsigned char *)""), bytes.len);

    if (!text)
        broken(err, "a text is not UTF-8");
    return text;
}

static json_t *base64_of(struct span bytes, struct error *err)
{
    scoped(buf) struct buf text = {0};

    base64_encode(bytes.at ? (const char *)bytes.at : "", bytes.len, &text);
    return json_string(text.len ? text.data : "");
}

static json_t *time_of(struct span bytes, enum pb_type type, struct error *err)
{
    struct item parts[2];
    char text[40], whole[TIME_TEXT_MAX];
    int64_t seconds;

    if (!take_small(bytes, parts, 2, err))
        return NULL;
    seconds = (int64_t)parts[0].value;
    if (seconds == 0 && parts[1].value == 0)
        return json_null();
    if (seconds < -62135596800 || seconds > 253402300799) {
        broken(err, "a time is beyond the years 1 to 9999");
        return NULL;
    }
    time_format(seconds * 1000, whole);
    if (type == PB_TIME)
        return json_string(whole);
    snprintf(text, sizeof text, "%.*s.%06uZ", (int)strcspn(whole, "Z"), whole,
             (unsigned)(parts[1].value / 1000 % 1000000));
    return json_string(text);
}

static json_t *int_or_text_of(struct span bytes, struct error *err)
{
    struct item parts[3];

    if (!take_small(bytes, parts, 3, err))
        return NULL;
    return parts[0].value == 1 ? text_of(parts[2].bytes, err)
                               : json_integer((int32_t)parts[1].value);
}

static json_t *json_of(struct span bytes, struct error *err)
{
    struct item raw;

    if (!take_small(bytes, &raw, 1, err))
        return NULL;
    return json_parse(raw.bytes.at ? (const char *)raw.bytes.at : "", raw.bytes.len,
                      &json_limits_body, err);
}

static json_t *message_of(const struct pb_message *message, struct span rest, struct error *err);

static json_t *value_of(const struct pb_field *field, const struct item *item, struct error *err)
{
    switch (field->type) {
    case PB_STR:
        return text_of(item->bytes, err);
    case PB_INT:
        return json_integer((int64_t)item->value);
    case PB_BOOL:
        return json_boolean(item->value != 0);
    case PB_MESSAGE:
        return message_of(field->of, item->bytes, err);
    case PB_BYTES:
        return base64_of(item->bytes, err);
    case PB_TIME:
    case PB_MICRO_TIME:
        return time_of(item->bytes, field->type, err);
    case PB_INT_OR_STR:
        return int_or_text_of(item->bytes, err);
    case PB_JSON:
        return json_of(item->bytes, err);
    case PB_STR_MAP:
    case PB_BYTES_MAP:
        break;
    }
    return json_null();
}

/* Adds one entry of a map to the object. */
static bool add_entry(const struct pb_field *field, const struct item *item, json_t *object,
                      struct error *err)
{
    struct item parts[2];
    json_t *map = json_object_get(object, field->name), *value;
    scoped(json) json_t *key = NULL;

    if (!take_small(item->bytes, parts, 2, err) || !(key = text_of(parts[0].bytes, err)))
        return false;
    value =
        field->type == PB_STR_MAP ? text_of(parts[1].bytes, err) : base64_of(parts[1].bytes, err);
    if (!value)
        return false;
    if (!map) {
        map = json_object();
        json_object_set_new(object, field->name, map);
    }
    json_object_setn_new(map, json_string_value(key), json_string_length(key), value);
    return true;
}

static bool is_zero(const json_t *value)
{
    return json_is_null(value) || json_is_false(value) ||
           (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_integer(value) && json_integer_value(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

static bool add_field(const struct pb_field *field, const struct item *item, json_t *object,
                      struct error *err)
{
    bool number = field->type == PB_INT || field->type == PB_BOOL;
    json_t *value, *list;

    if (item->wire != (number ? WIRE_VARINT : WIRE_BYTES))
        return broken(err, "a field has the wrong wire type");
    if (field->type == PB_STR_MAP || field->type == PB_BYTES_MAP)
        return add_entry(field, item, object, err);
    value = value_of(field, item, err);
    if (!value)
        return false;
    if (field->repeated) {
        list = json_object_get(object, field->name);
        if (!list) {
            list = json_array();
            json_object_set_new(object, field->name, list);
        }
        json_array_append_new(list, value);
    } else if (field->keeps_zero || !is_zero(value)) {
        json_object_set_new(object, field->name, value);
    } else {
        json_decref(value);
    }
    return true;
}

static json_t *message_of(const struct pb_message *message, struct span rest, struct error *err)
{
    scoped(json) json_t *object = json_object();
    struct item item;

    while (take_item(&rest, &item, err)) {
        const struct pb_field *field = message->fields;

        while (field->name && field->number != item.number)
            field++;
        if (field->name && !add_field(field, &item, object, err))
            return NULL;
    }
    return err->code == ERR_NONE ? take(object) : NULL;
}

/* The envelope: four magic bytes, then runtime.Unknown {1 typeMeta {1 apiVersion, 2 kind}, 2 raw}.
 * */
json_t *protobuf_parse(const void *bytes, size_t len, struct error *err)
{
    static const unsigned char magic[] = {'k', '8', 's', 0};
    scoped(json) json_t *version = NULL, *kind = NULL;
    struct item parts[2], type[2];
    const struct pb_message *message;
    struct error why = {0};
    json_t *object = NULL;

    if (len < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) {
        error_set(err, ERR_BAD_REQUEST, "",
                  "provided data does not appear to be a protobuf message, expected prefix [107 56 "
                  "115 0]");
        return NULL;
    }
    if (take_small((struct span){(const unsigned char *)bytes + sizeof magic, len - sizeof magic},
                   parts, 2, &why) &&
        take_small(parts[0].bytes, type, 2, &why) && (version = text_of(type[0].bytes, &why)) &&
        (kind = text_of(type[1].bytes, &why))) {
        message = pb_message_of(json_string_value(kind));
        if (message)
            object = message_of(message, parts[1].bytes, &why);
        else
            error_set(&why, ERR_BAD_REQUEST, "",
                      "no protobuf message of kind \"%.128s\" is known here; send JSON",
                      json_string_value(kind));
    }
    if (!object) {
        *err = why;
        return NULL;
    }
    json_object_set(object, "apiVersion", version);
    json_object_set(object, "kind", kind);
    return object;
}
