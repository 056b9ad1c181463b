/*
 * Rewriting addresses by seccomp user notification. See notify.h.
 *
 * What we read from the asker may change under us (it has threads); that only matters to itself,
 * for nothing here is a security decision.
 */
#include "node/sandbox/sockaddr_notify.h"

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
#include "node/sandbox/seccomp_filter.h"
#include "node/sandbox/spawn.h"

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
        SECCOMP_LOAD(args[4]), /* of the address; half of it is enough to know that there is one */
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

/* pidfd_open wants the leader of a thread's group. */
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
    void *there = (void *)(uintptr_t)at; /* NOLINT(performance-no-int-to-ptr): another's memory */
    struct iovec local = {out, len}, remote = {there, len};

    return !len || process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

/* Which call it is, and where its address is among its arguments. */
static const struct asked_call {
    int number;
    enum sockaddr_call call;
    int address, len;
} asked_calls[] = {{SYS_bind, SOCKADDR_BIND, 1, 2},
                   {SYS_connect, SOCKADDR_CONNECT, 1, 2},
                   {SYS_sendto, SOCKADDR_SEND, 4, 5}};

static const struct asked_call *call_of(const struct seccomp_notif *asked)
{
    size_t i = 0;

    while (i + 1 < countof(asked_calls) && asked_calls[i].number != asked->data.nr)
        i++;
    return &asked_calls[i];
}

static void go_on(int listener_fd, uint64_t id)
{
    struct seccomp_notif_resp answer = {.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

    ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static void is_done(int listener_fd, uint64_t id, int64_t result, int error)
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
        return; /* its owner has chosen */
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (bind(fd, &address->any, bound.any.sa_family == AF_INET ? sizeof bound.v4 : sizeof bound.v6))
        return; /* then it is the host's address, as without us */
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

/* A connect that may have to wait is made by a child, so that the shim never does. */
static void call_for(int listener_fd, uint64_t id, enum sockaddr_call which, int fd,
                     const union sockaddr_any *address, socklen_t len,
                     struct port_failures *trouble)
{
    bool waits = which == SOCKADDR_CONNECT && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
    pid_t pid = waits ? fork() : -1;
    int error;

    if (pid > 0)
        return; /* reaped like any other child */
    error = call(which, fd, address, len);
    is_done(listener_fd, id, 0, error);
    if (pid == 0)
        _exit(0);
    if (which == SOCKADDR_BIND && error == EACCES)
        trouble->refused = port_of(address);
}

/* Read where it lies, and sent to another address. What does not fit now is lost on its way, as a
 * datagram may be: we do not wait. */
static void send_for(int listener_fd, const struct seccomp_notif *asked, int fd,
                     const union sockaddr_any *address, socklen_t len)
{
    static char bytes[DATAGRAM_MAX];
    size_t size = asked->data.args[2];
    ssize_t sent = -1;

    errno = EMSGSIZE;
    if (size <= sizeof bytes && read_memory((pid_t)asked->pid, asked->data.args[1], bytes, size))
        sent = sendto(fd, bytes, size, (int)asked->data.args[3] | MSG_DONTWAIT | MSG_NOSIGNAL,
                      &address->any, len);
    if (sent < 0 && errno == EAGAIN)
        sent = (ssize_t)size;
    is_done(listener_fd, asked->id, sent < 0 ? 0 : sent, sent < 0 ? errno : 0);
}

/* We try a bind in the asker's place, with a socket of our own: its own call is what counts. */
static bool is_taken(const struct seccomp_notif *asked, const union sockaddr_any *address,
                     socklen_t len)
{
    int its_fd = socket_of((pid_t)asked->pid, (int)asked->data.args[0]), fd, type = 0, on = 1;
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

static void answer_one(int listener_fd, const struct seccomp_notif *asked,
                       const struct sockaddr_rules *rules, struct port_failures *trouble)
{
    const struct asked_call *call = call_of(asked);
    socklen_t len = (socklen_t)asked->data.args[call->len];
    union sockaddr_any address = {0};
    enum sockaddr_verdict what = SOCKADDR_UNCHANGED;
    uint64_t id = asked->id;
    int fd = -1;

    if (len <= sizeof address &&
        read_memory((pid_t)asked->pid, asked->data.args[call->address], &address, len) &&
        ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0)
        what = sockaddr_decide(rules, call->call, &address, len);
    if (what == SOCKADDR_SHARED_PORT && is_taken(asked, &address, len))
        trouble->taken = port_of(&address);
    if (what == SOCKADDR_REPLACED || what == SOCKADDR_BIND_SOURCE)
        fd = socket_of((pid_t)asked->pid, (int)asked->data.args[0]);
    if (fd < 0) {
        go_on(listener_fd, id);
        return;
    }
    if (what == SOCKADDR_REPLACED && call->call == SOCKADDR_SEND) {
        send_for(listener_fd, asked, fd, &address, len);
    } else if (what == SOCKADDR_REPLACED) {
        call_for(listener_fd, id, call->call, fd, &address, len, trouble);
    } else {
        bind_source(fd, &address);
        go_on(listener_fd, id);
    }
    close(fd);
}

bool sockaddr_notify_answer(int listener_fd, const struct sockaddr_rules *rules,
                            struct port_failures *trouble)
{
    union {
        struct seccomp_notif asked;
        char room[512]; /* the kernel's may be longer than ours */
    } message;
    struct pollfd ready = {listener_fd, POLLIN, 0};

    if (poll(&ready, 1, 0) <= 0)
        return true;
    if (!(ready.revents & POLLIN))
        return !(ready.revents & (POLLHUP | POLLERR));
    memset(&message, 0, sizeof message);
    if (ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_RECV, &message.asked) == 0)
        answer_one(listener_fd, &message.asked, rules, trouble);
    return true;
}
