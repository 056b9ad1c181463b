/*
 * Which level works here, found by building a root in a child.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "node/sandbox/root.h"
#include "node/sandbox/sandbox.h"
#include "node/sandbox/tree.h"

#define SANDBOX_TEXT(name, text) text,
static const char *const level_texts[] = {SANDBOX_LEVELS(SANDBOX_TEXT)};
static const char *const level_means[] = {
    [SANDBOX_PLAIN] = "processes with an environment, nothing more",
    [SANDBOX_MOUNTS] = "private mounts, process ids, host name; the ids of this user",
    [SANDBOX_USER] = "user namespace, private mounts, process ids, host name",
    [SANDBOX_FULL] = "a range of ids for each namespace",
};

/* What is tried, in order. Whoever is root stays root; others need a user namespace to mount. */
static const enum sandbox_level as_root[] = {SANDBOX_MOUNTS, SANDBOX_USER, SANDBOX_PLAIN};
static const enum sandbox_level as_user[] = {SANDBOX_USER, SANDBOX_MOUNTS, SANDBOX_PLAIN};

const char *sandbox_level_text(enum sandbox_level level)
{
    return level_texts[level];
}

/* ---- the child ---- */

static bool build_here(const char *scratch, bool user_namespace, struct error *err)
{
    int fd = open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct root_plan plan = {
        .scratch = scratch,
        .run_tree_fd = fd < 0 ? -1 : tree_clone(fd, false, true, err),
        .hosts = true,
        .user_namespace = user_namespace,
        .cwd = "/",
    };

    return plan.run_tree_fd >= 0 && root_build(&plan, err);
}

NORETURN static void tell(int fd, const struct error *err)
{
    ssize_t n = write(fd, err->message, strlen(err->message));

    _exit(n < 0);
}

NORETURN static void try_level(enum sandbox_level level, const char *scratch, int fd)
{
    struct clone_args args = {.flags = CLONE_NEWNS | CLONE_NEWPID, .exit_signal = SIGCHLD};
    struct error err = {0};
    pid_t pid;

    /* A daemon that leaves no dumps does not own its /proc/self, where ids are mapped; a shim is
     * rid of that by its exec. */
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    if (!sandbox_enter(level, geteuid(), getegid(), &err))
        tell(fd, &err);
    pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (pid < 0)
        error_errno(&err, errno, "process ids");
    else if (pid == 0)
        build_here(scratch, level == SANDBOX_USER, &err);
    else
        waitpid(pid, NULL, 0);
    tell(fd, &err);
}

/* Nothing came through the pipe: it works. */
static bool works(enum sandbox_level level, const char *scratch, struct buf *why)
{
    char text[ERROR_MESSAGE_MAX];
    int ends[2], status = 0;
    size_t before = why->len;
    ssize_t n;
    pid_t pid;

    if (level == SANDBOX_PLAIN)
        return true;
    if (pipe2(ends, O_CLOEXEC)) {
        buf_str(why, "no pipe");
        return false;
    }
    pid = fork();
    if (pid == 0)
        try_level(level, scratch, ends[1]);
    close(ends[1]);
    while ((n = read(ends[0], text, sizeof text)) > 0)
        buf_add(why, text, (size_t)n);
    close(ends[0]);
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
        buf_str(why, "the trial ended oddly");
    return why->len == before;
}

static bool find(const char *wanted, enum sandbox_level *out)
{
    for (size_t i = 0; i < countof(level_texts); i++)
        if (!strcmp(level_texts[i], wanted)) {
            *out = (enum sandbox_level)i;
            return true;
        }
    return false;
}

static bool probe_named(const char *wanted, const char *scratch, enum sandbox_level *out,
                        char **out_why, struct error *err)
{
    scoped(buf) struct buf why = {0};
    enum sandbox_level level;

    if (!find(wanted, &level))
        return error_set(err, ERR_INVALID, "isolation",
                         "\"%s\" is no level of isolation: auto, full, user, mounts or plain",
                         wanted);
    if (level == SANDBOX_FULL)
        return error_set(
            err, ERR_UNAVAILABLE, "isolation",
            "level \"full\" (ids of their own for pods) is not offered by this runtime: "
            "use auto, user, mounts or plain");
    if (!works(level, scratch, &why))
        return error_set(err, ERR_UNAVAILABLE, "isolation", "level \"%s\" does not work here: %s",
                         wanted, why.data);
    *out = level;
    *out_why = mem_printf("%s: %s (asked for)", wanted, level_means[level]);
    return true;
}

bool sandbox_probe(const char *wanted, const char *scratch, enum sandbox_level *out, char **out_why,
                   struct error *err)
{
    const enum sandbox_level *order = geteuid() == 0 ? as_root : as_user;
    scoped(buf) struct buf why = {0};
    size_t i = 0;
    bool ok = true;

    mkdir(scratch, 0700);
    if (wanted && strcmp(wanted, "auto") != 0) {
        ok = probe_named(wanted, scratch, out, out_why, err);
        rmdir(scratch);
        return ok;
    }
    for (; i < countof(as_root) - 1; i++) { /* the last one always works */
        scoped(buf) struct buf refused = {0};

        if (works(order[i], scratch, &refused))
            break;
        buf_printf(&why, "; not %s: %s", level_texts[order[i]], refused.data);
    }
    rmdir(scratch);
    *out = order[i];
    *out_why = mem_printf("%s: %s%s", level_texts[order[i]], level_means[order[i]],
                          why.data ? why.data : "");
    return true;
}
