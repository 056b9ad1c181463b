/*
 * Names are made of the name of the job and the beginning of its uid, so that they fit a label.
 * Ref: scheduler-plugins apis/scheduling/v1alpha1/types.go; Kueue pkg/controller/jobs/pod/constants;
 * Kubernetes staging/src/k8s.io/api/scheduling, v1alpha1 of 1.35 and v1alpha2 of 1.36.
 */
#include "job/objects/gang.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "job/model/names.h"

enum {
    LABEL_VALUE_MAX = 63,
    UID_DIGITS = 8,
    VERSION_BYTES_MAX = 11, /* a dash and the digits of a version */
    SCHEDULE_TIMEOUT_S = 60,
};

#define WORKLOAD_GROUP_NAME "pods" /* the only group of a Workload */

/* Returns the name of the job, cut so that `rest` more bytes fit into a label, and the beginning of
 * its uid. Owned. A name does not end with a dash or a dot where it is cut. */
static char *short_name(const struct object *job, size_t rest)
{
    size_t most = LABEL_VALUE_MAX - 1 - UID_DIGITS - rest, len = strlen(object_name(job));

    len = len < most ? len : most;
    while (len > 1 && !isalnum((unsigned char)object_name(job)[len - 1]))
        len--;
    return mem_printf("%.*s-%.*s", (int)len, object_name(job), UID_DIGITS, object_uid(job));
}

static char *object_name_of(const struct object *job)
{
    return short_name(job, 0);
}

static struct blob *to_blob(json_t *doc)
{
    struct blob *body = object_body_from_json(doc);

    json_decref(doc);
    return body;
}

/* A group of none is no group for these schedulers. */
static json_int_t members_of(const struct podgroup_spec *group)
{
    return group->min_member < 1 ? 1 : group->min_member;
}

/* Volcano's PodGroup also has what quotas count. No node has such resources, so that a scheduler
 * which looks for them would find none. */
static bool is_of_nodes(const char *resource)
{
    static const char *const counted[] = {"requests.", "limits.", "count/"};

    for (size_t i = 0; i < countof(counted); i++)
        if (strncmp(resource, counted[i], strlen(counted[i])) == 0)
            return false;
    return strcmp(resource, "pods") != 0;
}

static struct blob *coscheduling_body(const struct podgroup_spec *group)
{
    json_t *resources = json_object();

    for (size_t i = 0; i < group->min_resources.count; i++)
        if (is_of_nodes(group->min_resources.items[i].key))
            json_object_set_new(resources, group->min_resources.items[i].key,
                                json_string(group->min_resources.items[i].value));
    return to_blob(json_pack("{s:{s:I, s:o, s:i}}", "spec", "minMember", members_of(group),
                             "minResources", resources, "scheduleTimeoutSeconds",
                             SCHEDULE_TIMEOUT_S));
}

static void coscheduling_mark(const struct job_model *model, struct job_gang_marks *out)
{
    out->group = object_name_of(model->job);
    out->labels[0] = (struct kv){LABEL_COSCHEDULING_GROUP, out->group};
}

/* How many pods are in the group: all but those that a resume keeps of an earlier epoch. */
static int64_t group_size(const struct job_model *model)
{
    int64_t size = model->compiled->replicas;

    for (size_t t = 0; model->resumed && t < model->compiled->spec->tasks.count; t++)
        for (int32_t i = 0; i < model->tasks[t].n_slots; i++) {
            const struct job_slot *slot = &model->tasks[t].slots[i];

            size -= slot->class == SLOT_SUCCEEDED && slot->facts.version < model->state.version;
        }
    return size;
}

/* A restart makes a new group, because a group takes no other pods in. */
static void kueue_mark(const struct job_model *model, struct job_gang_marks *out)
{
    scoped_str base = short_name(model->job, VERSION_BYTES_MAX);
    const char *queue = meta_label(model->job->meta, LABEL_KUEUE_QUEUE);

    out->group = mem_printf("%s-%d", base, model->state.version);
    snprintf(out->count, sizeof out->count, "%lld", (long long)group_size(model));
    out->labels[0] = (struct kv){LABEL_KUEUE_QUEUE, queue ? queue : model->compiled->spec->queue};
    out->labels[1] = (struct kv){LABEL_KUEUE_GROUP, out->group};
    out->annotation = (struct kv){ANNOTATION_KUEUE_COUNT, out->count};
}

static struct blob *workload_group_body(const struct podgroup_spec *group)
{
    return to_blob(json_pack("{s:{s:{s:{s:I}}}}", "spec", "schedulingPolicy", "gang", "minCount",
                             members_of(group)));
}

static void workload_group_mark(const struct job_model *model, json_t *spec)
{
    scoped_str name = object_name_of(model->job);

    json_object_set_new(spec, "schedulingGroup", json_pack("{s:s}", "podGroupName", name));
}

static struct blob *workload_body(const struct podgroup_spec *group)
{
    return to_blob(json_pack("{s:{s:[{s:s, s:{s:{s:I}}}]}}", "spec", "podGroups", "name",
                             WORKLOAD_GROUP_NAME, "policy", "gang", "minCount", members_of(group)));
}

static void workload_mark(const struct job_model *model, json_t *spec)
{
    scoped_str name = object_name_of(model->job);

    json_object_set_new(spec, "workloadRef",
                        json_pack("{s:s, s:s}", "name", name, "podGroup", WORKLOAD_GROUP_NAME));
}

static const struct job_gang_form forms[JOB_GANG_N] = {
    [JOB_GANG_VOLCANO] = {.kind = &kind_pod_group,
                          .admits = true,
                          .has_queues = true,
                          .name = job_podgroup_name},
    [JOB_GANG_COSCHEDULING] = {.kind = &kind_coscheduling_group,
                               .name = object_name_of,
                               .body = coscheduling_body,
                               .mark = coscheduling_mark},
    [JOB_GANG_KUEUE] = {.whole = true, .has_queues = true, .mark = kueue_mark},
    [JOB_GANG_WORKLOAD] = {.kind = &kind_workload_group,
                           .fixed = true,
                           .name = object_name_of,
                           .body = workload_group_body,
                           .mark_spec = workload_group_mark},
    [JOB_GANG_WORKLOAD_135] = {.kind = &kind_workload,
                               .fixed = true,
                               .name = object_name_of,
                               .body = workload_body,
                               .mark_spec = workload_mark},
};

const struct job_gang_form *job_gang_form(enum job_gang gang)
{
    return &forms[gang];
}

/* Returns any pod that was created since the pods of the job were last killed; NULL when there is none. Stops at
 * the first one, so it is O(tasks) where the first slots of tasks have pods. */
static const struct object *any_pod(const struct job_model *model)
{
    for (size_t t = 0; t < model->compiled->spec->tasks.count; t++)
        for (int32_t i = 0; i < model->tasks[t].n_slots; i++) {
            const struct job_slot *slot = &model->tasks[t].slots[i];

            if (slot->pod && slot->facts.version == model->state.version)
                return slot->pod;
        }
    return NULL;
}

/* Kueue admits a group of pods as a whole and takes no pod in later, so a job whose number of pods has
 * changed since its pods were created cannot be completed. Returns the message that says so, owned;
 * NULL when the number is the same or not known. After a resume it is not known: pods that were kept
 * belong to no group, so the number in their annotation does not count. */
static char *scaled(const struct job_model *model)
{
    const struct object *pod = model->resumed ? NULL : any_pod(model);
    const char *count = pod ? meta_annotation(pod->meta, ANNOTATION_KUEUE_COUNT) : NULL;
    int32_t before;

    if (!count || !job_parse_int(count, &before) || before == model->compiled->replicas)
        return NULL;
    return mem_printf("the job was scaled from %d to %lld pods, and its group for Kueue takes no "
                      "others in",
                      before, (long long)model->compiled->replicas);
}

char *job_gang_refusal(const struct job_model *model)
{
    const struct job_spec *spec = model->compiled->spec;

    if (!model->gang || !model->gang->whole)
        return NULL;
    for (uint32_t t = 0; t < spec->tasks.count; t++)
        if (model->compiled->tasks[t].n_needs > 0)
            return mem_printf("Kueue needs all pods of a job at once, and task %s waits for others",
                              spec->tasks.items[t].name);
    if (model->lifecycle.has_companions)
        return mem_strdup("Kueue needs all pods of a job at once, and companions start before the "
                          "others");
    return scaled(model);
}
