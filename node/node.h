#pragma once
/*
 * The node: one machine (or a simulated one) that runs pods.
 *
 *   scheduler     admits PodGroups (phase Inqueue), binds pods to the node whole gangs at a time,
 *                 drives PodGroup phases
 *   kubelet       bound pods: records the start intent, resolves volumes and environment, starts
 *                 when the intent is durable, mirrors the runtime's reports
 *   runtime       processes (runtime.h)
 *   queue_state   opens and closes queues; queue_usage says what is in them
 *   plain_groups  makes PodGroups for pods without a Job
 *   claims        binds claims; machine is the Node object
 *   endpoints     says who is behind each Service
 */
#include "api/cluster.h"
#include "node/machine/amount.h"
#include "node/machine/host_paths.h"
#include "node/runtime/runtime.h"

struct node;

struct node_options {
    const char *name; /* Node object's name; default: the host name */
    const char *data_dir;
    int max_pods;                    /* -j: pods running at once */
    int64_t cpu_milli, memory_bytes; /* allocatable; 0 = the machine's (sim: unlimited) */
    struct resource_names extras;    /* named resources it has besides; borrowed */
    int64_t extra[AMOUNT_EXTRA];     /* how many of each */
    struct host_paths host_paths;    /* which ones pods may mount (SEC-20) */
    int64_t empty_dir_bytes;         /* L-39: one without sizeLimit; 0 = any */
    bool sim;
    struct runtime_host_options host; /* ignored under sim */
};

/** Starts scheduler, kubelet and runtime; adopts pods of an earlier life before it starts any.
 * Borrows the cluster. */
struct node *node_start(struct cluster *cluster, const struct node_options *options,
                        struct error *err);
/** Stop looking after pods; they go on. Frees. */
void node_stop(struct node *node);

struct runtime *node_runtime(struct node *node); /* for logs and doctor */
