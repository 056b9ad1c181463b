/*
 * Converts libyaml's scalar events to JSON values, by their tag or by their form, and mapping keys
 * to text.
 */
#include "api/types/text/yaml_leaf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "api/types/text/yaml_scalar.h"
#include "base/scoped.h"

bool yaml_fail(const yaml_event_t *event, struct error *err, const char *format, ...)
{
    va_list args;
    char text[512];

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(err, ERR_BAD_REQUEST, "", "line %zu, column %zu: %s",
                     event->start_mark.line + 1, event->start_mark.column + 1, text);
}

static json_t *text_value(const yaml_event_t *event, struct error *err)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;

    if (len && memchr(text, '\0', len)) {
        yaml_fail(event, err, "text cannot contain a NUL character");
        return NULL;
    }
    return json_stringn_nocheck(text, len);
}

static json_t *plain_value(const yaml_event_t *event, const struct yaml_scalar *scalar,
                           struct error *err)
{
    const char *text = (const char *)event->data.scalar.value;

    switch (scalar->type) {
    case YAML_NULL:
        return json_null();
    case YAML_BOOL:
        return json_boolean(scalar->boolean);
    case YAML_INT:
        return json_integer(scalar->integer);
    case YAML_REAL:
        return json_real(scalar->real);
    case YAML_TOO_BIG:
        yaml_fail(event, err,
                  "%.64s does not fit into a 64-bit integer: put quotes around it to make it text",
                  text);
        return NULL;
    case YAML_NOT_FINITE:
        yaml_fail(event, err, "%.64s is no number JSON has: put quotes around it to make it text",
                  text);
        return NULL;
    case YAML_TEXT:
    case YAML_MERGE:
        break;
    }
    return text_value(event, err);
}

/* Converts a scalar with a standard tag that gives its type; other tags are ignored. */
static json_t *tagged_value(const yaml_event_t *event, const char *tag, struct error *err)
{
    /* clang-format off */
    static const struct {
        const char *tag;
        enum yaml_scalar_type type;
    } typed[] = {
        {YAML_NULL_TAG,  YAML_NULL}, {YAML_BOOL_TAG, YAML_BOOL}, {YAML_INT_TAG, YAML_INT}, {YAML_FLOAT_TAG, YAML_REAL},
    };
    /* clang-format on */
    const char *text = (const char *)event->data.scalar.value;
    struct yaml_scalar scalar = yaml_resolve(text, event->data.scalar.length);

    for (size_t i = 0; i < countof(typed); i++) {
        if (strcmp(tag, typed[i].tag) != 0)
            continue;
        if (scalar.type == typed[i].type || (typed[i].type == YAML_REAL && scalar.type == YAML_INT))
            return plain_value(event, &scalar, err);
        yaml_fail(event, err, "\"%.64s\" is not what its tag !!%s says", text,
                  tag + sizeof "tag:yaml.org,2002:" - 1);
        return NULL;
    }
    return text_value(event, err);
}

json_t *yaml_leaf(const yaml_event_t *event, struct error *err)
{
    const char *tag = (const char *)event->data.scalar.tag;

    if (tag)
        return tagged_value(event, tag, err);
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return text_value(event, err);

    struct yaml_scalar scalar =
        yaml_resolve((const char *)event->data.scalar.value, event->data.scalar.length);

    return plain_value(event, &scalar, err);
}

bool yaml_key_read(const yaml_event_t *event, struct yaml_key *key, struct error *err)
{
    if (event->type != YAML_SCALAR_EVENT)
        return yaml_fail(event, err, "a key must be a word, not an alias, a list or a mapping");
    key->text = (const char *)event->data.scalar.value;
    key->len = event->data.scalar.length;
    key->merge = false;
    if (key->len && memchr(key->text, '\0', key->len))
        return yaml_fail(event, err, "a key cannot contain a NUL character");
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || event->data.scalar.tag)
        return true;

    struct yaml_scalar scalar = yaml_resolve(key->text, key->len);

    if (scalar.type == YAML_MERGE) {
        key->merge = true;
    } else if (scalar.type == YAML_BOOL) {
        key->text = scalar.boolean ? "true" : "false";
        key->len = strlen(key->text);
    } else if (scalar.type == YAML_NULL) {
        key->text = "null";
        key->len = 4;
    } else if (scalar.type == YAML_INT || scalar.type == YAML_REAL) {
        scoped(json) json_t *number =
            scalar.type == YAML_INT ? json_integer(scalar.integer) : json_real(scalar.real);

        json_number_text(number, key->number);
        key->text = key->number;
        key->len = strlen(key->number);
    }
    return true;
}
