#pragma once
/*
 * Process 1 of a container's pid namespace: builds the root, starts the program, passes signals on,
 * reaps orphans, tells how the program ended, and takes everything with it when it goes.
 *
 * The program itself is never process 1, so that signals without a handler work on it. The shim
 * sends signals to us; they are blocked, which is why they reach process 1 at all, and taken by
 * sigwaitinfo.
 */
#include <signal.h>
#include <stdint.h>

#include "base/compiler.h"
#include "node/sandbox/rootfs.h"
#include "node/sandbox/spawn.h"

/* The signal that stands for SIGKILL: what it took from us would be lost. Others are passed on. */
#define INIT_KILL SIGPWR

enum init_event { INIT_STARTED, INIT_FAILED, INIT_ENDED };

/* What it sends by its report socket: one STARTED, with the descriptor of spawn_result.listener_fd
 * if there is one, and one ENDED, or one FAILED. */
struct init_report {
    uint32_t event;
    int32_t value; /* FAILED: enum spawn_failure; ENDED: wait status */
    char text[ERROR_MESSAGE_MAX];
};

struct init_plan {
    const struct rootfs_plan *root;
    struct spawn_plan program;
    int report_fd;
    int shim_pidfd;                    /* readable when the shim has died */
    const struct pod_sandbox *sandbox; /* whose rights the program gets, */
    unsigned index;                    /* and which container of it this is */
    const struct cgroup *group;        /* or NULL */
    bool in_unified;                   /* in it, see cgroup_clone */
};

/** Take a report; `*out_fd` is the descriptor with it, or -1. False when there is none (now). */
bool init_receive(int fd, struct init_report *out, int *out_fd);

/** Send a descriptor as STARTED does. */
void init_send_listener(int report_fd, int listener_fd);

/** Run as process 1. All signals are blocked. */
NORETURN void init_run(struct init_plan *plan);
