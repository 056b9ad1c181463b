/*
 * Reads events page by page, keeps those that match, and sorts them by time.
 */
#include "cli/client/event_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/client/lister.h"

static const char *text_at(const json_t *doc, const char *first, const char *second)
{
    const json_t *value = json_object_get(doc, first);
    const char *text = json_string_value(second ? json_object_get(value, second) : value);

    return text ? text : "";
}

static int64_t time_at(const json_t *doc, const char *first, const char *second, int64_t otherwise)
{
    int64_t at_ms;

    return time_parse(text_at(doc, first, second), &at_ms, NULL) ? at_ms : otherwise;
}

void event_from_json(const json_t *doc, struct event *out)
{
    const json_t *series = json_object_get(doc, "series");
    int64_t made_ms = time_at(doc, "metadata", "creationTimestamp", 0);
    int64_t count = json_integer_value(json_object_get(series ? series : doc, "count"));
    const char *from = text_at(doc, "source", "component");

    *out = (struct event){
        .ns = mem_strdup(text_at(doc, "metadata", "namespace")),
        .uid = mem_strdup(text_at(doc, "metadata", "uid")),
        .object = mem_printf("%s/%s", text_at(doc, "involvedObject", "kind"),
                             text_at(doc, "involvedObject", "name")),
        .type = mem_strdup(text_at(doc, "type", NULL)),
        .reason = mem_strdup(text_at(doc, "reason", NULL)),
        .from = mem_strdup(*from ? from : text_at(doc, "reportingComponent", NULL)),
        .message = mem_strdup(text_at(doc, "message", NULL)),
        .count = count > 0 ? count : 1,
        .revision = strtoll(text_at(doc, "metadata", "resourceVersion"), NULL, 10),
    };
    out->first_ms = time_at(doc, "firstTimestamp", NULL, time_at(doc, "eventTime", NULL, made_ms));
    out->last_ms = series ? time_at(series, "lastObservedTime", NULL, out->first_ms)
                          : time_at(doc, "lastTimestamp", NULL, out->first_ms);
}

void event_release(struct event *event)
{
    mem_free(event->object);
    mem_free(event->ns);
    mem_free(event->uid);
    mem_free(event->type);
    mem_free(event->reason);
    mem_free(event->from);
    mem_free(event->message);
}

void eventlist_release(struct eventlist *list)
{
    for (size_t i = 0; i < list->count; i++)
        event_release(&list->items[i]);
    mem_free(list->items);
    *list = (struct eventlist){0};
}

static bool add_event(void *ctx, json_t *event)
{
    struct eventlist *list = ctx;

    mem_grow(list->items, list->count, list->cap);
    event_from_json(event, &list->items[list->count++]);
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    int order = (x->last_ms > y->last_ms) - (x->last_ms < y->last_ms);

    return order ? order : (x->revision > y->revision) - (x->revision < y->revision);
}

bool eventlist_get(struct client *client, const char *ns, const char *fields, struct eventlist *out,
                   struct error *err)
{
    const struct list_query query = {.kind = &kind_event, .ns = ns, .fields = fields};

    if (!list_each(client, &query, add_event, out, NULL, err))
        return false;
    if (out->count)
        qsort(out->items, out->count, sizeof out->items[0], by_time);
    return true;
}

char *event_age(const struct event *event, int64_t now_ms)
{
    char last[TIME_TEXT_MAX], first[TIME_TEXT_MAX];

    duration_human(now_ms - event->last_ms, last);
    duration_human(now_ms - event->first_ms, first);
    return event->count > 1 ? mem_printf("%s (x%lld over %s)", last, (long long)event->count, first)
                            : mem_strdup(last);
}

char *event_selector(const char *kind_name, const char *name, const char *uid)
{
    return mem_printf("involvedObject.kind=%s,involvedObject.name=%s%s%s", kind_name, name,
                      uid ? ",involvedObject.uid=" : "", uid ? uid : "");
}
