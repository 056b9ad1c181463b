/*
 * Spawns the program and waits for its pidfd, so that a process that hangs can be killed.
 */
#include "node/machine/quick_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits for the process and returns whether it ended with exit code 0. A process that takes too
 * long is killed and has not succeeded. */
static bool succeeds(pid_t pid, int timeout_ms)
{
    int status = -1;
    struct pollfd end = {pidfd_open(pid, 0), POLLIN, 0};

    if (end.fd >= 0 && TEMP_FAILURE_RETRY(poll(&end, 1, timeout_ms)) != 1)
        pidfd_send_signal(end.fd, SIGKILL, NULL, 0);
    if (TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) != pid)
        status = -1;
    if (end.fd >= 0)
        close(end.fd);
    return status == 0;
}

bool quick_run(const struct quick_run *run)
{
    posix_spawn_file_actions_t files;
    bool began;
    pid_t pid;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, run->input_fd, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    began = posix_spawn(&pid, run->path, &files, NULL, run->argv, run->env) == 0;
    posix_spawn_file_actions_destroy(&files);
    return began && succeeds(pid, run->timeout_ms);
}

int quick_run_input(const char *text)
{
    int fd = memfd_create("input", MFD_CLOEXEC);

    if (fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
        lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}
