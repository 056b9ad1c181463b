/*
 * Reads protobuf messages by field tables.
 *
 * The input is untrusted: messages nest no deeper than their tables do, and a row decides which
 * wire type its field must have.
 */
#include <stdio.h>
#include <string.h>

#include "api/types/schema/protobuf.h"
#include "base/compiler.h"
#include "base/encoding/base64.h"
#include "base/timefmt.h"

struct reader {
    const struct json_limits *limits;
    size_t values;
    struct error *err;
};

/* Every value is counted, so that few bytes cannot become a large document. */
static json_t *counted(struct reader *r, json_t *value)
{
    if (!value || ++r->values <= r->limits->max_values)
        return value;
    json_decref(value);
    error_set(r->err, ERR_BAD_REQUEST, "", "the protobuf message holds more than %zu values",
              r->limits->max_values);
    return NULL;
}

static json_t *read_text(struct reader *r, struct pb_span bytes)
{
    json_t *text;

    if (bytes.len && memchr(bytes.at, '\0', bytes.len)) {
        pb_broken(r->err, "a text has a NUL, which is not allowed");
        return NULL;
    }
    text = json_stringn(bytes.len ? (const char *)bytes.at : "", bytes.len);
    if (!text)
        pb_broken(r->err, "a text is not UTF-8");
    return text;
}

static json_t *read_base64(struct pb_span bytes)
{
    scoped(buf) struct buf text = {0};

    base64_encode(bytes.len ? (const char *)bytes.at : "", bytes.len, &text);
    return json_string(text.len ? text.data : "");
}

/* {1 seconds, 2 nanoseconds}; null for the zero of Go. */
static json_t *read_time(struct reader *r, const struct field *field, struct pb_span bytes)
{
    struct pb_item parts[2];
    char text[TIME_TEXT_MAX];
    int64_t seconds, nanos;

    if (!pb_take_fields(bytes, parts, countof(parts), r->err))
        return NULL;
    seconds = (int64_t)parts[0].value;
    nanos = (int64_t)(parts[1].value % 1000000000);
    if (seconds == 0 && nanos == 0)
        return json_null();
    if (seconds < -62135596800 || seconds > 253402300799) {
        pb_broken(r->err, "a time is beyond the years 1 to 9999");
        return NULL;
    }
    time_format(seconds * 1000, text);
    if (field->pb_as == PB_MICRO_TIME)
        snprintf(text + strcspn(text, "Z"), sizeof text - strcspn(text, "Z"), ".%06dZ",
                 (int)(nanos / 1000));
    return json_string(text);
}

/* {1 type, 2 number, 3 text} */
static json_t *read_int_or_text(struct reader *r, struct pb_span bytes)
{
    struct pb_item parts[3];

    if (!pb_take_fields(bytes, parts, countof(parts), r->err))
        return NULL;
    return parts[0].value == 1 ? read_text(r, parts[2].bytes)
                               : json_integer((int32_t)parts[1].value);
}

/* Reads a message with a quantity: {1 text}. */
static json_t *read_quantity(struct reader *r, struct pb_span bytes)
{
    struct pb_item text;

    return pb_take_fields(bytes, &text, 1, r->err) ? read_text(r, text.bytes) : NULL;
}

static size_t values_in(const json_t *value)
{
    size_t count = 1, i;
    const char *key;
    json_t *below;

    json_array_foreach(value, i, below)
    {
        count += values_in(below);
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, below)
    {
        count += values_in(below);
    }
    return count;
}

/* Reads a message with a JSON value: {1 JSON text}. */
static json_t *read_json(struct reader *r, struct pb_span bytes)
{
    struct pb_item raw;
    json_t *value;

    if (!pb_take_fields(bytes, &raw, 1, r->err))
        return NULL;
    if (!raw.bytes.len)
        return json_null();
    value = json_parse((const char *)raw.bytes.at, raw.bytes.len, r->limits, r->err);
    r->values += value ? values_in(value) : 0;
    return value;
}

static bool read_fields(struct reader *r, const struct schema *schema, unsigned in,
                        struct pb_span rest, json_t *object);

static json_t *read_message(struct reader *r, const struct field *field, struct pb_span bytes)
{
    scoped(json) json_t *object = json_object();
    const struct schema *of = field->pb_of ? field->pb_of : field->of;

    return read_fields(r, of, 0, bytes, object) ? take(object) : NULL;
}

static bool is_number(const struct field *field)
{
    switch ((int)field->type) {
    case FIELD_I32:
    case FIELD_OPT_I32:
    case FIELD_I64:
    case FIELD_OPT_I64:
    case FIELD_BOOL:
    case FIELD_OPT_BOOL:
        return true;
    default:
        return field->pb_as == PB_INTEGERS;
    }
}

/* Returns the value of one field, or of one entry of a list. NULL with an error. */
static json_t *read_value(struct reader *r, const struct field *field, const struct pb_item *item)
{
    if (field->pb_as == PB_MESSAGES)
        return read_message(r, field, item->bytes);
    if (field->pb_as == PB_JSON)
        return read_json(r, item->bytes);
    switch ((int)field->type) {
    case FIELD_BOOL:
    case FIELD_OPT_BOOL:
        return json_boolean(item->value != 0);
    case FIELD_OBJECT:
    case FIELD_INLINE:
    case FIELD_LIST:
        return read_message(r, field, item->bytes);
    case FIELD_TIME:
        return read_time(r, field, item->bytes);
    case FIELD_INT_OR_STR:
        return read_int_or_text(r, item->bytes);
    case FIELD_QUANTITY:
        return read_quantity(r, item->bytes);
    case FIELD_BASE64:
        return read_base64(item->bytes);
    default:
        return is_number(field) ? json_integer((int64_t)item->value) : read_text(r, item->bytes);
    }
}

static json_t *member_of(json_t *object, const char *name, json_t *(*empty)(void))
{
    json_t *member = json_object_get(object, name);

    if (!member) {
        member = empty();
        json_object_set_new(object, name, member);
    }
    return member;
}

/* Adds one entry {1 key, 2 value} of a map. */
static bool add_entry(struct reader *r, const struct field *field, const struct pb_item *item,
                      json_t *object)
{
    struct pb_item parts[2];
    scoped(json) json_t *key = NULL;
    json_t *value;

    if (!pb_take_fields(item->bytes, parts, countof(parts), r->err) ||
        !(key = read_text(r, parts[0].bytes)))
        return false;
    if (field->pb_as == PB_BYTES_MAP)
        value = read_base64(parts[1].bytes);
    else if (field_shapes[field->type].entry == FIELD_QUANTITY)
        value = read_quantity(r, parts[1].bytes);
    else
        value = read_text(r, parts[1].bytes);
    if (!(value = counted(r, value)))
        return false;
    json_object_setn_new(member_of(object, field->name, json_object), json_string_value(key),
                         json_string_length(key), value);
    return true;
}

static bool add_packed(struct reader *r, struct pb_span bytes, json_t *list)
{
    uint64_t number;
    json_t *value;

    while (bytes.len) {
        if (!pb_take_varint(&bytes, &number))
            return pb_broken(r->err, "it ends within a number");
        if (!(value = counted(r, json_integer((int64_t)number))))
            return false;
        json_array_append_new(list, value);
    }
    return true;
}

static bool is_list(const struct field *field)
{
    return field_shapes[field->type].form == FORM_LIST || field->pb_as == PB_MESSAGES ||
           field->pb_as == PB_INTEGERS;
}

/* Go writes members that are absent as empty values, unless they are pointers. */
static bool stands_for_absent(const struct field *field, const json_t *value)
{
    bool keeps = field->keeps_zero || field->required || field->type == FIELD_OPT_BOOL ||
                 field->type == FIELD_OPT_I32 || field->type == FIELD_OPT_I64;

    return json_is_null(value) ||
           (!keeps &&
            (json_is_false(value) || (json_is_string(value) && json_string_length(value) == 0) ||
             (json_is_integer(value) && json_integer_value(value) == 0)));
}

static bool add_field(struct reader *r, const struct field *field, const struct pb_item *item,
                      json_t *object)
{
    enum pb_wire wire = is_number(field) ? PB_VARINT : PB_BYTES;
    bool packed = field->pb_as == PB_INTEGERS && item->wire == PB_BYTES;
    json_t *value;

    if (item->wire != wire && !packed)
        return pb_broken(r->err, "a field has the wrong wire type");
    if (field_shapes[field->type].form == FORM_MAP)
        return add_entry(r, field, item, object);
    if (packed)
        return add_packed(r, item->bytes, member_of(object, field->name, json_array));
    value = counted(r, read_value(r, field, item));
    if (!value)
        return false;
    if (is_list(field))
        json_array_append_new(member_of(object, field->name, json_array), value);
    else if (stands_for_absent(field, value))
        json_decref(value);
    else
        json_object_set_new(object, field->name, value);
    return true;
}

/* Returns the row of a number. *out_around tells whether the number is that of a message around
 * rows. */
static const struct field *row_of(const struct schema *schema, unsigned in, uint64_t number,
                                  bool *out_around)
{
    *out_around = false;
    for (const struct field *field = schema->fields; field->name; field++) {
        if (field->pb && field->pb_in == in && field->pb == number)
            return field;
        *out_around |= !in && field->pb_in && field->pb_in == number;
    }
    return NULL;
}

/* Adds the fields of a message to `object`. `in` is the number of the message, if its members are
 * shown one level up. */
static bool read_fields(struct reader *r, const struct schema *schema, unsigned in,
                        struct pb_span rest, json_t *object)
{
    struct pb_item item;

    while (pb_take(&rest, &item, r->err)) {
        bool around;
        const struct field *field = row_of(schema, in, item.number, &around);

        if (around && item.wire != PB_BYTES)
            return pb_broken(r->err, "a field has the wrong wire type");
        if (around && !read_fields(r, schema, (unsigned)item.number, item.bytes, object))
            return false;
        if (field && !add_field(r, field, &item, object))
            return false;
    }
    return r->err->code == ERR_NONE;
}

json_t *schema_from_protobuf(const struct schema *schema, const struct schema *metadata,
                             struct pb_span message, const struct json_limits *limits,
                             struct error *err)
{
    const struct field meta[] = {{"metadata", FIELD_OBJECT, .of = metadata, .pb = 1}, {0}};
    const struct schema head = {.fields = meta};
    scoped(json) json_t *object = json_object();
    struct reader r = {.limits = limits, .err = err};

    if (metadata && !read_fields(&r, &head, 0, message, object))
        return NULL;
    return read_fields(&r, schema, 0, message, object) ? take(object) : NULL;
}
