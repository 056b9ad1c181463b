/*
 * Encodes an OpenAPI v2 document as protobuf: the messages of gnostic's OpenAPIv2, with the members
 * that kubectl reads. Field numbers: spec/kube-api.md 5.5.
 *
 * A message is written into a buffer of its own and then added to its parent behind its length.
 */
#include <string.h>

#include "api/server/schema/openapi_build.h"
#include "api/types/text/json_text.h"
#include "base/encoding/protobuf.h"

typedef void (*write_fn)(const json_t *value, struct buf *out);

/* Adds a message that `write` encodes from `value`. */
static void put_value(struct buf *out, unsigned field, const json_t *value, write_fn write)
{
    scoped(buf) struct buf message = {0};

    write(value, &message);
    pb_put_message(out, field, &message);
}

/* Adds a message {1 name, 2 value}. */
static void put_named(struct buf *out, unsigned field, const char *name, const json_t *value,
                      write_fn write)
{
    scoped(buf) struct buf message = {0};

    pb_put_text(&message, 1, name);
    put_value(&message, 2, value, write);
    pb_put_message(out, field, &message);
}

static void put_text(struct buf *out, unsigned field, const json_t *object, const char *member)
{
    pb_put_text(out, field, json_string_value(json_object_get(object, member)));
}

static void put_texts(struct buf *out, unsigned field, const json_t *list)
{
    json_t *value;
    size_t i;

    json_array_foreach(list, i, value)
    {
        pb_put_text(out, field, json_string_value(value));
    }
}

/* Writes the message Any {2 yaml}; JSON is YAML. */
static void write_any(const json_t *value, struct buf *out)
{
    scoped(buf) struct buf text = {0};

    json_text(value, &text);
    pb_put_bytes(out, 2, text.data, text.len);
}

static void put_extensions(struct buf *out, unsigned field, const json_t *object)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (strncmp(key, "x-", 2) == 0)
            put_named(out, field, key, value, write_any);
    }
}

static void write_schema(const json_t *schema, struct buf *out);

/* Writes a message that may hold one of several forms; always the first one. */
static void write_inner_schema(const json_t *schema, struct buf *out)
{
    put_value(out, 1, schema, write_schema);
}

static void write_properties(const json_t *properties, struct buf *out)
{
    const char *name;
    json_t *schema;

    json_object_foreach((json_t *)(uintptr_t)properties, name, schema)
    {
        put_named(out, 1, name, schema, write_schema);
    }
}

static void write_type(const json_t *type, struct buf *out)
{
    pb_put_text(out, 1, json_string_value(type));
}

static void write_schema(const json_t *schema, struct buf *out)
{
    static const struct {
        const char *member;
        unsigned field;
        write_fn write;
    } messages[] = {
        {"default", 5, write_any},
        {"additionalProperties", 21, write_inner_schema},
        {"type", 22, write_type},
        {"items", 23, write_inner_schema},
        {"properties", 25, write_properties},
    };
    static const struct {
        const char *member;
        unsigned field;
    } texts[] = {{"$ref", 1}, {"format", 2}, {"description", 4}, {"pattern", 13}},
      numbers[] = {{"maximum", 7}, {"minimum", 9}};
    const json_t *choices = json_object_get(schema, "enum");
    json_t *value;
    size_t i;

    for (i = 0; i < countof(texts); i++)
        put_text(out, texts[i].field, schema, texts[i].member);
    for (i = 0; i < countof(numbers); i++)
        if ((value = json_object_get(schema, numbers[i].member)))
            pb_put_double(out, numbers[i].field, json_number_value(value));
    put_texts(out, 19, json_object_get(schema, "required"));
    json_array_foreach(choices, i, value)
    {
        put_value(out, 20, value, write_any);
    }
    for (i = 0; i < countof(messages); i++)
        if ((value = json_object_get(schema, messages[i].member)))
            put_value(out, messages[i].field, value, messages[i].write);
    put_extensions(out, 31, schema);
}

static void write_query_parameter(const json_t *parameter, struct buf *out)
{
    put_text(out, 2, parameter, "in");
    put_text(out, 4, parameter, "name");
    put_text(out, 6, parameter, "type");
}

static void write_non_body_parameter(const json_t *parameter, struct buf *out)
{
    put_value(out, 3, parameter, write_query_parameter);
}

static void write_parameter(const json_t *parameter, struct buf *out)
{
    put_value(out, 2, parameter, write_non_body_parameter);
}

static void write_parameter_item(const json_t *parameter, struct buf *out)
{
    put_value(out, 1, parameter, write_parameter);
}

static void write_response(const json_t *response, struct buf *out)
{
    put_text(out, 1, response, "description");
}

static void write_response_value(const json_t *response, struct buf *out)
{
    put_value(out, 1, response, write_response);
}

static void write_responses(const json_t *responses, struct buf *out)
{
    const char *code;
    json_t *response;

    json_object_foreach((json_t *)(uintptr_t)responses, code, response)
    {
        put_named(out, 1, code, response, write_response_value);
    }
}

static void write_operation(const json_t *operation, struct buf *out)
{
    const json_t *parameters = json_object_get(operation, "parameters");
    json_t *parameter;
    size_t i;

    put_text(out, 5, operation, "operationId");
    put_texts(out, 6, json_object_get(operation, "produces"));
    put_texts(out, 7, json_object_get(operation, "consumes"));
    json_array_foreach(parameters, i, parameter)
    {
        put_value(out, 8, parameter, write_parameter_item);
    }
    put_value(out, 9, json_object_get(operation, "responses"), write_responses);
    put_extensions(out, 13, operation);
}

static void write_path(const json_t *methods, struct buf *out)
{
    static const struct {
        const char *method;
        unsigned field;
    } rows[] = {{"get", 2}, {"put", 3}, {"post", 4}, {"delete", 5}, {"patch", 8}};

    for (size_t i = 0; i < countof(rows); i++) {
        const json_t *operation = json_object_get(methods, rows[i].method);

        if (operation)
            put_value(out, rows[i].field, operation, write_operation);
    }
}

static void write_info(const json_t *info, struct buf *out)
{
    put_text(out, 1, info, "title");
    put_text(out, 2, info, "version");
}

static void write_paths(const json_t *paths, struct buf *out)
{
    const char *path;
    json_t *methods;

    json_object_foreach((json_t *)(uintptr_t)paths, path, methods)
    {
        put_named(out, 2, path, methods, write_path);
    }
}

void openapi_v2_protobuf(const json_t *document, struct buf *out)
{
    put_text(out, 1, document, "swagger");
    put_value(out, 2, json_object_get(document, "info"), write_info);
    put_value(out, 8, json_object_get(document, "paths"), write_paths);
    put_value(out, 9, json_object_get(document, "definitions"), write_properties);
}
