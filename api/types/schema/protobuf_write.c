/*
 * Writes documents as protobuf messages, by field tables.
 *
 * A message is written into a buffer of its own and then added to the one above it behind its
 * length. Members without a row or a number are left out.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/schema/protobuf.h"
#include "base/encoding/base64.h"
#include "base/timefmt.h"

static void write_fields(const struct schema *schema, unsigned in, const json_t *object,
                         struct buf *out);

/* Returns the nanoseconds behind the dot of a time. */
static int64_t fraction_ns(const char *text)
{
    const char *at = strchr(text, '.');
    int64_t ns = 0;
    int digits = 0;

    if (!at)
        return 0;
    for (at++; isdigit((unsigned char)*at) && digits < 9; at++, digits++)
        ns = ns * 10 + (*at - '0');
    for (; digits < 9; digits++)
        ns *= 10;
    return ns;
}

static void write_time(const json_t *value, struct buf *out)
{
    const char *text = json_string_value(value);
    int64_t ms;

    if (!text || !time_parse(text, &ms, NULL))
        return;
    pb_put_varint(out, 1, (uint64_t)((ms - (ms % 1000 + 1000) % 1000) / 1000));
    pb_put_varint(out, 2, (uint64_t)fraction_ns(text));
}

static void write_int_or_text(const json_t *value, struct buf *out)
{
    pb_put_varint(out, 1, json_is_string(value));
    pb_put_varint(out, 2, (uint64_t)json_integer_value(value));
    pb_put_text(out, 3, json_is_string(value) ? json_string_value(value) : "");
}

static void write_quantity(const json_t *value, struct buf *out)
{
    char number[JSON_NUMBER_MAX];

    if (json_is_number(value))
        json_number_text(value, number);
    pb_put_text(out, 1, json_is_number(value) ? number : json_string_value(value));
}

static void write_json(const json_t *value, struct buf *out)
{
    scoped(buf) struct buf text = {0};

    json_text(value, &text);
    pb_put_bytes(out, 1, text.data, text.len);
}

typedef void (*write_fn)(const json_t *value, struct buf *out);

static void put_value(struct buf *out, unsigned number, const json_t *value, write_fn write)
{
    scoped(buf) struct buf message = {0};

    write(value, &message);
    pb_put_message(out, number, &message);
}

static void put_message(struct buf *out, unsigned number, const struct schema *schema,
                        const json_t *object)
{
    scoped(buf) struct buf message = {0};

    write_fields(schema, 0, object, &message);
    pb_put_message(out, number, &message);
}

static void put_base64(struct buf *out, unsigned number, const json_t *value)
{
    scoped(buf) struct buf bytes = {0};

    base64_decode(json_string_value(value) ? json_string_value(value) : "",
                  json_string_length(value), &bytes);
    pb_put_bytes(out, number, bytes.data, bytes.len);
}

/* Writes the value of a field, or of an entry of a list. */
static void put_member(struct buf *out, const struct field *field, const json_t *value)
{
    if (field->pb_as == PB_MESSAGES) {
        put_message(out, field->pb, field->pb_of, value);
        return;
    }
    if (field->pb_as == PB_JSON) {
        put_value(out, field->pb, value, write_json);
        return;
    }
    switch ((int)field->type) {
    case FIELD_OBJECT:
    case FIELD_INLINE:
    case FIELD_LIST:
        put_message(out, field->pb, field->of, value);
        return;
    case FIELD_TIME:
        put_value(out, field->pb, value, write_time);
        return;
    case FIELD_INT_OR_STR:
        put_value(out, field->pb, value, write_int_or_text);
        return;
    case FIELD_QUANTITY:
        put_value(out, field->pb, value, write_quantity);
        return;
    case FIELD_BASE64:
        put_base64(out, field->pb, value);
        return;
    default:
        break;
    }
    if (json_is_string(value))
        pb_put_bytes(out, field->pb, json_string_value(value), json_string_length(value));
    else if (json_is_boolean(value))
        pb_put_varint(out, field->pb, json_is_true(value));
    else
        pb_put_varint(out, field->pb, (uint64_t)json_integer_value(value));
}

static void put_entry(struct buf *out, const struct field *field, const char *key,
                      const json_t *value)
{
    scoped(buf) struct buf entry = {0};

    pb_put_text(&entry, 1, key);
    if (field->pb_as == PB_BYTES_MAP)
        put_base64(&entry, 2, value);
    else if (field_shapes[field->type].entry == FIELD_QUANTITY)
        put_value(&entry, 2, value, write_quantity);
    else
        pb_put_bytes(&entry, 2, json_string_value(value), json_string_length(value));
    pb_put_message(out, field->pb, &entry);
}

static void put_field(struct buf *out, const struct field *field, const json_t *value)
{
    const char *key;
    json_t *below;
    size_t i;

    if (json_is_array(value)) {
        json_array_foreach(value, i, below)
        {
            put_member(out, field, below);
        }
    } else if (field_shapes[field->type].form == FORM_MAP) {
        json_object_foreach((json_t *)(uintptr_t)value, key, below)
        {
            put_entry(out, field, key, below);
        }
    } else {
        put_member(out, field, value);
    }
}

/* Writes the rows that lie in the message around them with the number of `first`, once. */
static void put_around(const struct schema *schema, const struct field *first, const json_t *object,
                       struct buf *out)
{
    scoped(buf) struct buf message = {0};

    for (const struct field *field = schema->fields; field != first; field++)
        if (field->pb_in == first->pb_in)
            return; /* the earlier row of the same number has written it */
    write_fields(schema, first->pb_in, object, &message);
    if (message.len)
        pb_put_message(out, first->pb_in, &message);
}

static void write_fields(const struct schema *schema, unsigned in, const json_t *object,
                         struct buf *out)
{
    for (const struct field *field = schema->fields; field->name; field++) {
        const json_t *value = json_object_get(object, field->name);

        if (!in && field->pb_in)
            put_around(schema, field, object, out);
        else if (field->pb && field->pb_in == in && value && !json_is_null(value))
            put_field(out, field, value);
    }
}

void schema_to_protobuf(const struct schema *schema, const struct schema *metadata,
                        const json_t *doc, struct buf *out)
{
    const json_t *meta = json_object_get(doc, "metadata");

    if (metadata && meta)
        put_message(out, 1, metadata, meta);
    write_fields(schema, 0, doc, out);
}
