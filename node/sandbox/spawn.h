#pragma once
/*
 * Starts a program by the cheapest call: a child that borrows the memory of its parent (CLONE_VM
 * and CLONE_VFORK), so that the cost does not depend on the size of the parent.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

struct cgroup;
struct spawn_plan {
    char *const *argv; /* command of the program: [n] and NULL, n > 0 */
    char *const *env;  /* variables KEY=VALUE of the program; argv[0] is looked up in their PATH */
    const char *cwd;
    int input_fd, output_fd; /* descriptors that become 0, and 1 and 2, of the program; all others
                              * are closed */
    struct rlimit files;     /* RLIMIT_NOFILE of the program */
    rlim_t processes;        /* RLIMIT_NPROC of the program; 0 = unchanged */
    struct rlimit mark; /* limit that marks the pod's processes (pod_mark_limit); all 0: none */
    const struct cgroup *group; /* control group that the program joins; NULL = none */
    bool notify;                /* install the filter of sockaddr_notify.h for the program */
    bool filter;                /* refuse the program the calls of syscall_filter.h */
    bool new_keyring;           /* the program gets a session keyring of its own (keyring.h) */
};

/* The step at which the start of a program failed. Each has the exit code given beside it. */
enum spawn_failure {
    SPAWN_OK,
    SPAWN_NOT_FOUND,      /* 127: the program or its interpreter does not exist */
    SPAWN_NOT_EXECUTABLE, /* 126: the program exists and cannot be executed */
    SPAWN_SETUP,          /* 128: the working directory, the descriptors or clone itself */
};

struct spawn_result {
    pid_t pid; /* pid of the program, leader of its own session and process group; -1 on failure */
    int listener_fd; /* descriptor of sockaddr_notify.h; -1: not installed; owned */
    enum spawn_failure failure;
    int error;        /* errno of the failure */
    const char *what; /* name of the step that failed (a literal) */
};

/** Starts the program. The caller must have all signals blocked, and no handlers. */
struct spawn_result spawn_program(const struct spawn_plan *plan);

int spawn_exit_code(enum spawn_failure failure);
/** Writes the reason why the program did not start, as a message for users. */
void spawn_explain(const struct spawn_result *result, const struct spawn_plan *plan, char *out,
                   size_t size);
