/*
 * One container of a pod in its shim: its runs, how they end, restarts after a back-off, hooks,
 * and the watch over its memory where no control group does it. See pod.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "node/sandbox/cgroup/pss.h"
#include "node/sandbox/init.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/sandbox/spawn.h"
#include "node/shim/exec_helper.h"
#include "node/shim/pod.h"
#include "node/shim/pod_mark.h"
#include "node/shim/shim.h"

enum {
    NS_PER_MS = 1000000,
    STATUS_DELAY_MS = 5, /* delay of the first status; a pod that ends sooner is reported only once,
                          * at its end */
    BACKOFF_MAX_MS = 300000,
    BACKOFF_RESET_MS = 600000, /* after a run of this length the back-off before a restart begins
                                * anew */
    HOOK_LIMIT_MS = 120000, /* limit of a postStart hook; a preStop hook has the grace period of its
                             * pod */
};

static int64_t now_ms(void)
{
    return clock_wall_ms(clock_real());
}

/* Has the pod's status reported after a short delay. A pod that ends meanwhile is reported only
 * once. */
static void report_soon(struct pod *pod)
{
    if (!alarm_is_set(&pod->status_delay))
        alarm_set(&pod->shim->reactor, &pod->status_delay, STATUS_DELAY_MS * (int64_t)NS_PER_MS);
}

static void restart_now(struct alarm *alarm)
{
    struct container *c = container_of(alarm, struct container, restart);

    c->status->restart_count++;
    pod_wake(c->pod);
}

static void check_memory(struct alarm *alarm)
{
    struct container *c = container_of(alarm, struct container, memory_check);

    if (!c->pid || c->over_memory) /* the check of the pod's limit has killed it */
        return;
    c->over_memory = pss_of_tree(c->pid) > c->spec->limits.memory_bytes;
    if (c->over_memory)
        container_signal(c, SIGKILL);
    else
        alarm_set(&c->pod->shim->reactor, alarm, MEMORY_CHECK_MS * (int64_t)NS_PER_MS);
}

static void kill_container(struct alarm *alarm)
{
    struct container *c = container_of(alarm, struct container, kill);

    if (c->pid)
        container_signal(c, SIGKILL);
}

void container_init(struct pod *pod, unsigned index)
{
    struct container *c = &pod->containers[index];

    c->pod = pod;
    c->spec = &pod->spec.containers[index];
    c->index = index;
    c->output = (struct source){.fd = -1};
    c->report = (struct source){.fd = -1};
    c->restart.ring = restart_now;
    c->memory_check.ring = check_memory;
    c->kill.ring = kill_container;
    c->backoff_ms = pod->shim->config.backoff_ms;
    /* The statuses of init and main containers are one array, see pod_new. */
    c->status = &pod->status.init_containers.items[index];
    c->status->name = c->spec->name;
    c->status->state = CONTAINER_WAITING;
    c->status->reason = index < pod->spec.n_init ? "PodInitializing" : "ContainerCreating";
    c->log.fd = -1;
}

void container_release(struct container *c)
{
    struct reactor *reactor = &c->pod->shim->reactor;

    alarm_clear(reactor, &c->restart);
    alarm_clear(reactor, &c->memory_check);
    alarm_clear(reactor, &c->kill);
    output_close(c);
    notify_listeners_close(c);
    mem_free(c->message);
    mem_free(c->final_report);
    mem_free(c->stop_reason);
    arena_free(c->renewed);
    buf_release(&c->tail);
}

/* Returns a text that says which port a failed program did not get; owned. Returns NULL when no
 * port was missing. */
static char *port_failure_text(const struct port_failures *ports)
{
    if (ports->taken)
        return mem_printf("port %u was in use on this machine; declare it as containerPort %u, and "
                          "it is the pod's own",
                          ports->taken, ports->taken);
    if (ports->refused)
        return mem_printf("port %u: permission denied: this user may not listen below 1024 on this "
                          "machine; use a higher port, or --network private",
                          ports->refused);
    return NULL;
}

void container_ended(struct container *c, int code, int number, const char *reason, char *message)
{
    struct pod *pod = c->pod;
    struct container_status *status = c->status;
    int64_t ran_ms = (clock_mono_ns(clock_real()) - c->started_ns) / NS_PER_MS;

    if (!message)
        message = take(c->stop_reason);
    if (code && c->port_failures.taken)
        reason = "PortConflict";
    if (code && !message)
        message = port_failure_text(&c->port_failures);
    if (!message && code)
        message = output_tail(c);
    mem_free(c->message);
    c->message = message;
    status->state = CONTAINER_TERMINATED;
    status->exit_code = code;
    status->signal = number;
    status->reason = reason;
    status->finished_ms = now_ms();
    if (status->finished_ms < status->started_ms)
        status->finished_ms = status->started_ms; /* the wall clock was set back, so the end must
                                                   * not lie before the start (D-12) */
    pod_wake(pod);
    if (pod->n_running)
        report_soon(pod); /* the pod goes on without this container */
    if (pod->life != LIFE_ACTIVE ||
        !pod_restarts(pod->spec.restart, c->spec->sidecar, c->index < pod->spec.n_init, code))
        return;

    status->has_last = true;
    status->last_exit_code = code;
    status->last_signal = number;
    status->last_reason = reason;
    status->state = CONTAINER_WAITING;
    status->reason = "CrashLoopBackOff";
    if (ran_ms >= BACKOFF_RESET_MS)
        c->backoff_ms = pod->shim->config.backoff_ms;
    alarm_set(&pod->shim->reactor, &c->restart, c->backoff_ms * NS_PER_MS);
    c->backoff_ms = c->backoff_ms * 2 < BACKOFF_MAX_MS ? c->backoff_ms * 2 : BACKOFF_MAX_MS;
    pod->status_changed = true;
}

const char *container_reason(struct container *c, int code, bool oom)
{
    if (code == 128 + SIGKILL && (oom || c->over_memory))
        return "OOMKilled";
    return code ? "Error" : "Completed";
}

void container_add_usage(struct container *c, const struct rusage *used)
{
    const struct timeval *user = &used->ru_utime, *system = &used->ru_stime;
    int64_t peak_bytes = used->ru_maxrss * 1024;

    c->status->cpu_ms +=
        (user->tv_sec + system->tv_sec) * 1000 + (user->tv_usec + system->tv_usec + 500) / 1000;
    if (c->status->memory_peak_bytes < peak_bytes)
        c->status->memory_peak_bytes = peak_bytes;
}

/* Returns the message that a plain process has left, or NULL; owned. */
static char *termination_message(const struct container *c)
{
    struct pod_sandbox *sandbox = c->pod->shim->sandbox;

    return sandbox ? pod_sandbox_termination_message(sandbox, c->index) : NULL;
}

void container_exited(struct container *c, int wait_status, const struct rusage *used)
{
    struct pod *pod = c->pod;
    bool killed = WIFSIGNALED(wait_status);
    int code = killed ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);

    HASH_DELETE(by_pid, pod->shim->programs, c);
    c->pid = 0;
    container_run_set(&c->run, RUN_NONE);
    exec_helper_stop(c);
    alarm_clear(&pod->shim->reactor, &c->kill);
    alarm_clear(&pod->shim->reactor, &c->memory_check);
    pod->n_running--;
    container_add_usage(c, used);
    notify_listeners_close(c);
    output_drain(c);
    if (c->report.fd >= 0)
        sandboxed_exited(c, wait_status);
    else
        container_ended(c, code, killed ? WTERMSIG(wait_status) : 0,
                        container_reason(c, code, false), termination_message(c));
}

void container_signal(const struct container *c, int number)
{
    bool sandboxed = c->report.fd >= 0;

    if (number == SIGKILL && sandboxed && !container_run_starting(c->run))
        number = INIT_KILL;
    kill(sandboxed ? c->pid : -c->pid, number);
}

static void cannot_run(struct container *c, const struct spawn_plan *plan,
                       const struct spawn_result *result)
{
    char text[ERROR_MESSAGE_MAX];

    spawn_explain(result, plan, text, sizeof text);
    output_close(c);
    container_ended(c, spawn_exit_code(result->failure), 0, "ContainerCannotRun", mem_strdup(text));
}

void container_set_process(struct container *c, pid_t pid)
{
    struct pod *pod = c->pod;

    c->pid = pid;
    container_run_set(&c->run, RUN_STARTING);
    HASH_ADD(by_pid, pod->shim->programs, pid, sizeof c->pid, c);
    pod->n_running++;
}

static void set_running(struct container *c)
{
    struct pod *pod = c->pod;

    container_run_set(&c->run, c->run == RUN_STARTING ? RUN_UP : RUN_STOPPING);
    c->status->state = CONTAINER_RUNNING;
    c->status->reason = NULL;
    c->over_memory = false;
    if (c->spec->limits.memory_bytes > 0 &&
        !(pod->shim->sandbox && pod_sandbox_limits_memory(pod->shim->sandbox, c->index)))
        alarm_set(&pod->shim->reactor, &c->memory_check, MEMORY_CHECK_MS * (int64_t)NS_PER_MS);
    pod_watch_memory(pod);
    report_soon(pod);
}

void container_update_program(struct container *c, struct frame_reader fields)
{
    size_t len = (size_t)(fields.end - fields.at);
    struct arena *arena = arena_new(len + 1024);
    char *bytes = arena_alloc(arena, len + 1);
    struct shim_container *spec = arena_alloc(arena, sizeof *spec);
    struct shim_program program;

    memcpy(bytes, fields.at, len);
    fields = (struct frame_reader){bytes, bytes + len, false};
    if (!shim_get_program(&fields, arena, &program)) {
        arena_free(arena);
        return;
    }
    *spec = *c->spec;
    spec->argv = program.argv;
    spec->n_argv = program.n_argv;
    spec->env = program.env;
    spec->n_env = program.n_env;
    c->spec = spec;
    arena_free(c->renewed);
    c->renewed = arena;
}

/* One pass of a startup probe is enough: when the container runs again, later containers have been
 * started. */
void container_startup_passed(struct container *c)
{
    c->startup_passed = true;
    c->pod->status_changed = true;
    pod_wake(c->pod);
}

static void post_start_done(struct container *c, uint64_t id, int code, const char *text)
{
    if (!container_run_starting(c->run))
        return;
    if (code == 0) {
        set_running(c);
        return;
    }

    scoped_str why =
        mem_printf("postStart hook failed with code %d%s%s", code, *text ? ": " : "", text);

    set_running(c);
    container_stop(c, c->pod->spec.grace_ms, why);
}

void container_program_started(struct container *c)
{
    pod_wake(c->pod);
    if (!container_run_starting(c->run)) /* the container's process has ended already */
        return;
    if (c->spec->post_start.act == ACT_NONE)
        set_running(c);
    else
        exec_helper_start(c, &c->spec->post_start, HOOK_LIMIT_MS, post_start_done, 0);
}

static void pre_stop_done(struct container *c, uint64_t id, int code, const char *text)
{
    if (container_run_stopping(c->run))
        container_signal(c, SIGTERM);
}

void container_terminate(struct container *c, int64_t grace_ms)
{
    bool up = c->run == RUN_UP;

    if (c->run == RUN_NONE || container_run_stopping(c->run))
        return;
    container_run_set(&c->run, up ? RUN_STOPPING : RUN_STOPPING_EARLY);
    if (grace_ms <= 0)
        return; /* container_stop kills the container at once */
    if (up && c->spec->pre_stop.act != ACT_NONE)
        exec_helper_start(c, &c->spec->pre_stop, grace_ms, pre_stop_done, 0);
    else
        container_signal(c, SIGTERM);
}

void container_stop(struct container *c, int64_t grace_ms, const char *why)
{
    if (!c->pid)
        return;
    if (why && !c->stop_reason)
        c->stop_reason = mem_strdup(why);
    container_terminate(c, grace_ms);
    alarm_set(&c->pod->shim->reactor, &c->kill, (grace_ms > 0 ? grace_ms : 0) * NS_PER_MS);
}

static void plain_start(struct container *c, const struct spawn_plan *program)
{
    struct spawn_result result = spawn_program(program);

    if (result.pid < 0) {
        cannot_run(c, program, &result);
        return;
    }
    container_set_process(c, result.pid);
    container_program_started(c);
    if (result.listener_fd >= 0)
        notify_listener_open(c, result.listener_fd);
}

void container_spawn_plan(struct container *c, char marker[MARKER_MAX], struct spawn_plan *out)
{
    struct shim *shim = c->pod->shim;

    snprintf(marker, MARKER_MAX, SHIM_MARKER "=%s", c->pod->spec.uid);
    *out = (struct spawn_plan){
        .argv = c->spec->argv,
        .env = container_env(c, marker),
        .cwd = c->spec->cwd ? c->spec->cwd : shim->config.cwd,
        .input_fd = SHIM_FD_NULL,
        .files = shim->nofile_limit,
        .mark = pod_mark_limit(c->pod->spec.uid),
        .processes = shim->sandbox ? pod_sandbox_process_limit(shim->sandbox) : 0,
        .notify = shim->sandbox && pod_sandbox_uses_notify(shim->sandbox),
        .filter = c->spec->filtered,
        .new_keyring = !shim->shared || shim->own_keyrings,
    };
}

void container_start(struct container *c)
{
    struct pod *pod = c->pod;
    struct shim *shim = pod->shim;
    char marker[MARKER_MAX];
    struct spawn_plan program;
    int ends[2];

    mem_free(c->message);
    c->message = NULL;
    mem_free(take(c->stop_reason));
    c->port_failures = (struct port_failures){0};
    c->status->cpu_ms = c->status->memory_peak_bytes = 0;
    c->started_ns = clock_mono_ns(clock_real());
    c->status->started_ms = now_ms();
    output_close(c); /* closes the output of the previous run */
    if (pipe2(ends, O_CLOEXEC)) {
        cannot_run(c, &(struct spawn_plan){.argv = c->spec->argv},
                   &(struct spawn_result){-1, -1, SPAWN_SETUP, errno, "output pipe"});
        return;
    }
    output_open(c, ends[0]);
    container_spawn_plan(c, marker, &program);
    program.output_fd = ends[1];
    if (shim->sandbox && shim->sandbox->level > ISOLATION_PLAIN) {
        sandboxed_start(c, &program);
    } else {
        program.group = pids_limit_group(shim);
        plain_start(c, &program);
    }
    close(ends[1]);
}
