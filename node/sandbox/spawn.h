#pragma once
/*
 * Starting a program by the cheapest call: a child that borrows the memory of its parent (CLONE_VM
 * and CLONE_VFORK), so that the cost does not depend on the size of the parent.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Marks functions that run in the child. They end in exec and never return, which the address
 * sanitizer would hold against the next child on the same stack. */
#define ON_CHILD_STACK __attribute__((no_sanitize("address"), no_sanitize("undefined")))

struct cgroup;
struct spawn_plan {
    char *const *argv; /* [n] and NULL, n > 0 */
    char *const *env;  /* KEY=VALUE; argv[0] is looked up in its PATH */
    const char *cwd;
    int input_fd, output_fd;    /* become 0; 1 and 2. All others are closed */
    struct rlimit files;        /* RLIMIT_NOFILE of the program */
    rlim_t processes;           /* RLIMIT_NPROC; 0 = unchanged */
    struct rlimit mark;         /* pod_mark_limit(); all 0: none */
    const struct cgroup *group; /* to join; NULL = none */
    bool notify;                /* install sockaddr_notify.h for it */
    bool new_keyring;           /* it gets a session keyring of its own (keyring.h) */
};

/* The step at which a start failed; each has an exit code. */
enum spawn_failure {
    SPAWN_OK,
    SPAWN_NOT_FOUND,      /* 127: the program or its interpreter does not exist */
    SPAWN_NOT_EXECUTABLE, /* 126 */
    SPAWN_SETUP,          /* 128: working directory, descriptors, clone itself */
};

struct spawn_result {
    pid_t pid;       /* leader of its own session and process group; -1 on failure */
    int listener_fd; /* of sockaddr_notify.h; -1: not installed; owned */
    enum spawn_failure failure;
    int error;        /* errno of the failure */
    const char *what; /* the step that failed (a literal) */
};

/** Start the program. The caller must have all signals blocked, and no handlers. */
struct spawn_result spawn_program(const struct spawn_plan *plan);

int spawn_exit_code(enum spawn_failure failure);
/** Write the reason why the program did not start, as a message for users. */
void spawn_explain(const struct spawn_result *result, const struct spawn_plan *plan, char *out,
                   size_t size);
