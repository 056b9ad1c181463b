#pragma once
/*
 * Keeps the logs of pods that are gone, under one rule.
 *
 * The log of a pod belongs to its flow, or to its job if no flow made the job. When the pod is
 * deleted and the flow or job stays, the keeper creates a PodLog, in the same commit as the
 * deletion. A PodLog has the flow and the job as owners and is deleted with them, and its log files
 * with it. Pods without a job, and pods that never ran, leave nothing behind.
 *
 * A flow, a job without a flow, and the node may keep what `limits` says. What is more is deleted,
 * the oldest first. A deletion costs the same however many logs are kept.
 */
#include "api/cluster.h"
#include "node/logs/limits.h"
#include "node/runtime/runtime.h"

struct log_keeper;

/** Starts the keeper, which reads the PodLogs of the store at once. Start it before the kubelet.
 * All arguments are borrowed. */
struct log_keeper *log_keeper_start(struct cluster *cluster, struct runtime *runtime,
                                    const struct log_limits *limits);
/** Returns whether the log of the pod is kept although the pod is gone. Its files must then
 * stay. */
bool log_keeper_keeps(const struct log_keeper *keeper, const char *uid);
void log_keeper_stop(struct log_keeper *keeper); /* NULL is ignored */
