/*
 * Control groups of a container. See cgroup.h.
 */
#include "node/sandbox/cgroup.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/sandbox/cgroup_find.h"
#include "node/shim/spawn.h"

enum { TEXT_MAX = 1 << 20, PERIOD_US = 100000, PROCESSES_MAX = 1024 /* L-37 */ };
enum { SWEEP_TRIES = 50, SWEEP_PAUSE_NS = 2000000 };

/* What is limited, where. A value of 0 sets no limit. */
struct knob {
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
    if (limits->processes < 0)
        return NULL;
    return mem_printf("%lld", (long long)(limits->processes ? limits->processes : PROCESSES_MAX));
}

/* clang-format off */
static const struct knob knobs[CGROUP_LIMITS] = {
    [CGROUP_MEMORY] = {offsetof(struct cgroup, limits_memory),    {"memory.limit_in_bytes", "memory.max"}, memory_value},
    [CGROUP_CPU]    = {offsetof(struct cgroup, limits_cpu),       {"cpu.cfs_quota_us",      "cpu.max"},    cpu_value},
    [CGROUP_PIDS]   = {offsetof(struct cgroup, limits_processes), {"pids.max",              "pids.max"},   pids_value},
};
/* clang-format on */

/* ---- groups ---- */

static const char group_prefix[] = "jobflow-";

static char *group_dir(const char *own, const char *uid, unsigned index)
{
    return mem_printf("%s/%s%s-%u", own, group_prefix, uid, index);
}

static bool group_has(const struct cgroup *group, const char *dir)
{
    for (size_t i = 0; i < group->n; i++)
        if (!strcmp(group->dirs[i], dir))
            return true;
    return false;
}

/* Whoever moves has but one thread, and the old hierarchies have a file for that: a move by
 * cgroup.procs stops all forks of the machine and waits for every processor, ten milliseconds or
 * so. In the unified one programs are born (cgroup_clone). */
static bool group_add(struct cgroup *group, char *dir, bool unified)
{
    scoped_str joining = mem_printf("%s/%s", dir, unified ? "cgroup.procs" : "tasks");
    int fd = open(joining, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0) {
        mem_free(dir);
        return false;
    }
    if (unified) {
        group->unified = (int)group->n;
        group->unified_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    }
    group->join_fds[group->n] = fd;
    group->dirs[group->n++] = dir; /* owned from here */
    return true;
}

/* Make the directory and be able to move into it; fine if it is there. */
static bool group_make(struct cgroup *group, const char *dir, bool unified)
{
    if (group_has(group, dir))
        return true;
    return (mkdir(dir, 0755) == 0 || errno == EEXIST) && group_add(group, mem_strdup(dir), unified);
}

/* One knob, in an old hierarchy of its own or in the unified one. */
static void set_knob(struct cgroup *group, enum cgroup_limit which, const char *uid, unsigned index,
                     const struct shim_limits *limits)
{
    const struct cgroup_parents *parents = cgroup_find();
    const struct knob *knob = &knobs[which];
    bool unified = !parents->old[which];
    const char *parent = unified ? parents->unified : parents->old[which];
    scoped_str dir = parent ? group_dir(parent, uid, index) : NULL;
    scoped_str value = knob->value(limits, unified);
    struct stat info;
    bool there;

    if (!dir || !value)
        return;
    there = stat(dir, &info) == 0;
    if (group_make(group, dir, unified) && cgroup_write(dir, knob->file[unified], value))
        *(bool *)((char *)group + knob->works) = true;
    else if (!there && !group_has(group, dir))
        rmdir(dir);
}

static void attach(struct cgroup *group, const struct hook *hook, const struct rewrite *rewrite,
                   const char *uid, unsigned index)
{
    const char *parent = cgroup_find()->unified;
    scoped_str dir = parent ? group_dir(parent, uid, index) : NULL;
    struct error err = {0};

    group->hooked = dir && group_make(group, dir, true) && group->unified_fd >= 0 &&
                    hook_attach(hook, group->unified_fd, rewrite, &group->cell, &err);
}

struct cgroup *cgroup_new(const char *uid, unsigned index, const struct shim_limits *limits,
                          const struct hook *hook, const struct rewrite *rewrite)
{
    struct cgroup *group = mem_alloc(sizeof *group);

    group->unified = group->unified_fd = -1;
    for (enum cgroup_limit which = 0; which < CGROUP_LIMITS; which++)
        set_knob(group, which, uid, index, limits);
    if (hook)
        attach(group, hook, rewrite, uid, index);
    if (group->n)
        return group;
    cgroup_free(group);
    return NULL;
}

void cgroup_try(bool *memory, bool *cpu, bool *processes)
{
    const struct shim_limits some = {.memory_bytes = 64 << 20, .cpu_milli = 1000};
    scoped_str name = mem_printf("trial-%d", (int)getpid());
    struct cgroup *group = cgroup_new(name, 0, &some, NULL, NULL);

    *memory = group && group->limits_memory;
    *cpu = group && group->limits_cpu;
    *processes = group && group->limits_processes;
    cgroup_free(group);
}

bool cgroup_hooks(void)
{
    const struct rewrite some = {.ip = htonl(INADDR_LOOPBACK), .ports = {80}, .n_ports = 1};
    scoped_str name = mem_printf("trial-%d", (int)getpid());
    struct hook hook = HOOK_NONE;
    bool open = cgroup_find()->unified && hook_open(&hook, NULL);
    struct cgroup *group =
        open ? cgroup_new(name, 1, &(struct shim_limits){0}, &hook, &some) : NULL;
    bool hooked = group && group->hooked;

    cgroup_free(group);
    hook_close(&hook);
    return hooked;
}

pid_t cgroup_clone(const struct cgroup *group, uint64_t flags, bool *out_born)
{
    struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};
    pid_t pid = -1;

    *out_born = group && group->unified_fd >= 0;
    if (*out_born) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t)group->unified_fd;
        pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
        if (pid >= 0)
            return pid;
    }
    *out_born = false;
    args = (struct clone_args){.flags = flags, .exit_signal = SIGCHLD};
    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

ON_CHILD_STACK void cgroup_join(const struct cgroup *group, bool born)
{
    for (size_t i = 0; i < group->n; i++)
        if (!(born && (int)i == group->unified) && write(group->join_fds[i], "0", 1) != 1)
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
    if (group->unified_fd >= 0)
        close(group->unified_fd);
    for (size_t i = 0; i < group->n; i++) {
        close(group->join_fds[i]);
        rmdir(group->dirs[i]);
        mem_free(group->dirs[i]);
    }
    mem_free(group);
}

/* The number may be another's by now: what is killed is what is in the group. */
static void kill_member(const char *group, pid_t pid)
{
    scoped_str path = mem_printf("/proc/%d/cgroup", (int)pid);
    scoped(buf) struct buf text = {0};
    int pidfd = pidfd_open(pid, 0);

    if (pidfd < 0)
        return;
    if (file_read(path, TEXT_MAX, &text, NULL) && text.data && strstr(text.data, group))
        pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
    close(pidfd);
}

/* All of them at once where the kernel can, else one by one. */
static void kill_all(const char *dir)
{
    scoped_str path = mem_printf("%s/cgroup.procs", dir);
    scoped(buf) struct buf text = {0};

    if (cgroup_write(dir, "cgroup.kill", "1") || !file_read(path, TEXT_MAX, &text, NULL))
        return;
    for (char *at = text.data, *end; at && *at; at = end + (*end == '\n')) {
        long pid = strtol(at, &end, 10);

        if (end == at)
            return;
        kill_member(strrchr(dir, '/'), (pid_t)pid);
    }
}

/* Whose shim was killed may still be on their way out. */
static void remove_group(const char *dir)
{
    const struct timespec pause = {0, SWEEP_PAUSE_NS};

    for (unsigned tries = 0; rmdir(dir) && errno == EBUSY && tries < SWEEP_TRIES; tries++) {
        kill_all(dir);
        nanosleep(&pause, NULL);
    }
}

static bool is_of(const char *name, const char *uid)
{
    size_t len = strlen(uid);

    return !strncmp(name, group_prefix, sizeof group_prefix - 1) &&
           !strncmp(name + sizeof group_prefix - 1, uid, len) &&
           name[sizeof group_prefix - 1 + len] == '-' &&
           !strchr(name + sizeof group_prefix + len, '-');
}

static void sweep(const char *parent, const char *const *uids, size_t count)
{
    DIR *dir = parent ? opendir(parent) : NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        for (size_t i = 0; i < count; i++)
            if (is_of(entry->d_name, uids[i])) {
                scoped_str path = mem_printf("%s/%s", parent, entry->d_name);

                remove_group(path);
                break;
            }
    if (dir)
        closedir(dir);
}

void cgroup_sweep(const char *const *uids, size_t count)
{
    const struct cgroup_parents *parents = cgroup_find();

    for (size_t i = 0; i < CGROUP_LIMITS; i++)
        sweep(parents->old[i], uids, count);
    sweep(parents->unified, uids, count);
}
