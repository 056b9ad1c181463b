/*
 * Helpers beside containers. See exec_helper.h.
 */
#include "node/shim/exec_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "node/sandbox/cgroup.h"
#include "node/sandbox/init.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/shim/shim.h"

enum { TEXT_BYTES = 1024, READ_BYTES = 4096, NS_PER_MS = 1000000, MS_PER_S = 1000, LATE = 124 };

struct exec_helper {
    pid_t pid;
    UT_hash_handle by_pid;
    struct container *container;
    exec_helper_done_fn done;
    uint64_t id;
    struct source output, report; /* fd -1 = closed */
    struct buf text;
};

/* ---- the helper ---- */

struct helper {
    struct container *container;
    const struct shim_action *action;
    int64_t limit_ms;
    int output_fd, report_fd;
    bool born; /* in the container's group, see cgroup_clone */
};

/* Of the shim's descriptors only these three: its lock must not outlive it in us. */
static void keep_few(struct helper *helper, int *null_fd)
{
    enum { INPUT = 3, OUTPUT, REPORT, REST };

    dup2(*null_fd, INPUT);
    dup2(helper->output_fd, OUTPUT);
    dup2(helper->report_fd, REPORT);
    close_range(REST, ~0U, 0);
    *null_fd = INPUT;
    helper->output_fd = OUTPUT;
    helper->report_fd = REPORT;
}

NORETURN static void fail(const struct helper *helper, int code, const char *text)
{
    ssize_t n = write(helper->output_fd, text, strlen(text));

    _exit(n < 0 ? 1 : code);
}

/* Until the program has ended, or the limit is over. */
static bool await(pid_t pid, int64_t limit_ms, int *out_status)
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

NORETURN static void run(struct helper *helper, const struct spawn_plan *plan)
{
    struct spawn_result result = spawn_program(plan);
    char text[ERROR_MESSAGE_MAX];
    int status = 0;

    if (result.pid < 0) {
        spawn_explain(&result, plan, text, sizeof text);
        fail(helper, spawn_exit_code(result.failure), text);
    }
    if (result.listener_fd >= 0) {
        init_send_listener(helper->report_fd, result.listener_fd);
        close(result.listener_fd);
    }
    if (!await(result.pid, helper->limit_ms, &status)) {
        kill(-result.pid, SIGKILL);
        snprintf(text, sizeof text, "not done within %lld ms", (long long)helper->limit_ms);
        fail(helper, LATE, text);
    }
    _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

NORETURN static void exec_in(struct helper *helper)
{
    struct container *c = helper->container;
    struct shim *shim = c->pod->shim;
    struct spawn_plan plan;
    char marker[MARKER_MAX];
    struct error err = {0};
    int null_fd = SHIM_FD_NULL;

    container_spawn_plan(c, marker, &plan); /* while the box is there to be asked */
    if (!pod_sandbox_join(shim->sandbox, c->index, c->pid, helper->born, &plan, &err))
        fail(helper, spawn_exit_code(SPAWN_SETUP), err.message);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* a change of capabilities clears it */
    keep_few(helper, &null_fd);
    plan.argv = helper->action->argv;
    plan.input_fd = null_fd;
    plan.output_fd = helper->output_fd;
    run(helper, &plan);
}

static void nap(int64_t ms)
{
    struct timespec left = {ms / MS_PER_S, ms % MS_PER_S * NS_PER_MS};

    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

NORETURN static void help(struct helper *helper)
{
    const struct shim_action *action = helper->action;
    const char *ip = helper->container->pod->spec.ip;
    int null_fd = SHIM_FD_NULL;

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    prctl(PR_SET_NAME, "jobflow-beside", 0, 0, 0);
    if (action->act == ACT_EXEC)
        exec_in(helper);
    keep_few(helper, &null_fd);
    if (action->act == ACT_SLEEP)
        nap(action->sleep_ms < helper->limit_ms ? action->sleep_ms : helper->limit_ms);
    else if (!exec_helper_get(ip ? ip : "127.0.0.1", action->port, action->path, helper->limit_ms))
        fail(helper, 1, "no good answer");
    _exit(0);
}

/* ---- the shim's side ---- */

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
    int out[2] = {-1, -1}, tell[2] = {-1, -1};
    bool born;

    if (pipe2(out, O_CLOEXEC) == 0 &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, tell) == 0)
        helper->pid = cgroup_clone(group, 0, &born);
    if (helper->pid == 0)
        help(&(struct helper){helper->container, action, limit_ms, out[1], tell[1], born});
    for (unsigned end = 0; end < 2; end++) {
        bool kept = end == 0 && helper->pid > 0;

        if (out[end] >= 0 && !kept)
            close(out[end]);
        if (tell[end] >= 0 && !kept)
            close(tell[end]);
    }
    if (helper->pid < 0)
        return false;
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    helper->output = (struct source){on_output, out[0]};
    helper->report = (struct source){on_report, tell[0]};
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
    c->pod->exec_helpers++;
    reactor_add(&shim->reactor, &helper->output, EPOLLIN);
    reactor_add(&shim->reactor, &helper->report, EPOLLIN);
    return true;
}

void exec_helper_stop(const struct container *c)
{
    for (struct exec_helper *b = c->pod->shim->exec_helpers; b; b = b->by_pid.next)
        if (b->container == c)
            kill(b->pid, SIGKILL); /* our child, not reaped: it is still the same */
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
    helper->container->pod->exec_helpers--;
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
