/*
 * Trials in a child. Nothing comes through the pipe of one that went well.
 */
#include "node/sandbox/trial.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIAL_MS = 10000, TRIES = 3 };

NORETURN static void run(bool (*attempt)(void *arg, struct error *err), void *arg, int fd)
{
    struct error err = {0};
    ssize_t n = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* a trial inside a trial ends with it */
    if (!attempt(arg, &err))
        n = write(fd, err.message, strlen(err.message));
    _exit(n < 0);
}

/* What comes through the pipe until it is closed; false when that takes too long. */
static bool gather(int fd, char *out, size_t size)
{
    struct pollfd end = {fd, POLLIN, 0};
    size_t len = 0;
    ssize_t n = 1;

    while (n > 0 && len < size - 1) {
        int ready = poll(&end, 1, TRIAL_MS);

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

enum outcome { WENT_WELL, FAILED, ENDED_ODDLY, DID_NOT_END };

static enum outcome try_once(bool (*attempt)(void *arg, struct error *err), void *arg,
                             char out_why[ERROR_MESSAGE_MAX])
{
    int ends[2], status = 0;
    bool ended;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return ENDED_ODDLY;
    pid = fork();
    if (pid == 0)
        run(attempt, arg, ends[1]);
    close(ends[1]);
    ended = pid < 0 || gather(ends[0], out_why, ERROR_MESSAGE_MAX);
    close(ends[0]);
    if (!ended)
        kill(pid, SIGKILL);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return ENDED_ODDLY;
    if (!ended)
        return DID_NOT_END;
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return ENDED_ODDLY;
    return *out_why ? FAILED : WENT_WELL;
}

/* A child of a process with threads may find a lock taken that nobody gives back, so one that does
 * not end says nothing about the kernel: it is tried again. */
bool trial(bool (*attempt)(void *arg, struct error *err), void *arg, struct error *err)
{
    char why[ERROR_MESSAGE_MAX] = "";
    enum outcome outcome = DID_NOT_END;

    for (int tries = 0; tries < TRIES && outcome == DID_NOT_END; tries++)
        outcome = try_once(attempt, arg, why);
    switch (outcome) {
    case WENT_WELL:
        return true;
    case FAILED:
        return error_set(err, ERR_UNAVAILABLE, "", "%s", why);
    case ENDED_ODDLY:
        return error_set(err, ERR_UNAVAILABLE, "", "the trial ended oddly");
    case DID_NOT_END:
        break;
    }
    return error_set(err, ERR_UNAVAILABLE, "", "the trial did not end within %d s",
                     TRIAL_MS / 1000);
}
