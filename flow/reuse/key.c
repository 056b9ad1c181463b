/*
 * Walks the specification of a job together with its field tables.
 */
#include "flow/reuse/key.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/schema/walk.h"
#include "api/types/text/json_text.h"
#include "base/encoding/jsonw.h"
#include "base/mem.h"

/* Changes when keys are made in another way, so that older entries are not found. */
#define KEY_FORMAT "1"

static void add_source(struct reuse_sources *out, bool secret, const char *name, const char *key)
{
    if (!name)
        return;
    mem_grow(out->items, out->count, out->cap);
    out->items[out->count++] = (struct reuse_source){secret, mem_strdup(name), mem_strdup(key)};
}

static const char *text_of(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

/* Adds a volume or an entry of a projected volume; `items` names the keys that are used. */
static void add_volume(struct reuse_sources *out, bool secret, const json_t *value)
{
    const char *name = text_of(value, "secretName");
    const json_t *items = json_object_get(value, "items"), *item;
    size_t i;

    if (!name)
        name = text_of(value, "name");
    json_array_foreach(items, i, item) add_source(out, secret, name, text_of(item, "key"));
    if (!json_array_size(items))
        add_source(out, secret, name, NULL);
}

/* The members by which a pod refers to a ConfigMap or a Secret. */
static const struct {
    const char *member;
    enum { USE_KEY, USE_ALL, USE_VOLUME } use;
    bool secret;
} uses[] = {
    {"configMapKeyRef", USE_KEY, false}, {"secretKeyRef", USE_KEY, true},
    {"configMapRef", USE_ALL, false},    {"secretRef", USE_ALL, true},
    {"configMap", USE_VOLUME, false},    {"secret", USE_VOLUME, true},
};

static void find_in_member(const char *member, const json_t *value, struct reuse_sources *out)
{
    for (size_t i = 0; i < countof(uses); i++) {
        if (strcmp(uses[i].member, member) != 0 || !json_is_object(value))
            continue;
        if (uses[i].use == USE_VOLUME)
            add_volume(out, uses[i].secret, value);
        else
            add_source(out, uses[i].secret, text_of(value, "name"),
                       uses[i].use == USE_KEY ? text_of(value, "key") : NULL);
    }
}

void reuse_sources_find(const json_t *spec, struct reuse_sources *out)
{
    const char *member;
    json_t *value;
    size_t i;

    json_object_foreach((json_t *)(uintptr_t)spec, member, value)
    {
        find_in_member(member, value, out);
        reuse_sources_find(value, out);
    }
    json_array_foreach(spec, i, value) reuse_sources_find(value, out);
}

void reuse_sources_release(struct reuse_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        mem_free(sources->items[i].name);
        mem_free(sources->items[i].key);
    }
    mem_free(sources->items);
    *sources = (struct reuse_sources){0};
}

struct member {
    const char *key;
    const json_t *value;
    struct schema_at below;
};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

static void write_essential(const json_t *value, const struct schema_at *at, struct jsonw *w);

/* Writes an object without its incidental members; the others are sorted. */
static void write_members(const json_t *object, const struct schema_at *at, struct jsonw *w)
{
    struct member *members = mem_array(json_object_size(object) + 1, sizeof *members);
    const char *key;
    size_t count = 0;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        struct member *member = &members[count];
        const struct field *field = schema_at_member(at, key, &member->below);

        member->key = key;
        member->value = value;
        count += !field || !field->incidental;
    }
    if (count)
        qsort(members, count, sizeof *members, by_key);
    jsonw_open(w);
    for (size_t i = 0; i < count; i++) {
        jsonw_key(w, members[i].key);
        write_essential(members[i].value, &members[i].below, w);
    }
    jsonw_close(w);
    mem_free(members);
}

/* Writes the value without incidental members. */
static void write_essential(const json_t *value, const struct schema_at *at, struct jsonw *w)
{
    const json_t *item;
    size_t i;

    if (json_is_object(value)) {
        write_members(value, at, w);
    } else if (json_is_array(value)) {
        jsonw_open_list(w);
        json_array_foreach(value, i, item) write_essential(item, at, w);
        jsonw_close_list(w);
    } else if (json_is_string(value)) {
        jsonw_strn(w, json_string_value(value), json_string_length(value));
    } else {
        scoped(buf) struct buf text = {0};

        json_text(value, &text);
        jsonw_raw(w, text.data, text.len);
    }
}

void reuse_canonical(const json_t *body, struct buf *out)
{
    const struct schema_at at = schema_at_root(&job_spec_schema, false);
    const json_t *spec = json_object_get(body, "spec");
    struct jsonw w = jsonw_to(out);

    if (spec)
        write_essential(spec, &at, &w);
    else
        buf_str(out, "null");
}

static bool differs(const char *member, const char *owner, const json_t *before,
                    const json_t *after, struct buf *out);

static bool members_differ(const char *member, const json_t *before, const json_t *after,
                           struct buf *out)
{
    const char *owner = text_of(after, "name"), *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)after, key, value)
    {
        const json_t *old = json_object_get(before, key);

        if (!old) {
            buf_printf(out, "%s is new", key);
            return true;
        }
        if (differs(key, owner, old, value, out))
            return true;
    }
    json_object_foreach((json_t *)(uintptr_t)before, key, value)
    {
        if (!json_object_get(after, key)) {
            buf_printf(out, "%s is gone", key);
            return true;
        }
    }
    return false;
}

/* `owner`: the name of the object whose member it is, or NULL. */
static bool differs(const char *member, const char *owner, const json_t *before,
                    const json_t *after, struct buf *out)
{
    if (json_equal(before, after))
        return false;
    if (json_is_object(before) && json_is_object(after))
        return members_differ(member, before, after, out);
    for (size_t i = 0; json_is_array(before) && i < json_array_size(after); i++) {
        const json_t *old = json_array_get(before, i), *now = json_array_get(after, i);

        if (json_array_size(before) == json_array_size(after) && json_is_object(now) &&
            differs(member, NULL, old, now, out))
            return true;
    }
    if (owner && !json_is_array(after))
        buf_printf(out, "%s of %s changed", member, owner);
    else
        buf_printf(out, "%s changed", member);
    return true;
}

bool reuse_difference(const json_t *before, const json_t *after, struct buf *out)
{
    return differs("the job", NULL, before, after, out);
}

void reuse_key(const struct reuse_key_parts *parts, struct sha256 *out)
{
    struct sha256_state *state = sha256_begin();
    const char *texts[] = {KEY_FORMAT, parts->namespace, parts->canonical,
                           parts->key ? parts->key : ""};

    for (size_t i = 0; i < countof(texts); i++)
        sha256_feed_sized(state, texts[i], strlen(texts[i]));
    for (size_t i = 0; i < parts->n_sources; i++)
        sha256_feed(state, parts->source[i].bytes, SHA256_BYTES);
    sha256_end(state, out);
}
