#pragma once
/*
 * The last state of a pod whose shim is gone, as it is told: nobody knows how its containers ended.
 */
#include "node/wire/message.h"

/** Those that had not ended, have; the pod has failed. Texts are literals. */
void lost_pod_status(struct shim_status *status, const char *reason, const char *message);
