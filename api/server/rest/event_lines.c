/*
 * The forms asked for are few, so they are a short list that is searched from its beginning.
 */
#include "api/server/rest/event_lines.h"

#include "api/types/blob.h"
#include "base/mem.h"

enum { FORMS_MAX = 8 }; /* more of them at a time are written anew for each watch */

struct event_lines {
    struct object *object; /* keeps the address of the newest change from being used again */
    struct {
        struct event_key key;
        struct blob *line; /* a reference */
    } at[FORMS_MAX];
    size_t n;
};

static bool is_same_change(const struct event_key *a, const struct event_key *b)
{
    return a->object == b->object && a->revision == b->revision;
}

static bool is_same(const struct event_key *a, const struct event_key *b)
{
    return is_same_change(a, b) && a->change == b->change && a->form == b->form &&
           a->include == b->include && a->view == b->view && a->version == b->version;
}

static void forget(struct event_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        blob_unref(lines->at[i].line);
    object_unref(take(lines->object));
    lines->n = 0;
}

struct blob *event_lines_find(const struct event_lines *lines, const struct event_key *key)
{
    for (size_t i = 0; i < lines->n; i++)
        if (is_same(&lines->at[i].key, key))
            return lines->at[i].line;
    return NULL;
}

void event_lines_keep(struct event_lines *lines, const struct event_key *key, struct blob *line)
{
    if (lines->n > 0 && !is_same_change(&lines->at[0].key, key))
        forget(lines);
    if (lines->n == FORMS_MAX)
        return;
    if (lines->n == 0)
        lines->object = object_ref(key->object);
    lines->at[lines->n].key = *key;
    lines->at[lines->n++].line = blob_ref(line);
}

struct event_lines *event_lines_new(void)
{
    return mem_alloc(sizeof(struct event_lines));
}

void event_lines_free(struct event_lines *lines)
{
    if (!lines)
        return;
    forget(lines);
    mem_free(lines);
}
