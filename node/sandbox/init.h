#pragma once
/*
 * Process 1 of a container's pid namespace. It builds the file system, starts the program, passes
 * signals on, reaps orphans and reports how the program ended. When it exits, the kernel kills all
 * that is left in the namespace.
 *
 * The program itself is never process 1, so that signals have their default action in it. The shim
 * signals init. A signal without a handler reaches process 1 only if it is blocked; init blocks all
 * signals and takes them with sigwaitinfo.
 */
#include <signal.h>
#include <stdint.h>

#include "base/compiler.h"
#include "node/sandbox/rootfs.h"
#include "node/sandbox/spawn.h"

/* The signal that the shim sends in place of SIGKILL, which would end init before it could report
 * the exit status and the resources used. Other signals are passed on to the program. */
#define INIT_KILL SIGPWR

enum init_event { INIT_STARTED, INIT_FAILED, INIT_ENDED };

/* A message on the report socket, from init to the shim. Init sends STARTED, with the descriptor
 * spawn_result.listener_fd if there is one, and later ENDED. If the program does not start, it
 * sends a single FAILED. */
struct init_report {
    uint32_t event;
    int32_t value; /* FAILED: an enum spawn_failure; ENDED: the wait status of the program */
    char text[ERROR_MESSAGE_MAX];
};

struct init_plan {
    const struct rootfs_plan *root;
    struct spawn_plan program;
    int report_fd;
    int shim_pidfd;                    /* becomes readable when the shim has died */
    const struct pod_sandbox *sandbox; /* says which ids and capabilities the program gets */
    unsigned index;                    /* index of the container in the pod */
    const struct cgroup *group;        /* control group that the process joins; NULL = none */
    bool in_unified;                   /* the process already is in the group of the unified
                                        * hierarchy (cgroup_clone) */
};

/** Receives a report without waiting. `*out_fd` becomes the descriptor sent with it, or -1. Returns
 * false when no report has arrived. */
bool init_receive(int fd, struct init_report *out, int *out_fd);

/** Reports to the shim that the program has started, and sends a descriptor with the report; -1 =
 * without one. */
void init_send_listener(int report_fd, int listener_fd);

/** Runs as process 1 of a container and never returns. All signals must be blocked. */
NORETURN void init_run(struct init_plan *plan);
