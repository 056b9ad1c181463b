/*
 * FZ-01, FZ-03: a document of any kind through schema check, defaulting, admission and decoding.
 * Defaulting is idempotent. An admitted document can be written, and is admitted again unchanged.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/types/admission.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_twice(const struct kind *kind, const json_t *doc)
{
    static const struct schema_options options = {UNKNOWN_PRUNE, .defaults = true,
                                                  .drop_null = true};
    scoped(json) json_t *once = json_deep_copy(doc);
    struct error_list errors = {0};

    schema_check(kind->schema, once, "", &options, &errors);

    scoped(json) json_t *twice = json_deep_copy(once);

    schema_check(kind->schema, twice, "", &options, &errors);
    assert(json_equal(once, twice));
    error_list_release(&errors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct json_limits limits = {65536, 64, 20000};
    static const struct admission adm = {.scheduler_name = "volcano"};
    scoped(json) json_t *doc = json_parse((const char *)data, size, &limits, NULL);
    struct error_list errors = {0};

    if (!json_is_object(doc))
        return 0;

    scoped(json) json_t *first = json_deep_copy(doc);
    scoped(object) struct object *object =
        admission_admit(&adm, first, NULL, UNKNOWN_PRUNE, &errors);

    if (object) {
        scoped(json) json_t *stored = object_to_json(object);
        scoped(object) struct object *again =
            admission_admit(&adm, stored, object, UNKNOWN_ERROR, &errors);

        if (object->kind->schema)
            check_twice(object->kind, doc);
        assert(!again || strcmp(again->body->text, object->body->text) == 0);
    }
    error_list_release(&errors);
    return 0;
}
