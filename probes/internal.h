#pragma once
/*
 * Targets, their pods and the polls of those pods, as the files behind probe.h see them.
 *
 * Targets are listed by the uid of their job, so that the change of a pod finds them by the pod's
 * owner. Pods are watched only while there is a target.
 */
#include <sys/queue.h>

#include "base/collections/hash.h"
#include "probes/fair_queue.h"
#include "probes/probe.h"

struct probe_pod {
    struct probe_target *target;
    int64_t revision;
    bool *passes;              /* array of [target->requirements.count] elements */
    struct probe_poll **polls; /* [target->requirements.count]; NULL = not polled now */
    char *ip;                  /* IP address as last seen; NULL = none */
    UT_hash_handle hh;
    char uid[];
};

/* The targets of one job. */
struct watched_job {
    LIST_HEAD(, probe_target) targets;
    UT_hash_handle hh;
    char uid[];
};

struct probe_target {
    struct probes *probes;
    struct probe_group *group;
    const struct flow_probe *spec;
    struct object *job;
    struct probe_requirements requirements; /* the requirements, whose members borrow from `spec`
                                             * and `job` */
    struct probe_pod *pods;                 /* hash by uid */
    struct watched_job *watched;            /* NULL: no entry applies, nothing is watched */
    LIST_ENTRY(probe_target) of_job;
    void (*passed)(void *ctx);
    void *ctx;
    bool verdict_passed;
    struct task notify; /* calls `passed` */
};

struct probes {
    struct cluster *cluster;
    struct probe_queue queue;
    struct probe_io io;
    const char *const *refused;
    const char *host_address;
    const struct probe_sockets *sockets;
    struct cluster_watcher pods;
    bool watching;
    struct watched_job *jobs; /* hash table by uid */
    unsigned targets;         /* number of targets that watch pods */
    struct probe_counts counts;
};

/* Defined in target.c. */

struct probe_pod *probe_target_pod(const struct probe_target *target, const char *uid);
/** Takes a version of a pod into account. A version older than the known one changes nothing. */
void probe_target_update_pod(struct probe_target *target, const struct object *object);
/** Cancels the polls of a pod and no longer counts it. */
void probe_pod_free(struct probe_pod *pod);
void probe_pod_set_passing(struct probe_pod *pod, uint32_t requirement, bool passing);
/** Sets the verdict to PASSED if the requirements are met now, and then posts target->notify. */
void probe_target_evaluate(struct probe_target *target);
void probe_target_notify(struct task *notify);
void probes_count(struct probes *probes, enum probe_kind kind, bool passed);

/* Defined in poll.c. */

/** Poll a pod for one requirement until it passes; the poll is freed then. It begins by waiting for
 * its turn. */
struct probe_poll *probe_poll_new(struct probe_pod *pod, uint32_t requirement);
void probe_poll_cancel(struct probe_poll *poll);
/** Starts as many waiting polls as the limits allow. An attempt that cannot even begin counts as
 * failed. */
void probes_start_waiting(struct probes *probes);
