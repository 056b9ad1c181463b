/*
 * Formats the position of a finding as a path (spec.tasks[0].name) and words the findings about it.
 */
#include "api/types/schema/field_path.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/types/schema/flow_reference.h"
#include "api/types/text/json_text.h"
#include "base/mem.h"

static void print(const struct field_path *place, struct buf *out)
{
    if (place->up)
        print(place->up, out);
    if (!place->name)
        buf_printf(out, "[%zu]", place->index);
    else if (place->map_key)
        buf_printf(out, "[%s]", place->name);
    else if (*place->name)
        buf_printf(out, "%s%s", out->len ? "." : "", place->name);
}

char *field_path_text(const struct field_path *place)
{
    struct buf text = {0};

    print(place, &text);
    return buf_take(&text);
}

const char *field_path_shown(const json_t *value, char out[SHOWN_MAX + 8])
{
    size_t at = 0;

    if (json_is_number(value)) {
        json_number_text(value, out);
        return out;
    }
    out[at++] = '"';
    for (const char *text = json_string_value(value); text && *text; text++) {
        /* Do not cut inside a UTF-8 sequence, which has up to three more bytes. */
        if (at >= SHOWN_MAX && ((*text & 0xC0) != 0x80 || at >= SHOWN_MAX + 3)) {
            memcpy(out + at, "...", 3);
            at += 3;
            break;
        }
        out[at++] = iscntrl((unsigned char)*text) ? '?' : *text;
    }
    out[at++] = '"';
    out[at] = '\0';
    return out;
}

void field_path_report(const struct field_path *place, struct error_list *errors,
                       const char *format, ...)
{
    scoped_str path = field_path_text(place);
    char message[ERROR_MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    error_list_add(errors, ERR_INVALID, path, "%s", message);
}

void field_path_report_should(const struct field_path *place, struct error_list *errors,
                              const json_t *value, const char *format, ...)
{
    scoped_str path = field_path_text(place);
    char quoted[SHOWN_MAX + 8], rule[160];
    va_list args;

    va_start(args, format);
    vsnprintf(rule, sizeof rule, format, args);
    va_end(args);
    error_list_add(errors, ERR_INVALID, path, "Invalid value: %s: %s in body should %s",
                   field_path_shown(value, quoted), path, rule);
}

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "object";
    case JSON_ARRAY:
        return "array";
    case JSON_STRING:
        return "string";
    case JSON_INTEGER:
        return "integer";
    case JSON_REAL:
        return "number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "boolean";
    case JSON_NULL:
        break;
    }
    return "null";
}

void field_path_report_type(const struct field_path *place, struct error_list *errors,
                            const json_t *value, const char *expected)
{
    scoped_str path = field_path_text(place);

    error_list_add(errors, ERR_INVALID, path,
                   "Invalid value: \"%s\": %s in body must be of type %s: \"%s\"%s",
                   type_name(value), *path ? path : "the value", expected, type_name(value),
                   flow_ref_hint(json_string_value(value)));
}
