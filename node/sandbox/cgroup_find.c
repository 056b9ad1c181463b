/*
 * Where the hierarchies of control groups are mounted, and where in them we are. See cgroup_find.h.
 */
#include "node/sandbox/cgroup_find.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { TEXT_MAX = 1 << 20 };

static const char *const controllers[CGROUP_LIMITS] = {"memory", "cpu", "pids"};

static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; (at = strstr(at, word)); at += len)
        if ((at == list || strchr(", ", at[-1])) && strchr(", \n", at[len]))
            return true;
    return false;
}

/* Our own group in the hierarchy of a controller ("": the unified one), as its path; owned. */
static char *own_path(const char *controller)
{
    scoped(buf) struct buf text = {0};
    char *save = NULL;

    if (!file_read("/proc/self/cgroup", TEXT_MAX, &text, NULL))
        return NULL;
    for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

        if (!path)
            continue;
        *path++ = 0;
        list++;
        if (*controller ? has_word(list, controller) : !*list)
            return mem_strdup(path);
    }
    return NULL;
}

/* Where that hierarchy is mounted, and which of its directories is the mount's root. */
static bool mounted(const char *controller, char **out_point, char **out_root)
{
    scoped(buf) struct buf text = {0};
    char *save = NULL;

    if (!file_read("/proc/self/mountinfo", TEXT_MAX, &text, NULL))
        return false;
    for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char root[1024], point[1024], type[32], options[1024];
        char *rest = strstr(line, " - ");

        if (!rest || sscanf(line, "%*s %*s %*s %1023s %1023s", root, point) != 2 ||
            sscanf(rest, " - %31s %*s %1023s", type, options) != 2)
            continue;
        if (*controller ? strcmp(type, "cgroup") != 0 || !has_word(options, controller)
                        : strcmp(type, "cgroup2") != 0)
            continue;
        *out_point = mem_strdup(point);
        *out_root = mem_strdup(root);
        return true;
    }
    return false;
}

/* The directory of our own group for a controller; owned. NULL when there is none. */
static char *own_dir(const char *controller, char **out_point)
{
    scoped_str own = own_path(controller);
    scoped_str point = NULL;
    scoped_str root = NULL;
    const char *path = own;
    size_t len;

    if (!path || !mounted(controller, &point, &root))
        return NULL;
    len = strcmp(root, "/") != 0 ? strlen(root) : 0;
    path += strncmp(path, root, len) != 0 ? strlen(path) : len;
    *out_point = mem_strdup(point);
    return mem_printf("%s%s", point, strcmp(path, "/") != 0 ? path : "");
}

/* ---- the unified hierarchy ---- */

/* Its groups limit only what their parent hands down; and a parent with processes of its own, like
 * ours, hands nothing down, but for the root. */
static bool hands_down(const char *dir)
{
    scoped_str path = mem_printf("%s/cgroup.subtree_control", dir);
    scoped(buf) struct buf text = {0};

    for (size_t i = 0; i < CGROUP_LIMITS; i++) {
        scoped_str enable = mem_printf("+%s", controllers[i]);

        cgroup_write(dir, "cgroup.subtree_control", enable);
    }
    if (!file_read(path, TEXT_MAX, &text, NULL) || !text.data || access(dir, W_OK))
        return false;
    for (size_t i = 0; i < CGROUP_LIMITS; i++)
        if (has_word(text.data, controllers[i]))
            return true;
    return false;
}

/* Ours, the one above (a user's own slice), the root: the first that limits; else ours. */
static char *unified_parent(void)
{
    scoped_str point = NULL;
    scoped_str own = own_dir("", &point);
    scoped_str above = NULL;

    if (!own || hands_down(own))
        return take(own);
    above = mem_printf("%.*s", (int)(strrchr(own, '/') - own), own);
    if (strlen(above) >= strlen(point) && hands_down(above))
        return take(above);
    return hands_down(point) ? take(point) : take(own);
}

static struct cgroup_parents found;

static void find(void)
{
    found.unified = unified_parent();
    for (size_t i = 0; i < CGROUP_LIMITS; i++) {
        scoped_str point = NULL;

        found.old[i] = own_dir(controllers[i], &point);
    }
}

const struct cgroup_parents *cgroup_find(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find);
    return &found;
}

bool cgroup_write(const char *dir, const char *file, const char *value)
{
    scoped_str path = mem_printf("%s/%s", dir, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    bool ok = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);

    if (fd >= 0)
        close(fd);
    return ok;
}

/* Whoever moves has but one thread, and the old hierarchies have a file for that: a move by
 * cgroup.procs stops all forks of the machine and waits for every processor, ten milliseconds or
 * so. In the unified one programs are in_unified (cgroup_clone). */
char *cgroup_joining_file(const char *dir, bool unified)
{
    return mem_printf("%s/%s", dir, unified ? "cgroup.procs" : "tasks");
}
