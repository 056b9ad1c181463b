/*
 * Runs getent with libnss_wrapper preloaded and a hosts file that only the wrapper reads, and
 * checks that it finds a name of that file.
 *
 * The wrapper replaces the look-ups of the C library, so it must answer everything that library
 * would. PyTorch first asks for IPv6 with mapped IPv4 addresses, and retries forever when that
 * fails.
 */
#include "node/runtime/name_library.h"

#include <unistd.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "node/machine/quick_run.h"
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

static bool answers(const char *library, int hosts_fd, const char *database)
{
    scoped_str preload = mem_printf("LD_PRELOAD=%s", library);
    char *const argv[] = {(char[]){"getent"}, (char *)database, (char[]){NAME}, NULL};
    char *const env[] = {preload, (char[]){"NSS_WRAPPER_HOSTS=/proc/self/fd/0"}, NULL};
    const struct quick_run run = {"/usr/bin/getent", argv, env, hosts_fd, ANSWER_MS};

    return quick_run(&run);
}

const char *name_library_fault(const char *path)
{
    int hosts_fd = quick_run_input("127.10.0.1 " NAME " w-0\n");
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
