/*
 * Sets parameter values in the flow's document (spec.parameters[].value) before it is validated.
 */
#include "cli/manifest/parameters.h"

#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/text/suggest.h"
#include "base/mem.h"

struct given {
    const char *name;
    size_t name_len;
    const char *value;
    struct suggest near;
};

static bool names(const struct given *given, const char *name)
{
    return strlen(name) == given->name_len && memcmp(name, given->name, given->name_len) == 0;
}

static bool set_in(json_t *flow, struct given *given)
{
    json_t *list = json_object_get(json_object_get(flow, "spec"), "parameters"), *parameter;
    bool found = false;
    size_t i;

    json_array_foreach(list, i, parameter)
    {
        const char *name = json_string_value(json_object_get(parameter, "name"));
        scoped_str wanted = mem_printf("%.*s", (int)given->name_len, given->name);

        if (!name)
            continue;
        suggest_offer(&given->near, wanted, name);
        if (!names(given, name))
            continue;
        json_object_set_new(parameter, "value", json_string(given->value));
        found = true;
    }
    return found;
}

static bool set_one(struct manifests *set, const char *text)
{
    const char *equals = strchr(text, '=');
    struct given given = {text, equals ? (size_t)(equals - text) : 0, equals ? equals + 1 : NULL};
    bool found = false;

    if (!given.name_len) {
        cli_errorf("--parameter: \"%s\" is not of the form NAME=VALUE", text);
        return false;
    }
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].kind == &kind_job_flow)
            found |= set_in(set->items[i].doc, &given);
    if (!found)
        cli_errorf("--parameter: no flow has a parameter \"%.*s\"%s%s%s", (int)given.name_len,
                   given.name, given.near.word ? "; did you mean \"" : "",
                   given.near.word ? given.near.word : "", given.near.word ? "\"?" : "");
    return found;
}

bool parameters_set(struct manifests *set, const struct flag_list *given)
{
    bool good = true;

    for (size_t i = 0; i < given->count; i++)
        good &= set_one(set, given->items[i]);
    return good;
}

bool parameters_give(const struct manifest *flow, const char *name, const char *value)
{
    struct given given = {name, strlen(name), value, {0}};

    return set_in(flow->doc, &given);
}

json_t *parameters_of(const struct manifest *flow)
{
    return json_deep_copy(json_object_get(json_object_get(flow->doc, "spec"), "parameters"));
}

void parameters_restore(const struct manifest *flow, json_t *parameters)
{
    if (parameters)
        json_object_set(json_object_get(flow->doc, "spec"), "parameters", parameters);
}
