/*
 * Builds metadata and bodies of pods from the task's template, the job's volumes and the plans of
 * plugins. Ref: Volcano pkg/controllers/job/job_controller_util.go, createJobPod.
 */
#include "job/objects/pod.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "base/mem.h"
#include "job/model/names.h"
#include "job/objects/pod_plugins.h"

/* An upper bound of the keys that the core adds to those of the template, and the number of pairs
 * that need no allocation. */
enum { CORE_PAIRS_MAX = 20, STACK_PAIRS = 64 };

struct pairs {
    struct kv *items;
    uint32_t count;
    uint32_t from_template; /* number of plan entries from the template; only these may repeat a key
                             * that the core sets */
};

static void set_pair(struct pairs *pairs, const char *key, const char *value)
{
    for (uint32_t i = 0; i < pairs->from_template; i++)
        if (strcmp(pairs->items[i].key, key) == 0) {
            pairs->items[i].value = value;
            return;
        }
    pairs->items[pairs->count++] = (struct kv){key, value};
}

static void set_pair_opt(struct pairs *pairs, const char *key, const char *value)
{
    if (value)
        set_pair(pairs, key, value);
}

static struct pairs pairs_from(struct kv *room, const struct kv *items, uint32_t count)
{
    if (count > 0)
        memcpy(room, items, count * sizeof *items);
    return (struct pairs){room, count, count};
}

/* The texts that become label and annotation values of one pod. */
struct pod_words {
    const char *job, *ns, *task, *queue;
    char index[16], version[16], retries[16], partition[16];
    char *group;    /* name of the PodGroup; owned */
    char *template; /* key of the template; owned */
    struct job_gang_marks gang;
};

static bool is_forwarded(const struct object *job)
{
    const char *text = meta_annotation(job->meta, ANNOTATION_JOB_FORWARDING);

    return text && strcmp(text, "true") == 0;
}

static void add_labels(struct pairs *labels, const struct job_model *model,
                       const struct job_task *task, const struct pod_words *words)
{
    set_pair(labels, LABEL_TASK_INDEX, words->index);
    set_pair(labels, LABEL_JOB_NAME, words->job);
    set_pair(labels, LABEL_TASK_SPEC, words->task);
    set_pair(labels, LABEL_JOB_NAMESPACE, words->ns);
    set_pair(labels, LABEL_QUEUE_NAME, words->queue);
    if (task->partition) {
        set_pair(labels, LABEL_PARTITION_ID, words->partition);
        set_pair(labels, LABEL_PARTITION_ID_OLD, words->partition);
    }
    if (is_forwarded(model->job))
        set_pair(labels, ANNOTATION_JOB_FORWARDING, "true");
    for (int i = 0; i < JOB_GANG_LABELS; i++)
        if (words->gang.labels[i].key)
            set_pair(labels, words->gang.labels[i].key, words->gang.labels[i].value);
    if (model->job->meta->n_labels > 0) {
        set_pair_opt(labels, ANNOTATION_PREEMPTABLE,
                     meta_label(model->job->meta, ANNOTATION_PREEMPTABLE));
        set_pair_opt(labels, ANNOTATION_COOLDOWN_TIME,
                     meta_label(model->job->meta, ANNOTATION_COOLDOWN_TIME));
    }
}

static void copy_job_annotations(struct pairs *annotations, const struct meta *job)
{
    static const char *const copied[] = {ANNOTATION_PREEMPTABLE, ANNOTATION_COOLDOWN_TIME,
                                         ANNOTATION_REVOCABLE_ZONE};
    const char *budget;

    if (job->n_annotations == 0)
        return;
    for (size_t i = 0; i < countof(copied); i++)
        set_pair_opt(annotations, copied[i], meta_annotation(job, copied[i]));
    budget = meta_annotation(job, ANNOTATION_JDB_MIN_AVAILABLE);
    if (budget)
        set_pair(annotations, ANNOTATION_JDB_MIN_AVAILABLE, budget);
    else
        set_pair_opt(annotations, ANNOTATION_JDB_MAX_UNAVAILABLE,
                     meta_annotation(job, ANNOTATION_JDB_MAX_UNAVAILABLE));
}

static void add_annotations(struct pairs *annotations, const struct job_model *model,
                            const struct job_task *task, const struct pod_words *words)
{
    set_pair(annotations, ANNOTATION_TASK_INDEX, words->index);
    set_pair(annotations, ANNOTATION_TASK_SPEC, words->task);
    set_pair(annotations, ANNOTATION_GROUP_NAME, words->group);
    set_pair(annotations, ANNOTATION_GROUP_NAME_OLD, words->group);
    set_pair(annotations, ANNOTATION_JOB_NAME, words->job);
    set_pair(annotations, ANNOTATION_QUEUE_NAME, words->queue);
    set_pair(annotations, ANNOTATION_JOB_VERSION, words->version);
    set_pair(annotations, ANNOTATION_TEMPLATE_UID, words->template);
    set_pair(annotations, ANNOTATION_TEMPLATE_KEY_OLD, words->template);
    set_pair(annotations, ANNOTATION_JOB_RETRY_COUNT, words->retries);
    if (task->topology_policy && *task->topology_policy)
        set_pair(annotations, ANNOTATION_NUMA_POLICY, task->topology_policy);
    if (is_forwarded(model->job))
        set_pair(annotations, ANNOTATION_JOB_FORWARDING, "true");
    if (words->gang.annotation.key)
        set_pair(annotations, words->gang.annotation.key, words->gang.annotation.value);
    copy_job_annotations(annotations, model->job->meta);
}

static bool is_submit_key(const struct kv *pair)
{
    return strncmp(pair->key, SUBMIT_PREFIX, strlen(SUBMIT_PREFIX)) == 0;
}

/* Pods have the labels and annotations of their job that name the submission. */
static uint32_t count_submit_keys(const struct meta *job)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < job->n_labels; i++)
        n += is_submit_key(&job->labels[i]);
    for (uint32_t i = 0; i < job->n_annotations; i++)
        n += is_submit_key(&job->annotations[i]);
    return n;
}

static void add_submit_keys(struct pairs *pairs, const struct kv *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_submit_key(&items[i]))
            set_pair(pairs, items[i].key, items[i].value);
}

static void add_planned(struct pairs *annotations, const json_t *planned)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)planned, key, value)
        set_pair(annotations, key, json_string_value(value));
}

static struct meta *build_meta(const struct job_model *model, struct slot_id at,
                               const json_t *planned)
{
    const struct job_task *task = &model->compiled->spec->tasks.items[at.task];
    const struct job_compiled_task *compiled = &model->compiled->tasks[at.task];
    uint32_t submit_keys = count_submit_keys(model->job->meta);
    uint32_t room = compiled->n_labels + compiled->n_annotations + 2 * CORE_PAIRS_MAX +
                    2 * submit_keys + (uint32_t)json_object_size(planned);
    struct kv stack[STACK_PAIRS];
    struct kv *items = room <= STACK_PAIRS ? stack : mem_array(room, sizeof *items);
    struct pairs labels = pairs_from(items, compiled->labels, compiled->n_labels);
    struct pairs annotations = pairs_from(items + compiled->n_labels + CORE_PAIRS_MAX + submit_keys,
                                          compiled->annotations, compiled->n_annotations);
    struct pod_words words = {
        .job = object_name(model->job),
        .ns = object_namespace(model->job),
        .task = task->name,
        .queue = model->compiled->spec->queue,
        .group = job_podgroup_name(model->job),
        .template = mem_printf("%s-%s", object_name(model->job), task->name),
    };
    struct owner_ref owner = {JOB_API_VERSION,        "Job", object_name(model->job),
                              object_uid(model->job), true,  true};
    scoped_str name = job_pod_name(object_name(model->job), task->name, at.index);
    struct meta *meta;

    snprintf(words.index, sizeof words.index, "%d", at.index);
    snprintf(words.version, sizeof words.version, "%d", model->state.version);
    snprintf(words.retries, sizeof words.retries, "%d", model->state.retry_count);
    if (task->partition)
        snprintf(words.partition, sizeof words.partition, "%d",
                 job_partition_of(at.index, task->partition->size));
    if (model->gang && model->gang->mark)
        model->gang->mark(model, &words.gang);
    add_labels(&labels, model, task, &words);
    add_annotations(&annotations, model, task, &words);
    if (submit_keys > 0) {
        const struct meta *job = model->job->meta;

        add_submit_keys(&labels, job->labels, job->n_labels);
        add_submit_keys(&annotations, job->annotations, job->n_annotations);
    }
    add_planned(&annotations, planned);
    meta = meta_new(&(struct meta){
        .namespace = object_namespace(model->job),
        .name = name,
        .uid = "",
        .deletion_grace_s = -1,
        .labels = labels.items,
        .n_labels = labels.count,
        .annotations = annotations.items,
        .n_annotations = annotations.count,
        .owners = &owner,
        .n_owners = 1,
    });
    mem_free(words.group);
    mem_free(words.template);
    mem_free(words.gang.group);
    if (items != stack)
        mem_free(items);
    return meta;
}

char *job_volume_claim(const struct job_model *model, size_t position)
{
    const struct job_volume *volume = &model->compiled->spec->volumes.items[position];
    scoped_str key = job_volume_empty_key(model, position);

    if (job_state_resource(&model->state, key))
        return NULL;
    if (volume->claim_name && *volume->claim_name)
        return mem_strdup(volume->claim_name);
    return volume->claim ? job_claim_name(model->job, position) : NULL;
}

char *job_volume_name(const struct job_model *model, size_t position)
{
    const struct job_volume *volume = &model->compiled->spec->volumes.items[position];

    if (volume->claim_name && *volume->claim_name)
        return job_claim_volume_name(volume->claim_name);
    if (volume->claim) {
        scoped_str claim = job_claim_name(model->job, position);

        return job_claim_volume_name(claim);
    }
    return mem_printf("volume-%zu", position);
}

char *job_volume_empty_key(const struct job_model *model, size_t position)
{
    scoped_str name = job_volume_name(model, position);

    return mem_printf("volume-emptyDir-%s", name);
}

static bool list_has(const json_t *list, const char *key, const json_t *value)
{
    size_t i;
    json_t *item;

    json_array_foreach(list, i,
                       item) if (json_equal(json_object_get(item, key), value)) return true;
    return false;
}

/* Appends the items whose `key` no item of the list has yet (O-P07). */
static void append_new_ones(json_t *list, const json_t *items, const char *key)
{
    size_t i;
    json_t *item;

    json_array_foreach(items, i, item) if (!list_has(list, key, json_object_get(item, key)))
        json_array_append(list, item);
}

/* Adds the job's volumes: one pod volume per claim, mounted in every regular container at each path
 * (O-54). */
static void add_volumes(const struct job_model *model, json_t *spec)
{
    json_t *mounts = json_array(), *volumes = json_array(), *container;
    size_t i;

    for (size_t v = 0; v < model->compiled->spec->volumes.count; v++) {
        scoped_str claim = job_volume_claim(model, v);
        scoped_str name = job_volume_name(model, v);
        json_t *volume = claim ? json_pack("{s:s, s:{s:s}}", "name", name, "persistentVolumeClaim",
                                           "claimName", claim)
                               : json_pack("{s:s, s:{}}", "name", name, "emptyDir");

        if (!list_has(volumes, "name", json_object_get(volume, "name")))
            json_array_append(volumes, volume);
        json_decref(volume);
        json_array_append_new(mounts,
                              json_pack("{s:s, s:s}", "name", name, "mountPath",
                                        model->compiled->spec->volumes.items[v].mount_path));
    }
    append_new_ones(json_member_list(spec, "volumes"), volumes, "name");
    json_array_foreach(json_object_get(spec, "containers"), i, container)
        append_new_ones(json_member_list(container, "volumeMounts"), mounts, "mountPath");
    json_decref(mounts);
    json_decref(volumes);
}

static void set_absent(json_t *object, const char *key, const char *value)
{
    const char *given = json_string_value(json_object_get(object, key));

    if (value && *value && (!given || !*given))
        json_object_set_new(object, key, json_string(value));
}

/* The template names its scheduler, or the job does, or pods get the usual one. */
static void set_scheduler(const struct job_compiled_spec *compiled, json_t *spec)
{
    const char *given = json_string_value(json_object_get(spec, "schedulerName"));
    const char *chosen =
        given && *given ? job_compiled_scheduler(compiled, given) : compiled->spec->scheduler_name;

    if (chosen && *chosen)
        json_object_set_new(spec, "schedulerName", json_string(chosen));
}

static struct blob *build_body(const struct job_model *model, struct slot_id at,
                               const struct job_pod_plan *plan)
{
    const struct job_spec *job = model->compiled->spec;
    scoped(json) json_t *body = json_object();
    json_t *given = json_object_get(job->tasks.items[at.task].template, "spec");
    json_t *spec = given ? json_deep_copy(given) : json_object();

    json_object_set_new(body, "spec", spec);
    set_scheduler(model->compiled, spec);
    set_absent(spec, "priorityClassName", job->priority_class);
    if (model->tasks[at.task].companion)
        json_object_set_new(spec, "restartPolicy", json_string("Always"));
    if (job->volumes.count > 0)
        add_volumes(model, spec);
    if (job->plugins.count > 0)
        job_pod_plan_apply(plan, spec);
    if (model->gang && model->gang->mark_spec)
        model->gang->mark_spec(model, spec);
    return object_body_from_json(body);
}

struct object *job_pod_build(struct job_model *model, struct slot_id at)
{
    struct job_compiled_spec *compiled = model->compiled;
    struct job_compiled_task *task = &compiled->tasks[at.task];
    struct job_pod_plan plan = job_pod_plan_of(model, at);
    struct meta *meta = build_meta(model, at, plan.annotations);
    struct blob *body;

    if (compiled->pods_differ || compiled->spec->volumes.count > 0 ||
        model->tasks[at.task].companion ||
        (model->gang && model->gang->mark_spec)) { /* the shared body is made without annotations */
        body = build_body(model, at, &plan);
    } else {
        if (!task->pod_body)
            task->pod_body = build_body(model, at, &plan);
        body = blob_ref(task->pod_body);
    }
    job_pod_plan_release(&plan);
    return object_new(&kind_pod, meta, body, NULL);
}

struct object *job_pod_marked(const struct object *pod)
{
    struct kv stack[STACK_PAIRS];
    uint32_t count = pod->meta->n_annotations;
    struct kv *items;
    struct pairs annotations;
    struct meta draft = *pod->meta;
    const char *mark = meta_annotation(pod->meta, ANNOTATION_OUT_OF_SYNC);
    struct meta *meta;

    if (mark && strcmp(mark, "true") == 0)
        return NULL;
    items = count < STACK_PAIRS ? stack : mem_array(count + 1, sizeof *items);
    annotations = pairs_from(items, pod->meta->annotations, count);
    set_pair(&annotations, ANNOTATION_OUT_OF_SYNC, "true");
    draft.annotations = annotations.items;
    draft.n_annotations = annotations.count;
    meta = meta_new(&draft);
    if (items != stack)
        mem_free(items);
    return object_with_meta(pod, meta);
}
