/*
 * Maintains metadata.managedFields for writes that name their manager.
 *
 * Controllers in this process write without a manager, and an object without managed fields costs
 * nothing. It gets managed fields with its first server-side apply.
 */
#include <string.h>

#include "api/registry/internal.h"
#include "api/types/patch/managed_fields.h"
#include "api/types/text/json_text.h"
#include "base/mem.h"
#include "base/timefmt.h"

static json_t *tracked(const struct object *object, const char *subresource)
{
    scoped(json) json_t *doc = object_to_json(object);

    return managed_tracked(doc, object->kind->has_status, subresource);
}

/* `[]` and `[{}]` reset managed fields: the object keeps none from now on. */
static bool is_reset(const json_t *asked)
{
    return json_is_array(asked) &&
           (json_array_size(asked) == 0 ||
            (json_array_size(asked) == 1 && json_object_size(json_array_get(asked, 0)) == 0 &&
             json_is_object(json_array_get(asked, 0))));
}

static json_t *stored_entries(const struct object *current)
{
    const char *text = current->meta->managed_fields;

    return text ? json_read(text, strlen(text)) : NULL;
}

/* Adds the fields of the body when its document is not given. They are computed once and cached
 * with the body. */
static void add_body_fields(const struct schema_at *at, const struct object *born, struct jsonw *w)
{
    struct blob *body = born->body;

    if (!body->fields) {
        scoped(json) json_t *doc = object_body_json(born);
        struct buf text = {0};
        struct jsonw own = jsonw_to(&text);

        fieldset_write_members(at, doc, &own);
        body->fields = buf_take(&text);
    }
    if (*body->fields)
        jsonw_raw(w, body->fields, strlen(body->fields));
}

static void add_meta_fields(const struct schema_at *at, const struct object *born, struct jsonw *w)
{
    scoped(buf) struct buf text = {0};
    scoped(json) json_t *doc = NULL;
    struct jsonw owned = jsonw_to(&text);
    bool any;

    jsonw_open(&owned);
    any = object_write_owned_meta(born, &owned);
    jsonw_close(&owned);
    if (!any)
        return;
    doc = json_read(text.data, text.len);
    fieldset_write_members(at, doc, w);
}

static void add_status_fields(const struct schema_at *at, const struct object *born,
                              struct jsonw *w)
{
    scoped(json) json_t *doc = json_object();

    json_object_set_new(doc, "status", object_status_json(born));
    fieldset_write_members(at, doc, w);
}

char *managed_fields_begin(struct registry *r, const struct object *born, const json_t *body,
                           const struct registry_write *how)
{
    char now[TIME_TEXT_MAX];
    scoped(buf) struct buf fields = {0};
    struct buf text = {0};
    struct jsonw w = jsonw_to(&fields);
    const struct managed_write write = {
        .at = schema_at_root(born->kind->schema, false),
        .manager = how->manager,
        .api_version = kind_api_version(born->kind),
        .operation = MANAGED_UPDATE,
        .now = now,
    };

    if (body)
        fieldset_write_members(&write.at, body, &w);
    else
        add_body_fields(&write.at, born, &w);
    add_meta_fields(&write.at, born, &w);
    if (born->status && !born->kind->has_status)
        add_status_fields(&write.at, born, &w);
    if (!fields.len)
        return NULL;
    time_format(loop_wall_ms(r->loop), now);
    managed_begin(&write, &fields, &text);
    return buf_take(&text);
}

char *managed_fields_update(struct registry *r, const struct object *current,
                            const struct object *next, const json_t *asked, const char *subresource,
                            const struct registry_write *how)
{
    char now[TIME_TEXT_MAX];
    scoped(json) json_t *entries = NULL, *before = NULL, *after = NULL, *result = NULL;
    scoped(buf) struct buf text = {0};
    struct managed_write write = {
        .at = schema_at_root(next->kind->schema, false),
        .manager = how->manager,
        .api_version = kind_api_version(next->kind),
        .subresource = subresource,
        .operation = MANAGED_UPDATE,
        .now = now,
    };

    if (!subresource && is_reset(asked))
        return NULL;
    if (!subresource)
        entries = managed_parse(asked);
    if (!entries)
        entries = stored_entries(current);
    if (!entries) /* the object has no managed fields */
        return NULL;
    time_format(loop_wall_ms(r->loop), now);
    before = tracked(current, subresource);
    after = tracked(next, subresource);
    result = managed_update(entries, &write, before, after);
    if (json_array_size(result))
        json_text(result, &text);
    return text.len ? buf_take(&text) : NULL;
}

struct object *managed_fields_put(struct object *object, char *managed)
{
    struct meta meta = *object->meta;
    scoped_str owned = managed;
    struct object *result;

    meta.managed_fields = owned;
    result = object_with_meta(object, meta_new(&meta));
    object_unref(object);
    return result;
}
