/*
 * The members of a PodGroup: minimums, minResources by task priority, topology and sub-groups. Ref:
 * Volcano pkg/controllers/job/job_controller_actions.go, createOrUpdatePodGroup,
 * calcPGMinResources.
 */
#include "job/objects/podgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "base/mem.h"
#include "job/model/names.h"
#include "job/model/resources.h"

struct ranked {
    uint32_t task;
    int32_t priority;
};

static const char *template_class(const struct job_task *task)
{
    return json_string_value(
        json_object_get(json_object_get(task->template, "spec"), "priorityClassName"));
}

/* Higher priority first; equal priorities in spec order. */
static int compare_ranks(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;

    if (left->priority != right->priority)
        return left->priority > right->priority ? -1 : 1;
    return left->task < right->task ? -1 : 1;
}

static bool counts(const struct job_model *model, bool staged, uint32_t task)
{
    return !staged || model->tasks[task].started;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many pods of the task the gang needs. Successes count that are kept without their pods, which
 * the scheduler does not see. */
static int64_t needed(const struct job_model *model, uint32_t task)
{
    int64_t minimum = job_task_minimum(&model->compiled->spec->tasks.items[task]);
    int64_t left = minimum - model->tasks[task].absent;

    return left > 0 ? left : 0;
}

/* How many pods of each task make up the first `members` of the gang (15.3). */
static void share_out(const struct job_spec *spec, const struct ranked *order, size_t count,
                      int64_t members, int64_t minimums, int64_t *out)
{
    int64_t left = members;

    for (size_t i = 0; members >= minimums && i < count; i++) {
        const struct job_task *task = &spec->tasks.items[order[i].task];

        out[i] = task->min_available.set ? smaller(task->min_available.value, left) : 0;
        left -= out[i];
    }
    for (size_t i = 0; i < count; i++) {
        const struct job_task *task = &spec->tasks.items[order[i].task];
        int64_t more = smaller(task->replicas - out[i], left);

        if (more > 0) {
            out[i] += more;
            left -= more;
        }
    }
}

static int64_t sum_minimums(const struct job_model *model, bool staged)
{
    int64_t sum = 0;

    for (uint32_t t = 0; t < model->compiled->spec->tasks.count; t++)
        if (counts(model, staged, t))
            sum += needed(model, t);
    return sum;
}

static struct str_map min_resources(const struct job_model *model,
                                    const struct job_podgroup_options *options, int64_t members,
                                    struct arena *arena)
{
    const struct job_spec *spec = model->compiled->spec;
    struct ranked *order = arena_array(arena, spec->tasks.count, sizeof *order);
    int64_t *pods = arena_array(arena, spec->tasks.count, sizeof *pods);
    scoped(usage) struct usage sum = {0};
    size_t count = 0;

    for (uint32_t t = 0; t < spec->tasks.count; t++) {
        const char *class = template_class(&spec->tasks.items[t]);

        if (counts(model, options->staged, t))
            order[count++] = (struct ranked){
                t, class && options->priority ? options->priority(options->ctx, class) : 0};
    }
    if (count > 1)
        qsort(order, count, sizeof *order, compare_ranks);
    share_out(spec, order, count, members, sum_minimums(model, options->staged), pods);
    for (size_t i = 0; i < count; i++) {
        scoped(usage) struct usage one = {0};

        if (pods[i] == 0)
            continue;
        usage_of_template(spec->tasks.items[order[i].task].template, &one);
        usage_add(&sum, &one, pods[i]);
    }
    return usage_map(&sum, arena);
}

static json_t *topology_of(const json_t *given, bool by_name_too)
{
    static const char *const keys[] = {"mode", "highestTierAllowed", "highestTierName"};
    json_t *out = json_object();

    for (size_t i = 0; i < countof(keys); i++) {
        json_t *value = json_object_get(given, keys[i]);

        /* The job's topology names its tier once: by number when it has a number. */
        if (!value || (i == 2 && !by_name_too && json_object_get(out, keys[1])))
            continue;
        json_object_set(out, keys[i], value);
    }
    return out;
}

static bool has_partitions(const struct job_spec *spec)
{
    for (size_t t = 0; t < spec->tasks.count; t++)
        if (spec->tasks.items[t].partition)
            return true;
    return false;
}

/* One entry for each partitioned task (15.2), or NULL. The decoded partition has no topology, so
 * that is read from the JSON body. */
static json_t *sub_groups(const struct job_model *model)
{
    const struct job_spec *spec = model->compiled->spec;
    scoped(json) json_t *body = has_partitions(spec) ? object_body_json(model->job) : NULL;
    const json_t *tasks = json_object_get(json_object_get(body, "spec"), "tasks");
    json_t *list = body ? json_array() : NULL;

    for (size_t t = 0; t < spec->tasks.count; t++) {
        const struct job_task *task = &spec->tasks.items[t];
        const json_t *topology = json_object_get(
            json_object_get(json_array_get(tasks, t), "partitionPolicy"), "networkTopology");
        json_t *entry;

        if (!task->partition)
            continue;
        entry = json_pack("{s:s, s:i, s:i, s:{s:{s:s}}, s:[s]}", "name", task->name, "subGroupSize",
                          task->partition->size, "minSubGroups", task->partition->min,
                          "labelSelector", "matchLabels", LABEL_TASK_SPEC, task->name,
                          "matchLabelKeys", LABEL_PARTITION_ID);
        if (topology)
            json_object_set_new(entry, "networkTopology", topology_of(topology, true));
        json_array_append_new(list, entry);
    }
    return list;
}

static int32_t clamp(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

static struct blob *build_spec(const struct job_model *model,
                               const struct job_podgroup_options *options)
{
    const struct job_spec *job = model->compiled->spec;
    scoped(arena) struct arena *arena = arena_new(0);
    scoped(json) json_t *topology =
        job->network_topology ? topology_of(job->network_topology, false) : NULL;
    scoped(json) json_t *groups = sub_groups(model);
    struct task_minimum *minimums = arena_array(arena, job->tasks.count, sizeof *minimums);
    int64_t members = job->min_available - model->absent;
    struct podgroup_spec spec = {
        .min_task_member.items = minimums,
        .queue = job->queue,
        .priority_class = job->priority_class,
        .has_min_resources = true,
        .network_topology = topology,
        .sub_group_policy = groups,
    };

    for (uint32_t t = 0; t < job->tasks.count; t++)
        if (counts(model, options->staged, t))
            minimums[spec.min_task_member.count++] =
                (struct task_minimum){job->tasks.items[t].name, (int32_t)needed(model, t)};
    if (members < 1) /* a group of none is no group */
        members = smaller(job->min_available, 1);
    if (options->staged)
        members = smaller(members, sum_minimums(model, true));
    spec.min_member = clamp(members);
    spec.min_resources = min_resources(model, options, members, arena);
    return podgroup_spec_blob(&spec);
}

static bool uses_priority(const struct job_spec *spec)
{
    for (size_t t = 0; t < spec->tasks.count; t++)
        if (template_class(&spec->tasks.items[t]))
            return true;
    return false;
}

/* Returns the body of Volcano's PodGroup, owned. */
static struct blob *volcano_body(struct job_model *model,
                                 const struct job_podgroup_options *options)
{
    struct job_compiled_spec *compiled = model->compiled;

    if (model->absent)
        return build_spec(model, options);
    if (!compiled->group_body) {
        bool shared =
            !(options->staged && (compiled->has_dependencies || model->lifecycle.has_companions)) &&
            !uses_priority(compiled->spec);

        if (!shared)
            return build_spec(model, options);
        compiled->group_body = build_spec(model, &(struct job_podgroup_options){0});
    }
    return blob_ref(compiled->group_body);
}

struct blob *job_podgroup_body(struct job_model *model, const struct job_podgroup_options *options)
{
    struct blob *body = volcano_body(model, options);
    scoped(object) struct object *holder = NULL;

    if (!model->gang || !model->gang->body)
        return body;
    holder = object_new(&kind_pod_group, meta_ref(model->job->meta), body, NULL);
    return model->gang->body(podgroup_spec_of(holder));
}

/* Another gang than Volcano's has the label by which this process follows it. */
static struct object *build_of_other(const struct job_model *model, struct blob *body)
{
    const struct meta *job = model->job->meta;
    struct owner_ref owner = {JOB_API_VERSION, "Job", job->name, job->uid, true, true};
    struct kv label = {LABEL_MANAGED_BY, MANAGED_BY_US};
    scoped_str name = model->gang->name(model->job);
    char version[16];
    struct kv annotation = {ANNOTATION_JOB_VERSION, version};

    snprintf(version, sizeof version, "%d", model->state.version);
    return object_new(model->gang->kind,
                      meta_new(&(struct meta){
                          .namespace = job->namespace,
                          .name = name,
                          .uid = "",
                          .deletion_grace_s = -1,
                          .labels = &label,
                          .n_labels = 1,
                          .annotations = &annotation,
                          .n_annotations = 1,
                          .owners = &owner,
                          .n_owners = 1,
                      }),
                      body, NULL);
}

enum { STACK_ANNOTATIONS = 32 };

struct object *job_podgroup_build(const struct job_model *model, struct blob *body)
{
    const struct meta *job = model->job->meta;
    struct kv stack[STACK_ANNOTATIONS];
    struct kv *annotations = job->n_annotations < STACK_ANNOTATIONS
                                 ? stack
                                 : mem_array(job->n_annotations + 1, sizeof *annotations);
    struct owner_ref owner = {JOB_API_VERSION, "Job", job->name, job->uid, true, true};
    scoped_str name = job_podgroup_name(model->job);
    char version[16];
    struct meta *meta;

    if (model->gang && !model->gang->admits) {
        if (annotations != stack)
            mem_free(annotations);
        return build_of_other(model, body);
    }
    snprintf(version, sizeof version, "%d", model->state.version);
    if (job->n_annotations > 0)
        memcpy(annotations, job->annotations, job->n_annotations * sizeof *annotations);
    /* The kill epoch that the gang is admitted for. After a crash an older PodGroup is recognised by
     * it. */
    annotations[job->n_annotations] = (struct kv){ANNOTATION_JOB_VERSION, version};
    meta = meta_new(&(struct meta){
        .namespace = job->namespace,
        .name = name,
        .uid = "",
        .deletion_grace_s = -1,
        .labels = job->labels,
        .n_labels = job->n_labels,
        .annotations = annotations,
        .n_annotations = job->n_annotations + 1,
        .owners = &owner,
        .n_owners = 1,
    });
    if (annotations != stack)
        mem_free(annotations);
    return object_new(&kind_pod_group, meta, body, NULL);
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_resources(const struct str_map *a, const struct str_map *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < b->count; i++) {
        bool found = false;

        for (size_t j = 0; j < a->count && !found; j++) {
            quantity_nano left, right;

            found = strcmp(a->items[j].key, b->items[i].key) == 0 &&
                    quantity_parse(a->items[j].value, &left, NULL) &&
                    quantity_parse(b->items[i].value, &right, NULL) && left == right;
        }
        if (!found)
            return false;
    }
    return true;
}

static bool has_minimum(const struct podgroup_spec *spec, const struct task_minimum *wanted)
{
    for (size_t i = 0; i < spec->min_task_member.count; i++)
        if (strcmp(spec->min_task_member.items[i].key, wanted->key) == 0)
            return spec->min_task_member.items[i].value == wanted->value;
    return false;
}

bool job_podgroup_differs(const struct object *group, const struct blob *wanted)
{
    const struct podgroup_spec *is = podgroup_spec_of(group), *want;
    scoped(object) struct object *holder = NULL;

    if (group->body == wanted)
        return false;
    holder = object_new(&kind_pod_group, meta_ref(group->meta), blob_ref(wanted), NULL);
    want = podgroup_spec_of(holder);
    if (is->min_member != want->min_member ||
        !same_text(is->priority_class, want->priority_class) ||
        !same_resources(&is->min_resources, &want->min_resources))
        return true;
    for (size_t i = 0; i < want->min_task_member.count; i++)
        if (!has_minimum(is, &want->min_task_member.items[i]))
            return true;
    if (json_array_size(is->sub_group_policy) == 0 && json_array_size(want->sub_group_policy) == 0)
        return false;
    return !json_equal(is->sub_group_policy, want->sub_group_policy);
}

struct object *job_podgroup_with_priority(const struct job_model *model)
{
    const struct meta *job = model->job->meta;
    const char *value = meta_annotation(job, ANNOTATION_PRIORITY);
    struct meta meta = *model->group->meta;
    struct kv *kept = mem_array(meta.n_annotations + 1, sizeof *kept);
    struct meta *next;
    uint32_t n = 0;

    for (uint32_t i = 0; i < meta.n_annotations; i++)
        if (strcmp(meta.annotations[i].key, ANNOTATION_PRIORITY) != 0)
            kept[n++] = meta.annotations[i];
    if (value)
        kept[n++] = (struct kv){ANNOTATION_PRIORITY, value};
    meta.annotations = kept;
    meta.n_annotations = n;
    next = meta_new(&meta);
    mem_free(kept);
    return object_with_meta(model->group, next);
}

bool job_podgroup_outdated(const struct job_model *model)
{
    const char *text =
        model->group ? meta_annotation(model->group->meta, ANNOTATION_JOB_VERSION) : NULL;
    int32_t version;

    return text && job_parse_int(text, &version) && version < model->state.version;
}

bool job_podgroup_admitted(const struct job_model *model)
{
    enum podgroup_phase phase;

    if (!model->group || object_deleting(model->group) || job_podgroup_outdated(model))
        return false;
    if (model->gang && !model->gang->admits)
        return true;
    phase = podgroup_status_of(model->group)->phase;
    return phase != PODGROUP_NONE && phase != PODGROUP_PENDING;
}
