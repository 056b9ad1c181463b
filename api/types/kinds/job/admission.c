/*
 * Entry points of a Job's admission, and the rules that need more than the spec: names of pods, the
 * queue, and the changes that an update may make. Ref: spec/job.md 4.3, 4.4.
 */
#include "api/types/kinds/job/admission.h"

#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/job/lifecycle.h"
#include "api/types/kinds/scheduling/queue.h"
#include "api/types/labels.h"
#include "api/types/semantic.h"
#include "base/compiler.h"
#include "base/mem.h"

void job_validate(const struct admission *adm, const struct object *old, const struct object *job,
                  struct error_list *errors)
{
    job_check_spec(adm, job_spec_of(job), job_spec_document(job), "spec", errors);
}

void job_check_names(const struct job_spec *spec, const char *name, struct error_list *errors)
{
    struct error err = {0};

    if (!name_is_qualified(name, &err)) {
        FINDING(errors, ("metadata.name"), "Invalid value: \"%s\": %s", name, err.message);
        return;
    }
    for (size_t i = 0; i < spec->tasks.count; i++) {
        const struct job_task *task = &spec->tasks.items[i];
        scoped(buf) struct buf pod = {0};

        buf_printf(&pod, "%s-%s-%d", name, task->name ? task->name : "",
                   task->replicas > 0 ? task->replicas - 1 : 0);
        if (!name_is_qualified(pod.data, &err))
            FINDING(errors, ("metadata.name"),
                    "Invalid value: \"%s\": pod name %s (%zu characters) of task %s would not be "
                    "valid: %s: shorten the "
                    "job's or the task's name",
                    name, pod.data, pod.len, task->name ? task->name : "", err.message);
    }
}

/* The search for a queue whose parent is `parent`. */
struct child_search {
    const char *parent;
    bool found;
};

static void look_for_child(void *arg, const struct object *queue)
{
    struct child_search *search = arg;
    const char *parent = queue_spec_of(queue)->parent;

    search->found = search->found || (parent && strcmp(parent, search->parent) == 0);
}

void job_check_queue(const struct admission *adm, const char *queue, struct error_list *errors)
{
    const struct object *object = lookup(adm, &kind_queue, "", queue);
    struct child_search search = {.parent = queue};
    const char *state;

    if (!adm->get)
        return;
    if (!object) {
        FINDING(errors, ("spec.queue"),
                "unable to find job queue: queue \"%s\" does not exist: create it, or leave out "
                "spec.queue for the queue default",
                queue);
        return;
    }
    if (strcmp(queue, "root") == 0) {
        FINDING(errors, ("spec.queue"), "can not submit job to root queue: name a queue below it");
        return;
    }
    state = queue_state_of(object);
    if (strcmp(state, "Open") != 0)
        FINDING(errors, ("spec.queue"),
                "can only submit job to queue with state `Open`, queue `%s` status is `%s`", queue,
                state);
    if (adm->each)
        adm->each(adm->ctx, &kind_queue, "", look_for_child, &search);
    if (search.found)
        FINDING(errors, ("spec.queue"),
                "can only submit job to leaf queue, queue `%s` has child queues", queue);
}

/* U5: returns a copy of the spec without the members that an update may change. The copy is shallow
 * below tasks and volumes. Owned. */
static json_t *fixed_part(const json_t *spec)
{
    static const char *const job_members[] = {"minAvailable", "priorityClassName"};
    static const char *const task_members[] = {"replicas", "minAvailable"};
    json_t *out = json_copy((json_t *)(uintptr_t)spec), *list, *entry;
    size_t i;

    for (size_t m = 0; m < countof(job_members); m++)
        json_object_del(out, job_members[m]);
    list = json_array();
    json_array_foreach(json_object_get(spec, "tasks"), i, entry)
    {
        json_t *copy = json_copy(entry);

        for (size_t m = 0; m < countof(task_members); m++)
            json_object_del(copy, task_members[m]);
        json_array_append_new(list, copy);
    }
    json_object_set_new(out, "tasks", list);
    list = json_array();
    json_array_foreach(json_object_get(spec, "volumes"), i, entry)
    {
        json_t *copy = json_copy(entry);

        if (json_object_get(copy, "volumeClaim"))
            json_object_del(copy, "volumeClaimName");
        json_array_append_new(list, copy);
    }
    json_object_set_new(out, "volumes", list);
    return out;
}

/* Reports each member that differs. In lists of equal length it reports the members of the elements
 * that differ. */
static void find_changed(const struct schema *schema, const char *path, const json_t *before,
                         const json_t *after, struct error_list *errors)
{
    for (const struct field *field = schema->fields; field->name; field++) {
        const struct field one[] = {*field, {0}};
        const json_t *were = json_object_get(before, field->name),
                     *are = json_object_get(after, field->name);

        if (schema_equal(&(struct schema){.fields = one}, before, after))
            continue;
        if (field->type != FIELD_LIST || json_array_size(were) != json_array_size(are)) {
            FINDING(errors, ("%s.%s", path, field->name),
                    "Forbidden: job updates may not change fields other than `minAvailable`, "
                    "`priorityClassName`, `tasks[*].minAvailable` and `tasks[*].replicas`: make a "
                    "new job for other changes");
            continue;
        }
        for (size_t i = 0; i < json_array_size(were); i++) {
            scoped_str element = mem_printf("%s.%s[%zu]", path, field->name, i);

            find_changed(field->of, element, json_array_get(were, i), json_array_get(are, i),
                         errors);
        }
    }
}

/* U1-U5: refuses changes that an update may not make. */
static void check_update(const struct object *old, const struct object *job,
                         struct error_list *errors)
{
    scoped(json) json_t *before = NULL, *after = NULL;
    size_t tasks = job_spec_of(old)->tasks.count;

    if (old->body == job->body)
        return;
    if (job_spec_of(job)->tasks.count != tasks) {
        FINDING(errors, ("spec.tasks"),
                "Forbidden: job updates may not add or remove tasks: there were %zu", tasks);
        return;
    }
    before = fixed_part(job_spec_document(old));
    after = fixed_part(job_spec_document(job));
    find_changed(&job_spec_schema, "spec", before, after, errors);
}

/* U1: a task with partitions cannot be scaled, because its partitions determine its size. */
static void check_partitioned_scale(const struct object *old, const struct object *job,
                                    struct error_list *errors)
{
    const struct job_spec *before = job_spec_of(old), *after = job_spec_of(job);

    for (size_t i = 0; i < before->tasks.count && i < after->tasks.count; i++)
        if (after->tasks.items[i].partition &&
            after->tasks.items[i].replicas != before->tasks.items[i].replicas)
            FINDING(errors, ("spec.tasks[%zu].replicas", i),
                    "Forbidden: a task with partitionPolicy cannot be scaled, for partition "
                    "policies may not change");
}

void job_validate_in_context(const struct admission *adm, const struct object *old,
                             const struct object *job, struct error_list *errors)
{
    const struct job_spec *spec = job_spec_of(job);
    const char *fallback = meta_annotation(job->meta, ANNOTATION_VOLUME_FALLBACK);
    scoped(buf) struct buf name = {0};

    if (!fallback || strcmp(fallback, "emptyDir") != 0)
        job_check_volume_sources(spec, "spec", errors);
    name_or_placeholder(job->meta, &name);
    job_check_names(spec, name.data, errors);
    job_lifecycle_check(job->meta, spec, old, errors);
    if (adm->plugins)
        adm->plugins->check(adm, spec, name.data, "spec", errors);
    if (old) {
        check_update(old, job, errors);
        check_partitioned_scale(old, job, errors);
        if (adm->plugins)
            adm->plugins->check_update(job_spec_of(old), spec, errors);
    } else {
        job_check_volume_conflicts(spec, "spec", errors);
        job_warn_class(adm, spec->priority_class, "spec.priorityClassName");
        job_check_queue(adm, spec->queue ? spec->queue : "default", errors);
    }
}
