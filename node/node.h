#pragma once
/*
 * The node: one machine (or a simulated one) that runs pods. Three parts, each its own file:
 *
 *   scheduler   admits PodGroups (phase Inqueue), binds pods to the node whole gangs at a time,
 * drives PodGroup phases kubelet     bound pods: resolve volumes and environment, record the start
 * intent, start when it is durable, mirror the runtime's reports runtime     processes (runtime.h)
 */
#include "api/cluster.h"
#include "node/runtime.h"

struct node;

struct node_options {
    const char *name; /* Node object's name; default: the host name */
    const char *data_dir;
    int max_pods;                    /* -j: pods running at once */
    int64_t cpu_milli, memory_bytes; /* allocatable; 0 = the machine's (sim: unlimited) */
    bool host_paths;                 /* hostPath volumes allowed (DC-08) */
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
