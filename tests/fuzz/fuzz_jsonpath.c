/*
 * FZ-08: JSONPath expressions of `get -o jsonpath=…` and conditions of `wait --for`. The first line
 * is the expression, the rest is a document. An expression gives text of a bounded size or an error
 * with a message.
 */
/* covers: reliability.md FZ-08 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/types/text/json_text.h"
#include "api/types/text/jsonpath.h"
#include "base/mem.h"
#include "cli/client/wait_condition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_print(const json_t *doc, const char *expression, size_t size)
{
    scoped(buf) struct buf out = {0}, again = {0};
    struct error err = {0};

    if (!jsonpath_print(doc, expression, &out, &err)) {
        assert(err.code == ERR_BAD_REQUEST && *err.message);
        return;
    }
    assert(out.len <= (size + 1) * (6 * size + 64)); /* each expression prints the whole at most */
    assert(jsonpath_print(doc, expression, &again, &err));
    assert(out.len == again.len && (!out.len || memcmp(out.data, again.data, out.len) == 0));
}

static void check_condition(const json_t *doc, const char *text)
{
    struct condition condition = {0};
    struct error err = {0};

    if (!condition_parse(text, &condition, &err)) {
        assert(err.code == ERR_BAD_REQUEST && *err.message);
    } else {
        enum condition_verdict verdict = condition_evaluate(&condition, doc, &err);

        assert(!err.code || verdict == CONDITION_NOT_YET);
        condition_evaluate(&condition, NULL, &err);
    }
    condition_release(&condition);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct json_limits limits = {65536, 64, 20000};
    const uint8_t *end = memchr(data, '\n', size);
    size_t len = end ? (size_t)(end - data) : size;
    scoped_str expression = mem_printf("%.*s", (int)len, (const char *)data);
    scoped(json) json_t *doc =
        end ? json_parse((const char *)end + 1, size - len - 1, &limits, NULL) : NULL;

    if (!doc)
        doc = json_object();
    check_print(doc, expression, size);
    check_condition(doc, expression);
    return 0;
}
