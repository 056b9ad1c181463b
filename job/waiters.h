#pragma once
/*
 * Jobs that wait for something by name: a queue or a claim to appear, a pod name to become free.
 * Looked up when such a thing changes, so that waiting costs nothing.
 */
#include "api/types/kind.h"

struct job_run;
struct waiter_list;

struct job_waiters {
    struct waiter_list *lists; /* hash by "Kind/namespace/name" */
};

/* Member of the waiting record. A job waits for one thing at a time. */
struct job_waiter {
    struct waiter_list *list; /* NULL = waits for nothing */
    struct job_run *next, *prev;
};

void job_wait_for(struct job_run *run, const struct kind *kind, const char *ns, const char *name);
void job_wait_end(struct job_run *run); /* no-op when not waiting */
/** Wake all that wait for this. O(their number); free of cost when nobody waits. */
void job_waiters_wake(struct job_waiters *waits, const struct kind *kind, const char *ns,
                      const char *name);
