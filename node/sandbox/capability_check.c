/*
 * Trials. What comes through the pipe of one is why it failed.
 */
#include "node/sandbox/capability_check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/exe/self_exe.h"
#include "node/sandbox/network.h"

enum { CHECK_MS = 10000 };

static const struct {
    const char *name;
    bool (*attempt)(enum isolation_level level, const char *scratch, struct error *err);
} checks[] = {{"level", isolation_level_try}, {"network", network_try}};

/* ---- what came of one ---- */

/* What comes through the pipe until it is closed; false when that takes too long. */
static bool gather(int fd, char *out, size_t size)
{
    struct pollfd end = {fd, POLLIN, 0};
    size_t len = 0;
    ssize_t n = 1;

    while (n > 0 && len < size - 1) {
        int ready = poll(&end, 1, CHECK_MS);

        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        n = read(fd, out + len, size - 1 - len);
        len += n > 0 ? (size_t)n : 0;
        n = n < 0 && errno == EINTR ? 1 : n; /* again */
    }
    out[len] = 0;
    return true;
}

/* Of a child that has the other end of the pipe; the end is closed. */
static bool judge(pid_t pid, int fd, struct error *err)
{
    char why[ERROR_MESSAGE_MAX] = "";
    bool ended = gather(fd, why, sizeof why);
    int status = 0;

    close(fd);
    if (!ended)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return error_errno(err, errno, "the capability_check");
    if (!ended)
        return error_set(err, ERR_UNAVAILABLE, "", "the capability_check did not end within %d s",
                         CHECK_MS / 1000);
    if (*why)
        return error_set(err, ERR_UNAVAILABLE, "", "%s", why);
    return status == 0 || error_set(err, ERR_UNAVAILABLE, "", "the capability_check ended oddly");
}

/* ---- in a process without threads ---- */

NORETURN static void tell(bool ok, int fd, const struct error *err)
{
    ssize_t n = ok ? 0 : write(fd, err->message, strlen(err->message));

    _exit(n < 0);
}

bool capability_check_in_child(bool (*attempt)(void *arg, struct error *err), void *arg,
                               struct error *err)
{
    struct error said = {0};
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return error_errno(err, errno, "the capability_check");
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        tell(attempt(arg, &said), ends[1], &said);
    }
    close(ends[1]);
    if (pid > 0)
        return judge(pid, ends[0], err);
    close(ends[0]);
    return error_errno(err, errno, "the capability_check");
}

int capability_check_main(int argc, char **argv)
{
    enum isolation_level level;
    struct error said = {0};

    if (argc != 4 || strcmp(argv[0], CAPABILITY_CHECK_NAME) != 0 ||
        !isolation_level_parse(argv[2], &level))
        return -1;
    prctl(PR_SET_NAME, CAPABILITY_CHECK_NAME, 0, 0, 0);
    for (size_t i = 0; i < countof(checks); i++)
        if (strcmp(argv[1], checks[i].name) == 0)
            tell(checks[i].attempt(level, argv[3], &said), STDOUT_FILENO, &said);
    return 1;
}

/* ---- in one that has threads ---- */

bool capability_check(const char *what, enum isolation_level level, const char *scratch,
                      struct error *err)
{
    char *const argv[] = {(char[]){CAPABILITY_CHECK_NAME}, (char *)what,
                          (char *)isolation_level_text(level), (char *)scratch,
                          NULL}; /* only read */
    posix_spawn_file_actions_t files;
    int ends[2], error;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return error_errno(err, errno, "the capability_check");
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    error = posix_spawn(&pid, self_exe_path(), &files, NULL, argv, environ);
    if (error) /* where programs in memory may not be run */
        error = posix_spawn(&pid, "/proc/self/exe", &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (!error)
        return judge(pid, ends[0], err);
    close(ends[0]);
    return error_errno(err, error, "cannot start a capability_check");
}
