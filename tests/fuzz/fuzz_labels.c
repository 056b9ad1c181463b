/*
 * FZ-07: label and field selectors. A selector that parses prints as text that parses to the same.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/server/rest/filter.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct meta draft = {.namespace = "ns", .name = "p", .deletion_grace_s = -1};

static void check_label_selector(const char *text)
{
    static const struct kv labels[] = {{"a", "b"}, {"n", "5"}, {"x/y", ""}};
    static const struct meta meta = {.labels = labels, .n_labels = 3};
    struct error err = {0};
    scoped(selector) struct selector *selector = selector_parse(text, &err);
    scoped(buf) struct buf once = {0}, twice = {0};

    if (!selector) {
        assert(err.code == ERR_BAD_REQUEST && *err.message);
        return;
    }
    selector_print(selector, &once);

    scoped(selector) struct selector *again = selector_parse(once.data ? once.data : "", &err);

    assert(again);
    selector_print(again, &twice);
    assert(once.len == twice.len &&
           (!once.data || !twice.data || memcmp(once.data, twice.data, once.len) == 0));
    assert(selector_matches(selector, &meta) == selector_matches(again, &meta));
}

/* Checks a field selector as it appears in the query of a list. */
static void check_field_selector(const char *text)
{
    scoped(arena) struct arena *arena = arena_new(0);
    scoped(filter) struct filter filter = {0};
    scoped_str query = mem_printf("/a?fieldSelector=%s", text);
    struct request_target target;
    struct error err = {0};

    if (!request_target_parse(query, arena, &target, NULL))
        return;
    if (!filter_parse(&target, &kind_pod, NULL, arena, &filter, &err)) {
        assert(err.code == ERR_BAD_REQUEST && *err.message);
        return;
    }

    scoped(object) struct object *object =
        object_new(&kind_pod, meta_new(&draft), blob_new("{\"spec\":{}}", 11), NULL);

    filter_matches(&filter, object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped_str text = mem_alloc(size + 1);

    if (size)
        memcpy(text, data, size);
    check_label_selector(text);

    check_field_selector(text);
    label_key_valid(text, NULL);
    label_value_valid(text, NULL);
    return 0;
}
