/*
 * Programs that end, and the processes they leave behind.
 *
 * A program is the leader of its process group. When it has ended, and before it is reaped (so that
 * its number still names this group and no other), the rest of the group is killed. Descendants
 * that had left the group become our children, for we are subreaper; each is assigned to its pod by
 * its mark (pod_mark.h), and killed when no program of the pod runs any more. Killing one
 * may hand us the next, so this repeats until nothing is left. The kernel's list of our children
 * may miss some while others end, so it is read once more when that has come to rest. A process
 * that is just becoming another program has no environment for a moment: it is asked again, ever
 * more rarely, for it may as well have none for good.
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

enum { ENVIRON_MAX = 256 << 10, CHILDREN_STEP = 4096, LOOK_AGAIN_NS = 50000000, LOOKS = 10 };

/* By its number. False when it has that of none of ours. */
static bool pod_of_number(struct shim *shim, pid_t pid, struct pod **out)
{
    rlim_t number = pod_mark_of(pid);

    if (!number)
        return true;
    for (*out = shim->pods; *out && pod_mark_number((*out)->spec.uid) != number;)
        *out = (*out)->by_uid.next;
    return *out != NULL;
}

/* The pod whose mark a process carries. False when it carries that of none we have. */
static bool pod_of_process(struct shim *shim, pid_t pid, struct pod **out)
{
    static const char marker[] = SHIM_MARKER "=";
    char path[32], *env = mem_alloc(ENVIRON_MAX + 1);
    bool known = true, named = false;
    ssize_t len = -1;
    int fd;

    *out = NULL;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        len = read(fd, env, ENVIRON_MAX);
        close(fd);
    }
    for (const char *at = env; len > 0 && at < env + len; at += strlen(at) + 1) {
        if (strncmp(at, marker, sizeof marker - 1) != 0)
            continue;
        at += sizeof marker - 1;
        named = true;
        HASH_FIND(by_uid, shim->pods, at, strlen(at), *out);
        known = *out != NULL;
        break;
    }
    mem_free(env);
    return named ? known : pod_of_number(shim, pid, out);
}

static bool orphan_may_live(const struct shim *shim, const struct orphan *orphan)
{
    return !orphan->lost && (orphan->pod ? orphan->pod->running > 0 : shim->programs != NULL);
}

static void orphan_found(struct shim *shim, pid_t pid)
{
    struct orphan *orphan = mem_alloc(sizeof *orphan);

    orphan->pid = pid;
    orphan->lost = !pod_of_process(shim, pid, &orphan->pod);
    if (!shim->shared && !orphan->lost && !orphan->pod)
        orphan->pod = shim->pods; /* who is about to end cannot be read, but there is only one */
    if (orphan->pod)
        orphan->pod->orphans++;
    HASH_ADD(by_pid, shim->orphans, pid, sizeof orphan->pid, orphan);
}

static void orphan_used(struct pod *pod, const struct rusage *used)
{
    if (pod->n_containers == 1) /* of several, nobody knows whose it was */
        container_add_usage(&pod->containers[0], used);
}

static void orphan_gone(struct shim *shim, struct orphan *orphan, const struct rusage *used)
{
    HASH_DELETE(by_pid, shim->orphans, orphan);
    if (orphan->pod) {
        orphan_used(orphan->pod, used);
        orphan->pod->orphans--;
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

/* In a box, processes that lose their parent go to its init, but for those of helpers. */
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
    if (shim->children_fd < 0 || !read_children(shim)) /* this kernel has it not */
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
            orphan_found(shim, pid);
    }
    for (struct orphan *orphan = shim->orphans; orphan; orphan = orphan->by_pid.next)
        if (!orphan_may_live(shim, orphan))
            kill(orphan->pid, SIGKILL); /* our child, not reaped: it is still the same */
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
        orphan_gone(shim, orphan, &used);
    else if (exec_helper_exited(shim, pid, wait_status))
        return;
    else if (shim->shared)
        pod_shim_exited(shim, pid, wait_status);
    else if (shim->pods)
        orphan_used(shim->pods, &used); /* it ended before it was looked for */
}

/* Or sooner, if that is what was wanted before. */
static void look_again_in(struct shim *shim, int64_t delay_ns)
{
    struct alarm *alarm = &shim->look_again;

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
        look_again_in(shim, LOOK_AGAIN_NS);
}

static bool orphan_is_asked(const struct orphan *orphan)
{
    return !orphan->lost && !orphan->pod && orphan->looks < LOOKS;
}

/* Those of whom it is not known yet whose they are. Who was asked least often decides when it is
 * done again. */
static void identify_orphans(struct shim *shim)
{
    unsigned least = LOOKS;

    for (struct orphan *orphan = shim->orphans; orphan; orphan = orphan->by_pid.next) {
        if (!orphan_is_asked(orphan))
            continue;
        orphan->looks++;
        orphan->lost = !pod_of_process(shim, orphan->pid, &orphan->pod);
        if (orphan->pod)
            orphan->pod->orphans++;
        if (!orphan_may_live(shim, orphan))
            kill(orphan->pid, SIGKILL);
        if (orphan_is_asked(orphan) && orphan->looks < least)
            least = orphan->looks;
    }
    if (least < LOOKS)
        look_again_in(shim, (int64_t)LOOK_AGAIN_NS << least);
}

static void look_again(struct alarm *alarm)
{
    struct shim *shim = container_of(alarm, struct shim, look_again);

    find_orphans(shim);
    identify_orphans(shim);
}

bool reap_start(struct shim *shim, struct error *err)
{
    sigset_t children;

    shim->children_fd = -1;
    shim->look_again.ring = look_again;
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
