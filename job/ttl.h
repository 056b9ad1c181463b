#pragma once
/*
 * Deletes finished jobs after ttlSecondsAfterFinished. Ref: spec/job.md 17.2, INV-J9.
 *
 * Each finished job with a ttl has one timer, also when the controller has no record of the job.
 * The deadline follows from the stored time of the last transition, so a restart of the process
 * does not extend it.
 */
#include "api/cluster.h"
#include "base/collections/hash.h"

struct job_ttl_entry;

struct job_ttl {
    struct cluster *cluster;
    bool off;                      /* deletes nothing */
    bool aborted;                  /* deletes aborted jobs, too */
    struct job_ttl_entry *entries; /* hash table of the jobs by uid */
};

/** A job was added or changed: start its timer, or stop it when the job is not to be deleted. */
void job_ttl_update(struct job_ttl *ttl, const struct object *job);
void job_ttl_forget(struct job_ttl *ttl, const struct object *job);
void job_ttl_release(struct job_ttl *ttl);
