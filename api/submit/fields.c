/*
 * The tables of fields and the copy of a document by them. null counts as absent.
 */
#include "api/submit/fields.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

/* clang-format off */
static const struct submit_field service_fields[] = {
    {"type",  NULL, SUBMIT_ANY},
    {"ports", NULL, SUBMIT_NUMBERS},
    {"role",  NULL, SUBMIT_TEXT},
    {"name",  NULL, SUBMIT_TEXT},
    {0},
};
static const struct submit_field ingress_fields[] = {
    {"ports",        NULL,            SUBMIT_NUMBERS},
    {"annotations",  NULL,            SUBMIT_MAP},
    {"tlsEnabled",   "tls_enabled",   SUBMIT_BOOL},
    {"certName",     "cert_name",     SUBMIT_TEXT},
    {"useClusterIP", "use_clusterIP", SUBMIT_BOOL},
    {0},
};
static const struct submit_field object_fields[] = {
    {"labels",      NULL, SUBMIT_MAP},
    {"annotations", NULL, SUBMIT_MAP},
    {"service",     NULL, SUBMIT_OBJECT, service_fields},
    {"ingress",     NULL, SUBMIT_OBJECT, ingress_fields},
    {"configMap",   NULL, SUBMIT_ANY},
    {0},
};
static const struct submit_field subset_fields[] = {
    {"role",      NULL,         SUBMIT_TEXT},
    {"minMember", "min_member", SUBMIT_NUMBER},
    {"maxMember", "max_member", SUBMIT_NUMBER},
    {"template",  NULL,         SUBMIT_ANY},
    {"keepAlive", "keep_alive", SUBMIT_BOOL},
    {"dependsOn", "depends_on", SUBMIT_TEXTS},
    {0},
};
static const struct submit_field group_fields[] = {
    {"minResources",           "min_resources",            SUBMIT_ANY},
    {"subsets",                NULL,                       SUBMIT_OBJECTS, subset_fields},
    {"scheduleTimeoutSeconds", "schedule_timeout_seconds", SUBMIT_NUMBER},
    {"coordinator",            NULL,                       SUBMIT_TEXT},
    {0},
};
static const struct submit_field main_fields[] = {
    {"labels",       NULL,             SUBMIT_MAP},
    {"annotations",  NULL,             SUBMIT_MAP},
    {"podSpec",      "pod_spec",       SUBMIT_ANY},
    {"podGroupSpec", "pod_group_spec", SUBMIT_OBJECT, group_fields},
    {0},
};
const struct submit_field submit_item_fields[] = {
    {"deduplicationId",         "deduplication_id",           SUBMIT_TEXT},
    {"priority",                NULL,                         SUBMIT_NUMBER},
    {"namespace",               NULL,                         SUBMIT_TEXT},
    {"mainObject",              NULL,                         SUBMIT_OBJECT, main_fields},
    {"objects",                 NULL,                         SUBMIT_OBJECTS, object_fields},
    {"labels",                  NULL,                         SUBMIT_MAP},
    {"annotations",             NULL,                         SUBMIT_MAP},
    {"lifetime",                NULL,                         SUBMIT_NUMBER},
    {"atMostOnce",              "at_most_once",               SUBMIT_BOOL},
    {"preemptible",             NULL,                         SUBMIT_BOOL},
    {"onPreempt",               "on_preempt",                 SUBMIT_TEXT},
    {"ttlSecondsAfterFinished", "ttl_seconds_after_finished", SUBMIT_NUMBER},
    {0},
};
const struct submit_field submit_request_fields[] = {
    {"queue",           NULL,         SUBMIT_TEXT},
    {"jobSetId",        "job_set_id", SUBMIT_TEXT},
    {"jobRequestItems", "jobs",       SUBMIT_OBJECTS}, /* each item is read on its own */
    {0},
};
const struct submit_field submit_cancel_fields[] = {
    {"queue",    NULL,         SUBMIT_TEXT},
    {"jobSetId", "job_set_id", SUBMIT_TEXT},
    {"jobIds",   "job_ids",    SUBMIT_TEXTS},
    {"reason",   NULL,         SUBMIT_TEXT},
    {0},
};
static const struct submit_field filter_fields[] = {
    {"states", NULL, SUBMIT_TEXTS},
    {0},
};
const struct submit_field submit_set_cancel_fields[] = {
    {"queue",    NULL,         SUBMIT_TEXT},
    {"jobSetId", "job_set_id", SUBMIT_TEXT},
    {"filter",   NULL,         SUBMIT_OBJECT, filter_fields},
    {"reason",   NULL,         SUBMIT_TEXT},
    {0},
};
const struct submit_field submit_reprioritize_fields[] = {
    {"queue",       NULL,           SUBMIT_TEXT},
    {"jobSetId",    "job_set_id",   SUBMIT_TEXT},
    {"jobIds",      "job_ids",      SUBMIT_TEXTS},
    {"newPriority", "new_priority", SUBMIT_NUMBER},
    {0},
};
const struct submit_field submit_status_fields[] = {
    {"jobIds", "job_ids", SUBMIT_TEXTS},
    {0},
};
/* clang-format on */

/* One document that is being copied. */
struct reading {
    enum submit_unknown unknown;
    struct submit_problems *problems, *warnings;
};

static json_t *read_object(const struct reading *reading, const json_t *object,
                           const struct submit_field *fields, const char *path);

static const struct submit_field *field_of(const struct submit_field *fields, const char *key)
{
    for (; fields->name; fields++)
        if (strcmp(fields->name, key) == 0 || (fields->alias && strcmp(fields->alias, key) == 0))
            return fields;
    return NULL;
}

static json_t *wrong_type(const struct reading *reading, const char *path, const char *wanted)
{
    submit_problem(reading->problems, "WrongType", path, "must be %s", wanted);
    return NULL;
}

static bool all_of_type(const json_t *value, json_type type)
{
    const char *key;
    json_t *member;
    size_t i;

    json_array_foreach(value, i, member)
    {
        if (json_typeof(member) != type)
            return false;
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        if (json_typeof(member) != type)
            return false;
    }
    return true;
}

static json_t *copy_if(const struct reading *reading, const json_t *value, bool fits,
                       const char *path, const char *wanted)
{
    return fits ? json_incref((json_t *)(uintptr_t)value) : wrong_type(reading, path, wanted);
}

static json_t *read_list(const struct reading *reading, const json_t *list,
                         const struct submit_field *fields, const char *path)
{
    json_t *out, *entry;
    size_t i;

    if (!json_is_array(list))
        return wrong_type(reading, path, "a list");
    if (!fields)
        return json_incref((json_t *)(uintptr_t)list);
    out = json_array();
    json_array_foreach(list, i, entry)
    {
        scoped_str at = mem_printf("%s[%zu]", path, i);
        json_t *copy = read_object(reading, entry, fields, at);

        json_array_append_new(out, copy ? copy : json_object());
    }
    return out;
}

static json_t *read_value(const struct reading *reading, const json_t *value,
                          const struct submit_field *field, const char *path)
{
    switch (field->type) {
    case SUBMIT_TEXT:
        return copy_if(reading, value, json_is_string(value), path, "a text");
    case SUBMIT_NUMBER:
        return copy_if(reading, value, json_is_number(value), path, "a number");
    case SUBMIT_BOOL:
        return copy_if(reading, value, json_is_boolean(value), path, "true or false");
    case SUBMIT_MAP:
        return copy_if(reading, value, json_is_object(value) && all_of_type(value, JSON_STRING),
                       path, "a map of texts");
    case SUBMIT_TEXTS:
        return copy_if(reading, value, json_is_array(value) && all_of_type(value, JSON_STRING),
                       path, "a list of texts");
    case SUBMIT_NUMBERS:
        return copy_if(reading, value, json_is_array(value) && all_of_type(value, JSON_INTEGER),
                       path, "a list of whole numbers");
    case SUBMIT_OBJECT:
        return read_object(reading, value, field->of, path);
    case SUBMIT_OBJECTS:
        return read_list(reading, value, field->of, path);
    case SUBMIT_ANY:
        break;
    }
    return json_incref((json_t *)(uintptr_t)value);
}

static void report_unknown(const struct reading *reading, const char *path, const char *key)
{
    if (reading->unknown == SUBMIT_STRICT)
        submit_problem(reading->problems, "UnknownField", path, "unknown field \"%s\"", key);
    else if (reading->unknown == SUBMIT_WARN && reading->warnings)
        submit_problem(reading->warnings, "UnknownField", path, "unknown field \"%s\"", key);
}

static json_t *read_object(const struct reading *reading, const json_t *object,
                           const struct submit_field *fields, const char *path)
{
    json_t *out, *value;
    const char *key;

    if (!json_is_object(object))
        return wrong_type(reading, path, "an object");
    out = json_object();
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        const struct submit_field *field = field_of(fields, key);
        scoped_str at = mem_printf("%s%s%s", path, *path ? "." : "", field ? field->name : key);
        json_t *copy;

        if (!field) {
            report_unknown(reading, at, key);
            continue;
        }
        if (json_is_null(value))
            continue;
        if (json_object_get(out, field->name)) {
            submit_problem(reading->problems, "DuplicateKey", at,
                           "given twice, as \"%s\" and as \"%s\"", field->name, field->alias);
            continue;
        }
        copy = read_value(reading, value, field, at);
        if (copy)
            json_object_set_new(out, field->name, copy);
    }
    return out;
}

json_t *submit_fields_read(const json_t *object, const struct submit_field *fields,
                           const char *path, enum submit_unknown unknown,
                           struct submit_problems *problems, struct submit_problems *warnings)
{
    const struct reading reading = {unknown, problems, warnings};

    return read_object(&reading, object, fields, path);
}

const char *submit_text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}
