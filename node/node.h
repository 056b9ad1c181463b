#pragma once
/*
 * The node: one machine, real or simulated, that runs pods.
 *
 *   scheduler     admits PodGroups (phase Inqueue), binds whole gangs of pods to the node, writes
 *                 PodGroup phases
 *   kubelet       runs bound pods: records the start intent, resolves volumes and environment,
 *                 starts the pod once the intent is durable, copies runtime reports to its status
 *   runtime       manages processes (runtime.h)
 *   queue_state   opens and closes queues
 *   queue_usage   writes the usage of queues to their statuses
 *   plain_groups  creates PodGroups for pods without a Job
 *   claims        binds volume claims
 *   logs          keeps logs of pods that are gone
 *   machine       writes the Node object
 *   endpoints     maintains the endpoints of each Service
 */
#include "api/cluster.h"
#include "node/devices/device_list.h"
#include "node/logs/keeper.h"
#include "node/machine/amount.h"
#include "node/machine/host_paths.h"
#include "node/runtime/runtime.h"

struct node;

struct node_options {
    const char *name; /* name of the Node object; default: the host name */
    const char *data_dir;
    int max_pods;                    /* value of -j: how many pods may run at once */
    int64_t cpu_milli, memory_bytes; /* amounts that pods may use; 0: all of the machine (simulated:
                                      * unlimited) */
    struct resource_names extras;    /* names of further resources; borrowed */
    int64_t extra[AMOUNT_EXTRA];     /* amount of each of `extras` */
    const struct device_list *devices; /* devices behind some of `extras`; borrowed; NULL: none */
    const struct str_map *environment; /* variables of all containers; borrowed; NULL: none */
    struct host_paths host_paths;      /* paths of the host that pods may mount (SEC-20) */
    int64_t empty_dir_bytes;     /* size limit of an emptyDir without sizeLimit; 0: none (L-39) */
    struct log_limits kept_logs; /* limits on logs of pods that are gone; ignored when simulated */
    bool confine; /* pods of namespaces with ANNOTATION_CONFINED are confined; ignored when
                   * simulated */
    bool sim;
    struct runtime_host_options host; /* options of the runtime; ignored when simulated */
};

/** Starts scheduler, kubelet and runtime. Pods of a previous run are adopted before any pod is
 * started. Borrows the cluster. */
struct node *node_start(struct cluster *cluster, const struct node_options *options,
                        struct error *err);
/** Stops managing pods and frees the node. Running pods continue. */
void node_stop(struct node *node);

/** Returns the node's runtime, for logs and doctor; borrowed. */
struct runtime *node_runtime(struct node *node);
