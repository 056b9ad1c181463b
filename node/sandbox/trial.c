/*
 * Trials in a child. Nothing comes through the pipe of one that went well.
 */
#include "node/sandbox/trial.h"
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

NORETURN static void run(bool (*attempt)(void *arg, struct error *err), void *arg, int fd)
{
    struct error err = {0};
    ssize_t n = 0;

    if (!attempt(arg, &err))
        n = write(fd, err.message, strlen(err.message));
    _exit(n < 0);
}

bool trial(bool (*attempt)(void *arg, struct error *err), void *arg, struct error *err)
{
    char why[ERROR_MESSAGE_MAX];
    size_t len = 0;
    int ends[2], status = 0;
    ssize_t n;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return error_set(err, ERR_UNAVAILABLE, "", "no pipe");
    pid = fork();
    if (pid == 0)
        run(attempt, arg, ends[1]);
    close(ends[1]);
    while (len < sizeof why - 1 && (n = read(ends[0], why + len, sizeof why - 1 - len)) > 0)
        len += (size_t)n;
    close(ends[0]);
    why[len] = 0;
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
        return error_set(err, ERR_UNAVAILABLE, "", "the trial ended oddly");
    return !len || error_set(err, ERR_UNAVAILABLE, "", "%s", why);
}
