/*
 * Makes the control groups of containers and pods, and moves processes into them.
 *
 * Some of the groups that are left behind belong to no known pod any more: their shim was killed
 * and its data directory removed. Therefore the maker of a group holds a shared lock on the file by
 * which processes join it. A group that is neither locked nor populated is removed
 * (cgroup_remove.c).
 */
#include "node/sandbox/cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/file.h"
#include "base/mem.h"
#include "node/sandbox/cgroup/internal.h"

enum {
    PERIOD_US = 100000,
    QUOTA_MIN_US = 1000,        /* the kernel refuses less */
    CPU_MILLI_MAX = 1000000000, /* a million processors: the kernel refuses quotas beyond 2^44 us */
    PROCESSES_MAX = 1024,       /* default limit of processes of a pod (rule L-37) */
    MAKE_TRIES = 8,
};

/* One row for each limit: its controller, the flag of struct cgroup that says whether the limit is
 * enforced, the limit's file in cgroup v1 and in the unified hierarchy, and the function that makes
 * the text to write there. The text is owned; NULL sets no limit. */
struct limit_file {
    enum cgroup_limit controller;
    size_t flag; /* offset of the flag in struct cgroup */
    const char *names[2];
    char *(*value)(const struct shim_limits *limits, bool unified);
};

static char *memory_value(const struct shim_limits *limits, bool unified)
{
    return limits->memory_bytes > 0 ? mem_printf("%lld", (long long)limits->memory_bytes) : NULL;
}

int64_t cgroup_cpu_quota_us(int64_t milli)
{
    int64_t quota_us = (milli < CPU_MILLI_MAX ? milli : CPU_MILLI_MAX) * PERIOD_US / 1000;

    return quota_us > QUOTA_MIN_US ? quota_us : QUOTA_MIN_US;
}

static char *cpu_value(const struct shim_limits *limits, bool unified)
{
    long long quota_us = cgroup_cpu_quota_us(limits->cpu_milli);

    if (limits->cpu_milli <= 0)
        return NULL;
    return unified ? mem_printf("%lld %d", quota_us, PERIOD_US) : mem_printf("%lld", quota_us);
}

int64_t cgroup_cpu_weight(int64_t milli, bool unified)
{
    static const struct {
        int64_t of_one, least, most;
    } units[] = {{1024, 2, 262144}, {100, 1, 10000}};
    int64_t weight = (milli < CPU_MILLI_MAX ? milli : CPU_MILLI_MAX) * units[unified].of_one / 1000;

    if (weight < units[unified].least)
        return units[unified].least;
    return weight < units[unified].most ? weight : units[unified].most;
}

static char *weight_value(const struct shim_limits *limits, bool unified)
{
    if (limits->cpu_request_milli <= 0)
        return NULL;
    return mem_printf("%lld", (long long)cgroup_cpu_weight(limits->cpu_request_milli, unified));
}

static char *pids_value(const struct shim_limits *limits, bool unified)
{
    if (limits->processes < 0)
        return NULL;
    return mem_printf("%lld", (long long)(limits->processes ? limits->processes : PROCESSES_MAX));
}

/* clang-format off */
static const struct limit_file limit_files[] = {
    {CGROUP_MEMORY, offsetof(struct cgroup, limits_memory),    {"memory.limit_in_bytes", "memory.max"}, memory_value},
    {CGROUP_CPU,    offsetof(struct cgroup, limits_cpu),       {"cpu.cfs_quota_us",      "cpu.max"},    cpu_value},
    {CGROUP_CPU,    offsetof(struct cgroup, weighs_cpu),       {"cpu.shares",            "cpu.weight"}, weight_value},
    {CGROUP_PIDS,   offsetof(struct cgroup, limits_processes), {"pids.max",              "pids.max"},   pids_value},
};
/* clang-format on */

static bool has_dir(const struct cgroup *group, const char *dir)
{
    for (size_t i = 0; i < group->n; i++)
        if (strcmp(group->dirs[i], dir) == 0)
            return true;
    return false;
}

/* Returns the directory of the group in the hierarchy whose groups are made in `parent`: inside the
 * group of its pod, if the pod has one there. Owned. */
static char *group_dir(const char *parent, const struct cgroup_spec *spec)
{
    scoped_str of_pod = mem_printf("%s/%s%s-pod", parent, CGROUP_PREFIX, spec->uid);

    if (spec->index == CGROUP_OF_POD)
        return take(of_pod);
    return mem_printf("%s/%s%s-%u", spec->of_pod && has_dir(spec->of_pod, of_pod) ? of_pod : parent,
                      CGROUP_PREFIX, spec->uid, spec->index);
}

char *cgroup_join_file(const char *dir, bool unified)
{
    return mem_printf("%s/%s", dir, unified ? "cgroup.procs" : "tasks");
}

/* Opens the file by which processes join a group and locks it. The shared lock keeps the empty
 * group from cgroup_remove_orphaned. That function may have removed the group before the lock was
 * taken: then errno is ENOENT. */
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

bool cgroup_is_ours(const char *dir)
{
    struct stat info;

    return lstat(dir, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

/* Makes the directory of a group, unless it exists and is ours. Returns the open file by which
 * processes join the group. */
static int make_and_open(const char *dir, bool unified)
{
    scoped_str joining = cgroup_join_file(dir, unified);
    int fd = -1;

    for (unsigned tries = 0; fd < 0 && tries < MAKE_TRIES; tries++)
        if ((mkdir(dir, 0755) && (errno != EEXIST || !cgroup_is_ours(dir))) ||
            ((fd = open_and_lock(joining)) < 0 && errno != ENOENT))
            return -1;
    return fd;
}

static bool add_dir(struct cgroup *group, const char *dir, bool unified)
{
    int fd;

    if (has_dir(group, dir))
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

/* Returns the directory in which groups with this limit are made: in the controller's cgroup v1
 * hierarchy if there is one, else in the unified hierarchy. */
static const char *parent_for(enum cgroup_limit controller, bool *out_unified)
{
    const struct cgroup_parents *parents = cgroup_find_parents();

    *out_unified = !parents->v1[controller];
    return *out_unified ? parents->unified : parents->v1[controller];
}

static void set_limit(struct cgroup *group, const struct limit_file *file,
                      const struct cgroup_spec *spec)
{
    bool unified;
    const char *parent = parent_for(file->controller, &unified);
    scoped_str dir = parent ? group_dir(parent, spec) : NULL;
    scoped_str value = file->value(&spec->limits, unified);
    struct stat info;
    bool existed;

    if (!dir || !value)
        return;
    existed = stat(dir, &info) == 0;
    if (add_dir(group, dir, unified) && cgroup_write(dir, file->names[unified], value))
        *(bool *)((char *)group + file->flag) = true;
    else if (!existed && !has_dir(group, dir))
        rmdir(dir);
}

/* Makes a group in each group of the pod, so that the pod's limits hold for the container. */
static void enter_pod(struct cgroup *group, const struct cgroup_spec *spec)
{
    for (enum cgroup_limit which = 0; spec->of_pod && which < CGROUP_LIMITS; which++) {
        bool unified;
        const char *parent = parent_for(which, &unified);
        scoped_str dir = parent ? group_dir(parent, spec) : NULL;
        scoped_str above = dir ? mem_printf("%.*s", (int)(strrchr(dir, '/') - dir), dir) : NULL;

        if (dir && has_dir(spec->of_pod, above))
            add_dir(group, dir, unified);
    }
}

static void attach_bpf(struct cgroup *group, const struct cgroup_spec *spec)
{
    const char *parent = cgroup_find_parents()->unified;
    scoped_str dir = parent ? group_dir(parent, spec) : NULL;

    group->sockaddr_bpf =
        dir && add_dir(group, dir, true) && group->unified_fd >= 0 &&
        sockaddr_bpf_attach(spec->bpf, group->unified_fd, spec->rules, &group->storage_key, NULL);
}

struct cgroup *cgroup_new(const struct cgroup_spec *spec)
{
    struct cgroup *group = mem_alloc(sizeof *group);

    group->unified = group->unified_fd = -1;
    enter_pod(group, spec);
    for (size_t i = 0; i < countof(limit_files); i++)
        set_limit(group, &limit_files[i], spec);
    if (spec->index == CGROUP_OF_POD && group->unified >= 0)
        cgroup_enable_controllers(group->dirs[group->unified]);
    if (spec->bpf)
        attach_bpf(group, spec);
    if (group->n)
        return group;
    cgroup_free(group);
    return NULL;
}

void cgroup_check_limits(bool *memory, bool *cpu, bool *processes)
{
    scoped_str name = mem_printf("check-%d", (int)getpid());
    struct cgroup *group = cgroup_new(&(struct cgroup_spec){
        .uid = name, .limits = {.memory_bytes = 64 << 20, .cpu_milli = 1000}});

    *memory = group && group->limits_memory;
    *cpu = group && group->limits_cpu;
    *processes = group && group->limits_processes;
    cgroup_free(group);
}

bool cgroup_check_sockaddr_bpf(void)
{
    const struct sockaddr_rules rules = {.ip = htonl(INADDR_LOOPBACK), .ports = {80}, .n_ports = 1};
    scoped_str name = mem_printf("check-%d", (int)getpid());
    struct sockaddr_bpf bpf = SOCKADDR_BPF_NONE;
    const struct cgroup_spec spec = {.uid = name, .index = 1, .bpf = &bpf, .rules = &rules};
    bool open = cgroup_find_parents()->unified && sockaddr_bpf_open(&bpf, NULL);
    struct cgroup *group = open ? cgroup_new(&spec) : NULL;
    bool attached = group && group->sockaddr_bpf;

    cgroup_free(group);
    sockaddr_bpf_close(&bpf);
    return attached;
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
            continue; /* the process runs without that limit */
}

static long oom_kills(const char *dir, const char *file)
{
    scoped_str path = mem_printf("%s/%s", dir, file);
    scoped(buf) struct buf text = {0};
    const char *at;

    if (!file_read(path, CGROUP_TEXT_MAX, &text, NULL) || !text.data)
        return 0;
    at = strstr(text.data, "oom_kill ");
    return at ? strtol(at + strlen("oom_kill "), NULL, 10) : 0;
}

bool cgroup_oom_killed(const struct cgroup *group)
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
