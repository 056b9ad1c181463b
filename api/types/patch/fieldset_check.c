/*
 * Reports the members of an applied configuration that its kind does not declare.
 *
 * The texts are those of structured-merge-diff, which cluster users know:
 * `.spec.containers[name="c"].bogus: field not declared in schema`.
 */
#include "api/types/patch/internal.h"
#include "base/buf.h"

static void check_members(const struct schema_at *at, const json_t *object, struct buf *path,
                          struct error_list *findings);

static void cut(struct buf *path, size_t len)
{
    path->len = len;
    path->data[len] = '\0';
}

static void found(const struct buf *path, const char *what, struct error_list *findings)
{
    error_list_add(findings, ERR_UNDECLARED, "", "%s: %s", path->data, what);
}

/* Checks list entries under their keys, so that findings below them name the entry. An entry
 * without a key is reported by the checks of the kind. */
static void check_entries(const struct schema_at *at, const struct field *field, const json_t *list,
                          struct buf *path, struct error_list *findings)
{
    scoped(json) json_t *seen = json_object();
    scoped(buf) struct buf element = {0}, twice = {0};
    const size_t len = path->len;
    json_t *entry;
    size_t i;

    json_array_foreach(list, i, entry)
    {
        if (!fieldset_element(field, entry, &element))
            continue;
        if (json_object_get(seen, element.data)) {
            buf_clear(&twice);
            buf_str(&twice, "duplicate entries for key ");
            fieldset_add_step(element.data, &twice);
            found(path, twice.data, findings);
            continue;
        }
        json_object_set_new(seen, element.data, json_true());
        fieldset_add_step(element.data, path);
        check_members(at, entry, path, findings);
        cut(path, len);
    }
}

static void check_value(const struct schema_at *at, const struct field *field, const json_t *value,
                        struct buf *path, struct error_list *findings)
{
    const enum fieldset_shape shape = fieldset_shape(field, value);
    const size_t len = path->len;
    json_t *entry;
    size_t i;

    if (shape == OBJECT)
        check_members(at, value, path, findings);
    else if (shape != WHOLE)
        check_entries(at, field, value, path, findings);
    else
        json_array_foreach(value, i, entry)
        {
            buf_printf(path, "[%zu]", i);
            check_members(at, entry, path, findings);
            cut(path, len);
        }
}

static bool is_declared(const struct schema_at *at, const char *key, const struct field *field,
                        const struct schema_at *below)
{
    return field || below->level.schema || below->is_map || at->is_map || !at->level.schema ||
           at->level.schema->preserve_unknown ||
           (at->level.partial && (strcmp(key, "$patch") == 0 || strcmp(key, "$retainKeys") == 0)) ||
           (at->root && (strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0));
}

static void check_members(const struct schema_at *at, const json_t *object, struct buf *path,
                          struct error_list *findings)
{
    const size_t len = path->len;
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        struct schema_at below;
        const struct field *field = schema_at_member(at, key, &below);

        buf_printf(path, ".%s", key);
        if (is_declared(at, key, field, &below))
            check_value(&below, field, value, path, findings);
        else
            found(path, "field not declared in schema", findings);
        cut(path, len);
    }
}

void fieldset_check(const struct schema_at *at, const json_t *doc, struct error_list *findings)
{
    scoped(buf) struct buf path = {0};

    check_members(at, doc, &path, findings);
}
