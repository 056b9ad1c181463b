#pragma once
/*
 * Jobs that wait for an object by name: a queue or a claim to appear, a pod name to become free.
 *
 * The jobs are listed by the name they wait for. A change of an object of that name wakes exactly
 * them, so that a waiting job costs nothing meanwhile.
 */
#include <sys/queue.h>

#include "api/types/kind.h"

struct job_run;
struct waiter_list;

struct job_waiters {
    struct waiter_list *lists; /* hash table by "Kind/namespace/name" */
};

/* Part of the record of a job. A job waits for one object at a time. */
struct job_waiter {
    struct waiter_list *list; /* list that the job is in; NULL = the job waits for nothing */
    LIST_ENTRY(job_run) all;
};

/** Makes the job wait for this object, and no longer for another one. */
void job_wait_for(struct job_run *run, const struct kind *kind, const char *ns, const char *name);
void job_wait_end(struct job_run *run); /* no-op when the job does not wait */
/** Wake the jobs that wait for this object. O(their number); free when no job waits at all. */
void job_waiters_wake(struct job_waiters *waiters, const struct kind *kind, const char *ns,
                      const char *name);
