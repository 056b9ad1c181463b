/*
 * Runs getent with libnss_wrapper preloaded and a hosts file that only the wrapper reads, and
 * checks that it finds a name of that file.
 *
 * The wrapper replaces the look-ups of the C library, so it must answer everything that library
 * would. PyTorch first asks for IPv6 with mapped IPv4 addresses, and retries forever when that
 * fails.
 */
#include "node/runtime/name_library.h"

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

#include "base/compiler.h"
#include "base/mem.h"
#include "node/sandbox/plain.h"

#define NAME "w-0.jobflow.invalid" /* a host name that no other source of names knows */

enum { ANSWER_MS = 2000 };

/* clang-format off */
static const struct {
    const char *database; /* argument of getent(1), which selects the address family and the
                           * flags */
    const char *why;      /* fault that is reported when getent finds nothing */
} questions[] = {
    {"ahosts",   "does not find names"},
    {"ahostsv4", "does not find names"},
    {"ahostsv6", "does not map addresses, as PyTorch wants it"},
};
/* clang-format on */

/* Returns a descriptor of a hosts file in memory, or -1 on failure. */
static int hosts_file(void)
{
    static const char hosts[] = "127.10.0.1 " NAME " w-0\n";
    int fd = memfd_create("hosts", MFD_CLOEXEC);

    if (fd < 0 || write(fd, hosts, strlen(hosts)) == (ssize_t)strlen(hosts))
        return fd;
    close(fd);
    return -1;
}

/* Waits for the process and returns whether it ended with exit code 0. A process that takes too
 * long is killed and has not succeeded. */
static bool succeeds(pid_t pid)
{
    int status = -1;
    struct pollfd end = {pidfd_open(pid, 0), POLLIN, 0};

    if (end.fd >= 0 && TEMP_FAILURE_RETRY(poll(&end, 1, ANSWER_MS)) != 1)
        pidfd_send_signal(end.fd, SIGKILL, NULL, 0);
    if (TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) != pid)
        status = -1;
    if (end.fd >= 0)
        close(end.fd);
    return status == 0;
}

static bool answers(const char *library, int hosts_fd, const char *database)
{
    scoped_str preload = mem_printf("LD_PRELOAD=%s", library);
    char *const argv[] = {(char[]){"getent"}, (char *)database, (char[]){NAME}, NULL};
    char *const env[] = {preload, (char[]){"NSS_WRAPPER_HOSTS=/proc/self/fd/0"}, NULL};
    posix_spawn_file_actions_t files;
    pid_t pid;
    bool began;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, hosts_fd, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    began = posix_spawn(&pid, "/usr/bin/getent", &files, NULL, argv, env) == 0;
    posix_spawn_file_actions_destroy(&files);
    return began && succeeds(pid);
}

const char *name_library_fault(const char *path)
{
    int hosts_fd = hosts_file();
    const char *why = hosts_fd < 0 ? "cannot be tried" : NULL;

    for (size_t i = 0; i < countof(questions) && !why; i++)
        if (!answers(path, hosts_fd, questions[i].database))
            why = questions[i].why;
    if (hosts_fd >= 0)
        close(hosts_fd);
    return why;
}

const char *name_library_probe(const char **out_why)
{
    const char *path = plain_name_library();

    *out_why = path ? name_library_fault(path) : NULL;
    return *out_why ? NULL : path;
}
