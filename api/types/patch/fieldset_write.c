/*
 * Writes the field set of a new document as text, without building a document for the set. Most
 * objects need only this set.
 */
#include "api/types/patch/internal.h"

/* Writes an entry of a list with keys. The entry itself is in the set, and so are its members. */
static void write_entry(const struct schema_at *at, const json_t *entry, struct jsonw *w)
{
    jsonw_open(w);
    fieldset_write_members(at, entry, w);
    jsonw_member_raw(w, ".", "{}", 2);
    jsonw_close(w);
}

/* Writes the value of a path element. `self`: the element is in the set even if it has children. */
static void write_node(const struct schema_at *at, const struct field *field, const json_t *value,
                       bool self, struct jsonw *w)
{
    enum fieldset_shape shape = fieldset_shape(field, value);
    scoped(json) json_t *index =
        shape == KEYED || shape == SET ? fieldset_index(field, value) : NULL;
    bool parts = json_object_size(shape == OBJECT ? value : index) > 0;
    const char *element;
    json_t *entry;

    jsonw_open(w);
    if (shape == OBJECT)
        fieldset_write_members(at, value, w);
    json_object_foreach(index, element, entry)
    {
        jsonw_key(w, element);
        if (shape == KEYED)
            write_entry(at, entry, w);
        else
            jsonw_raw(w, "{}", 2);
    }
    if (self && parts)
        jsonw_member_raw(w, ".", "{}", 2);
    jsonw_close(w);
}

void fieldset_write_members(const struct schema_at *at, const json_t *object, struct jsonw *w)
{
    scoped(buf) struct buf element = {0};
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        struct schema_at below;
        const struct field *field = schema_at_member(at, key, &below);

        buf_clear(&element);
        buf_str(&element, "f:");
        buf_str(&element, key);
        jsonw_key(w, element.data);
        write_node(&below, field, value, !fieldset_is_frame(at, key), w);
    }
}
