/*
 * Containers of a sandboxed pod: their first process is an init (sandbox/init.h), which reports
 * over a socket when the program has started and how it ended. Where addresses are rewritten
 * without privilege, the programs' calls wait for answers of this shim (sandbox/sockaddr_notify.h).
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "node/sandbox/filter/sockaddr_notify.h"
#include "node/sandbox/init.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/shim/shim.h"

enum { VOLUME_CHECK_FIRST_NS = 1000000000 };

bool sandboxed_open(struct pod *pod)
{
    struct shim *shim = pod->shim;
    struct error err = {0};

    shim->sandbox = pod_sandbox_new(SHIM_FD_PODS, shim->pods_dir, &pod->spec, &shim->config,
                                    &shim->netns_holder.network, &shim->sockaddr_bpf, &err);
    /* Making the sandbox may change ids and capabilities, which undoes an earlier
     * pod_shim_die_with. */
    if (!pod_shim_die_with(shim->shared_pid))
        _exit(1);
    if (shim->sandbox && volumes_limited(&pod->spec))
        alarm_set(&shim->reactor, &pod->volume_check, VOLUME_CHECK_FIRST_NS);
    if (shim->sandbox)
        return true;
    pod_refuse(pod, "CreateContainerError", NULL);
    pod->owned_message = mem_strdup(err.message);
    return false;
}

/* Reads a report of the container's init. Returns false when there is none to read now. */
static bool read_report(struct container *c)
{
    struct init_report report = {0};
    int listener_fd;

    if (!init_receive(c->report.fd, &report, &listener_fd))
        return false;
    if (listener_fd >= 0)
        notify_listener_open(c, listener_fd);
    report.text[sizeof report.text - 1] = 0;
    if (report.event == INIT_STARTED) {
        c->status->started_ms = clock_wall_ms(clock_real());
        if (c->pid)
            container_program_started(c);
    } else {
        if (!c->final_report)
            c->final_report = mem_alloc(sizeof *c->final_report);
        *c->final_report = report;
    }
    return true;
}

/* The address requests of one started program: the container's own, or that of an exec helper. */
struct notify_listener {
    struct source source;
    struct container *container;
    struct notify_listener *next;
};

static void close_one(struct notify_listener *listener)
{
    struct notify_listener **at = &listener->container->notify_listeners;

    while (*at != listener)
        at = &(*at)->next;
    *at = listener->next;
    reactor_remove(&listener->container->pod->shim->reactor, &listener->source);
    close(listener->source.fd);
    mem_free(listener);
}

static void on_address_request(struct source *source, uint32_t events)
{
    struct notify_listener *listener = container_of(source, struct notify_listener, source);
    struct container *c = listener->container;

    if (!sockaddr_notify_answer(source->fd, &c->pod->shim->sandbox->rules, &c->port_failures))
        close_one(listener);
}

void notify_listener_open(struct container *c, int fd)
{
    struct notify_listener *listener = mem_alloc(sizeof *listener);

    *listener = (struct notify_listener){{on_address_request, fd}, c, c->notify_listeners};
    c->notify_listeners = listener;
    reactor_add(&c->pod->shim->reactor, &listener->source, EPOLLIN);
}

void notify_listeners_close(struct container *c)
{
    while (c->notify_listeners)
        close_one(c->notify_listeners);
}

static void on_report(struct source *source, uint32_t events)
{
    struct container *c = container_of(source, struct container, report);

    if (!read_report(c) && (events & EPOLLHUP))
        reactor_remove(&c->pod->shim->reactor, source); /* sandboxed_exited closes the socket */
}

static void cannot_start(struct container *c, const char *why)
{
    output_close(c);
    container_ended(c, spawn_exit_code(SPAWN_SETUP), 0, "ContainerCannotRun", mem_strdup(why));
}

void sandboxed_start(struct container *c, const struct spawn_plan *program)
{
    struct shim *shim = c->pod->shim;
    struct error err = {0};
    int ends[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
        cannot_start(c, "no socket for the container's init");
        return;
    }
    pid = pod_sandbox_start(shim->sandbox, c->index, program, ends[1], &err);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        cannot_start(c, err.message);
        return;
    }
    c->report = (struct source){on_report, ends[0]};
    reactor_add(&shim->reactor, &c->report, EPOLLIN);
    container_set_process(c, pid);
}

void sandboxed_exited(struct container *c, int wait_status)
{
    struct init_report *ended;
    /* Used when there is no report: the container's init was killed. */
    struct init_report killed = {INIT_ENDED, SIGKILL};
    char *message;
    int number, code;
    bool oom;

    while (read_report(c))
        ;
    reactor_remove(&c->pod->shim->reactor, &c->report);
    close(c->report.fd);
    c->report.fd = -1;
    ended = c->final_report ? c->final_report : &killed;
    message = pod_sandbox_termination_message(c->pod->shim->sandbox, c->index);
    if (!c->port_failures.taken)
        c->port_failures.taken = pod_sandbox_taken_port(c->pod->shim->sandbox, c->index);
    number = WIFSIGNALED(ended->value) ? WTERMSIG(ended->value) : 0;
    code = number ? 128 + number : WEXITSTATUS(ended->value);
    oom = code == 128 + SIGKILL && pod_sandbox_oom_killed(c->pod->shim->sandbox, c->index);
    pod_sandbox_ended(c->pod->shim->sandbox, c->index);
    if (ended->event == INIT_FAILED) {
        mem_free(message);
        container_ended(c, spawn_exit_code((enum spawn_failure)ended->value), 0,
                        "ContainerCannotRun", mem_strdup(ended->text));
    } else {
        container_ended(c, code, number, container_reason(c, code, oom), message);
    }
    mem_free(c->final_report);
    c->final_report = NULL;
}
