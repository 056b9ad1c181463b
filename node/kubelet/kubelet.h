#pragma once
/*
 * The kubelet: takes the pods bound to this node through their lives.
 *
 *   bound ─► queued ─► intent ─► ready ─► started ─► ended ─► released
 *            start     on its    its turn  the        final    the runtime has
 *            queue     way to    comes     runtime    status   forgotten it
 *                      the disk            has it     on its
 *                         ▲        │                  way to
 *                         └─ held ◄┘ a ConfigMap,     the disk
 *                                    Secret or claim is missing
 *
 * The start queue is served strictly in order, at most `capacity` runs at once. The first pods of
 * it have their start intent (status.startTime) on disk before a slot is free, so that a slot never
 * waits for a commit (DC-18). A pod is given to the runtime once, after its intent is durable, and
 * forgotten by it after its final status is (D-09, D-10, DC-11).
 */
#include "node/kubelet/volumes.h"
#include "node/machine/amount.h"
#include "node/runtime/runtime.h"

struct kubelet;

struct kubelet_options {
    const char *node_name; /* borrowed for the kubelet's life, as all texts here */
    struct amount capacity;
    int64_t intents_ahead; /* start intents written in advance of free slots */
    struct volume_rules volumes;
    bool isolate_all;       /* every pod has an address and a hosts file of its own, */
    bool private_network;   /* in another network than the machine's */
    bool lock_addresses;    /* other nodes of this machine get others */
    bool service_addresses; /* Services have addresses that lead to their pods */
    bool machine_restarted; /* since the last life here: intents of that life are lost */
    /** Pods of earlier lives are judged: those that were lost have been written as failed. */
    void (*adopted)(void *ctx);
    void *ctx;
};

/** Adopts pods of earlier lives first; starts none before that is done. Borrows both, and becomes
 * the one the runtime reports to. */
struct kubelet *kubelet_start(struct cluster *cluster, struct runtime *runtime,
                              const struct kubelet_options *options);
/** Pods go on. NULL is fine. */
void kubelet_stop(struct kubelet *kubelet);
