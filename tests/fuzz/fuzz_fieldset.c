/*
 * Sets of fields of arbitrary documents: the input is [live, config, set]. The set operations obey
 * their laws; applied fields exist afterwards, and removed fields do not.
 */
#include <assert.h>
#include <stdint.h>

#include "api/types/kind.h"
#include "api/types/patch/fieldset.h"
#include "api/types/text/json_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore_path(void *ctx, const char *path)
{
    assert(path[0] == '.' || path[0] == '[');
}

static void check_laws(const json_t *a, const json_t *b)
{
    scoped(json) json_t *both = fieldset_union(a, b), *common = fieldset_intersection(a, b);
    scoped(json) json_t *rest = fieldset_difference(a, b), *again = fieldset_union(rest, common);
    scoped(json) json_t *none = fieldset_intersection(rest, b), *same = fieldset_union(a, a);
    scoped(json) json_t *left = fieldset_difference(a, both);

    assert(fieldset_is_empty(none));
    assert(fieldset_is_empty(left));
    assert(json_equal(again, same));
    assert(fieldset_is_valid(both));
    fieldset_each(both, ignore_path, NULL);
}

/* Checks that the fields that the owner of a new document gets equal the difference to an empty
 * document. */
static void check_written(const struct schema_at *at, const json_t *doc)
{
    scoped(json) json_t *nothing = json_object(), *written = NULL;
    scoped(fieldset_changes) struct fieldset_changes changes = fieldset_compare(at, nothing, doc);
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    jsonw_open(&w);
    fieldset_write_members(at, doc, &w);
    jsonw_close(&w);
    written = json_loads(text.data, JSON_REJECT_DUPLICATES, NULL);
    assert(json_equal(written, changes.changed));
}

static void check_documents(const json_t *live, const json_t *config, const json_t *set)
{
    const struct schema_at at = schema_at_root(kind_pod.schema, false);
    scoped(json) json_t *wanted = fieldset_of(&at, config);
    scoped(json) json_t *merged = fieldset_merge(&at, live, config);
    scoped(json) json_t *again = fieldset_merge(&at, merged, config), *none = json_object();
    scoped(fieldset_changes) struct fieldset_changes changes = fieldset_compare(&at, live, merged);
    scoped(fieldset_changes) struct fieldset_changes nothing =
        fieldset_compare(&at, merged, merged);

    assert(json_equal(merged, again));
    assert(fieldset_is_empty(nothing.changed) && fieldset_is_empty(nothing.gone));
    assert(fieldset_is_valid(wanted) && fieldset_is_valid(changes.changed));
    check_laws(wanted, changes.changed);
    check_written(&at, merged);
    fieldset_remove(&at, merged, set, none);
    fieldset_remove(&at, again, wanted, set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct json_limits limits = {64 << 10, 64, 5000};
    scoped(json) json_t *input = json_parse((const char *)data, size, &limits, NULL);
    const json_t *live = json_array_get(input, 0), *config = json_array_get(input, 1);
    const json_t *set = json_array_get(input, 2);

    if (!json_is_object(live) || !json_is_object(config) || !fieldset_is_valid(set))
        return 0;
    check_laws(set, set);
    check_documents(live, config, set);
    return 0;
}
