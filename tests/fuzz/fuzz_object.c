/*
 * FZ-01, FZ-13: parses bytes as a JSON object, and as metadata read from the store. A parsed object
 * can be written and reads back the same.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/types/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_meta(const struct meta *meta)
{
    scoped(buf) struct buf bytes = {0};

    meta_encode(meta, &bytes);

    scoped(meta) struct meta *again = meta_decode(bytes.data, bytes.len, NULL);
    scoped(buf) struct buf second = {0};

    assert(again);
    meta_encode(again, &second);
    assert(bytes.len == second.len && memcmp(bytes.data, second.data, bytes.len) == 0);
}

static void check_document(const json_t *doc)
{
    struct error_list errors = {0};
    scoped(object) struct object *object = object_from_json(doc, &errors);

    if (object) {
        scoped(json) json_t *written = object_to_json(object);
        scoped(object) struct object *again = object_from_json(written, &errors);
        scoped(buf) struct buf first = {0}, second = {0};

        assert(again);
        object_write(object, &first);
        object_write(again, &second);
        assert(strcmp(first.data, second.data) == 0);
        check_meta(object->meta);
    } else {
        assert(errors.count);
    }
    error_list_release(&errors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct json_limits limits = {65536, 64, 20000};
    scoped(meta) struct meta *meta = meta_decode(data, size, NULL);
    scoped(json) json_t *doc = json_parse((const char *)data, size, &limits, NULL);

    if (meta)
        check_meta(meta);
    if (doc)
        check_document(doc);
    return 0;
}
