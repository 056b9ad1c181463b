/*
 * Control groups of a container. See cgroup.h.
 */
#include "node/sandbox/cgroup.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { TEXT_MAX = 1 << 20, PERIOD_US = 100000, PROCESSES_MAX = 1024 /* L-37 */ };

/* What is limited, where. A value of 0 sets no limit. */
struct knob {
    const char *controller;
    size_t works;        /* offset of the flag in struct cgroup */
    const char *file[2]; /* old hierarchies, unified */
    char *(*value)(const struct shim_limits *limits, bool unified);
};

static char *memory_value(const struct shim_limits *limits, bool unified)
{
    return limits->memory_bytes > 0 ? mem_printf("%lld", (long long)limits->memory_bytes) : NULL;
}

static char *cpu_value(const struct shim_limits *limits, bool unified)
{
    long long quota = (long long)limits->cpu_milli * PERIOD_US / 1000;

    if (limits->cpu_milli <= 0)
        return NULL;
    return unified ? mem_printf("%lld %d", quota, PERIOD_US) : mem_printf("%lld", quota);
}

static char *pids_value(const struct shim_limits *limits, bool unified)
{
    return mem_printf("%d", PROCESSES_MAX);
}

/* clang-format off */
static const struct knob knobs[] = {
    {"memory", offsetof(struct cgroup, limits_memory),    {"memory.limit_in_bytes", "memory.max"}, memory_value},
    {"cpu",    offsetof(struct cgroup, limits_cpu),       {"cpu.cfs_quota_us",      "cpu.max"},    cpu_value},
    {"pids",   offsetof(struct cgroup, limits_processes), {"pids.max",              "pids.max"},   pids_value},
};
/* clang-format on */

/* ---- where they are ---- */

static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; (at = strstr(at, word)); at += len)
        if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ',' || at[len] == ' '))
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
static char *own_dir(const char *controller)
{
    scoped_str path = own_path(controller);
    scoped_str point = NULL;
    scoped_str root = NULL;
    size_t len;

    if (!path || !mounted(controller, &point, &root))
        return NULL;
    len = strcmp(root, "/") != 0 ? strlen(root) : 0;
    return mem_printf("%s%s", point, strncmp(path, root, len) != 0 ? "" : path + len);
}

static bool write_to(const char *dir, const char *file, const char *value)
{
    scoped_str path = mem_printf("%s/%s", dir, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    bool ok = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);

    if (fd >= 0)
        close(fd);
    return ok;
}

/* ---- groups ---- */

static char *group_dir(const char *own, const char *uid, unsigned index)
{
    return mem_printf("%s/jobflow-%s-%u", own, uid, index);
}

static bool group_add(struct cgroup *group, char *dir)
{
    scoped_str procs = mem_printf("%s/cgroup.procs", dir);
    int fd = open(procs, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return false;
    group->procs_fds[group->n] = fd;
    group->dirs[group->n++] = dir; /* owned from here */
    return true;
}

/* One knob, in an old hierarchy of its own or in the unified one. */
static void set_knob(struct cgroup *group, const struct knob *knob, const char *uid, unsigned index,
                     const struct shim_limits *limits)
{
    scoped_str old = own_dir(knob->controller);
    scoped_str own = old ? take(old) : own_dir("");
    scoped_str dir = NULL;
    scoped_str value = NULL;
    bool unified;

    if (!own)
        return;
    dir = group_dir(own, uid, index);
    unified = strstr(own, knob->controller) == NULL;
    value = knob->value(limits, unified);
    if (!value)
        return;
    if (unified) {
        scoped_str enable = mem_printf("+%s", knob->controller);

        write_to(own, "cgroup.subtree_control", enable);
    }

    bool made = mkdir(dir, 0755) == 0;

    if ((!made && errno != EEXIST) || !write_to(dir, knob->file[unified], value)) {
        if (made)
            rmdir(dir);
        return;
    }
    *(bool *)((char *)group + knob->works) = true;
    for (size_t i = 0; i < group->n; i++)
        if (!strcmp(group->dirs[i], dir))
            return;
    if (group_add(group, dir))
        dir = NULL;
}

struct cgroup *cgroup_new(const char *uid, unsigned index, const struct shim_limits *limits)
{
    struct cgroup *group;

    if (limits->memory_bytes <= 0 && limits->cpu_milli <= 0)
        return NULL;
    group = mem_alloc(sizeof *group);
    for (size_t i = 0; i < countof(knobs); i++)
        set_knob(group, &knobs[i], uid, index, limits);
    if (group->n)
        return group;
    mem_free(group);
    return NULL;
}

void cgroup_try(bool *memory, bool *cpu, bool *processes)
{
    const struct shim_limits some = {.memory_bytes = 64 << 20, .cpu_milli = 1000};
    scoped_str name = mem_printf("trial-%d", (int)getpid());
    struct cgroup *group = cgroup_new(name, 0, &some);

    *memory = group && group->limits_memory;
    *cpu = group && group->limits_cpu;
    *processes = group && group->limits_processes;
    cgroup_free(group);
}

void cgroup_join(const struct cgroup *group)
{
    for (size_t i = 0; i < group->n; i++)
        if (write(group->procs_fds[i], "0", 1) != 1)
            continue; /* then it runs without that limit */
}

static long oom_kills(const char *dir, const char *file)
{
    scoped_str path = mem_printf("%s/%s", dir, file);
    scoped(buf) struct buf text = {0};
    const char *at;

    if (!file_read(path, TEXT_MAX, &text, NULL) || !text.data)
        return 0;
    at = strstr(text.data, "oom_kill ");
    return at ? strtol(at + strlen("oom_kill "), NULL, 10) : 0;
}

bool cgroup_was_oom(const struct cgroup *group)
{
    for (size_t i = 0; i < group->n; i++)
        if (oom_kills(group->dirs[i], "memory.events") > 0 ||
            oom_kills(group->dirs[i], "memory.oom_control") > 0)
            return true;
    return false;
}

void cgroup_free(struct cgroup *group)
{
    if (!group)
        return;
    for (size_t i = 0; i < group->n; i++) {
        close(group->procs_fds[i]);
        rmdir(group->dirs[i]);
        mem_free(group->dirs[i]);
    }
    mem_free(group);
}

void cgroup_sweep(const char *uid, unsigned containers)
{
    for (size_t k = 0; k < countof(knobs); k++) {
        scoped_str old = own_dir(knobs[k].controller);
        scoped_str own = old ? take(old) : own_dir("");

        for (unsigned i = 0; own && i < containers; i++) {
            scoped_str dir = group_dir(own, uid, i);

            rmdir(dir);
        }
    }
}
