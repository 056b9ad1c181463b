/*
 * FZ-14: log files of pods, which programs fill. The first two bytes select what is asked for. What
 * is read keeps to its bounds, and a follower that reads on from its position gets nothing twice.
 */
/* covers: reliability.md FZ-14 SEC-22 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "node/runtime/internal.h"
#include "tests/support/scratch_dir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(int dir_fd, const char *name, const uint8_t *data, size_t size)
{
    int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert(fd >= 0 && file_write_all(fd, data, size));
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(buf) struct buf out = {0}, more = {0};
    struct log_query query = {.tail_lines = -1, .limit_bytes = -1};
    struct error err = {0};
    int64_t offset = 0;
    const uint8_t *rotated;
    size_t len;

    if (size < 2)
        return 0;
    query.timestamps = data[0] & 1;
    query.previous = data[0] & 2;
    query.container = data[0] & 4 ? "main" : NULL;
    query.tail_lines = data[0] & 8 ? data[1] : -1;
    query.limit_bytes = data[0] & 16 ? data[1] : -1;
    query.since_ms = data[0] & 32 ? INT64_C(1767225600000) : 0;
    data += 2;
    size -= 2;
    rotated = memmem(data, size, "\n\n", 2); /* an older file of the same run follows */
    len = rotated ? (size_t)(rotated - data) + 1 : size;
    put(scratch_dir_fd(), "u.log", data, len);
    if (rotated)
        put(scratch_dir_fd(), "u.log.1", rotated + 2, size - len - 1);
    else
        unlinkat(scratch_dir_fd(), "u.log.1", 0);
    if (logs_read(scratch_dir_fd(), "u", &query, &offset, &out, &err)) {
        assert(query.limit_bytes < 0 || out.len <= (size_t)query.limit_bytes);
        assert(offset >= 0 && out.len <= 2 * size);
        query.tail_lines = query.limit_bytes = -1;
        assert(logs_read(scratch_dir_fd(), "u", &query, &offset, &more, &err) ||
               err.code != ERR_NONE);
    } else {
        assert(err.code != ERR_NONE && *err.message);
    }
    return 0;
}
