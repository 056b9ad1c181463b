/*
 * Writes documents as compact JSON text. json_read.c holds the reader.
 */
#include "api/types/text/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/encoding/jsonw.h"

void json_number_text(const json_t *number, char out[JSON_NUMBER_MAX])
{
    double real = json_real_value(number) + 0.0; /* -0 becomes 0, the value that reading it gives */

    if (json_is_integer(number)) {
        snprintf(out, JSON_NUMBER_MAX, "%lld", (long long)json_integer_value(number));
        return;
    }
    if (fabs(real) < 1e15 && real == trunc(real)) {
        snprintf(out, JSON_NUMBER_MAX, "%.0f", real);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, JSON_NUMBER_MAX, "%.*g", digits, real);
        if (strtod(out, NULL) == real)
            return;
    }
}

static void write_value(struct jsonw *w, const json_t *value)
{
    char number[JSON_NUMBER_MAX];
    const char *key;
    json_t *member;
    size_t i;

    switch (json_typeof(value)) {
    case JSON_OBJECT:
        jsonw_open(w);
        json_object_foreach((json_t *)value, key, member)
        {
            jsonw_key(w, key);
            write_value(w, member);
        }
        jsonw_close(w);
        break;
    case JSON_ARRAY:
        jsonw_open_list(w);
        json_array_foreach(value, i, member) write_value(w, member);
        jsonw_close_list(w);
        break;
    case JSON_STRING:
        jsonw_strn(w, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        jsonw_int(w, json_integer_value(value));
        break;
    case JSON_REAL:
        json_number_text(value, number);
        jsonw_raw(w, number, strlen(number));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        jsonw_bool(w, json_is_true(value));
        break;
    case JSON_NULL:
        jsonw_raw(w, "null", 4);
        break;
    }
}

void json_text(const json_t *value, struct buf *out)
{
    struct jsonw w = jsonw_to(out);

    write_value(&w, value);
}

json_t *json_member_list(json_t *object, const char *key)
{
    json_t *list = json_object_get(object, key);

    if (json_is_array(list))
        return list;
    list = json_array();
    json_object_set_new(object, key, list);
    return list;
}
