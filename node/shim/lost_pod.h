#pragma once
/*
 * Pods whose shim died: their last status, and the end of processes that outlived the shim.
 */
#include <stddef.h>

#include "node/wire/message.h"

/** Make a pod's last known status final. The exit of containers that still ran is unknown, so the
 * pod has failed. The texts are literals. */
void lost_pod_status(struct shim_status *status, const char *reason, const char *message);

/** Kill all processes with the mark of one of these pods (pod_mark.h), including children they fork
 * meanwhile. Reads all of /proc. */
void lost_pods_kill(const char *const *uids, size_t count);
