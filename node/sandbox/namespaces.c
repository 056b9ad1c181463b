/*
 * Moves this process into namespaces, and gives up its ids and capabilities.
 *
 * A user namespace is mapped by writing /proc/PID/uid_map and gid_map from outside or, for a single
 * id, from inside. A range of ids needs a process that is already in the new namespace while root
 * outside maps it: namespaces_user_range starts one, keeps a descriptor and kills it.
 */
#include "node/sandbox/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"

static bool write_text(const char *path, const char *text, struct error *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (!ok)
        error_errno(err, errno, "%s", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool map_ids(uid_t inside_uid, uid_t uid, gid_t inside_gid, gid_t gid, struct error *err)
{
    char users[64], groups[64];

    snprintf(users, sizeof users, "%u %u 1\n", inside_uid, uid);
    snprintf(groups, sizeof groups, "%u %u 1\n", inside_gid, gid);
    return write_text("/proc/self/setgroups", "deny", err) &&
           write_text("/proc/self/uid_map", users, err) &&
           write_text("/proc/self/gid_map", groups, err);
}

bool namespaces_enter_user(uid_t inside_uid, gid_t inside_gid, struct error *err)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();

    if (unshare(CLONE_NEWUSER))
        return error_errno(err, errno, "user namespace");
    return map_ids(inside_uid, uid, inside_gid, gid, err);
}

bool namespaces_enter(enum isolation_level level, uid_t inside_uid, gid_t inside_gid,
                      struct error *err)
{
    if (level == ISOLATION_USER && !namespaces_enter_user(inside_uid, inside_gid, err))
        return false;
    return unshare(CLONE_NEWUTS | CLONE_NEWIPC) == 0 ||
           error_errno(err, errno, "uts and ipc namespaces");
}

bool namespaces_detach_mounts(struct error *err)
{
    return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 ||
           error_errno(err, errno, "private mounts");
}

bool namespaces_enter_mounts(struct error *err)
{
    if (unshare(CLONE_NEWNS))
        return error_errno(err, errno, "mount namespace");
    return namespaces_detach_mounts(err);
}

enum { STACK_BYTES = 4096 };

/* The first process of a new user namespace only waits to be killed. It shares this process's
 * memory and runs on a stack of its own, so nothing is copied for it. */
ON_CHILD_STACK static int wait_to_be_killed(void *unused)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    for (;;)
        pause();
    return 0;
}

static bool map_range(pid_t pid, const char *file, unsigned base, struct error *err)
{
    char path[64], text[64];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    snprintf(text, sizeof text, "0 %u %d\n", base, USER_RANGE_IDS);
    return write_text(path, text, err);
}

static int open_namespace(pid_t pid, struct error *err)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        error_errno(err, errno, "%s", path);
    return fd;
}

int namespaces_user_range(unsigned base, struct error *err)
{
    alignas(16) char stack[STACK_BYTES];
    int fd = -1;
    pid_t pid;

    if (geteuid()) {
        error_set(err, ERR_UNAVAILABLE, "", "only root can map a range of ids");
        return -1;
    }
    pid = clone(wait_to_be_killed, stack + sizeof stack, CLONE_VM | CLONE_NEWUSER | SIGCHLD, NULL);
    if (pid < 0)
        error_errno(err, errno, "user namespace");
    else if (map_range(pid, "uid_map", base, err) && map_range(pid, "gid_map", base, err))
        fd = open_namespace(pid, err);
    if (pid > 0) {
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    return fd;
}

bool namespaces_enter_user_range(int user_fd, struct error *err)
{
    if (setns(user_fd, CLONE_NEWUSER) || setgroups(0, NULL) || setresgid(0, 0, 0) ||
        setresuid(0, 0, 0))
        return error_errno(err, errno, "user namespace of the pod");
    return true;
}

void namespaces_drop_capabilities(bool keep_for_sshd)
{
    enum { CAPABILITY_BITS = 64 };
    static const unsigned sshd_needs[] = {CAP_SETUID, CAP_SETGID, CAP_SYS_CHROOT};
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {0};
    uint64_t kept = 0;

    for (size_t i = 0; i < countof(sshd_needs) && keep_for_sshd; i++)
        kept |= UINT64_C(1) << sshd_needs[i];
    for (unsigned cap = 0; cap < CAPABILITY_BITS; cap++)
        if (!(kept >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
            break; /* the kernel has no capability of that number */
    data[0].effective = data[0].permitted = (uint32_t)kept;
    data[1].effective = data[1].permitted = (uint32_t)(kept >> 32);
    syscall(SYS_capset, &header, data);
}
