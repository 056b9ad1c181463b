/*
 * FZ-08: references such as $(item) in the strings of a step's patch. The input is a document, or
 * else one text. A document in which every reference is replaced by a text without references has
 * none left but escaped ones, and the original is not changed.
 */
/* covers: reliability.md FZ-08 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/types/kind.h"
#include "api/types/schema/flow_reference.h"
#include "api/types/text/json_text.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The value of a reference depends on its kind: some stay, and some cannot be known. */
static bool value_of(void *ctx, const struct flow_ref *ref, struct buf *out, bool *out_leave,
                     struct error *err)
{
    size_t *asked = ctx;

    if (ref->kind != FLOW_REF_DOUBTFUL)
        ++*asked;
    assert(!ref->name_len || memchr(ref->name, '\0', ref->name_len) == NULL);
    if (ref->kind == FLOW_REF_DOUBTFUL)
        *out_leave = true;
    else if (ref->kind == FLOW_REF_OUTPUT && ref->key_len > 20)
        return error_set(err, ERR_NOT_FOUND, "", "no such output");
    else
        buf_str(out, ref->kind == FLOW_REF_ITEM ? "7" : "value");
    return true;
}

/* Counts references. A text that only looks like one is visited too, but stays as it is. */
static void count(void *arg, const struct flow_ref *ref)
{
    if (ref->kind != FLOW_REF_DOUBTFUL)
        ++*(size_t *)arg;
}

static void check_document(json_t *doc)
{
    const struct schema *const schemas[] = {NULL, kind_job.schema, kind_pod.schema};

    for (size_t i = 0; i < countof(schemas); i++) {
        scoped(json) json_t *before = json_deep_copy(doc), *replaced = NULL;
        size_t asked = 0, there = 0;
        const struct flow_ref_values values = {value_of, &asked};
        struct error err = {0};

        flow_refs_each(doc, count, &there);
        assert(!there || flow_refs_in(doc));
        replaced = flow_refs_replace(schemas[i], doc, &values, &err);
        assert(replaced || (err.code != ERR_NONE && *err.message));
        assert(json_equal(doc, before));
        assert(!replaced || asked <= there);
    }
}

static void check_text(const char *text)
{
    scoped(buf) struct buf out = {0};
    size_t asked = 0;
    const struct flow_ref_values values = {value_of, &asked};
    struct error err = {0};

    if (!flow_refs_replace_text(text, &values, &out, &err))
        assert(err.code != ERR_NONE && *err.message);
    else if (!asked && !strstr(text, "$$("))
        assert(strcmp(text, out.data ? out.data : "") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct json_limits limits = {65536, 64, 20000};
    scoped_str text = mem_printf("%.*s", (int)size, (const char *)data);
    scoped(json) json_t *doc = json_parse((const char *)data, size, &limits, NULL);

    if (doc)
        check_document(doc);
    check_text(text);
    return 0;
}
