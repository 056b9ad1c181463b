/*
 * Rewrites socket addresses by seccomp notification.
 *
 * The memory of the calling process may change while it is read, because other threads run. That
 * only affects the process itself: nothing here is a security decision.
 */
#include "node/sandbox/filter/sockaddr_notify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "node/sandbox/filter/seccomp_filter.h"

enum { DATAGRAM_MAX = 65535 };

ON_CHILD_STACK int sockaddr_notify_install(void)
{
    struct sock_filter code[] = {
        SECCOMP_LOAD_ARCH,
        SECCOMP_SKIP_UNLESS(SECCOMP_OWN_ARCH, 7),
        SECCOMP_LOAD_CALL,
        SECCOMP_SKIP_IF(SYS_bind, 4),
        SECCOMP_SKIP_IF(SYS_connect, 3),
        SECCOMP_SKIP_UNLESS(SYS_sendto, 3),
        SECCOMP_LOAD(args[4]), /* lower half of the address pointer; 0 for NULL */
        SECCOMP_SKIP_IF(0, 1),
        SECCOMP_RETURN(SECCOMP_RET_USER_NOTIF),
        SECCOMP_RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {countof(code), code};

    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &program);
}

bool sockaddr_notify_works(void)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        _exit(sockaddr_notify_install() < 0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* Returns the leader of a thread's group, which pidfd_open needs. */
static pid_t leader_of(pid_t thread)
{
    char path[32], text[2048], *at;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/status", (int)thread);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    at = strstr(text, "\nTgid:");
    return at ? (pid_t)strtol(at + 6, NULL, 10) : -1;
}

static int socket_of(pid_t thread, int number)
{
    pid_t leader = leader_of(thread);
    int pidfd = leader < 0 ? -1 : pidfd_open(leader, 0), fd;

    if (pidfd < 0)
        return -1;
    fd = pidfd_getfd(pidfd, number, 0);
    close(pidfd);
    return fd;
}

static bool read_memory(pid_t pid, uint64_t at, void *out, size_t len)
{
    void *there =
        (void *)(uintptr_t)at; /* NOLINT(performance-no-int-to-ptr): another process's memory */
    struct iovec local = {out, len}, remote = {there, len};

    return !len || process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

/* The system calls that are notified, and the positions of their address arguments. */
static const struct notified_call {
    int number;
    enum sockaddr_call call;
    int address, len;
} notified_calls[] = {{SYS_bind, SOCKADDR_BIND, 1, 2},
                      {SYS_connect, SOCKADDR_CONNECT, 1, 2},
                      {SYS_sendto, SOCKADDR_SEND, 4, 5}};

static const struct notified_call *call_of(const struct seccomp_notif *notice)
{
    size_t i = 0;

    while (i + 1 < countof(notified_calls) && notified_calls[i].number != notice->data.nr)
        i++;
    return &notified_calls[i];
}

static void let_go_on(int listener_fd, uint64_t id)
{
    struct seccomp_notif_resp answer = {.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

    ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static void return_result(int listener_fd, uint64_t id, int64_t result, int error)
{
    struct seccomp_notif_resp answer = {.id = id, .val = result, .error = -error};

    ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static void bind_source(int fd, const union sockaddr_any *address)
{
    union sockaddr_any bound = {0};
    socklen_t len = sizeof bound;
    int on = 1;

    if (getsockname(fd, &bound.any, &len))
        return;
    if (bound.any.sa_family == AF_INET
            ? bound.v4.sin_port || bound.v4.sin_addr.s_addr
            : bound.v6.sin6_port || !IN6_IS_ADDR_UNSPECIFIED(&bound.v6.sin6_addr))
        return; /* the program has bound the socket */
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (bind(fd, &address->any, bound.any.sa_family == AF_INET ? sizeof bound.v4 : sizeof bound.v6))
        return; /* without a bind the source is the host's address, which also works */
}

static int call(enum sockaddr_call which, int fd, const union sockaddr_any *address, socklen_t len)
{
    int failed =
        which == SOCKADDR_BIND ? bind(fd, &address->any, len) : connect(fd, &address->any, len);

    return failed ? errno : 0;
}

static uint16_t port_of(const union sockaddr_any *address)
{
    return ntohs(address->any.sa_family == AF_INET ? address->v4.sin_port : address->v6.sin6_port);
}

/* Makes the call in place of the process. A connect that may block is made by a child process, so
 * that the shim never waits. */
static void make_call(int listener_fd, uint64_t id, enum sockaddr_call which, int fd,
                      const union sockaddr_any *address, socklen_t len,
                      struct port_failures *failures)
{
    bool waits = which == SOCKADDR_CONNECT && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
    pid_t pid = waits ? fork() : -1;
    int error;

    if (pid > 0)
        return; /* the shim reaps this child like its others */
    error = call(which, fd, address, len);
    return_result(listener_fd, id, 0, error);
    if (pid == 0)
        _exit(0);
    if (which == SOCKADDR_BIND && error == EACCES)
        failures->refused = port_of(address);
}

/* Sends the process's datagram to another address. A datagram that does not fit into the socket's
 * buffer now is dropped: the shim never waits. */
static void make_send(int listener_fd, const struct seccomp_notif *notice, int fd,
                      const union sockaddr_any *address, socklen_t len)
{
    static char bytes[DATAGRAM_MAX];
    size_t size = notice->data.args[2];
    ssize_t sent = -1;

    errno = EMSGSIZE;
    if (size <= sizeof bytes && read_memory((pid_t)notice->pid, notice->data.args[1], bytes, size))
        sent = sendto(fd, bytes, size, (int)notice->data.args[3] | MSG_DONTWAIT | MSG_NOSIGNAL,
                      &address->any, len);
    if (sent < 0 && errno == EAGAIN)
        sent = (ssize_t)size;
    return_result(listener_fd, notice->id, sent < 0 ? 0 : sent, sent < 0 ? errno : 0);
}

/* Returns whether the address is in use. Tries with a new socket of the same type; the process's
 * own call follows. */
static bool is_taken(const struct seccomp_notif *notice, const union sockaddr_any *address,
                     socklen_t len)
{
    int its_fd = socket_of((pid_t)notice->pid, (int)notice->data.args[0]), fd, type = 0, on = 1;
    socklen_t type_len = sizeof type;
    bool taken;

    if (its_fd < 0)
        return false;
    getsockopt(its_fd, SOL_SOCKET, SO_TYPE, &type, &type_len);
    close(its_fd);
    fd = socket(address->any.sa_family, type | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    taken = bind(fd, &address->any, len) && errno == EADDRINUSE;
    close(fd);
    return taken;
}

static void answer_one(int listener_fd, const struct seccomp_notif *notice,
                       const struct sockaddr_rules *rules, struct port_failures *failures)
{
    const struct notified_call *call = call_of(notice);
    socklen_t len = (socklen_t)notice->data.args[call->len];
    union sockaddr_any address = {0};
    enum sockaddr_verdict verdict = SOCKADDR_UNCHANGED;
    uint64_t id = notice->id;
    int fd = -1;

    if (len <= sizeof address &&
        read_memory((pid_t)notice->pid, notice->data.args[call->address], &address, len) &&
        ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0)
        verdict = sockaddr_decide(rules, call->call, &address, len);
    if (verdict == SOCKADDR_SHARED_PORT && is_taken(notice, &address, len))
        failures->taken = port_of(&address);
    if (verdict == SOCKADDR_REPLACED || verdict == SOCKADDR_BIND_SOURCE)
        fd = socket_of((pid_t)notice->pid, (int)notice->data.args[0]);
    if (fd < 0) {
        let_go_on(listener_fd, id);
        return;
    }
    if (verdict == SOCKADDR_REPLACED && call->call == SOCKADDR_SEND) {
        make_send(listener_fd, notice, fd, &address, len);
    } else if (verdict == SOCKADDR_REPLACED) {
        make_call(listener_fd, id, call->call, fd, &address, len, failures);
    } else {
        bind_source(fd, &address);
        let_go_on(listener_fd, id);
    }
    close(fd);
}

bool sockaddr_notify_answer(int listener_fd, const struct sockaddr_rules *rules,
                            struct port_failures *failures)
{
    union {
        struct seccomp_notif notice;
        char room[512]; /* the kernel's struct may be longer than that of the headers */
    } message;
    struct pollfd ready = {listener_fd, POLLIN, 0};

    if (poll(&ready, 1, 0) <= 0)
        return true;
    if (!(ready.revents & POLLIN))
        return !(ready.revents & (POLLHUP | POLLERR));
    memset(&message, 0, sizeof message);
    if (ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_RECV, &message.notice) == 0)
        answer_one(listener_fd, &message.notice, rules, failures);
    return true;
}
