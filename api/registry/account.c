/*
 * Keeping account: managedFields of writes that name their manager.
 *
 * Only those do: controllers in this process write without account, and what nobody asked to track
 * costs nothing. An object that came to be without account has none until somebody applies to it.
 */
#include "api/registry/internal.h"
#include "api/types/json_text.h"
#include "api/types/managed.h"
#include "base/mem.h"
#include "base/timefmt.h"

static json_t *tracked(const struct object *object, const char *subresource)
{
    scoped(json) json_t *doc = object_to_json(object);

    return managed_tracked(doc, object->kind->has_status, subresource);
}

/* `[]` and `[{}]` mean: keep no account from now on. */
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

    return text ? json_loads(text, 0, NULL) : NULL;
}

/* The object as a document around a body that is at hand. */
static json_t *with_body(const struct object *object, const json_t *body)
{
    json_t *doc = json_copy((json_t *)(uintptr_t)body);
    scoped(json) json_t *head = NULL;
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    jsonw_open(&w);
    object_write_meta(object, &w);
    jsonw_close(&w);
    head = json_loadb(text.data, text.len, 0, NULL);
    json_object_update(doc, head);
    if (object->status)
        json_object_set_new(doc, "status", object_status_json(object));
    return doc;
}

char *account_begin(struct registry *r, const struct object *born, const json_t *body,
                    const struct registry_write *how)
{
    char now[TIME_TEXT_MAX];
    scoped(json) json_t *doc = body ? with_body(born, body) : object_to_json(born);
    scoped(json) json_t *owned = managed_tracked(doc, born->kind->has_status, NULL);
    scoped(buf) struct buf text = {0};
    const struct managed_write write = {
        .at = schema_at_root(born->kind->schema, false),
        .manager = how->manager,
        .api_version = kind_api_version(born->kind),
        .operation = MANAGED_UPDATE,
        .now = now,
    };

    time_format(loop_wall_ms(r->loop), now);
    managed_begin(&write, owned, &text);
    return text.len ? buf_take(&text) : NULL;
}

char *account_update(struct registry *r, const struct object *current, const struct object *next,
                     const json_t *asked, const char *subresource, const struct registry_write *how)
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
    if (!entries) /* nobody keeps account of it */
        return NULL;
    time_format(loop_wall_ms(r->loop), now);
    before = tracked(current, subresource);
    after = tracked(next, subresource);
    result = managed_update(entries, &write, before, after);
    if (json_array_size(result))
        json_text(result, &text);
    return text.len ? buf_take(&text) : NULL;
}

struct object *account_put(struct object *object, char *managed)
{
    struct meta meta = *object->meta;
    scoped_str owned = managed;
    struct object *result;

    meta.managed_fields = owned;
    result = object_with_meta(object, meta_new(&meta));
    object_unref(object);
    return result;
}
