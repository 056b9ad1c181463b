/*
 * Reaping: programs that end, and the processes they leave behind.
 *
 * A program is the leader of its process group. When it has ended, the rest of the group is killed
 * before the program is reaped, because until then its pid names this group and no other.
 *
 * Descendants that had left the group become our children, for the shim is a subreaper; here they
 * are called orphans. Each is assigned to its pod by its mark (pod_mark.h), and killed when no
 * program of the pod runs. A killed orphan may leave orphans in turn, so this repeats until none is
 * left. The kernel's list of children may miss some while others end, so it is read once more a
 * little later. A process has no environment for a moment while it executes another program: an
 * orphan without a mark is read again, at growing intervals, up to ATTEMPTS times.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/shim/exec_helper.h"
#include "node/shim/pod_mark.h"
#include "node/shim/shim.h"

enum { CHILDREN_STEP = 4096, CHECK_AGAIN_NS = 50000000, ATTEMPTS = 10 };

/* Finds the pod by the number that marks a process (pod_mark.h). Returns false when no pod of this
 * shim has the number. When the process has none, returns true and leaves `*out` unchanged. */
static bool pod_of_number(struct shim *shim, pid_t pid, struct pod **out)
{
    rlim_t number = pod_mark_of(pid);

    if (!number)
        return true;
    for (*out = shim->pods; *out && pod_mark_number((*out)->spec.uid) != number;)
        *out = (*out)->by_uid.next;
    return *out != NULL;
}

/* Finds the pod by the mark of a process; NULL when the process has none. Returns false when the
 * mark is that of no pod of this shim. */
static bool pod_of_process(struct shim *shim, pid_t pid, struct pod **out)
{
    char *env = mem_alloc(POD_MARK_ENVIRON_MAX + 1);
    const char *uid = pod_mark_next_uid(env, pod_mark_read_environ(pid, env), NULL);
    bool known;

    *out = NULL;
    if (uid)
        HASH_FIND(by_uid, shim->pods, uid, strlen(uid), *out);
    known = uid ? *out != NULL : pod_of_number(shim, pid, out);
    mem_free(env);
    return known;
}

/* Returns whether an orphan may go on. It lives as long as a program of its pod does or, if its pod
 * is unknown, as long as any program. */
static bool orphan_may_live(const struct shim *shim, const struct orphan *orphan)
{
    return !orphan->foreign && (orphan->pod ? orphan->pod->n_running > 0 : shim->programs != NULL);
}

static void add_orphan(struct shim *shim, pid_t pid)
{
    struct orphan *orphan = mem_alloc(sizeof *orphan);

    orphan->pid = pid;
    orphan->foreign = !pod_of_process(shim, pid, &orphan->pod);
    /* The mark of a process that is about to end cannot be read, but there is only one pod. */
    if (!shim->shared && !orphan->foreign && !orphan->pod)
        orphan->pod = shim->pods;
    if (orphan->pod)
        orphan->pod->n_orphans++;
    HASH_ADD(by_pid, shim->orphans, pid, sizeof orphan->pid, orphan);
}

static void add_orphan_usage(struct pod *pod, const struct rusage *used)
{
    /* Of several containers it is not known which one the process belonged to. */
    if (pod->n_containers == 1)
        container_add_usage(&pod->containers[0], used);
}

static void remove_orphan(struct shim *shim, struct orphan *orphan, const struct rusage *used)
{
    HASH_DELETE(by_pid, shim->orphans, orphan);
    if (orphan->pod) {
        add_orphan_usage(orphan->pod, used);
        orphan->pod->n_orphans--;
        pod_wake(orphan->pod);
    }
    mem_free(orphan);
}

static size_t read_children(struct shim *shim)
{
    struct buf *text = &shim->children;

    buf_clear(text);
    for (;;) {
        buf_reserve(text, CHILDREN_STEP);

        ssize_t n =
            pread(shim->children_fd, text->data + text->len, CHILDREN_STEP - 1, (off_t)text->len);

        if (n <= 0)
            break;
        text->len += (size_t)n;
    }
    text->data[text->len] = 0;
    return text->len;
}

/* Returns whether orphans may become children of this shim. In a sandboxed pod, a process whose
 * parent has ended becomes a child of the sandbox's init process. Processes that an exec helper
 * started become children of the shim instead. */
static bool may_get_orphans(const struct shim *shim)
{
    return shim->shared || !shim->sandbox || shim->sandbox->level == ISOLATION_PLAIN ||
           shim->had_exec_helper;
}

static void open_children(struct shim *shim)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    shim->children_fd = open(path, O_RDONLY | O_CLOEXEC);
}

static void find_orphans(struct shim *shim)
{
    if (!may_get_orphans(shim))
        return;
    if (shim->children_fd < 0)
        open_children(shim);
    if (shim->children_fd < 0 || !read_children(shim)) /* this kernel has no list of children */
        return;
    for (char *at = shim->children.data, *end;; at = end) {
        pid_t pid = (pid_t)strtol(at, &end, 10);
        struct container *program;
        struct orphan *orphan;

        if (end == at)
            break;
        HASH_FIND(by_pid, shim->programs, &pid, sizeof pid, program);
        HASH_FIND(by_pid, shim->orphans, &pid, sizeof pid, orphan);
        if (!program && !orphan && !pod_shim_has_process(shim, pid) &&
            !exec_helper_has_process(shim, pid))
            add_orphan(shim, pid);
    }
    for (struct orphan *orphan = shim->orphans; orphan; orphan = orphan->by_pid.next)
        if (!orphan_may_live(shim, orphan))
            kill(orphan->pid, SIGKILL); /* the pid is not reused before the orphan is reaped */
}

void reap_kill_orphans(struct shim *shim, const struct pod *pod)
{
    for (struct orphan *orphan = shim->orphans; orphan; orphan = orphan->by_pid.next)
        if (orphan->pod == pod)
            kill(orphan->pid, SIGKILL);
}

static void reap_one(struct shim *shim, pid_t pid)
{
    struct container *program;
    struct orphan *orphan;
    int wait_status = 0;
    struct rusage used = {0};

    HASH_FIND(by_pid, shim->programs, &pid, sizeof pid, program);
    if (program)
        container_signal(program, SIGKILL);
    while (wait4(pid, &wait_status, 0, &used) < 0 && errno == EINTR)
        ;
    HASH_FIND(by_pid, shim->orphans, &pid, sizeof pid, orphan);
    if (program)
        container_exited(program, wait_status, &used);
    else if (orphan)
        remove_orphan(shim, orphan, &used);
    else if (exec_helper_exited(shim, pid, wait_status))
        return;
    else if (shim->shared)
        pod_shim_exited(shim, pid, wait_status);
    else if (shim->pods)
        add_orphan_usage(shim->pods, &used); /* an orphan that ended before it was found */
}

/* Plans a check for orphans after the delay, unless an earlier one is planned. */
static void check_orphans_in(struct shim *shim, int64_t delay_ns)
{
    struct alarm *alarm = &shim->orphan_check;

    if (!alarm_is_set(alarm) || alarm->due_ns > clock_mono_ns(clock_real()) + delay_ns)
        alarm_set(&shim->reactor, alarm, delay_ns);
}

static void on_signal(struct source *source, uint32_t events)
{
    struct shim *shim = container_of(source, struct shim, signals);
    struct signalfd_siginfo info[8];
    bool reaped = false;

    while (read(source->fd, info, sizeof info) > 0)
        ;
    for (;;) {
        siginfo_t child = {0};

        if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) || !child.si_pid)
            break;
        reap_one(shim, child.si_pid);
        reaped = true;
    }
    if (!reaped)
        return;
    find_orphans(shim);
    if (may_get_orphans(shim))
        check_orphans_in(shim, CHECK_AGAIN_NS);
}

static bool orphan_is_unidentified(const struct orphan *orphan)
{
    return !orphan->foreign && !orphan->pod && orphan->attempts < ATTEMPTS;
}

/* Reads again the marks of orphans that had none. The next time depends on the orphan that was read
 * least often: its interval doubles each time. */
static void identify_orphans(struct shim *shim)
{
    unsigned least = ATTEMPTS;

    for (struct orphan *orphan = shim->orphans; orphan; orphan = orphan->by_pid.next) {
        if (!orphan_is_unidentified(orphan))
            continue;
        orphan->attempts++;
        orphan->foreign = !pod_of_process(shim, orphan->pid, &orphan->pod);
        if (orphan->pod)
            orphan->pod->n_orphans++;
        if (!orphan_may_live(shim, orphan))
            kill(orphan->pid, SIGKILL);
        if (orphan_is_unidentified(orphan) && orphan->attempts < least)
            least = orphan->attempts;
    }
    if (least < ATTEMPTS)
        check_orphans_in(shim, (int64_t)CHECK_AGAIN_NS << least);
}

static void check_orphans_again(struct alarm *alarm)
{
    struct shim *shim = container_of(alarm, struct shim, orphan_check);

    find_orphans(shim);
    identify_orphans(shim);
}

bool reap_start(struct shim *shim, struct error *err)
{
    sigset_t children;

    shim->children_fd = -1;
    shim->orphan_check.ring = check_orphans_again;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    shim->signals = (struct source){on_signal, signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (shim->signals.fd < 0 || !reactor_add(&shim->reactor, &shim->signals, EPOLLIN))
        return error_errno(err, errno, "signals");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        return error_errno(err, errno, "subreaper");
    return true;
}

void reap_stop(struct shim *shim)
{
    for (struct orphan *orphan = shim->orphans, *next; orphan; orphan = next) {
        next = orphan->by_pid.next;
        HASH_DELETE(by_pid, shim->orphans, orphan);
        mem_free(orphan);
    }
    close(shim->signals.fd);
    if (shim->children_fd >= 0)
        close(shim->children_fd);
}
