/*
 * Protobuf bodies: any bytes yield a document of bounded size or an error with a message.
 */
#include <assert.h>
#include <stdint.h>

#include "api/server/message/protobuf.h"
#include "api/types/text/json_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    scoped(json) json_t *doc = protobuf_parse(data, size, &json_limits_body, &err);

    if (doc) {
        scoped(buf) struct buf text = {0};

        assert(json_is_string(json_object_get(doc, "kind")));
        json_text(doc, &text);
        assert(text.len <= 64 + 40 * size); /* member names in JSON are longer than field numbers */
    } else {
        assert(err.code != ERR_NONE && err.message[0]);
    }
    return 0;
}
