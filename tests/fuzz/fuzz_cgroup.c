/*
 * FZ-14: files of control groups, and the mounts of a process: every text gives a directory below
 * the mount or none, a count, or a list of directories, and nothing is read past its end.
 *
 * The first byte chooses the reader. The rest is the content of each file that it reads; for the
 * directory of a group, what stands in /proc/self/cgroup up to the first NUL, and behind it the
 * mounts.
 */
/* wraps: file_read stat */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/sandbox/cgroup/cgroup.h"
#include "node/sandbox/mounts/hidden_dirs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *content; /* of the files; [content_len]. NULL outside the readers */
static size_t content_len;

bool __real_file_read(const char *path, size_t max, struct buf *out, struct error *err);
bool __wrap_file_read(const char *path, size_t max, struct buf *out, struct error *err);
bool __wrap_file_read(const char *path, size_t max, struct buf *out, struct error *err)
{
    if (!content)
        return __real_file_read(path, max, out, err);
    buf_add(out, content, content_len < max ? content_len : max);
    return true;
}

/* All paths name one directory. */
int __real_stat(const char *path, struct stat *out);
int __wrap_stat(const char *path, struct stat *out);
int __wrap_stat(const char *path, struct stat *out)
{
    if (!content)
        return __real_stat(path, out);
    *out = (struct stat){.st_mode = S_IFDIR, .st_dev = 1, .st_ino = 1};
    return 0;
}

static bool has_component(const char *path, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = path; (at = strstr(at, name)); at++)
        if (at > path && at[-1] == '/' && (at[len] == '/' || !at[len]))
            return true;
    return false;
}

static void find_directory(void)
{
    static const char *const controllers[] = {"", "memory", "cpu", "pids"};
    size_t groups_len = strnlen(content, content_len);
    const char *rest = content + groups_len;

    for (size_t i = 0; i < countof(controllers); i++) {
        scoped_str groups = mem_printf("%.*s", (int)groups_len, content);
        scoped_str mounts = mem_printf("%.*s", (int)(content_len - groups_len), rest + !*rest);
        scoped_str point = NULL;
        scoped_str dir = cgroup_dir_of(groups, mounts, controllers[i], &point);

        assert(!dir || (*dir == '/' && strncmp(dir, point, strlen(point)) == 0));
        assert(!dir || !dir[strlen(point)] || dir[strlen(point)] == '/');
        assert(!dir || !has_component(dir + strlen(point), ".."));
    }
}

static void count_kills(void)
{
    char name[] = "/cg/jobflow-1-0";
    const struct cgroup group = {.dirs = {name}, .n = 1};

    cgroup_oom_killed(&group);
}

static void find_hidden(void)
{
    struct hidden_dirs dirs;

    hidden_dirs_find("/var/lib/data", &dirs);
    assert(dirs.n >= 1 && dirs.n <= HIDDEN_DIRS_MAX);
    assert(hidden_dirs_cover(&dirs, "/var/lib/data/store.db"));
    hidden_dirs_release(&dirs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(void) = {find_directory, count_kills, find_hidden};
    scoped_str text = NULL;

    if (size == 0)
        return 0;
    text = mem_alloc(size); /* ends with a NUL, as what file_read returns */
    memcpy(text, data + 1, size - 1);
    content = text;
    content_len = size - 1;
    readers[data[0] % countof(readers)]();
    content = NULL;
    return 0;
}
