/*
 * FZ-14: what the kernel says: files of /proc about processes, the marks of pods in environments,
 * and answers of rtnetlink. Every answer gives a value or an error, and nothing is read past its
 * end.
 *
 * The first byte chooses the reader. The rest is the content of each file that it reads, or the
 * answer on its socket.
 */
/* wraps: file_read recv send */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "api/store/dir/holder.h"
#include "base/file.h"
#include "base/mem.h"
#include "node/sandbox/cgroup/pss.h"
#include "node/sandbox/netlink.h"
#include "node/shim/pod_mark.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *content; /* of the files, or the answer; [content_len] */
static size_t content_len;

bool __real_file_read(const char *path, size_t max, struct buf *out, struct error *err);
bool __wrap_file_read(const char *path, size_t max, struct buf *out, struct error *err);
bool __wrap_file_read(const char *path, size_t max, struct buf *out, struct error *err)
{
    if (strncmp(path, "/proc/", 6) != 0)
        return __real_file_read(path, max, out, err);
    buf_add(out, content, content_len < max ? content_len : max);
    return true;
}

ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags)
{
    return (ssize_t)len;
}

ssize_t __wrap_recv(int fd, void *bytes, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t len, int flags)
{
    size_t n = content_len < len ? content_len : len;

    memcpy(bytes, content, n);
    return (ssize_t)n;
}

static void read_memory(void)
{
    pss_of_tree(1);
}

static void read_state(void)
{
    holder_is_ending(1);
}

static void read_answer(void)
{
    struct error err = {0};

    assert(netlink_up(-1, "lo", &err) || err.code != ERR_NONE);
}

/* The uids of all marks lie within the environment. */
static void read_marks(void)
{
    scoped_str env = mem_alloc(content_len + 2); /* ends with two NULs, as pod_mark_read_environ
                                                  * leaves it */
    const char *uid = NULL;
    size_t n = 0;

    memcpy(env, content, content_len);
    while ((uid = pod_mark_next_uid(env, content_len, uid)) != NULL) {
        assert(uid >= env && uid + strlen(uid) <= env + content_len + 1);
        n++;
        assert(n <= content_len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(void) = {read_memory, read_state, read_answer, read_marks};

    if (size == 0)
        return 0;
    content = (const char *)data + 1;
    content_len = size - 1;
    readers[data[0] % countof(readers)]();
    return 0;
}
