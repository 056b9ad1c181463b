/*
 * Reasons in a few words, from the statuses of a job's pods and of its PodGroup in the store.
 */
#include "view/reason.h"

#include <string.h>

#include "api/types/kind.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/kinds/scheduling/podgroup.h"

void reason_container_ended(const struct container_status *container, struct buf *out)
{
    bool plain = container->reason && strcmp(container->reason, "Error") == 0;

    if (container->signal)
        buf_printf(out, "killed by signal %d (%s)", (int)container->signal,
                   strsignal(container->signal)); /* NOLINT(concurrency-mt-unsafe): one thread */
    else
        buf_printf(out, "exit code %d", (int)container->exit_code);
    if (container->reason && *container->reason && !plain)
        buf_printf(out, ", %s", container->reason);
    if (container->message && *container->message)
        buf_printf(out, ": %s", container->message);
}

struct failures {
    struct buf *first; /* why the first failed pod failed */
    char name[256];    /* of that pod */
    unsigned n_pods, n_failed;
};

static const struct container_status *failed_container(const struct pod_status *status)
{
    for (size_t i = 0; i < status->init_containers.count; i++)
        if (status->init_containers.items[i].state == CONTAINER_TERMINATED &&
            status->init_containers.items[i].exit_code != 0)
            return &status->init_containers.items[i];
    for (size_t i = 0; i < status->containers.count; i++)
        if (status->containers.items[i].state == CONTAINER_TERMINATED &&
            status->containers.items[i].exit_code != 0)
            return &status->containers.items[i];
    return NULL;
}

static void look_at_pod(void *arg, const struct object *pod)
{
    struct failures *failures = arg;
    const struct pod_status *status = pod_status_of(pod);
    const struct container_status *container;

    failures->n_pods++;
    if (status->phase != POD_FAILED || failures->n_failed++ > 0)
        return;
    snprintf(failures->name, sizeof failures->name, "%s", object_name(pod));
    container = failed_container(status);
    if (status->reason && *status->reason) /* the pod as a whole, not one container */
        buf_printf(failures->first, "%s%s%s", status->reason, status->message ? ": " : "",
                   status->message ? status->message : "");
    else if (container)
        reason_container_ended(container, failures->first);
    else
        buf_str(failures->first, "failed");
}

void reason_of_failure(const struct store *store, const char *job_uid, struct buf *out)
{
    scoped(buf) struct buf first = {0};
    struct failures failures = {.first = &first};

    store_each_owned(store, &kind_pod, job_uid, look_at_pod, &failures);
    if (failures.n_failed == 0)
        return;
    if (failures.n_pods > 1)
        buf_printf(out, "pod %s: ", failures.name);
    buf_str(out, first.data);
    if (failures.n_failed > 1)
        buf_printf(out, "; %u pods failed", failures.n_failed);
}

static void look_at_group(void *arg, const struct object *group)
{
    const char *message = podgroup_waits_for(group);
    struct buf *out = arg;

    if (message && out->len == 0)
        buf_str(out, message);
}

void reason_to_wait(const struct store *store, const char *job_uid, struct buf *out)
{
    store_each_owned(store, &kind_pod_group, job_uid, look_at_group, out);
}
