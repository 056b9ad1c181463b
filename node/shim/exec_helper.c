/*
 * Exec helpers run a probe or a hook beside the program of a container. The first part of the file
 * is what the forked helper does; the second part is the shim's side.
 */
#include "node/shim/exec_helper.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "node/sandbox/cgroup/cgroup.h"
#include "node/sandbox/init.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/shim/shim.h"

enum {
    TEXT_BYTES = 1024,
    READ_BYTES = 4096,
    NS_PER_MS = 1000000,
    MS_PER_S = 1000,
    EXIT_TIMED_OUT = 124
};

struct exec_helper {
    pid_t pid;
    UT_hash_handle by_pid;
    struct container *container;
    exec_helper_done_fn done;
    uint64_t id;
    struct source output, report; /* sources of the helper's output and report; fd -1 = closed */
    struct buf text;
};

/* An action, as the forked helper sees it. */
struct action {
    struct container *container;
    const struct shim_action *action;
    int64_t limit_ms;
    int output_fd, report_fd;
    bool born; /* the helper is in the container's control group already (cgroup_clone) */
};

/* Closes the shim's descriptors in the helper except for three. An inherited lock would outlive the
 * shim. */
static void keep_three(struct action *a, int *null_fd)
{
    enum { INPUT = 3, OUTPUT, REPORT, REST };

    dup2(*null_fd, INPUT);
    dup2(a->output_fd, OUTPUT);
    dup2(a->report_fd, REPORT);
    close_range(REST, ~0U, 0);
    *null_fd = INPUT;
    a->output_fd = OUTPUT;
    a->report_fd = REPORT;
}

NORETURN static void fail(const struct action *a, int code, const char *text)
{
    ssize_t n = write(a->output_fd, text, strlen(text));

    _exit(n < 0 ? 1 : code);
}

/* Waits until the program has ended. Returns false when the limit has passed. */
static bool wait_program(pid_t pid, int64_t limit_ms, int *out_status)
{
    int64_t due_ns = clock_mono_ns(clock_real()) + limit_ms * NS_PER_MS;
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        int64_t left_ns = due_ns - clock_mono_ns(clock_real());
        struct timespec left = {left_ns / (MS_PER_S * (int64_t)NS_PER_MS),
                                left_ns % (MS_PER_S * (int64_t)NS_PER_MS)};

        if (waitpid(pid, out_status, WNOHANG) == pid)
            return true;
        if (left_ns <= 0)
            return false;
        sigtimedwait(&child, NULL, &left);
    }
}

NORETURN static void run(struct action *a, const struct spawn_plan *plan)
{
    struct spawn_result result = spawn_program(plan);
    char text[ERROR_MESSAGE_MAX];
    int status = 0;

    if (result.pid < 0) {
        spawn_explain(&result, plan, text, sizeof text);
        fail(a, spawn_exit_code(result.failure), text);
    }
    if (result.listener_fd >= 0) {
        init_send_listener(a->report_fd, result.listener_fd);
        close(result.listener_fd);
    }
    if (!wait_program(result.pid, a->limit_ms, &status)) {
        kill(-result.pid, SIGKILL);
        snprintf(text, sizeof text, "not done within %lld ms", (long long)a->limit_ms);
        fail(a, EXIT_TIMED_OUT, text);
    }
    _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

NORETURN static void exec_in(struct action *a)
{
    struct container *c = a->container;
    struct shim *shim = c->pod->shim;
    struct spawn_plan plan;
    char marker[MARKER_MAX];
    struct error err = {0};
    int null_fd = SHIM_FD_NULL;

    /* The program shares this process's memory until it calls exec, and other programs of the pod
     * see it already: they must not trace it and so get out of their process ids. */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    container_spawn_plan(c, marker, &plan);
    if (!pod_sandbox_join(shim->sandbox, c->index, c->pid, a->born, &plan, &err))
        fail(a, spawn_exit_code(SPAWN_SETUP), err.message);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* a change of capabilities clears the signal */
    keep_three(a, &null_fd);
    plan.argv = a->action->argv;
    plan.input_fd = null_fd;
    plan.output_fd = a->output_fd;
    run(a, &plan);
}

static bool send_get(int fd, const char *ip, uint32_t port, const char *path)
{
    scoped_str request = mem_printf("GET %s%s HTTP/1.1\r\nHost: %s:%u\r\n"
                                    "User-Agent: jobflow-hook/1\r\nConnection: close\r\n\r\n",
                                    *path == '/' ? "" : "/", path, ip, port);
    size_t len = strlen(request);

    return !strpbrk(path, "\r\n ") && send(fd, request, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static bool response_ok(int fd)
{
    char head[16] = "";
    size_t len = 0;
    long status;

    while (len < sizeof head - 1) {
        ssize_t n = recv(fd, head + len, sizeof head - 1 - len, 0);

        if (n <= 0)
            break;
        len += (size_t)n;
    }
    head[len] = 0;
    status = strncmp(head, "HTTP/1.", 7) != 0 || len < 12 ? 0 : strtol(head + 9, NULL, 10);
    return status >= 200 && status < 400;
}

/* Sends one GET to a server of the pod and returns whether it answers with a status from 200 to
 * 399. Blocks up to the limit for each step. Only the status line is read. */
static bool get_ok(const char *ip, uint32_t port, const char *path, int64_t limit_ms)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval limit = {limit_ms / 1000, (suseconds_t)(limit_ms % 1000 * 1000)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && inet_pton(AF_INET, ip, &to.sin_addr) == 1 &&
              setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
              setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
              connect(fd, (struct sockaddr *)&to, sizeof to) == 0 && send_get(fd, ip, port, path) &&
              response_ok(fd);

    if (fd >= 0)
        close(fd);
    return ok;
}

static void sleep_for(int64_t ms)
{
    struct timespec left = {ms / MS_PER_S, ms % MS_PER_S * NS_PER_MS};

    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

NORETURN static void helper_main(struct action *a)
{
    const struct shim_action *action = a->action;
    const char *ip = a->container->pod->spec.ip;
    int null_fd = SHIM_FD_NULL;

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    prctl(PR_SET_NAME, "jobflow-exec", 0, 0, 0);
    if (action->act == ACT_EXEC)
        exec_in(a);
    keep_three(a, &null_fd);
    if (action->act == ACT_SLEEP)
        sleep_for(action->sleep_ms < a->limit_ms ? action->sleep_ms : a->limit_ms);
    else if (!get_ok(ip ? ip : "127.0.0.1", action->port, action->path, a->limit_ms))
        fail(a, 1, "no good answer");
    _exit(0);
}

static void close_source(struct shim *shim, struct source *source)
{
    if (source->fd < 0)
        return;
    reactor_remove(&shim->reactor, source);
    close(source->fd);
    source->fd = -1;
}

static bool read_output(struct exec_helper *helper)
{
    char chunk[READ_BYTES];
    ssize_t n = read(helper->output.fd, chunk, sizeof chunk);
    size_t room = TEXT_BYTES - helper->text.len;

    if (n > 0)
        buf_add(&helper->text, chunk, (size_t)n < room ? (size_t)n : room);
    return n > 0;
}

static void on_output(struct source *source, uint32_t events)
{
    struct exec_helper *helper = container_of(source, struct exec_helper, output);

    if (!read_output(helper) && (events & EPOLLHUP))
        close_source(helper->container->pod->shim, source);
}

static void on_report(struct source *source, uint32_t events)
{
    struct exec_helper *helper = container_of(source, struct exec_helper, report);
    struct init_report report = {0};
    int listener_fd;

    if (init_receive(source->fd, &report, &listener_fd) && listener_fd >= 0)
        notify_listener_open(helper->container, listener_fd);
    else if (events & EPOLLHUP)
        close_source(helper->container->pod->shim, source);
}

static bool fork_helper(struct exec_helper *helper, const struct shim_action *action,
                        int64_t limit_ms)
{
    const struct container *c = helper->container;
    const struct cgroup *group =
        action->act == ACT_EXEC ? c->pod->shim->sandbox->groups[c->index] : NULL;
    int out[2] = {-1, -1}, report[2] = {-1, -1};
    bool born;

    if (pipe2(out, O_CLOEXEC) == 0 &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report) == 0)
        helper->pid = cgroup_clone(group, 0, &born);
    if (helper->pid == 0)
        helper_main(&(struct action){helper->container, action, limit_ms, out[1], report[1], born});
    for (unsigned end = 0; end < 2; end++) {
        bool kept = end == 0 && helper->pid > 0;

        if (out[end] >= 0 && !kept)
            close(out[end]);
        if (report[end] >= 0 && !kept)
            close(report[end]);
    }
    if (helper->pid < 0)
        return false;
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    helper->output = (struct source){on_output, out[0]};
    helper->report = (struct source){on_report, report[0]};
    return true;
}

bool exec_helper_start(struct container *c, const struct shim_action *action, int64_t limit_ms,
                       exec_helper_done_fn done, uint64_t id)
{
    struct shim *shim = c->pod->shim;
    struct exec_helper *helper;

    if (!c->pid || !shim->sandbox) {
        done(c, id, -1, "the container does not run");
        return false;
    }
    helper = mem_alloc(sizeof *helper);
    *helper = (struct exec_helper){.pid = -1, .container = c, .done = done, .id = id};
    if (!fork_helper(helper, action, limit_ms)) {
        mem_free(helper);
        done(c, id, -1, "no process for it");
        return false;
    }
    shim->had_exec_helper = true;
    HASH_ADD(by_pid, shim->exec_helpers, pid, sizeof helper->pid, helper);
    c->pod->n_exec_helpers++;
    reactor_add(&shim->reactor, &helper->output, EPOLLIN);
    reactor_add(&shim->reactor, &helper->report, EPOLLIN);
    return true;
}

void exec_helper_stop(const struct container *c)
{
    for (struct exec_helper *b = c->pod->shim->exec_helpers; b; b = b->by_pid.next)
        if (b->container == c)
            kill(b->pid, SIGKILL); /* the pid is not reused before the helper is reaped */
}

bool exec_helper_has_process(const struct shim *shim, pid_t pid)
{
    struct exec_helper *helper;

    HASH_FIND(by_pid, shim->exec_helpers, &pid, sizeof pid, helper);
    return helper != NULL;
}

static void exec_helper_free(struct shim *shim, struct exec_helper *helper)
{
    HASH_DELETE(by_pid, shim->exec_helpers, helper);
    close_source(shim, &helper->output);
    close_source(shim, &helper->report);
    helper->container->pod->n_exec_helpers--;
    buf_release(&helper->text);
    mem_free(helper);
}

bool exec_helper_exited(struct shim *shim, pid_t pid, int wait_status)
{
    struct exec_helper *helper;
    const char *text;

    HASH_FIND(by_pid, shim->exec_helpers, &pid, sizeof pid, helper);
    if (!helper)
        return false;
    while (helper->output.fd >= 0 && helper->text.len < TEXT_BYTES && read_output(helper))
        ;
    text = helper->text.data ? helper->text.data : "";
    helper->done(helper->container, helper->id,
                 WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1, text);
    pod_wake(helper->container->pod);
    exec_helper_free(shim, helper);
    return true;
}
