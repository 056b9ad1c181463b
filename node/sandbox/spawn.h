#pragma once
/*
 * Starting a program by the cheapest call that can: a child on borrowed memory (CLONE_VM and
 * CLONE_VFORK), so the cost does not depend on the size of the parent.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Functions of the child: it leaves them by exec and never returns, which the address sanitizer
 * would remember against the next child on that stack. */
#define ON_CHILD_STACK __attribute__((no_sanitize("address"), no_sanitize("undefined")))

struct cgroup;
struct spawn_plan {
    char *const *argv; /* [n] and NULL, n > 0 */
    char *const *env;  /* KEY=VALUE; its PATH is where argv[0] is looked up */
    const char *cwd;
    int input_fd, output_fd;    /* become 0; 1 and 2. Everything else is closed */
    struct rlimit files;        /* RLIMIT_NOFILE of the program */
    rlim_t processes;           /* RLIMIT_NPROC; 0 = as it is */
    struct rlimit mark;         /* pod_mark_limit(); all 0: none */
    const struct cgroup *group; /* to be in; NULL = none */
    bool ask;                   /* its bind and connect calls ask us (sandbox/sockaddr_notify.h) */
};

/* Where a start failed, and the exit code that tells so. */
enum spawn_failure {
    SPAWN_OK,
    SPAWN_NOT_FOUND,      /* 127: the program, or what its first line says shall run it */
    SPAWN_NOT_EXECUTABLE, /* 126 */
    SPAWN_SETUP,          /* 128: working directory, descriptors, clone itself */
};

struct spawn_result {
    pid_t pid;       /* leader of its own session and process group; -1 on failure */
    int listener_fd; /* where it asks; -1: it does not, or the kernel cannot; owned */
    enum spawn_failure failure;
    int error;        /* errno of the failure */
    const char *what; /* literal: which step it was; not found: what was not */
};

/** Start the program. All signals are blocked by the caller and none has a handler. */
struct spawn_result spawn_program(const struct spawn_plan *plan);

int spawn_exit_code(enum spawn_failure failure);
/** Why the program of the plan did not start, for people. */
void spawn_explain(const struct spawn_result *result, const struct spawn_plan *plan, char *out,
                   size_t size);
