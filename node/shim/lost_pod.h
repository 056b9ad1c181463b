#pragma once
/*
 * Handles pods whose shim died: makes their last status final, and kills processes that outlived
 * the shim.
 */
#include <stddef.h>

#include "node/wire/message.h"

/** Makes a pod's last known status final. The exit of containers that still ran is unknown, so the
 * pod has failed. `reason` and `message` are literals. */
void lost_pod_status(struct shim_status *status, const char *reason, const char *message);

/** Kills all processes with the mark of one of these pods (pod_mark.h), including children they
 * fork meanwhile. It reads all of /proc. */
void lost_pods_kill(const char *const *uids, size_t count);
