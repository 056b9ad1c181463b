/*
 * A preloaded library that injects faults into system calls of the program: calls that are
 * interrupted or transfer fewer bytes than requested, as the kernel may do, calls and allocations
 * that fail, and a SIGKILL before a chosen call.
 *
 *   SYSCALLS_SHORT=P     P percent of the calls are shortened or interrupted, also in shims
 *   SYSCALLS_KILL_AT=N   SIGKILL before the N-th call that writes to a file or syncs it, in the
 *                        process itself only
 *   SYSCALLS_FAIL_AT=N   the N-th call that changes a file other than standard output, or syncs or
 *                        extends it, fails with the error SYSCALLS_ERROR, in the process itself only
 *   SYSCALLS_NOMEM_AT=N  the N-th allocation fails, in the process itself only
 *   SYSCALLS_LISTEN_AT=F listen(2) waits until the file F exists, in the process itself only
 *   SYSCALLS_SEED=S      seed of the random choices; default: the process id
 *
 * Only calls that the kernel may shorten are shortened: those on files and streams, and reads of
 * pipes. A read of a pipe ends only where a message of PIPE_MESSAGE bytes may end: the kernel never
 * parts what was written to a pipe at once, and libuv, which writes the signals it has caught to a
 * pipe of its own, would lose a signal that was parted.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static unsigned percent;
static long kill_at, fail_at, error_number, nomem_at;
static const char *listen_at;
static atomic_long writes, changes, allocations;
static atomic_uint_fast64_t state;

static long number(const char *name)
{
    const char *text = getenv(name);

    return text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    percent = (unsigned)number("SYSCALLS_SHORT");
    kill_at = number("SYSCALLS_KILL_AT");
    state = (uint64_t)(getenv("SYSCALLS_SEED") ? number("SYSCALLS_SEED") : getpid());
    fail_at = number("SYSCALLS_FAIL_AT");
    error_number = number("SYSCALLS_ERROR");
    nomem_at = number("SYSCALLS_NOMEM_AT");
    listen_at = getenv("SYSCALLS_LISTEN_AT");
    if (kill_at || fail_at || nomem_at || listen_at)
        unsetenv("LD_PRELOAD");
}

/* Returns a pseudo-random number, by SplitMix64. */
static uint64_t chance(void)
{
    uint64_t z = atomic_fetch_add(&state, UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static bool struck(void)
{
    return percent && chance() % 100 < percent;
}

enum {
    PIPE_MESSAGE = 2 * sizeof(void *)
}; /* what libuv writes to its signal pipe: a handle and a number */

static bool is_pipe(int fd)
{
    struct stat status;
    int saved = errno;
    bool pipe = fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);

    errno = saved;
    return pipe;
}

static bool is_cut(int fd, bool writing)
{
    struct stat status;
    int type = 0, saved = errno;
    socklen_t size = sizeof type;
    bool cut = fstat(fd, &status) == 0 &&
               (S_ISREG(status.st_mode) || (S_ISFIFO(status.st_mode) && !writing) ||
                (S_ISSOCK(status.st_mode) &&
                 getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM));

    errno = saved;
    return cut;
}

/* Returns how many of `len` bytes are transferred; -1: the call is interrupted. */
static ssize_t part_of(int fd, size_t len, bool writing)
{
    if (len == 0 || !struck() || !is_cut(fd, writing))
        return (ssize_t)len;
    if (chance() % 2) {
        errno = EINTR;
        return -1;
    }
    len = 1 + chance() % len;
    return (ssize_t)(is_pipe(fd) ? (len + PIPE_MESSAGE - 1) / PIPE_MESSAGE * PIPE_MESSAGE : len);
}

static void count_write(void)
{
    if (kill_at && atomic_fetch_add(&writes, 1) + 1 == kill_at)
        kill(getpid(), SIGKILL);
}

/* Counts a change of a file. Returns whether it fails, with errno set. */
static bool change_fails(int fd)
{
    struct stat status;

    if (!fail_at || fd <= STDERR_FILENO || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
        atomic_fetch_add(&changes, 1) + 1 != fail_at)
        return false;
    errno = (int)error_number;
    return true;
}

static bool interrupted(void)
{
    if (!struck())
        return false;
    errno = EINTR;
    return true;
}

/* Declares `behind` and sets it to the original function that ours replaces, with the same type. */
#define BEHIND(name)                                                                               \
    static __typeof__(name) *behind;                                                               \
    if (!behind)                                                                                   \
    behind = (__typeof__(name) *)(intptr_t)dlsym(RTLD_NEXT, #name)

EXPORTED ssize_t read(int fd, void *bytes, size_t len)
{
    BEHIND(read);
    ssize_t part = part_of(fd, len, false);

    return part < 0 ? -1 : behind(fd, bytes, (size_t)part);
}

EXPORTED ssize_t pread64(int fd, void *bytes, size_t len, off64_t at)
{
    BEHIND(pread64);
    ssize_t part = part_of(fd, len, false);

    return part < 0 ? -1 : behind(fd, bytes, (size_t)part, at);
}

EXPORTED ssize_t write(int fd, const void *bytes, size_t len)
{
    BEHIND(write);
    ssize_t part = part_of(fd, len, true);

    count_write();
    return part < 0 || change_fails(fd) ? -1 : behind(fd, bytes, (size_t)part);
}

EXPORTED ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
{
    BEHIND(pwrite64);
    ssize_t part = part_of(fd, len, true);

    count_write();
    return part < 0 || change_fails(fd) ? -1 : behind(fd, bytes, (size_t)part, at);
}

EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
    return pwrite64(fd, bytes, len, at);
}

EXPORTED ssize_t recv(int fd, void *bytes, size_t len, int flags)
{
    BEHIND(recv);
    ssize_t part = flags & MSG_PEEK ? (ssize_t)len : part_of(fd, len, false);

    return part < 0 ? -1 : behind(fd, bytes, (size_t)part, flags);
}

EXPORTED ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    BEHIND(send);
    ssize_t part = part_of(fd, len, true);

    return part < 0 ? -1 : behind(fd, bytes, (size_t)part, flags);
}

EXPORTED ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    BEHIND(recvmsg);
    return interrupted() ? -1 : behind(fd, message, flags);
}

EXPORTED ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    BEHIND(sendmsg);
    return interrupted() ? -1 : behind(fd, message, flags);
}

EXPORTED ssize_t writev(int fd, const struct iovec *parts, int n)
{
    BEHIND(writev);
    return interrupted() ? -1 : behind(fd, parts, n);
}

EXPORTED int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    BEHIND(poll);
    return interrupted() ? -1 : behind(fds, n, timeout_ms);
}

EXPORTED int epoll_pwait(int fd, struct epoll_event *events, int max, int timeout_ms,
                         const sigset_t *mask)
{
    BEHIND(epoll_pwait);
    return interrupted() ? -1 : behind(fd, events, max, timeout_ms, mask);
}

EXPORTED int listen(int fd, int backlog)
{
    enum { PAUSE_MS = 5 };

    BEHIND(listen);
    while (listen_at && access(listen_at, F_OK) < 0)
        usleep(PAUSE_MS * 1000);
    return behind(fd, backlog);
}

EXPORTED int accept4(int fd, struct sockaddr *from, socklen_t *len, int flags)
{
    BEHIND(accept4);
    return interrupted() ? -1 : behind(fd, from, len, flags);
}

EXPORTED int fsync(int fd)
{
    BEHIND(fsync);
    count_write();
    return change_fails(fd) ? -1 : behind(fd);
}

EXPORTED int fdatasync(int fd)
{
    BEHIND(fdatasync);
    count_write();
    return change_fails(fd) ? -1 : behind(fd);
}

EXPORTED int ftruncate64(int fd, off64_t size)
{
    BEHIND(ftruncate64);
    return change_fails(fd) ? -1 : behind(fd, size);
}

EXPORTED int ftruncate(int fd, off_t size)
{
    return ftruncate64(fd, size);
}

EXPORTED int fallocate64(int fd, int mode, off64_t at, off64_t len)
{
    BEHIND(fallocate64);
    return change_fails(fd) ? -1 : behind(fd, mode, at, len);
}

EXPORTED int fallocate(int fd, int mode, off_t at, off_t len)
{
    return fallocate64(fd, mode, at, len);
}

/* glibc's own allocator. dlsym allocates, so it cannot find the functions that ours replace. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static bool allocation_fails(void)
{
    if (!nomem_at || atomic_fetch_add(&allocations, 1) + 1 != nomem_at)
        return false;
    errno = ENOMEM;
    return true;
}

EXPORTED void *malloc(size_t size)
{
    return allocation_fails() ? NULL : __libc_malloc(size);
}

EXPORTED void *calloc(size_t n, size_t size)
{
    return allocation_fails() ? NULL : __libc_calloc(n, size);
}

EXPORTED void *realloc(void *old, size_t size)
{
    return allocation_fails() ? NULL : __libc_realloc(old, size);
}
