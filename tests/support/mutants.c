/*
 * Generates malformed variants of a JSON document: replaces one value at a time, calls the test and
 * restores the value.
 */
#include "tests/support/mutants.h"

#include <string.h>

#include "api/types/text/json_text.h"
#include "base/compiler.h"

static const char *const shapes[] = {
    "null", "{}", "[]", "\"\"", "\"x\"", "-1", "[{}]", "[{}, {}]", "[null]", "[\"\"]", "{\"\": {}}",
};

/* Replaces one value by values of every other type. `set` stores the replacement. */
static void mutate_place(struct mutants *m, const char *name, json_t *holder, size_t index,
                         void (*set)(json_t *holder, const char *name, size_t index, json_t *value))
{
    json_t *was = json_incref(json_is_object(holder) ? json_object_get(holder, name)
                                                     : json_array_get(holder, index));

    for (size_t i = 0; i < countof(shapes); i++) {
        set(holder, name, index, json_loads(shapes[i], JSON_DECODE_ANY, NULL));
        m->try_it(m, name);
    }
    set(holder, name, index, was);
    mutants_walk(m, was);
}

static void set_member(json_t *holder, const char *name, size_t index, json_t *value)
{
    json_object_set_new(holder, name, value);
}

static void set_entry(json_t *holder, const char *name, size_t index, json_t *value)
{
    json_array_set_new(holder, index, value);
}

static void mutate_members(struct mutants *m, json_t *object)
{
    scoped(json) json_t *names = json_array();
    const char *key;
    json_t *value, *name;
    size_t i;

    json_object_foreach(object, key, value) json_array_append_new(names, json_string(key));
    json_array_foreach(names, i, name)
    {
        key = json_string_value(name);
        if (object == m->whole && (strcmp(key, "kind") == 0 || strcmp(key, "apiVersion") == 0))
            continue;
        value = json_incref(json_object_get(object, key));
        json_object_del(object, key);
        m->try_it(m, key);
        json_object_set_new(object, key, value);
        mutate_place(m, key, object, 0, set_member);
    }
}

void mutants_walk(struct mutants *m, json_t *at)
{
    size_t n = json_is_array(at) ? json_array_size(at) : 0;

    if (json_is_object(at))
        mutate_members(m, at);
    for (size_t i = 0; i < n; i++)
        mutate_place(m, "entry", at, i, set_entry);
}
