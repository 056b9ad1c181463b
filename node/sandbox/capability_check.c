/*
 * A check runs in a process of its own. The process writes the reason for a failure into a pipe. It
 * writes nothing and exits with 0 when the check passed.
 */
#include "node/sandbox/capability_check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
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

/* Reads the pipe until it is closed. Returns false when that takes longer than CHECK_MS. */
static bool read_reason(int fd, char *out, size_t size)
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
        n = n < 0 && errno == EINTR ? 1 : n; /* after EINTR, read again */
    }
    out[len] = 0;
    return true;
}

/* Waits for the child process that has the other end of the pipe `fd`. Closes `fd`. */
static bool wait_for_result(pid_t pid, int fd, struct error *err)
{
    char why[ERROR_MESSAGE_MAX] = "";
    bool ended = read_reason(fd, why, sizeof why);
    int status = 0;

    close(fd);
    if (!ended)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return error_errno(err, errno, "the check");
    if (!ended)
        return error_set(err, ERR_UNAVAILABLE, "", "the check did not end within %d s",
                         CHECK_MS / 1000);
    if (*why)
        return error_set(err, ERR_UNAVAILABLE, "", "%s", why);
    return status == 0 || error_set(err, ERR_UNAVAILABLE, "", "the check failed without a reason");
}

NORETURN static void report(bool ok, int fd, const struct error *err)
{
    ssize_t n = ok ? 0 : write(fd, err->message, strlen(err->message));

    _exit(n < 0);
}

bool capability_check_in_child(bool (*attempt)(void *arg, struct error *err), void *arg,
                               struct error *err)
{
    struct error failure = {0};
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return error_errno(err, errno, "the check");
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        report(attempt(arg, &failure), ends[1], &failure);
    }
    close(ends[1]);
    if (pid > 0)
        return wait_for_result(pid, ends[0], err);
    close(ends[0]);
    return error_errno(err, errno, "the check");
}

int capability_check_main(int argc, char **argv)
{
    enum isolation_level level;
    struct error failure = {0};

    if (argc != 4 || strcmp(argv[0], CAPABILITY_CHECK_NAME) != 0 ||
        !isolation_level_parse(argv[2], &level))
        return -1;
    prctl(PR_SET_NAME, CAPABILITY_CHECK_NAME, 0, 0, 0);
    for (size_t i = 0; i < countof(checks); i++)
        if (strcmp(argv[1], checks[i].name) == 0)
            report(checks[i].attempt(level, argv[3], &failure), STDOUT_FILENO, &failure);
    return 1;
}

bool capability_check(const char *check, enum isolation_level level, const char *scratch,
                      struct error *err)
{
    char *const argv[] = {(char[]){CAPABILITY_CHECK_NAME}, (char *)check,
                          (char *)isolation_level_text(level), (char *)scratch,
                          NULL}; /* posix_spawn only reads it */
    posix_spawn_file_actions_t files;
    int ends[2], error;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return error_errno(err, errno, "the check");
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    error = posix_spawn(&pid, self_exe_path(), &files, NULL, argv, environ);
    if (error) /* programs in memory may not be run on this machine */
        error = posix_spawn(&pid, "/proc/self/exe", &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (!error)
        return wait_for_result(pid, ends[0], err);
    close(ends[0]);
    return error_errno(err, error, "cannot start the check");
}
