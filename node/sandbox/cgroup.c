/*
 * Control groups of a container. See cgroup.h.
 */
#include "node/sandbox/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/sandbox/cgroup_find.h"
#include "node/sandbox/spawn.h"

enum { TEXT_MAX = 1 << 20, PERIOD_US = 100000, PROCESSES_MAX = 1024 /* L-37 */, MAKE_TRIES = 8 };

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

static char *group_dir(const char *own, const char *uid, unsigned index)
{
    return mem_printf("%s/" CGROUP_PREFIX "%s-%u", own, uid, index);
}

static bool group_has(const struct cgroup *group, const char *dir)
{
    for (size_t i = 0; i < group->n; i++)
        if (strcmp(group->dirs[i], dir) == 0)
            return true;
    return false;
}

/* Our lock on it says that somebody needs the group, though nobody may be in it: see
 * cgroup_remove_lost.c, which may have been faster. */
static int open_and_lock(const char *joining)
{
    int fd = open(joining, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd >= 0 && (flock(fd, LOCK_SH) || access(joining, F_OK))) {
        close(fd);
        errno = ENOENT;
        return -1;
    }
    return fd;
}

/* Make the directory and be able to move into it; fine if it is there. */
static int make_and_open(const char *dir, bool unified)
{
    scoped_str joining = cgroup_joining_file(dir, unified);
    int fd = -1;

    for (unsigned tries = 0; fd < 0 && tries < MAKE_TRIES; tries++)
        if ((mkdir(dir, 0755) && errno != EEXIST) ||
            ((fd = open_and_lock(joining)) < 0 && errno != ENOENT))
            return -1;
    return fd;
}

static bool group_make(struct cgroup *group, const char *dir, bool unified)
{
    int fd;

    if (group_has(group, dir))
        return true;
    fd = make_and_open(dir, unified);
    if (fd < 0)
        return false;
    if (unified) {
        group->unified = (int)group->n;
        group->unified_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    }
    group->join_fds[group->n] = fd;
    group->dirs[group->n++] = mem_strdup(dir);
    return true;
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

static void attach(struct cgroup *group, const struct sockaddr_bpf *bpf,
                   const struct sockaddr_rules *rules, const char *uid, unsigned index)
{
    const char *parent = cgroup_find()->unified;
    scoped_str dir = parent ? group_dir(parent, uid, index) : NULL;
    struct error err = {0};

    group->sockaddr_bpf =
        dir && group_make(group, dir, true) && group->unified_fd >= 0 &&
        sockaddr_bpf_attach(bpf, group->unified_fd, rules, &group->storage_key, &err);
}

struct cgroup *cgroup_new(const char *uid, unsigned index, const struct shim_limits *limits,
                          const struct sockaddr_bpf *bpf, const struct sockaddr_rules *rules)
{
    struct cgroup *group = mem_alloc(sizeof *group);

    group->unified = group->unified_fd = -1;
    for (enum cgroup_limit which = 0; which < CGROUP_LIMITS; which++)
        set_knob(group, which, uid, index, limits);
    if (bpf)
        attach(group, bpf, rules, uid, index);
    if (group->n)
        return group;
    cgroup_free(group);
    return NULL;
}

void cgroup_check_limits(bool *memory, bool *cpu, bool *processes)
{
    const struct shim_limits some = {.memory_bytes = 64 << 20, .cpu_milli = 1000};
    scoped_str name = mem_printf("capability_check-%d", (int)getpid());
    struct cgroup *group = cgroup_new(name, 0, &some, NULL, NULL);

    *memory = group && group->limits_memory;
    *cpu = group && group->limits_cpu;
    *processes = group && group->limits_processes;
    cgroup_free(group);
}

bool cgroup_check_sockaddr_bpf(void)
{
    const struct sockaddr_rules some = {.ip = htonl(INADDR_LOOPBACK), .ports = {80}, .n_ports = 1};
    scoped_str name = mem_printf("capability_check-%d", (int)getpid());
    struct sockaddr_bpf bpf = SOCKADDR_BPF_NONE;
    bool open = cgroup_find()->unified && sockaddr_bpf_open(&bpf, NULL);
    struct cgroup *group = open ? cgroup_new(name, 1, &(struct shim_limits){0}, &bpf, &some) : NULL;
    bool sockaddr_bpf = group && group->sockaddr_bpf;

    cgroup_free(group);
    sockaddr_bpf_close(&bpf);
    return sockaddr_bpf;
}

pid_t cgroup_clone(const struct cgroup *group, uint64_t flags, bool *out_in_unified)
{
    struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};
    pid_t pid = -1;

    *out_in_unified = group && group->unified_fd >= 0;
    if (*out_in_unified) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t)group->unified_fd;
        pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
        if (pid >= 0)
            return pid;
    }
    *out_in_unified = false;
    args = (struct clone_args){.flags = flags, .exit_signal = SIGCHLD};
    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

ON_CHILD_STACK void cgroup_join(const struct cgroup *group, bool in_unified)
{
    for (size_t i = 0; i < group->n; i++)
        if (!(in_unified && (int)i == group->unified) && write(group->join_fds[i], "0", 1) != 1)
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
