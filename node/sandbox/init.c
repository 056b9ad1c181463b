/*
 * Process 1 of a container: what it does from its start to its end.
 */
#include "node/sandbox/init.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/sandbox/cgroup/cgroup.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/wire/fdpass.h"

enum { KILL_STEPS = 200 }; /* the number of tries, one millisecond apart */

bool init_receive(int fd, struct init_report *out, int *out_fd)
{
    int fds[FDPASS_MAX];
    int n = fdpass_receive(fd, out, sizeof *out, fds, MSG_DONTWAIT);

    *out_fd = n == 1 ? fds[0] : -1;
    return n >= 0;
}

void init_send_listener(int report_fd, int listener_fd)
{
    fdpass_send(report_fd, &(struct init_report){INIT_STARTED}, sizeof(struct init_report),
                &listener_fd, listener_fd >= 0, 0);
}

static void report(int fd, enum init_event event, int value, const char *text)
{
    struct init_report message = {.event = event, .value = value};

    snprintf(message.text, sizeof message.text, "%s", text);
    fdpass_send(fd, &message, sizeof message, NULL, 0, 0);
}

NORETURN static void fail(const struct init_plan *plan, enum spawn_failure failure,
                          const char *text)
{
    report(plan->report_fd, INIT_FAILED, (int)failure, text);
    _exit(1);
}

/* Closes all descriptors inherited from the shim except those of the program and of the report.
 * Otherwise the shim's lock, for one, would be held by this process after the end of the shim. */
static void close_inherited(struct init_plan *plan)
{
    enum { INPUT = 3, OUTPUT, REPORT, REST };

    /* The numbers of the plan's descriptors are above all those used here. */
    dup2(plan->program.input_fd, INPUT);
    dup2(plan->program.output_fd, OUTPUT);
    dup2(plan->report_fd, REPORT);
    close_range(REST, ~0U, 0);
    plan->program.input_fd = INPUT;
    plan->program.output_fd = OUTPUT;
    plan->report_fd = REPORT;
}

/* Lets this process die with the shim; the kernel then kills everything in this pid namespace.
 * Returns false if the shim is dead already. */
static bool die_with_shim(const struct init_plan *plan)
{
    struct pollfd shim = {plan->shim_pidfd, POLLIN, 0};

    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && poll(&shim, 1, 0) == 0;
}

static pid_t start_program(const struct init_plan *plan)
{
    struct spawn_result result = spawn_program(&plan->program);
    char text[ERROR_MESSAGE_MAX];

    if (result.pid > 0) {
        init_send_listener(plan->report_fd, result.listener_fd);
        if (result.listener_fd >= 0)
            close(result.listener_fd);
        return result.pid;
    }
    spawn_explain(&result, &plan->program, text, sizeof text);
    fail(plan, result.failure, text);
}

/* Kills all processes of the namespace and reaps them, so that the resources they used are added to
 * those of this process. Processes whose user may not be signalled are not waited for; they end
 * with this process. Returns the wait status of the program. */
static int kill_all(pid_t program)
{
    const struct timespec step = {0, 1000000};
    int wait_status, program_status = SIGKILL; /* as a wait status, SIGKILL says: killed by that
                                                * signal */
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    kill(-1, SIGKILL);
    for (unsigned steps = 0; steps < KILL_STEPS; steps++) {
        pid_t pid;

        while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0)
            if (pid == program)
                program_status = wait_status;
        if (pid < 0)
            break;
        sigtimedwait(&child, NULL, &step);
    }
    return program_status;
}

/* Passes signals on to the program and reaps orphans until the program has ended. Returns its wait
 * status. */
static int wait_for(pid_t program)
{
    sigset_t all;
    siginfo_t info;

    sigfillset(&all);
    for (;;) {
        int number = sigwaitinfo(&all, &info), wait_status;

        if (number == INIT_KILL)
            return kill_all(program);
        if (number > 0 && number != SIGCHLD)
            kill(-program, number);
        for (pid_t pid; number == SIGCHLD && (pid = waitpid(-1, &wait_status, WNOHANG)) > 0;)
            if (pid == program)
                return wait_status;
    }
}

NORETURN void init_run(struct init_plan *plan)
{
    struct error err = {0};
    pid_t program;

    if (plan->group)
        cgroup_join(plan->group, plan->in_unified);
    if (!rootfs_build(plan->root, &err))
        fail(plan, SPAWN_SETUP, err.message);
    if (!pod_sandbox_drop_rights(plan->sandbox, plan->index, &plan->program, &err))
        fail(plan, SPAWN_SETUP, err.message);
    if (!die_with_shim(plan))
        _exit(1);
    close_inherited(plan);
    program = start_program(plan);
    report(plan->report_fd, INIT_ENDED, wait_for(program), "");
    _exit(0);
}
