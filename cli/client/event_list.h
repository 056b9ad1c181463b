#pragma once
/*
 * Events, oldest first, as the tables of `events` and `describe` show them.
 */
#include "cli/client/client.h"

struct event {
    char *object; /* "jobflow/x" */
    char *ns, *type, *reason, *from, *message;
    int64_t first_ms, last_ms, count;
    int64_t revision; /* orders those of one second, for event times are whole seconds */
    char *uid;
};

struct eventlist {
    struct event *items; /* [count] */
    size_t count, cap;
};
void eventlist_release(struct eventlist *list);
SCOPED_DEFINE(eventlist, struct eventlist, eventlist_release)

/** The events that match `fields` (a field selector; NULL = all) in `ns` (NULL = everywhere). */
bool eventlist_get(struct client *client, const char *ns, const char *fields, struct eventlist *out,
                   struct error *err);
void event_from_json(const json_t *doc, struct event *out); /* owned parts */
void event_release(struct event *event);

/** "12s", or "12s (x3 over 2m)"; owned. */
char *event_age(const struct event *event, int64_t now_ms);
/** The selector of the events about one object. Owned. */
char *event_selector(const char *kind_name, const char *name, const char *uid /* NULL = any */);
