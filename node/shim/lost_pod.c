/*
 * Pods that lost their shim. See lost_pod.h.
 */
#include "node/shim/lost_pod.h"

enum { EXIT_UNKNOWN = 137 };

void lost_pod_status(struct shim_status *status, const char *reason, const char *message)
{
    struct pod_status *pod = &status->status;

    status->final = true;
    pod->phase = POD_FAILED;
    pod->reason = reason;
    pod->message = message;
    pod->ready = false;
    for (size_t i = 0; i < pod->init_containers.count + pod->containers.count; i++) {
        struct container_status *c = &pod->init_containers.items[i]; /* one array */

        c->ready = false;
        if (c->state == CONTAINER_TERMINATED)
            continue;
        c->state = CONTAINER_TERMINATED;
        c->reason = "ContainerStatusUnknown";
        c->message = message;
        c->exit_code = EXIT_UNKNOWN;
    }
}
