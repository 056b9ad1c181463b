/*
 * Starts a program. The child borrows the parent's memory until it calls exec, and the parent
 * sleeps that long. Therefore the child only makes system calls and writes into the result. A child
 * that is to start in a control group has a copy of the memory instead (clone_into_group).
 */
#include "node/sandbox/spawn.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/sandbox/cgroup/cgroup.h"
#include "node/sandbox/filter/sockaddr_notify.h"
#include "node/sandbox/filter/syscall_filter.h"
#include "node/sandbox/keyring.h"

enum { STACK_BYTES = 64 << 10, PATH_BYTES = 4096, PROGRAM_UMASK = 022 };

static const char working_directory[] = "working directory", interpreter[] = "interpreter";

struct child {
    const struct spawn_plan *plan;
    struct spawn_result *result;
    bool in_unified; /* the child already is in the plan's control group (cgroup_join) */
};

ON_CHILD_STACK static const char *search_path(char *const *env)
{
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return "/usr/local/bin:/usr/bin:/bin";
}

ON_CHILD_STACK static enum spawn_failure failure_of(int error)
{
    return error == ENOENT || error == ENOTDIR ? SPAWN_NOT_FOUND : SPAWN_NOT_EXECUTABLE;
}

/* Looks argv[0] up in the PATH of `env` and executes it. Returns only on failure, with errno set.
 * Async-signal-safe. */
ON_CHILD_STACK static enum spawn_failure exec_program(char *const *argv, char *const *env)
{
    char candidate[PATH_BYTES];
    size_t name_len = strlen(argv[0]);
    int refused = 0;

    if (!name_len || strchr(argv[0], '/')) {
        execve(argv[0], argv, env);
        return failure_of(errno);
    }
    for (const char *dir = search_path(env); dir; dir = strchr(dir, ':')) {
        if (*dir == ':')
            dir++;

        size_t dir_len = strcspn(dir, ":");

        if (dir_len + name_len + 2 > sizeof candidate)
            continue;
        memcpy(candidate, dir_len ? dir : ".", dir_len ? dir_len : 1);
        dir_len = dir_len ? dir_len : 1;
        candidate[dir_len] = '/';
        memcpy(candidate + dir_len + 1, argv[0], name_len + 1);
        execve(candidate, argv, env);
        if (errno == EACCES && access(candidate, F_OK))
            continue; /* the directory of PATH may not be searched */
        if (errno != ENOENT && errno != ENOTDIR) {
            refused = errno;
            if (errno != EACCES)
                break; /* the program exists and cannot be run */
        }
        if (dir[strcspn(dir, ":")] == 0)
            break;
    }
    errno = refused ? refused : ENOENT;
    return failure_of(errno);
}

ON_CHILD_STACK static int fail(struct spawn_result *result, enum spawn_failure failure,
                               const char *what)
{
    result->failure = failure;
    result->error = errno;
    result->what = what;
    _exit(spawn_exit_code(failure));
}

/* Tells what is missing after exec has failed with ENOENT: the program or its interpreter. */
ON_CHILD_STACK static const char *what_is_missing(const char *program)
{
    int error = errno;
    bool there = strchr(program, '/') && access(program, F_OK) == 0;

    errno = error;
    return there && error == ENOENT ? interpreter : "exec";
}

ON_CHILD_STACK static int run_child(void *arg)
{
    const struct child *child = arg;
    const struct spawn_plan *plan = child->plan;
    static const struct rlimit no_core = {0, 0};
    enum spawn_failure failure;
    sigset_t none;

    if (plan->notify) { /* the parent gets the listener through the shared table of descriptors */
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        child->result->listener_fd = sockaddr_notify_install();
        unshare(CLONE_FILES);
    }
    if (plan->group)
        cgroup_join(plan->group, child->in_unified);
    setsid();
    if (plan->new_keyring)
        keyring_leave();
    if (dup2(plan->input_fd, STDIN_FILENO) < 0 || dup2(plan->output_fd, STDOUT_FILENO) < 0 ||
        dup2(plan->output_fd, STDERR_FILENO) < 0 || close_range(STDERR_FILENO + 1, ~0U, 0))
        return fail(child->result, SPAWN_SETUP, "descriptors");
    umask(PROGRAM_UMASK);
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_NOFILE, &plan->files);
    if (plan->processes)
        setrlimit(RLIMIT_NPROC, &(struct rlimit){plan->processes, plan->processes});
    if (plan->mark.rlim_max)
        setrlimit(RLIMIT_LOCKS, &plan->mark);
    if (chdir(plan->cwd))
        return fail(child->result, SPAWN_SETUP, working_directory);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    if (plan->filter && !syscall_filter_install())
        return fail(child->result, SPAWN_SETUP, "filter of system calls");
    failure = exec_program(plan->argv, plan->env);
    return fail(child->result, failure, what_is_missing(plan->argv[0]));
}

static void *child_stack(void)
{
    static char *stack; /* one child at a time uses the stack, because the parent sleeps
                         * meanwhile */

    if (!stack) {
        char *memory = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

        assert(memory != MAP_FAILED);
        mprotect(memory, PATH_BYTES, PROT_NONE); /* an overflow of the stack faults */
        stack = memory;
    }
    return stack + STACK_BYTES;
}

/* Starts the child inside the group of the unified hierarchy. No system call does that with
 * borrowed memory, so the child has a copy, and the result is in shared memory. */
static pid_t clone_into_group(const struct spawn_plan *plan, uint64_t flags,
                              struct spawn_result *result)
{
    struct spawn_result *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct child child = {.plan = plan, .result = shared};
    pid_t pid;

    if (shared == MAP_FAILED)
        return -1;
    *shared = *result;
    pid = cgroup_clone(plan->group, flags, &child.in_unified);
    if (pid == 0)
        _exit(run_child(&child));
    *result = *shared;
    munmap(shared, sizeof *shared);
    return pid;
}

struct spawn_result spawn_program(const struct spawn_plan *plan)
{
    struct spawn_result result = {.pid = -1, .listener_fd = -1, .failure = SPAWN_OK};
    struct child child = {.plan = plan, .result = &result};
    int flags = CLONE_VFORK | (plan->notify ? CLONE_FILES : 0);
    pid_t pid = plan->group && plan->group->unified_fd >= 0
                    ? clone_into_group(plan, (uint64_t)flags, &result)
                    : clone(run_child, child_stack(), flags | CLONE_VM | SIGCHLD, &child);

    if (pid < 0) {
        result.failure = SPAWN_SETUP;
        result.error = errno;
        result.what = "clone";
    } else if (result.failure != SPAWN_OK) {
        if (result.listener_fd >= 0)
            close(result.listener_fd);
        result.listener_fd = -1;
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    } else {
        result.pid = pid;
    }
    return result;
}

ON_CHILD_STACK int spawn_exit_code(enum spawn_failure failure)
{
    static const int codes[] = {
        [SPAWN_OK] = 0, [SPAWN_NOT_FOUND] = 127, [SPAWN_NOT_EXECUTABLE] = 126, [SPAWN_SETUP] = 128};

    return codes[failure];
}

void spawn_explain(const struct spawn_result *result, const struct spawn_plan *plan, char *out,
                   size_t size)
{
    const char *why = strerrordesc_np(result->error), *name = plan->argv[0];

    if (result->failure == SPAWN_SETUP && result->what == working_directory)
        snprintf(out, size, "cannot start \"%s\": working directory \"%s\": %s", name, plan->cwd,
                 why);
    else if (result->failure == SPAWN_SETUP)
        snprintf(out, size, "cannot start \"%s\": %s: %s", name, result->what, why);
    else if (result->failure == SPAWN_NOT_FOUND && result->what == interpreter)
        snprintf(out, size,
                 "exec: \"%s\": what its first line or its header names to run it is not there: %s",
                 name, why);
    else if (result->failure == SPAWN_NOT_FOUND && !strchr(name, '/'))
        snprintf(out, size, "exec: \"%s\": executable file not found in $PATH", name);
    else
        snprintf(out, size, "exec: \"%s\": %s", name, why);
}
