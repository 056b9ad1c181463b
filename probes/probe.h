#pragma once
/*
 * The probes of a step: one verdict for each target, from the pods of the target's job.
 *
 *   pods of the job ──┬──► phases (taskStatus) ─────────────────────┐
 *                     └──► polls of Running pods (httpGet, tcp) ────┴──► pods passing ──► verdict
 *                                                                        per requirement
 *
 * Phases come with the changes of pods; nothing is polled for them. A Running pod is polled at the
 * address in its status: at once, then each period (1 s for the first 60 attempts, then 5 s, ±10
 * %). One attempt is in flight per pod and entry, and a bounded number per flow and in all; the
 * other polls wait, and flows take turns. A pod that passed counts while it runs. The verdict
 * PASSED is final and ends the polling. Without targets no pods are watched.
 */
#include <sys/queue.h>

#include "api/cluster.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "probes/address.h"
#include "probes/requirements.h"

struct probes;
struct probe_target;
struct probe_poll;

/* The probe that passes when the pods of all tasks are ready. */
extern const struct flow_probe probe_readiness;

struct probe_limits {
    unsigned at_once;   /* largest number of attempts in flight together; 0 = 256 */
    unsigned per_group; /* largest number of them in one group; 0 = 8 */
    const char *const
        *refused; /* addresses "IP:PORT" to which no probe connects, ended by NULL and borrowed;
                   * NULL = none */
    const struct probe_sockets *sockets; /* opens sockets in the networks of pods; borrowed; NULL =
                                          * ordinary sockets */
    const char *host_address; /* address of running pods that have none of their own; borrowed; NULL
                               * = such pods are not probed */
};

struct probes *probes_new(struct cluster *cluster, const struct probe_limits *limits);
void probes_free(struct probes *probes); /* frees the set, which must have no targets; NULL is
                                          * fine */

/* A flow's share of the attempts. Its owner zeroes it and keeps it alive while targets use it. The
 * members are private to fair_queue.c. */
struct probe_group {
    unsigned in_flight;
    TAILQ_HEAD(, probe_poll) polls; /* waiting for their turn */
    TAILQ_ENTRY(probe_group) ring;
    bool in_ring;
};

enum probe_verdict {
    PROBE_NOT_APPLICABLE, /* no entry applies to this target, so its completion decides */
    PROBE_OPEN,
    PROBE_PASSED
};

/**
 * Follow the pods of `job` for the entries of `spec` that apply to it. `spec` is borrowed for the
 * life of the target. `passed` runs once, on the loop, when the verdict turns PASSED, never inside
 * this call; it must not free the target. Owned.
 */
struct probe_target *probe_target_new(struct probes *probes, struct probe_group *group,
                                      const struct flow_probe *spec, const struct object *job,
                                      void (*passed)(void *ctx), void *ctx);
void probe_target_free(struct probe_target *target); /* NULL is ignored */
/** Takes a new version of the same job. Its pods of older versions no longer count. */
void probe_target_job_changed(struct probe_target *target, const struct object *job);

enum probe_verdict probe_target_verdict(const struct probe_target *target);
/** Returns whether the completion of the job fulfils every entry that has not passed yet. */
bool probe_target_met_by_completion(const struct probe_target *target);

struct probe_counts {
    uint64_t passed[PROBE_KIND_N],
        failed[PROBE_KIND_N]; /* number of attempts by enum probe_kind; of task phases, changes of
                               * the verdict */
};
const struct probe_counts *probes_counts(const struct probes *probes);
