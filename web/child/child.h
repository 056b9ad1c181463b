#pragma once
/*
 * Runs this program as a child to answer a request: what `graph`, `explain`, `rerun` and `plan`
 * print.
 *
 * A child may take long and much memory for a large flow, may wait for the server, and ends with
 * its request. A bounded number runs at a time; the others wait, and of too many the next ones are
 * refused.
 */
#include <sys/queue.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/loop/loop.h"
#include "cli/client/client.h"

enum { CHILD_ARGUMENTS_MAX = 80 };

/* Counts the children of a process; all its queues share the bounds. */
struct child_slots;
struct child_slots *child_slots_new(struct loop *loop);
/** Call when no child is left. Waits for the processes that were killed. NULL is fine. */
void child_slots_free(struct child_slots *slots);

/* What the children that ask one server have in common. */
struct child_queue {
    struct child_slots *slots;
    const struct client_endpoint *endpoint; /* each child gets its flags */
    const char *token; /* each child shows it to the process of the endpoint; NULL: none */
};

/* Part of the caller's struct. */
struct child {
    /* The command and its operands; ended by NULL. Copied by child_start. */
    const char *arguments[CHILD_ARGUMENTS_MAX];
    const struct buf
        *in;         /* standard input of the process; NULL: none. Borrowed until it has ended. */
    struct buf out;  /* standard output of the process */
    struct buf said; /* the first 16 KiB of its standard error */
    struct error err;
    void (*done)(struct child *child); /* `err` has a code when it has failed */
    /* private */
    const struct child_queue *queue;
    struct child_process *process; /* NULL: it has not begun */
    char *texts[CHILD_ARGUMENTS_MAX];
    bool queued;
    TAILQ_ENTRY(child) waiting;
};

/** Starts the child, now or later. Borrows the queue until it is released. False with TOO_MANY when
 * too many wait; `done` is then not called. */
bool child_start(const struct child_queue *queue, struct child *child, struct error *err);
/** Kills the child, so that no callback follows, and frees what it holds. */
void child_release(struct child *child);
