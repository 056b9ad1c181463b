/*
 * FZ-01: compares our JSON parser with jansson's. Both accept the same texts and build the same
 * documents. Limits are respected, and every refusal has a message.
 */
/* covers: reliability.md FZ-01 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/types/text/json_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_bounds(const char *text, size_t size)
{
    static const struct json_limits small = {1 << 20, 3, 12};
    struct error err = {0};
    scoped(json) json_t *doc = json_parse(text, size, &small, &err);

    assert(doc || (err.code == ERR_BAD_REQUEST && err.message[0]));
}

/* Checks that a printed document is parsed as the same document. */
static void check_printed(const json_t *doc)
{
    static const struct json_limits wide = {1 << 20, 128, 1 << 20};
    scoped(buf) struct buf text = {0}, second = {0};
    scoped(json) json_t *again = NULL;

    json_text(doc, &text);
    again = json_parse(text.data, text.len, &wide, NULL);
    assert(again);
    json_text(again, &second);
    assert(text.len == second.len && memcmp(text.data, second.data, text.len) == 0);
}

/* Checks the mode that accepts duplicate members: the last one counts, as in jansson. Without
 * duplicates the result equals `strict`. */
static void check_lenient(const char *text, size_t size, const struct json_limits *limits,
                          const json_t *strict)
{
    struct error_list twice = {0};
    scoped(json) json_t *ours = json_parse_lenient(text, size, limits, &twice, NULL);
    scoped(json) json_t *theirs = json_loadb(text, size, JSON_DECODE_ANY, NULL);

    if (ours && theirs)
        assert(json_equal(ours, theirs));
    assert(ours ? (strict != NULL) == (twice.count == 0) : !strict);
    error_list_release(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct json_limits wide = {1 << 20, 128, 1 << 20};
    const char *text = (const char *)data;
    struct error err = {0};
    scoped(json) json_t *ours = json_parse(text, size, &wide, &err);
    scoped(json) json_t *theirs =
        json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);

    if (ours && theirs)
        assert(json_equal(ours, theirs));
    else /* jansson accepts a NUL after a number */
        assert(!ours && (!theirs || strstr(err.message, "nested deeper") || memchr(text, 0, size)));
    check_bounds(text, size);
    check_lenient(text, size, &wide, ours);
    if (ours)
        check_printed(ours);
    return 0;
}
