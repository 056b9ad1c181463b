/*
 * FZ-01: our reader of JSON and jansson's, which share nothing but the tree they build, take the
 * same texts for the same documents. Bounds are kept, and what is refused is said why.
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

/* What is printed is read as the same. */
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

/* Of members given twice the last holds, as jansson has it; where none is, `strict` is the same. */
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
    else /* jansson passes over a NUL that follows a number */
        assert(!ours && (!theirs || strstr(err.message, "nested deeper") || memchr(text, 0, size)));
    check_bounds(text, size);
    check_lenient(text, size, &wide, ours);
    if (ours)
        check_printed(ours);
    return 0;
}
