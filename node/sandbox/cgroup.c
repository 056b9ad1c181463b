/*
 * Control groups of containers and pods: where they can be made, making them, removing those left
 * behind.
 *
 * Some of the groups that are left behind belong to no known pod any more: their shim was killed
 * and its data directory removed. Therefore the maker of a group holds a shared lock on the file by
 * which processes join it. A group that is neither locked nor populated is removed.
 */
#include "node/sandbox/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/sandbox/spawn.h"

enum {
    TEXT_MAX = 1 << 20,
    PERIOD_US = 100000,
    QUOTA_MIN_US = 1000,        /* the kernel refuses less */
    CPU_MILLI_MAX = 1000000000, /* a million processors: the kernel refuses quotas beyond 2^44 us */
    PROCESSES_MAX = 1024,       /* default limit of processes of a pod (rule L-37) */
    MAKE_TRIES = 8,
    REMOVE_TRIES = 50,
    REMOVE_PAUSE_NS = 2000000,
};

static const char group_prefix[] = "jobflow-";
static const char *const controllers[CGROUP_LIMITS] = {"memory", "cpu", "pids"};

static bool write_file(const char *dir, const char *file, const char *value)
{
    scoped_str path = mem_printf("%s/%s", dir, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    bool ok = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);

    if (fd >= 0)
        close(fd);
    return ok;
}

/* Chapter: finding the cgroup hierarchies. */

static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; (at = strstr(at, word)); at += len)
        if ((at == list || strchr(", ", at[-1])) && strchr(", \n", at[len]))
            return true;
    return false;
}

/* Returns the path of this process's group in the cgroup hierarchy of a controller, as an owned
 * string; the controller "" stands for the unified hierarchy. */
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

/* Finds out where the cgroup hierarchy of a controller is mounted, and which directory of the
 * hierarchy is the root of that mount. */
static bool find_mount(const char *controller, char **out_point, char **out_root)
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

/* Returns the directory of this process's group for a controller, as an owned string. Returns NULL
 * when there is none. */
static char *own_dir(const char *controller, char **out_point)
{
    scoped_str own = own_path(controller);
    scoped_str point = NULL;
    scoped_str root = NULL;
    const char *path = own;
    size_t len;

    if (!path || !find_mount(controller, &point, &root))
        return NULL;
    len = strcmp(root, "/") != 0 ? strlen(root) : 0;
    path += strncmp(path, root, len) != 0 ? strlen(path) : len;
    *out_point = mem_strdup(point);
    return mem_printf("%s%s", point, strcmp(path, "/") != 0 ? path : "");
}

/* Lets the groups made in this directory have all controllers that it has itself. */
static void enable_controllers(const char *dir)
{
    for (size_t i = 0; i < CGROUP_LIMITS; i++) {
        scoped_str enable = mem_printf("+%s", controllers[i]);

        write_file(dir, "cgroup.subtree_control", enable);
    }
}

/* Returns whether groups made in this directory of the unified hierarchy get any controller. A
 * group delegates controllers only if it has no processes of its own or is the root. */
static bool delegates_controllers(const char *dir)
{
    scoped_str path = mem_printf("%s/cgroup.subtree_control", dir);
    scoped(buf) struct buf text = {0};

    enable_controllers(dir);
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

/* Chapter: making groups. */

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
    scoped_str of_pod = mem_printf("%s/%s%s-pod", parent, group_prefix, spec->uid);

    if (spec->index == CGROUP_OF_POD)
        return take(of_pod);
    return mem_printf("%s/%s%s-%u", spec->of_pod && has_dir(spec->of_pod, of_pod) ? of_pod : parent,
                      group_prefix, spec->uid, spec->index);
}

/* Returns the path of the file by which one thread joins the group in `dir`; owned. Joining
 * processes have a single thread, and cgroup v1 has a file for threads: a move by cgroup.procs
 * stops all forks of the machine and waits for every processor, about ten milliseconds. In the
 * unified hierarchy programs start inside their group instead (cgroup_clone). */
static char *join_file(const char *dir, bool unified)
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

/* Returns whether this user made the group. In a tree that is delegated to another user, that user
 * may make groups under our names. */
static bool is_ours(const char *dir)
{
    struct stat info;

    return lstat(dir, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

/* Makes the directory of a group, unless it exists and is ours. Returns the open file by which
 * processes join the group. */
static int make_and_open(const char *dir, bool unified)
{
    scoped_str joining = join_file(dir, unified);
    int fd = -1;

    for (unsigned tries = 0; fd < 0 && tries < MAKE_TRIES; tries++)
        if ((mkdir(dir, 0755) && (errno != EEXIST || !is_ours(dir))) ||
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
    if (add_dir(group, dir, unified) && write_file(dir, file->names[unified], value))
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
        enable_controllers(group->dirs[group->unified]);
    if (spec->bpf)
        attach_bpf(group, spec);
    if (group->n)
        return group;
    cgroup_free(group);
    return NULL;
}

void cgroup_check_limits(bool *memory, bool *cpu, bool *processes)
{
    scoped_str name = mem_printf("trial-%d", (int)getpid());
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
    scoped_str name = mem_printf("trial-%d", (int)getpid());
    struct sockaddr_bpf bpf = SOCKADDR_BPF_NONE;
    const struct cgroup_spec spec = {.uid = name, .index = 1, .bpf = &bpf, .rules = &rules};
    bool open = cgroup_find_parents()->unified && sockaddr_bpf_open(&bpf, NULL);
    struct cgroup *group = open ? cgroup_new(&spec) : NULL;
    bool attached = group && group->sockaddr_bpf;

    cgroup_free(group);
    sockaddr_bpf_close(&bpf);
    return attached;
}

/* Chapter: the processes of a group. */

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

    if (!file_read(path, TEXT_MAX, &text, NULL) || !text.data)
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

/* Chapter: removing groups. */

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

/* Kills a process that was read from the group's list. Its pid may have been reused since, so the
 * process behind the pidfd is killed only if it is in the group. */
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

/* Kills all processes of a group: at once where the kernel has cgroup.kill, else one by one. */
static void kill_members(const char *dir)
{
    scoped_str path = mem_printf("%s/cgroup.procs", dir);
    scoped(buf) struct buf text = {0};

    if (write_file(dir, "cgroup.kill", "1") || !file_read(path, TEXT_MAX, &text, NULL))
        return;
    for (char *at = text.data, *end; at && *at; at = end + (*end == '\n')) {
        long pid = strtol(at, &end, 10);

        if (end == at)
            return;
        kill_member(strrchr(dir, '/'), (pid_t)pid);
    }
}

/* Kills the processes of a group and removes the group. Killed processes leave the group some time
 * after the signal, so the removal is retried. */
static void kill_and_remove(const char *dir)
{
    const struct timespec pause = {0, REMOVE_PAUSE_NS};

    for (unsigned tries = 0; rmdir(dir) && errno == EBUSY && tries < REMOVE_TRIES; tries++) {
        kill_members(dir);
        nanosleep(&pause, NULL);
    }
}

/* Returns the part of a group's directory name behind the prefix, which names its pod and
 * container. Returns NULL if jobflow has not made the group. */
static const char *owner_of(const char *name)
{
    size_t len = sizeof group_prefix - 1;

    return strncmp(name, group_prefix, len) == 0 ? name + len : NULL;
}

static bool is_named(const char *name, const char *uid)
{
    const char *owner = owner_of(name);
    size_t len = strlen(uid);

    return owner && strncmp(owner, uid, len) == 0 && owner[len] == '-' &&
           !strchr(owner + len + 1, '-');
}

/* Says which groups are to be removed: those of the given pods, or all whose maker has died. */
struct removal {
    bool orphaned;
    const char *const *uids; /* uids of the pods, [count]; unused when `orphaned` is set */
    size_t count;
};

static bool is_wanted(const struct removal *removal, const char *name)
{
    for (size_t i = 0; i < removal->count; i++)
        if (is_named(name, removal->uids[i]))
            return true;
    return false;
}

/* Removes a group that is not locked. The missing lock tells that the maker of the group is dead.
 * The kernel refuses to remove a group with processes. */
static void remove_unlocked(const char *dir, bool unified)
{
    scoped_str joining = join_file(dir, unified);
    int fd = open(joining, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        rmdir(dir);
    close(fd);
}

static void remove_below(const char *parent, bool unified, const struct removal *removal)
{
    DIR *dir = parent ? opendir(parent) : NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir));) { /* NOLINT(concurrency-mt-unsafe) */
        scoped_str path = NULL;

        if (!owner_of(entry->d_name) || (!removal->orphaned && !is_wanted(removal, entry->d_name)))
            continue;
        path = mem_printf("%s/%s", parent, entry->d_name);
        if (!is_ours(path))
            continue;
        remove_below(path, unified, removal); /* groups of the containers of a pod */
        if (removal->orphaned)
            remove_unlocked(path, unified);
        else
            kill_and_remove(path);
    }
    if (dir)
        closedir(dir);
}

static void remove_everywhere(const struct removal *removal)
{
    const struct cgroup_parents *parents = cgroup_find_parents();

    for (size_t i = 0; i < CGROUP_LIMITS; i++)
        remove_below(parents->v1[i], false, removal);
    remove_below(parents->unified, true, removal);
}

void cgroup_remove_lost(const char *const *uids, size_t count)
{
    remove_everywhere(&(struct removal){.uids = uids, .count = count});
}

void cgroup_remove_orphaned(void)
{
    remove_everywhere(&(struct removal){.orphaned = true});
}
