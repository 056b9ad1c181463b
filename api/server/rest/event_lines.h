#pragma once
/*
 * What watches are told of one change, in each of the forms in which somebody wants it.
 *
 * A change of a busy collection goes to a thousand watches, and what it says to those of one form
 * is the same bytes: they are written once and shared. Only the lines of the newest change are
 * kept, for all watches hear of it before the next one.
 */
#include "api/server/message/accept.h"
#include "api/server/rest/group_alias.h"
#include "api/server/rest/table/table.h"
#include "api/store/store.h"

struct blob;
struct event_lines;

struct event_key {
    const struct object *object; /* what is shown: the new version, or the old one */
    int64_t revision;            /* of the change */
    enum store_change change;
    enum media_form form;
    enum table_object include;
    const struct kind_view *view;
    const char *version;
};

struct event_lines *event_lines_new(void);
void event_lines_free(struct event_lines *lines); /* NULL is fine */
/** The line of that change in that form (borrowed), or NULL. */
struct blob *event_lines_find(const struct event_lines *lines, const struct event_key *key);
void event_lines_keep(struct event_lines *lines, const struct event_key *key, struct blob *line);
