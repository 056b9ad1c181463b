#pragma once
/*
 * Targets, their pods and the checks that poll them, as the files of probe.h see them.
 *
 * Targets hang below the uid of their job, so that a pod's event finds them by its owner. The
 * watcher on pods exists only while a target does.
 */
#include "base/hash.h"
#include "probes/fair_queue.h"
#include "probes/probe.h"

struct probe_pod {
    struct probe_target *target;
    int64_t revision;
    bool *passes; /* [target->needs.count] */
    struct probe_poll **checks;
    char *ip; /* as last seen */
    UT_hash_handle hh;
    char uid[];
};

/* The targets that look at one job. */
struct watched_job {
    struct probe_target *targets;
    UT_hash_handle hh;
    char uid[];
};

struct probe_target {
    struct probes *probes;
    struct probe_group *group;
    const struct flow_probe *spec;
    struct object *job;
    struct probe_requirements requirements; /* borrow from both */
    struct probe_pod *pods;                 /* hash by uid */
    struct watched_job *watched;
    struct probe_target *prev, *next; /* of the same job */
    void (*passed)(void *ctx);
    void *ctx;
    bool verdict_passed;
    struct task tell;
};

struct probes {
    struct cluster *cluster;
    struct probe_queue queue;
    const char *const *refused;
    const char *host_address;
    const struct probe_sockets *sockets;
    struct probe_http_client *http;
    struct cluster_watcher pods;
    bool watching;
    struct watched_job *jobs; /* hash by uid */
    unsigned targets;
    struct probe_counts counts;
};

/* probe_pods.c */
struct probe_pod *probe_target_pod(const struct probe_target *target, const char *uid);
/** Take in a version of a pod; one that is older than what is known changes nothing. */
void probe_target_update_pod(struct probe_target *target, const struct object *object);
void probe_pod_free(struct probe_pod *pod); /* cancels its checks; it counts no more */
void probe_pod_set_passing(struct probe_pod *pod, uint32_t requirement, bool passing);
/** Turn the verdict PASSED if the needs are met now, and have it told by target->tell. */
void probe_target_evaluate(struct probe_target *target);
void probe_target_notify(struct task *tell);
void probes_count(struct probes *probes, enum probe_kind kind, bool passed);

/* probe_poll.c */
/** Poll a pod for one need, from its turn on, until it passes; then the check is gone. */
struct probe_poll *probe_poll_new(struct probe_pod *pod, uint32_t requirement);
void probe_poll_cancel(struct probe_poll *check);
/** Start what may start. A try that cannot even begin has failed. */
void probes_start_waiting(struct probes *probes);
