/*
 * Reads a file that describes devices. Its errors name the file, the line and the field.
 */
#include <stdio.h>
#include <string.h>

#include "api/types/labels.h"
#include "api/types/text/yaml.h"
#include "base/mem.h"
#include "node/devices/internal.h"

enum { FILE_BYTES_MAX = 1 << 20, ID_BYTES_MAX = 128, FIELD_TEXT_MAX = 64 };

static bool check_resource(const char *name, struct error *err)
{
    if (!strchr(name, '/'))
        return error_set(err, ERR_INVALID, "",
                         "the name of a device resource has a prefix, like nvidia.com/gpu");
    return label_key_valid(name, err);
}

static bool check_id(const char *id, struct error *err)
{
    size_t len = 0;

    while (id[len] > ' ' && id[len] <= '~' && !strchr(",;=", id[len]))
        len++;
    if (len && !id[len] && len <= ID_BYTES_MAX)
        return true;
    return error_set(err, ERR_INVALID, "",
                     "an id has 1 to %d visible ASCII characters, and no , ; or =", ID_BYTES_MAX);
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"

static bool check_variable(const char *name, struct error *err)
{
    if (strspn(name, LETTERS) && !name[strspn(name, LETTERS "0123456789")])
        return true;
    return error_set(err, ERR_INVALID, "", "a variable has letters, digits and _ in its name");
}

#define RESOURCE(member) offsetof(struct device_resource, member)

/* clang-format off */
static const struct field resource_fields[] = {
    {"resource", FIELD_STR,      RESOURCE(name), .required = true, .check = check_resource, .doc = "Name of the resource, like nvidia.com/gpu."},
    {"ids",      FIELD_STR_LIST, RESOURCE(ids), .required = true, .max_length = DEVICE_IDS_MAX, .check = check_id, .doc = "Ids of the devices, in the order in which they are given out."},
    {"env",      FIELD_STR_LIST, RESOURCE(env), .max_length = DEVICE_VARIABLES_MAX, .check = check_variable, .doc = "Variables that hold the ids of a container's devices, with commas."},
    {0},
};
static const struct schema resource_schema = {"DeviceResource", resource_fields, sizeof(struct device_resource)};

static const struct field file_fields[] = {
    {"devices", FIELD_LIST, offsetof(struct device_list, resources), &resource_schema, .required = true, .max_length = DEVICE_RESOURCES_MAX, .doc = "The resources whose units have ids."},
    {0},
};
static const struct schema file_schema = {"DeviceFile", file_fields, sizeof(struct device_list)};
/* clang-format on */

/* An id that looks like a number is one in YAML. */
static void write_numbers_as_texts(json_t *doc)
{
    size_t i, j;
    json_t *resource, *id;

    json_array_foreach(json_object_get(doc, "devices"), i, resource)
    {
        json_t *ids = json_object_get(resource, "ids");

        json_array_foreach(ids, j, id)
        {
            char text[32];

            if (!json_is_integer(id))
                continue;
            snprintf(text, sizeof text, "%lld", (long long)json_integer_value(id));
            json_array_set_new(ids, j, json_string(text));
        }
    }
}

struct place {
    const char *path;
    const struct yaml_stream *stream;
};

static bool wrong(struct error *err, const struct place *place, const char *field,
                  const char *message)
{
    return error_set(err, ERR_INVALID, "", "%s:%zu: %s%s%s", place->path,
                     yaml_line(place->stream, 0, field), field, *field ? ": " : "", message);
}

static bool twice(struct error *err, const struct place *place, const char *field,
                  const char *value)
{
    scoped_str message = mem_printf("\"%s\" is there twice", value);

    return wrong(err, place, field, message);
}

static bool check_ids(const struct str_list *ids, size_t resource, const struct place *place,
                      struct error *err)
{
    char field[FIELD_TEXT_MAX];

    for (size_t i = 0; i < ids->count; i++) {
        snprintf(field, sizeof field, "devices[%zu].ids[%zu]", resource, i);
        for (size_t j = 0; j < i; j++)
            if (strcmp(ids->items[i], ids->items[j]) == 0)
                return twice(err, place, field, ids->items[i]);
    }
    return true;
}

static bool check_resources(const struct device_list *list, const struct place *place,
                            struct error *err)
{
    char field[FIELD_TEXT_MAX];

    for (size_t i = 0; i < list->resources.count; i++) {
        const struct device_resource *resource = &list->resources.items[i];

        snprintf(field, sizeof field, "devices[%zu].resource", i);
        if (device_list_find(list, resource->name) != resource)
            return twice(err, place, field, resource->name);
        if (!check_ids(&resource->ids, i, place, err))
            return false;
    }
    return true;
}

static bool check_schema(json_t *doc, const struct place *place, struct error *err)
{
    const struct schema_options how = {.unknown = UNKNOWN_ERROR};
    struct error_list errors = {0};
    bool ok;

    schema_check(&file_schema, doc, "", &how, &errors);
    ok = !errors.count || wrong(err, place, errors.items[0].field, errors.items[0].message);
    error_list_release(&errors);
    return ok;
}

static bool decode(struct device_list *out, const json_t *doc, struct arena *arena,
                   struct error *err)
{
    if (!schema_decode(&file_schema, doc, arena, out, err))
        return false;
    out->arena = arena;
    return true;
}

bool device_file_read(struct device_list *out, const char *path, struct arena *arena,
                      struct error *err)
{
    scoped(yaml) struct yaml_stream *stream = NULL;
    struct place place = {.path = path};
    json_t *doc;

    stream = yaml_read_file(path, FILE_BYTES_MAX, &yaml_limits_body, err);
    if (!stream)
        return false;
    place.stream = stream;
    if (yaml_count(stream) != 1)
        return error_set(err, ERR_INVALID, "", "%s: a file of devices is one YAML document", path);
    doc = yaml_document(stream, 0);
    write_numbers_as_texts(doc);
    return check_schema(doc, &place, err) && decode(out, doc, arena, err) &&
           check_resources(out, &place, err);
}
