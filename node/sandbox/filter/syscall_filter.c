/*
 * A table of calls, from which the preprocessor makes the filter.
 *
 * The kernel finds out once which calls the filter always allows, and runs it no more for those.
 * Therefore calls whose arguments matter are looked at by their numbers, like all others.
 */
#include "node/sandbox/filter/syscall_filter.h"

#include <errno.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "node/sandbox/filter/seccomp_filter.h"

/* The last call that this table was compared with, file_setattr. From pidfd_send_signal (424) on
 * the numbers are the same on all machines. */
enum { LAST_KNOWN = 469 };

/* Calls that the headers of this system may not know yet. */
enum { CALL_MOUNT_SETATTR = 442, CALL_QUOTACTL_FD = 443, CALL_OPEN_TREE_ATTR = 467 };

/* clang-format off */
#define REFUSED_CALLS(X)                                                                          \
    /* keys, which all programs of a user share */                                                \
    X(SYS_add_key) X(SYS_keyctl) X(SYS_request_key)                                               \
    /* programs in the kernel, and what watches it or other programs */                           \
    X(SYS_bpf) X(SYS_perf_event_open) X(SYS_userfaultfd) X(SYS_fanotify_init)                     \
    X(SYS_lookup_dcookie) X(SYS_kcmp) X(SYS_syslog) X(SYS_acct)                                   \
    X(SYS_io_uring_setup) X(SYS_io_uring_enter) X(SYS_io_uring_register)                          \
    /* modules and other kernels */                                                               \
    X(SYS_init_module) X(SYS_finit_module) X(SYS_delete_module)                                   \
    X(SYS_kexec_load) X(SYS_reboot)                                                               \
    /* the clock */                                                                               \
    X(SYS_settimeofday) X(SYS_clock_settime)                                                      \
    /* mounts, namespaces, and files without a path */                                            \
    X(SYS_mount) X(SYS_umount2) X(SYS_pivot_root) X(SYS_open_tree) X(SYS_move_mount)              \
    X(SYS_fsopen) X(SYS_fsconfig) X(SYS_fsmount) X(SYS_fspick) X(CALL_MOUNT_SETATTR)              \
    X(CALL_OPEN_TREE_ATTR) X(SYS_unshare) X(SYS_setns) X(SYS_open_by_handle_at)                   \
    X(SYS_quotactl) X(CALL_QUOTACTL_FD) X(SYS_swapon) X(SYS_swapoff)                              \
    /* the host's terminal and names */                                                           \
    X(SYS_vhangup) X(SYS_sethostname) X(SYS_setdomainname) X(SYS_nfsservctl)
#if defined(__x86_64__)
#define REFUSED_CALLS_OF_MACHINE(X)                                                               \
    X(SYS_kexec_file_load) X(SYS_iopl) X(SYS_ioperm) X(SYS_create_module)                         \
    X(SYS_get_kernel_syms) X(SYS_query_module) X(SYS_uselib) X(SYS_ustat) X(SYS_sysfs)            \
    X(SYS__sysctl)
#else
#define REFUSED_CALLS_OF_MACHINE(X) X(SYS_kexec_file_load)
#endif

/* Values of personality(2) that change nothing that matters: Linux, 32 bits shown by uname, 26 as
 * the version there, both, and a query. Others switch off protections of memory. */
#define PERSONALITIES(X) \
    X(PER_LINUX) X(PER_LINUX32) X(UNAME26) X(UNAME26 | PER_LINUX32) X(0xffffffff)

#define REFUSE(number) SECCOMP_SKIP_UNLESS((number), 1), SECCOMP_RETURN(SECCOMP_RET_ERRNO | EPERM),
#define ALLOW_VALUE(value) SECCOMP_SKIP_UNLESS((value), 1), SECCOMP_RETURN(SECCOMP_RET_ALLOW),
#define COUNT(value) +1

enum {
    NEW_NAMESPACES = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                     CLONE_NEWNET | CLONE_NEWCGROUP,
    PERSONALITY_STATEMENTS = 2 + 2 * (0 PERSONALITIES(COUNT)),
};

static const struct sock_filter code[] = {
    SECCOMP_LOAD_ARCH,
    /* Another architecture, such as 32 bits, has other numbers: its programs end with SIGSYS. */
    SECCOMP_SKIP_IF(SECCOMP_OWN_ARCH, 1),
    SECCOMP_RETURN(SECCOMP_RET_KILL_PROCESS),
    SECCOMP_LOAD_CALL,
    /* Calls newer than this table, and on x86 those of the x32 interface, have higher numbers. */
    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 0, 1),
    SECCOMP_RETURN(SECCOMP_RET_ERRNO | ENOSYS),
    /* Its flags are in memory, which a filter cannot read. Callers fall back to clone. */
    SECCOMP_SKIP_UNLESS(SYS_clone3, 1),
    SECCOMP_RETURN(SECCOMP_RET_ERRNO | ENOSYS),
    REFUSED_CALLS(REFUSE) REFUSED_CALLS_OF_MACHINE(REFUSE)
    /* New namespaces. */
    SECCOMP_SKIP_UNLESS(SYS_clone, 4),
    SECCOMP_LOAD(args[0]),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 0, 1),
    SECCOMP_RETURN(SECCOMP_RET_ERRNO | EPERM),
    SECCOMP_RETURN(SECCOMP_RET_ALLOW),
    /* Sockets to the host of a virtual machine. */
    SECCOMP_SKIP_UNLESS(SYS_socket, 4),
    SECCOMP_LOAD(args[0]),
    SECCOMP_SKIP_UNLESS(AF_VSOCK, 1),
    SECCOMP_RETURN(SECCOMP_RET_ERRNO | EPERM),
    SECCOMP_RETURN(SECCOMP_RET_ALLOW),
    SECCOMP_SKIP_UNLESS(SYS_personality, PERSONALITY_STATEMENTS),
    SECCOMP_LOAD(args[0]),
    PERSONALITIES(ALLOW_VALUE)
    SECCOMP_RETURN(SECCOMP_RET_ERRNO | EPERM),
    SECCOMP_RETURN(SECCOMP_RET_ALLOW),
};
/* clang-format on */

ON_CHILD_STACK bool syscall_filter_install(void)
{
    struct sock_fprog program = {countof(code), (struct sock_filter *)code}; /* only read */

    if (!SECCOMP_OWN_ARCH) {
        errno = ENOSYS;
        return false;
    }
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
        return true;
    return errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}
