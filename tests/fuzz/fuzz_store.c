/*
 * FZ-13: files of a store, as a restored backup or a failing disk has them. The input changes the
 * files of a small store (tests/support/small_store.h).
 *
 * A damaged store is refused with a message, or opened: then every object in it can be written, and
 * parses as what was written.
 */
/* covers: reliability.md FZ-13 */
#include <assert.h>
#include <stdint.h>

#include "api/store/store.h"
#include "base/mem.h"
#include "tests/support/scratch_dir.h"
#include "tests/support/small_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_object(void *arg, const struct object *object)
{
    scoped(buf) struct buf text = {0};
    scoped(json) json_t *doc = NULL;

    object_write(object, &text);
    doc = json_loadb(text.data, text.len, 0, NULL);
    assert(json_is_object(doc) && *object_name(object) && *object_uid(object));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct store_options options = {.directory = scratch_dir(), .read_only = true};
    struct error err = {0};
    struct clock *clock;
    struct loop *loop;
    struct store *store;

    small_store_put(data, size);
    clock = clock_virtual_new(1767225600000, 7);
    loop = loop_new(clock);
    store = store_open(loop, &options, &err);
    assert(store || (err.code != ERR_NONE && *err.message));
    for (size_t i = 0; store && i < KIND_N; i++)
        if (!kind_by_id(i)->built_in)
            store_each(store, kind_by_id(i), NULL, check_object, NULL);
    if (store)
        store_close(store);
    loop_free(loop);
    clock_free(clock);
    return 0;
}
