/*
 * Joins two files: /proc/self/cgroup names the group of this process within each hierarchy, and
 * /proc/self/mountinfo where a hierarchy is mounted and which of its groups is the root of the
 * mount.
 *
 *   group of this process   root of the mount   mounted at                 directory
 *   /user.slice/a           /                   /sys/fs/cgroup             /sys/fs/cgroup/user.slice/a
 *   /docker/1/a             /docker/1           /sys/fs/cgroup/memory      /sys/fs/cgroup/memory/a
 *   /../b                   /                   /sys/fs/cgroup             /sys/fs/cgroup
 *
 * The last line is that of a process outside the root of its cgroup namespace: the mount does not
 * show its group.
 */
#include "node/sandbox/cgroup/find.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "node/sandbox/mounts/mountinfo.h"

enum { TEXT_MAX = 8 << 20 };

static const char *const controllers[CGROUP_LIMITS] = {"memory", "cpu", "pids"};

bool cgroup_write(const char *dir, const char *file, const char *value)
{
    scoped_str path = mem_printf("%s/%s", dir, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    bool ok = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);

    if (fd >= 0)
        close(fd);
    return ok;
}

static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; (at = strstr(at, word)); at += len)
        if ((at == list || strchr(", ", at[-1])) && strchr(", \n", at[len]))
            return true;
    return false;
}

/* Returns the path of the group within the hierarchy, a part of `groups`. NULL: in no group of it.
 * Each line is ID:CONTROLLERS:PATH. */
static const char *group_path(char *groups, const char *controller)
{
    for (char *line; (line = strsep(&groups, "\n"));) {
        char *id = strsep(&line, ":"), *list = strsep(&line, ":");

        if (id && list && line && (*controller ? has_word(list, controller) : !*list))
            return line;
    }
    return NULL;
}

/* Finds the first mount of the hierarchy. */
static bool find_mount(char *mounts, const char *controller, struct mountinfo *out)
{
    while (mountinfo_next(&mounts, out)) {
        bool fits = *controller
                        ? strcmp(out->type, "cgroup") == 0 && has_word(out->options, controller)
                        : strcmp(out->type, "cgroup2") == 0;

        if (fits && *out->point == '/')
            return true;
    }
    return false;
}

static bool climbs(const char *path)
{
    for (const char *at = path; (at = strstr(at, "/..")); at += 3)
        if (!at[3] || at[3] == '/')
            return true;
    return false;
}

/* Returns the part of the path behind the root of the mount. "" when the mount does not show it. */
static const char *shown_part(const char *path, const char *root)
{
    size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);

    if (strncmp(path, root, len) != 0 || path[len] != '/' || !path[len + 1] || climbs(path + len))
        return "";
    return path + len;
}

char *cgroup_dir_of(char *groups, char *mounts, const char *controller, char **out_point)
{
    const char *path = group_path(groups, controller);
    struct mountinfo mount;

    if (!path || !find_mount(mounts, controller, &mount))
        return NULL;
    *out_point = mem_strdup(mount.point);
    return mem_printf("%s%s", mount.point, shown_part(path, mount.root));
}

static char *own_dir(const char *controller, char **out_point)
{
    scoped(buf) struct buf groups = {0}, mounts = {0};

    if (!file_read("/proc/self/cgroup", TEXT_MAX, &groups, NULL) || !groups.data ||
        !file_read("/proc/self/mountinfo", TEXT_MAX, &mounts, NULL) || !mounts.data)
        return NULL;
    return cgroup_dir_of(groups.data, mounts.data, controller, out_point);
}

void cgroup_enable_controllers(const char *dir)
{
    for (size_t i = 0; i < CGROUP_LIMITS; i++) {
        scoped_str enable = mem_printf("+%s", controllers[i]);

        cgroup_write(dir, "cgroup.subtree_control", enable);
    }
}

/* Returns whether groups made in this directory of the unified hierarchy get any controller. A
 * group delegates controllers only if it has no processes of its own or is the root. */
static bool delegates_controllers(const char *dir)
{
    scoped_str path = mem_printf("%s/cgroup.subtree_control", dir);
    scoped(buf) struct buf text = {0};

    cgroup_enable_controllers(dir);
    if (!file_read(path, TEXT_MAX, &text, NULL) || !text.data || access(dir, W_OK))
        return false;
    for (size_t i = 0; i < CGROUP_LIMITS; i++)
        if (has_word(text.data, controllers[i]))
            return true;
    return false;
}

/* Returns the directory of the unified hierarchy in which groups are made: the first that delegates
 * controllers of this process's group, its parent (a user's slice) and the root. If none does, it
 * is this process's group; groups made there limit nothing. */
static char *unified_parent(void)
{
    scoped_str point = NULL;
    scoped_str own = own_dir("", &point);
    scoped_str above = NULL;

    if (!own || delegates_controllers(own))
        return take(own);
    above = mem_printf("%.*s", (int)(strrchr(own, '/') - own), own);
    if (strlen(above) >= strlen(point) && delegates_controllers(above))
        return take(above);
    return delegates_controllers(point) ? take(point) : take(own);
}

static struct cgroup_parents parents_found;

static void find_parents(void)
{
    parents_found.unified = unified_parent();
    for (size_t i = 0; i < CGROUP_LIMITS; i++) {
        scoped_str point = NULL;

        parents_found.v1[i] = own_dir(controllers[i], &point);
    }
}

const struct cgroup_parents *cgroup_find_parents(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_parents);
    return &parents_found;
}
