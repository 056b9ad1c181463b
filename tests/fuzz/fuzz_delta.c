/*
 * FZ-13: deltas of stored statuses. The first byte is the length of the base; the rest is the delta.
 * A delta that was not made is refused, and one that was made gives the text.
 */
/* covers: reliability.md FZ-13 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/store/db/delta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(buf) struct buf out = {0}, delta = {0}, back = {0};
    const char *bytes = (const char *)data + 1;

    if (!size)
        return 0;

    size_t split = data[0] < size - 1 ? data[0] : size - 1;
    const struct delta_text base = {bytes, split}, rest = {bytes + split, size - 1 - split};

    buf_str(&out, "before");
    if (!delta_apply(base, rest, &out))
        assert(out.len == strlen("before"));
    delta_make(base, rest, &delta);
    assert(delta_apply(base, (struct delta_text){delta.data, delta.len}, &back));
    assert(back.len == rest.len && (!rest.len || memcmp(back.data, rest.bytes, rest.len) == 0));
    return 0;
}
