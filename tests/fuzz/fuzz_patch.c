/*
 * FZ-05: the input has two documents; the second is applied to the first as a patch of each type.
 * The result is a document within the depth limit, or an error; neither input changes.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/types/kind.h"
#include "api/types/patch/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_result(json_t *result, const struct error *err)
{
    scoped(json) UNUSED json_t *owned = result;
    scoped(buf) struct buf text = {0};

    if (!result) {
        assert(err->code != ERR_NONE && *err->message);
        return;
    }
    json_text(result, &text);

    scoped(json) json_t *again = json_loadb(text.data, text.len, JSON_DECODE_ANY, NULL);

    assert(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct json_limits limits = {65536, 64, 20000};
    const uint8_t *split = memchr(data, '\n', size);
    size_t first = split ? (size_t)(split - data) : size;
    scoped(json) json_t *doc = json_parse((const char *)data, first, &limits, NULL);
    scoped(json) json_t *patch =
        split ? json_parse((const char *)split + 1, size - first - 1, &limits, NULL) : NULL;
    struct error err = {0};

    if (!doc || !patch)
        return 0;

    scoped(json) json_t *doc_before = json_deep_copy(doc), *patch_before = json_deep_copy(patch);

    check_result(patch_json(doc, patch, &err), &err);
    check_result(patch_merge(doc, patch, &err), &err);
    check_result(patch_strategic(kind_pod.schema, doc, patch, &err), &err);
    assert(json_equal(doc, doc_before) && json_equal(patch, patch_before));
    return 0;
}
