/*
 * FZ-02: YAML streams. A parsed document stays within the limits, has a line number for each path
 * that is queried, and reads back the same after it was written.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/types/text/json_text.h"
#include "api/types/text/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t depth_of(const json_t *value)
{
    const char *key;
    json_t *member;
    size_t deepest = 0, i;

    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        size_t depth = depth_of(member);

        deepest = depth > deepest ? depth : deepest;
    }
    json_array_foreach(value, i, member)
    {
        size_t depth = depth_of(member);

        deepest = depth > deepest ? depth : deepest;
    }
    return json_is_object(value) || json_is_array(value) ? deepest + 1 : 0;
}

static void check_round_trip(const json_t *doc)
{
    scoped(buf) struct buf yaml = {0}, before = {0}, after = {0};
    struct error err = {0};

    yaml_write(doc, &yaml);

    scoped(yaml) struct yaml_stream *again =
        yaml_parse(yaml.data, yaml.len, &yaml_limits_default, &err);

    assert(again);
    if (!yaml_count(again)) { /* an empty document in the output is not counted */
        assert(json_is_null(doc));
        return;
    }
    json_text(doc, &before);
    json_text(yaml_document(again, 0), &after);
    assert(strcmp(before.data, after.data) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct yaml_limits limits = {65536, 100, 64, 100, 100, 20000, 2000};
    struct error err = {0};
    scoped(yaml) struct yaml_stream *stream = yaml_parse((const char *)data, size, &limits, &err);

    if (!stream) {
        assert(strncmp(err.message, "line ", 5) == 0);
        return 0;
    }
    for (size_t i = 0; i < yaml_count(stream); i++) {
        const json_t *doc = yaml_document(stream, i);

        assert(depth_of(doc) <= limits.max_depth);
        assert(yaml_line(stream, i, "") >= 1);
        yaml_line(stream, i, "spec.flows[1].name");
        yaml_line(stream, i, "a[b].c[0][1]");
        check_round_trip(doc);
    }
    return 0;
}
