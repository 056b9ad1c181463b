/*
 * The pods of one target: which of them pass, which are polled, and the verdict that follows.
 */
#include <string.h>

#include "probes/internal.h"

void probe_pod_set_passing(struct probe_pod *pod, uint32_t requirement, bool passing)
{
    if (pod->passes[requirement] == passing)
        return;
    pod->passes[requirement] = passing;
    pod->target->requirements.items[requirement].passing += passing ? 1 : -1;
}

void probes_count(struct probes *probes, enum probe_kind kind, bool passed)
{
    if (passed)
        probes->counts.passed[kind]++;
    else
        probes->counts.failed[kind]++;
}

void probe_pod_free(struct probe_pod *pod)
{
    struct probe_target *target = pod->target;

    for (uint32_t i = 0; i < target->requirements.count; i++) {
        if (pod->polls[i])
            probe_poll_cancel(pod->polls[i]);
        probe_pod_set_passing(pod, i, false);
    }
    HASH_DELETE(hh, target->pods, pod);
    mem_free(pod->passes);
    mem_free(pod->polls);
    mem_free(pod->ip);
    mem_free(pod);
}

struct probe_pod *probe_target_pod(const struct probe_target *target, const char *uid)
{
    struct probe_pod *pod;

    HASH_FIND_STR(target->pods, uid, pod);
    return pod;
}

static struct probe_pod *add_pod(struct probe_target *target, const char *uid)
{
    size_t len = strlen(uid);
    struct probe_pod *pod = mem_alloc(sizeof *pod + len + 1);

    memcpy(pod->uid, uid, len + 1);
    pod->target = target;
    pod->passes = mem_array(target->requirements.count, sizeof *pod->passes);
    pod->polls = mem_array(target->requirements.count, sizeof(struct probe_poll *));
    HASH_ADD_KEYPTR(hh, target->pods, pod->uid, len, pod);
    return pod;
}

static void poll_pod(struct probe_pod *pod, uint32_t requirement, bool running)
{
    struct probe_poll *poll = pod->polls[requirement];

    if (!running || !pod->ip) {
        if (poll)
            probe_poll_cancel(poll);
        pod->polls[requirement] = NULL;
        probe_pod_set_passing(pod, requirement, false);
        return;
    }
    if (poll || pod->passes[requirement])
        return;
    pod->polls[requirement] = probe_poll_new(pod, requirement);
}

/* Returns whether the pod was made for an older version of the job than the present one. */
static bool outdated(const struct probe_target *target, const struct object *pod)
{
    const char *version = meta_annotation(pod->meta, ANNOTATION_JOB_VERSION);

    return version && strtol(version, NULL, 10) < job_status_of(target->job)->version;
}

/* Returns the address at which a pod listens; NULL when it is not known yet. */
static const char *address_of(const struct probes *probes, const struct pod_status *status)
{
    if (status->pod_ip && *status->pod_ip)
        return status->pod_ip;
    return status->phase == POD_RUNNING ? probes->host_address : NULL;
}

static void take_address(struct probe_pod *pod, const char *ip)
{
    if (pod->ip && ip && strcmp(pod->ip, ip) == 0)
        return;
    mem_free(pod->ip);
    pod->ip = ip ? mem_strdup(ip) : NULL;
}

static void update_by_phase(struct probe_pod *pod, uint32_t requirement, bool reached)
{
    if (pod->passes[requirement] != reached)
        probes_count(pod->target->probes, pod->target->requirements.items[requirement].entry.kind,
                     reached);
    probe_pod_set_passing(pod, requirement, reached);
}

void probe_target_update_pod(struct probe_target *target, const struct object *object)
{
    const struct pod_status *status = pod_status_of(object);
    const char *task = meta_label(object->meta, LABEL_TASK_SPEC);
    struct probe_pod *pod = probe_target_pod(target, object_uid(object));

    if (target->verdict_passed || (pod && object->revision < pod->revision))
        return;
    if (outdated(target, object)) {
        if (pod)
            probe_pod_free(pod);
        return;
    }
    if (!pod)
        pod = add_pod(target, object_uid(object));
    pod->revision = object->revision;
    take_address(pod, address_of(target->probes, status));
    for (uint32_t i = 0; i < target->requirements.count; i++) {
        const struct probe_requirement *requirement = &target->requirements.items[i];

        if (!task || strcmp(requirement->task, task) != 0)
            continue;
        if (!probe_kinds[requirement->entry.kind].start)
            update_by_phase(pod, i, probe_entry_passes(&requirement->entry, status));
        else
            poll_pod(pod, i, status->phase == POD_RUNNING && !object_deleting(object));
    }
}

void probe_target_notify(struct task *task)
{
    struct probe_target *target = container_of(task, struct probe_target, notify);

    target->passed(target->ctx);
}

/* Sets the verdict. PASSED is final: after it the pods are no longer followed. */
void probe_target_evaluate(struct probe_target *target)
{
    struct probe_pod *pod, *next;

    if (target->verdict_passed || !probe_requirements_met(&target->requirements))
        return;
    target->verdict_passed = true;
    HASH_ITER(hh, target->pods, pod, next) probe_pod_free(pod);
    loop_post(target->probes->cluster->loop, &target->notify);
}
