/*
 * Measures the cost of rewriting socket addresses, by both methods of node/sandbox/filter: BPF
 * programs on the control group (sockaddr_bpf.h) and seccomp notification (sockaddr_notify.h).
 *
 *   bench_sockaddr [rounds]       prints one JSON line for each call
 *
 * Each round runs every call without rewriting, with BPF and with seccomp in turn, each in a new
 * child process. The line has the median microseconds of the call together with the creation of its
 * socket. Needs root and control groups. The calls:
 *
 *   bind        any address and a declared port: becomes the pod's address
 *   connect     a declared port of the loopback address: becomes the pod's address
 *   connect_pod another pod's address: the socket is first bound to the pod's address
 *   untouched   connect to an address that no rule matches
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "node/sandbox/cgroup/cgroup.h"
#include "node/sandbox/filter/sockaddr_notify.h"
#include "node/wire/fdpass.h"

enum { ROUNDS_MAX = 64, DECLARED = 18080, OTHER = 18081, POLL_MS = 1000 };
enum method { PLAIN, BPF, NOTIFY, METHODS };

static const char pod_ip[] = "127.10.4.2";

struct call {
    const char *name, *ip;
    uint16_t port;
    int (*make)(int fd, const struct sockaddr *address, socklen_t len);
};

/* clang-format off */
static const struct call calls[] = {
    {"bind",        "0.0.0.0",    DECLARED, bind},
    {"connect",     "127.0.0.1",  DECLARED, connect},
    {"connect_pod", "127.10.4.3", OTHER,    connect},
    {"untouched",   "127.0.0.1",  OTHER,    connect},
};
/* clang-format on */

static const int repeats[METHODS] = {20000, 20000, 2000};

/* Repeats the call, each time on a new datagram socket. Returns the nanoseconds per call. */
static int64_t measure(const struct call *call, int repeat)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(call->port)};
    int64_t begin_ns;

    inet_pton(AF_INET, call->ip, &address.sin_addr);
    begin_ns = clock_mono_ns(clock_real());
    for (int i = 0; i < repeat; i++) {
        int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

        if (fd < 0 || call->make(fd, (const struct sockaddr *)&address, sizeof address))
            return -1;
        close(fd);
    }
    return (clock_mono_ns(clock_real()) - begin_ns) / repeat;
}

/* Answers the child's seccomp notifications until it has ended, as a shim does. */
static void answer(int socket_fd, const struct sockaddr_rules *rules)
{
    struct port_failures failures = {0};
    int fds[FDPASS_MAX], listener_fd;
    char byte;

    if (fdpass_receive(socket_fd, &byte, 1, fds, 0) != 1)
        return;
    listener_fd = fds[0];
    for (;;) {
        struct pollfd asked = {listener_fd, POLLIN, 0};

        if (poll(&asked, 1, POLL_MS) < 0 || !sockaddr_notify_answer(listener_fd, rules, &failures))
            break;
    }
    close(listener_fd);
}

static int64_t run(const struct call *call, enum method method, const struct cgroup *group,
                   const struct sockaddr_rules *rules)
{
    int64_t *result =
        mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool in_unified;
    int ends[2];
    int64_t each_ns;
    pid_t pid;

    if (result == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -1;
    *result = -1;
    pid = cgroup_clone(method == BPF ? group : NULL, 0, &in_unified);
    if (pid == 0) {
        if (method == BPF)
            cgroup_join(group, in_unified);
        if (method == NOTIFY) {
            int listener_fd;

            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            listener_fd = sockaddr_notify_install();
            if (listener_fd < 0 || !fdpass_send(ends[1], "", 1, &listener_fd, 1, 0))
                _exit(1);
            close(listener_fd);
        }
        *result = measure(call, repeats[method]);
        _exit(0);
    }
    close(ends[1]);
    if (pid > 0 && method == NOTIFY)
        answer(ends[0], rules);
    close(ends[0]);
    while (pid > 0 && wait(NULL) > 0)
        ; /* reaps the child, and the helper processes that connected in its place */
    each_ns = *result;
    munmap(result, sizeof *result);
    return each_ns;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static double median_us(int64_t *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return (double)values[n / 2] / 1000;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 5;
    struct sockaddr_rules rules = {.ports = {DECLARED}, .n_ports = 1};
    struct sockaddr_bpf bpf = SOCKADDR_BPF_NONE;
    struct cgroup *group;

    inet_pton(AF_INET, pod_ip, &rules.ip);
    if (rounds < 1 || rounds > ROUNDS_MAX)
        return 2;
    if (!cgroup_check_sockaddr_bpf() || !sockaddr_bpf_open(&bpf, NULL)) {
        fprintf(stderr, "bench_sockaddr: needs root and control groups\n");
        return 1;
    }
    group = cgroup_new(&(struct cgroup_spec){
        .uid = "bench-sockaddr", .limits = {.processes = -1}, .bpf = &bpf, .rules = &rules});
    for (size_t i = 0; group && i < countof(calls); i++) {
        int64_t results[METHODS][ROUNDS_MAX];
        double us[METHODS];

        for (int round = 0; round < rounds; round++)
            for (enum method method = 0; method < METHODS; method++)
                results[method][round] = run(&calls[i], method, group, &rules);
        for (enum method method = 0; method < METHODS; method++)
            us[method] = median_us(results[method], rounds);
        printf("{\"call\":\"%s\",\"plain_us\":%.2f,\"bpf_us\":%.2f,\"seccomp_us\":%.2f}\n",
               calls[i].name, us[PLAIN], us[BPF], us[NOTIFY]);
    }
    cgroup_free(group);
    sockaddr_bpf_close(&bpf);
    return group ? 0 : 1;
}
