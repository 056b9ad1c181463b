#pragma once
/*
 * Event lists, oldest first, for the tables that `events` and `describe` print.
 */
#include "cli/client/client.h"

struct event {
    char *object; /* object of the event as KIND/NAME: "jobflow/x" */
    char *ns, *type, *reason, *from, *message;
    int64_t first_ms, last_ms, count;
    int64_t revision; /* event times are whole seconds; the revision orders events of one second */
    char *uid;
};

struct eventlist {
    struct event *items; /* the events, [count] */
    size_t count, cap;
};
void eventlist_release(struct eventlist *list);
SCOPED_DEFINE(eventlist, struct eventlist, eventlist_release)

/** Fetches the events that match `fields` (a field selector; NULL = all) in `ns` (NULL = all
 * namespaces). Returns false with `err` set on failure. */
bool eventlist_get(struct client *client, const char *ns, const char *fields, struct eventlist *out,
                   struct error *err);
/** Fills `out`, whose strings are owned. */
void event_from_json(const json_t *doc, struct event *out);
void event_release(struct event *event);

/** Returns the age column: "12s", or "12s (x3 over 2m)" for a repeated event. Owned. */
char *event_age(const struct event *event, int64_t now_ms);
/** Returns the field selector for the events about one object. `uid` NULL = any. Owned. */
char *event_selector(const char *kind_name, const char *name, const char *uid);
