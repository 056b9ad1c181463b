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

void reason_pods_add(struct reason_pods *pods, const struct object *pod)
{
    const struct pod_status *status = pod_status_of(pod);
    const struct container_status *container;

    pods->n_pods++;
    if (status->phase != POD_FAILED || pods->n_failed++ > 0)
        return;
    snprintf(pods->name, sizeof pods->name, "%s", object_name(pod));
    container = failed_container(status);
    if (status->reason && *status->reason) /* the pod failed as a whole, not one container */
        buf_printf(&pods->first, "%s%s%s", status->reason, status->message ? ": " : "",
                   status->message ? status->message : "");
    else if (container)
        reason_container_ended(container, &pods->first);
    else
        buf_str(&pods->first, "failed");
}

void reason_pods_write(const struct reason_pods *pods, struct buf *out)
{
    if (pods->n_failed == 0)
        return;
    if (pods->n_pods > 1)
        buf_printf(out, "pod %s: ", pods->name);
    buf_str(out, pods->first.data);
    if (pods->n_failed > 1)
        buf_printf(out, "; %u pods failed", pods->n_failed);
}

void reason_pods_release(struct reason_pods *pods)
{
    buf_release(&pods->first);
}

static void look_at_pod(void *arg, const struct object *pod)
{
    reason_pods_add(arg, pod);
}

void reason_pods_of(const struct store *store, const char *job_uid, struct reason_pods *pods)
{
    store_each_owned(store, &kind_pod, job_uid, look_at_pod, pods);
}

bool reason_only_counts(const char *message)
{
    return !message || !*message || strstr(message, " pods succeeded, ");
}

void reason_of_failure(const char *reason, const char *message, const struct reason_pods *pods,
                       struct buf *out)
{
    size_t before = out->len;
    bool only_counts = reason_only_counts(message);

    if (only_counts)
        reason_pods_write(pods, out);
    if (out->len == before && message)
        buf_str(out, message);
    if (only_counts && reason && strcmp(reason, "MaxRetryReached") == 0)
        buf_str(out, "; no restart is left (maxRetry)");
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
