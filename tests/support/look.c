/*
 * Reads statuses by path and searches all events of a store.
 */
#include "tests/support/look.h"
#include "tests/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

const char *look_at_status(const struct object *object, const char *path)
{
    static char text[65536];
    scoped(json) json_t *status = object_status_json(object);
    scoped_str copy = mem_strdup(path);
    const json_t *value = status;
    char *rest = NULL, *dumped;

    for (char *part = strtok_r(copy, "/", &rest); part; part = strtok_r(NULL, "/", &rest))
        value = json_is_array(value) ? json_array_get(value, strtoul(part, NULL, 10))
                                     : json_object_get(value, part);
    if (json_is_string(value)) {
        snprintf(text, sizeof text, "%s", json_string_value(value));
        return text;
    }
    dumped = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    snprintf(text, sizeof text, "%s", dumped ? dumped : "");
    free(dumped);
    return text;
}

struct search {
    const char *reason, *text; /* text NULL: the events are counted */
    bool has_text;
    struct look_events found;
};

static void visit_event(void *arg, const struct object *event)
{
    struct search *search = arg;
    scoped(json) json_t *body = object_body_json(event);
    const char *reason = json_string_value(json_object_get(body, "reason"));
    const char *message = json_string_value(json_object_get(body, "message"));
    json_int_t count = json_integer_value(json_object_get(body, "count"));

    if (!reason || strcmp(reason, search->reason) != 0)
        return;
    search->found.count += (int)(count > 0 ? count : 1);
    if (!*search->found.message)
        snprintf(search->found.message, sizeof search->found.message, "%s", message ? message : "");
    search->has_text =
        search->has_text || (search->text && message && strstr(message, search->text));
}

struct look_events look_for_events(struct store *store, const char *reason)
{
    struct search search = {.reason = reason};

    store_each(store, &kind_event, NULL, visit_event, &search);
    return search.found;
}

bool look_for_event_text(struct store *store, const char *reason, const char *text)
{
    struct search search = {.reason = reason, .text = text};

    store_each(store, &kind_event, NULL, visit_event, &search);
    return search.has_text;
}
