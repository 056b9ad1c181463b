/*
 * The files of a small store, changed.
 */
#include "tests/support/small_store.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "api/registry/registry.h"
#include "api/store/store.h"
#include "base/file.h"
#include "base/mem.h"
#include "tests/support/scratch_dir.h"

enum { FILE_MAX = 1 << 20 };

static const char *const names[] = {"store.db", "store.db-wal", "store.db-mark"};
static struct buf originals[countof(names)];

static const char *const objects[] = {
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"namespace\":"
    "\"default\",\"labels\":{\"x\":\"y\"}},\"data\":{\"k\":\"v\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"b\",\"namespace\":"
    "\"default\"},\"data\":{\"k\":\"dg==\"}}",
    "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"Queue\",\"metadata\":{\"name\":"
    "\"q\"},\"spec\":{\"weight\":2}}",
};

static void make_store(void)
{
    static const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    static const struct registry_options plain;
    const struct store_options options = {.directory = scratch_dir()};
    struct clock *clock = clock_virtual_new(1767225600000, 7); /* 2026-01-01T00:00:00Z */
    struct loop *loop = loop_new(clock);
    struct store *store = store_open(loop, &options, NULL);
    struct registry *registry = registry_new(loop, store, &plain);
    struct error_list errors = {0};

    for (size_t i = 0; i < countof(objects); i++) {
        scoped(json) json_t *doc = json_loads(objects[i], 0, NULL);

        assert(registry_create(registry, doc, &how, NULL, &errors));
        loop_settle(loop);
    }
    for (size_t i = 0; i < countof(names); i++) { /* closing moves the log into the file */
        scoped_str path = mem_printf("%s/%s", scratch_dir(), names[i]);

        assert(file_read(path, FILE_MAX, &originals[i], NULL) && originals[i].len);
    }
    registry_free(registry);
    store_close(store);
    loop_free(loop);
    clock_free(clock);
    unlinkat(scratch_dir_fd(), "reserve", 0);
}

static void put_file(const char *name, const char *bytes, size_t len)
{
    int fd = openat(scratch_dir_fd(), name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert(fd >= 0 && file_write_all(fd, bytes, len));
    close(fd);
}

void small_store_put(const uint8_t *data, size_t size)
{
    scoped(buf) struct buf all = {0};
    size_t lengths[countof(names)], ends[countof(names)], at = 0;

    if (!originals[0].len)
        make_store();
    for (size_t i = 0; i < countof(names); i++) {
        buf_add(&all, originals[i].data, originals[i].len);
        lengths[i] = originals[i].len;
        ends[i] = all.len;
    }
    for (; size >= 5; data += 5, size -= 5) {
        uint32_t offset;
        size_t file = 0;

        memcpy(&offset, data, sizeof offset);
        offset %= (uint32_t)all.len;
        while (offset >= ends[file])
            file++;
        if ((uint8_t)all.data[offset] == data[4])
            lengths[file] = offset - (ends[file] - originals[file].len);
        else
            all.data[offset] = (char)data[4];
    }
    for (size_t i = 0; i < countof(names); at = ends[i], i++)
        put_file(names[i], all.data + at, lengths[i]);
}
