#pragma once
/*
 * What fixtures of controllers look at in stored objects: values of a status, and events.
 */
#include "api/store/store.h"

/** Returns the value at a path of an object's status as compact JSON text. Strings are without
 * quotes, and an absent value is "". A path has its parts separated by slashes, and an element of a
 * list is named by its index: "nodes/0/phase". The text is valid until the next call. */
const char *look_at_status(const struct object *object, const char *path);

/* The events of one reason in a store. */
struct look_events {
    int count;         /* the sum of their counts */
    char message[512]; /* the message of the first of them, or "" */
};
struct look_events look_for_events(struct store *store, const char *reason);
/** Returns whether the message of an event of that reason contains `text`. */
bool look_for_event_text(struct store *store, const char *reason, const char *text);
