/*
 * Asks the library of names, in a child, what programs ask. See name_library.h.
 *
 * Before an address is asked for, every program's own library answers; what stands before it must
 * do so no worse. PyTorch asks for IPv6 with mapped IPv4 addresses first, and tries for ever when
 * that is refused.
 */
#include "node/name_library.h"
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "node/sandbox/plain.h"

#define HOSTS "127.10.0.1 worker.jobflow worker\n"

typedef int (*look_up_fn)(const char *name, const char *port, const struct addrinfo *hints,
                          struct addrinfo **out);

/* In the order of the exit codes, from 1. */
/* clang-format off */
static const struct {
    const char *name;
    int family, flags;
    const char *why; /* when it has no answer */
} questions[] = {
    {"worker.jobflow", AF_UNSPEC, 0,                     "does not find names"},
    {"worker.jobflow", AF_INET,   0,                     "does not find names"},
    {"127.10.0.1",     AF_INET,   AI_NUMERICHOST,        "does not know addresses"},
    {"worker.jobflow", AF_INET6,  AI_V4MAPPED | AI_ALL,  "does not map addresses, as PyTorch wants it"},
};
/* clang-format on */
static const char cannot_be_loaded[] = "cannot be loaded";

/* Only what a child of a program with threads may: nobody waits for what it leaves. */
static int ask(const char *path)
{
    const int hosts_fd = memfd_create("hosts", 0);
    char hosts[64];
    void *library;
    look_up_fn look_up;

    snprintf(hosts, sizeof hosts, "/proc/self/fd/%d", hosts_fd);
    if (hosts_fd < 0 || write(hosts_fd, HOSTS, strlen(HOSTS)) < 0 ||
        setenv("NSS_WRAPPER_HOSTS", hosts, 1))
        return countof(questions) + 1;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *(void **)&look_up = library ? dlsym(library, "getaddrinfo") : NULL;
    if (!look_up)
        return countof(questions) + 1;
    for (size_t i = 0; i < countof(questions); i++) {
        const struct addrinfo hints = {.ai_family = questions[i].family,
                                       .ai_flags = questions[i].flags,
                                       .ai_socktype = SOCK_STREAM};
        struct addrinfo *found;

        if (look_up(questions[i].name, "80", &hints, &found))
            return (int)i + 1;
    }
    return 0;
}

const char *name_library_fault(const char *path)
{
    int status = 0, code;
    pid_t pid = fork();

    if (pid == 0)
        _exit(ask(path));
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return cannot_be_loaded;
    code = WEXITSTATUS(status);
    if (!code)
        return NULL;
    return code <= (int)countof(questions) ? questions[code - 1].why : cannot_be_loaded;
}

const char *name_library_probe(const char **out_why)
{
    const char *path = plain_name_library();

    *out_why = path ? name_library_fault(path) : NULL;
    return *out_why ? NULL : path;
}
