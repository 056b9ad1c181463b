#pragma once
/*
 * The kubelet: runs the pods bound to this node, from their binding to their end.
 *
 *   queued ──► intent ──► ready ──► started ──► ended ──► released
 *                          │  ▲
 *                          ▼  │
 *                         blocked
 *
 *   queued    in the start queue
 *   intent    its start intent (status.startTime) is on the way to the disk
 *   ready     the intent is durable; the pod waits for its turn and for capacity
 *   devices   the pod has devices, whose ids are on the way to the disk (pod_devices.c); it starts
 *             then, and other pods go from ready to started at once
 *   blocked   a ConfigMap, Secret or claim it refers to is missing, or a port is in use
 *   started   the runtime has it
 *   ended     its final status is on the way to the disk
 *   released  its final status is durable, and the runtime has forgotten it
 *
 * The start queue is served in order; a pod that finds no room lets those pass that do, for a
 * limited time (start_queue.c). Pods up to `capacity` run at once. The first pods of the queue get
 * durable intents before there is room for them, so room that gets free never waits for a commit
 * (DC-18). A pod is given to the runtime once, after its intent is durable, and the runtime forgets
 * it after its final status is durable (D-09, D-10, DC-11).
 */
#include "node/devices/device_list.h"
#include "node/kubelet/volumes.h"
#include "node/machine/amount.h"
#include "node/runtime/runtime.h"

struct kubelet;

struct kubelet_options {
    const char *node_name; /* name of the Node; borrowed until kubelet_stop, as all texts of the
                            * options */
    struct amount capacity;
    struct resource_names extras;      /* names of `capacity.extra` */
    const struct device_list *devices; /* devices that pods get; NULL: none */
    const struct str_map *environment; /* variables of all containers; NULL: none */
    int64_t intents_ahead;             /* number of start intents written before there is room */
    struct volume_rules volumes;
    bool isolate_all;       /* every pod has an address and a hosts file of its own */
    bool confine;           /* pods of namespaces with ANNOTATION_CONFINED are confined */
    bool private_network;   /* pods have a network of their own, apart from the machine's */
    bool lock_addresses;    /* the range of addresses is locked, because nodes of one machine use
                             * different ranges */
    bool service_addresses; /* Services get addresses that lead to their pods */
    bool machine_restarted; /* the machine was restarted since the previous run: pods with an intent
                             * are lost */
    /** Called when the pods of a previous run are reconciled and those that were lost are written
     * as failed. */
    void (*adopted)(void *ctx);
    /** Returns whether the log files of a pod that is gone stay. NULL: they never stay. */
    bool (*log_kept)(void *ctx, const char *uid);
    void *ctx;
};

/** Starts the kubelet. It adopts pods of a previous run first, and starts no other pod before that
 * is done. It borrows `cluster` and `runtime`, and sets the runtime's callbacks. */
struct kubelet *kubelet_start(struct cluster *cluster, struct runtime *runtime,
                              const struct kubelet_options *options);
/** Stops the kubelet; pods keep running. NULL is ignored. */
void kubelet_stop(struct kubelet *kubelet);
