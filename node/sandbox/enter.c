/*
 * Namespaces and ids of this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "node/sandbox/sandbox.h"

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

bool sandbox_enter(enum sandbox_level level, uid_t inside_uid, gid_t inside_gid, struct error *err)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    int flags = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC;

    if (level == SANDBOX_USER)
        flags |= CLONE_NEWUSER;
    if (unshare(flags))
        return error_errno(err, errno,
                           level == SANDBOX_USER ? "user namespace" : "mount namespace");
    if (level == SANDBOX_USER && !map_ids(inside_uid, uid, inside_gid, gid, err))
        return false;
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
        return error_errno(err, errno, "private mounts");
    return true;
}

void sandbox_drop_capabilities(void)
{
    static const unsigned keep[] = {CAP_SETUID, CAP_SETGID, CAP_SYS_CHROOT};
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {0};
    uint64_t kept = 0;

    for (size_t i = 0; i < countof(keep); i++)
        kept |= UINT64_C(1) << keep[i];
    for (unsigned cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
        if (!(kept >> cap & 1))
            prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
    data[0].effective = data[0].permitted = (uint32_t)kept;
    data[1].effective = data[1].permitted = (uint32_t)(kept >> 32);
    syscall(SYS_capset, &header, data);
}
