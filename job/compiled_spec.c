/*
 * Compiles the body of a job, and keeps what was compiled for the next job with the same body.
 */
#include "job/compiled_spec.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/types/labels.h"
#include "base/hash.h"
#include "base/mem.h"
#include "job/plugins/plugin.h"

/* Shapes no job uses at present, kept for the next one. */
enum { SHAPES_KEPT = 256 };

struct shape_key {
    const struct blob *body;
    uint64_t first_generation; /* its minAvailable 0 means "not given" (M8) */
};

struct cached {
    struct job_shape shape;
    struct shape_key key;
    UT_hash_handle hh;
};

struct job_shapes {
    struct cached *all;
    struct job_shape *newest, *oldest; /* unused ones */
    unsigned unused;
};

int32_t job_task_minimum(const struct job_task *task)
{
    if (task->min_available.set)
        return task->min_available.value;
    if (task->partition && task->partition->min > 0 && task->partition->size > 0)
        return task->partition->min * task->partition->size;
    return task->replicas;
}

/* Go over the task names in order; jobs with many tasks are asked by name for every pod. */
static int compare_names(const void *a, const void *b, void *tasks)
{
    const struct job_task *items = tasks;

    return strcmp(items[*(const uint32_t *)a].name, items[*(const uint32_t *)b].name);
}

int32_t job_shape_task_at(const struct job_shape *shape, const char *name)
{
    size_t low = 0, high = shape->spec->tasks.count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, shape->spec->tasks.items[shape->by_name[middle]].name);

        if (order == 0)
            return (int32_t)shape->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

/* A copy of the decoded spec with what admission would have filled in: M1, M3, M4, M6…M10. */
static const struct job_spec *with_defaults(struct job_shape *shape, const struct job_spec *given)
{
    struct job_spec *spec = arena_alloc(shape->arena, sizeof *spec);

    *spec = *given;
    spec->tasks.items = arena_array(shape->arena, given->tasks.count, sizeof *spec->tasks.items);
    for (size_t i = 0; i < given->tasks.count; i++) {
        struct job_task *task = &spec->tasks.items[i];

        *task = given->tasks.items[i];
        if (!task->name || !*task->name)
            task->name = arena_printf(shape->arena, "default%zu", i);
        if (task->max_retry == 0)
            task->max_retry = 3;
        if (task->replicas < 0)
            task->replicas = 0;
        task->min_available = (struct opt_i32){true, job_task_minimum(task)};
    }
    if (!spec->queue || !*spec->queue)
        spec->queue = "default";
    if (spec->max_retry == 0)
        spec->max_retry = 3;
    job_plugins_imply(spec, shape->arena); /* O-P40 */
    return spec;
}

static void sum_up(struct job_shape *shape, struct job_spec *spec)
{
    for (size_t i = 0; i < spec->tasks.count; i++) {
        const struct job_task *task = &spec->tasks.items[i];

        shape->replicas += task->replicas;
        shape->task_minimums +=
            task->min_available.set ? task->min_available.value : task->replicas;
    }
    if (spec->min_available == 0 && shape->first_generation)
        spec->min_available =
            shape->task_minimums > INT32_MAX ? INT32_MAX : (int32_t)shape->task_minimums;
}

static struct job_policy_rows compile_policies(struct job_shape *shape,
                                               const struct job_policy_list *list)
{
    struct job_policy_row *rows = arena_array(shape->arena, list->count, sizeof *rows);

    for (size_t i = 0; i < list->count; i++) {
        rows[i] = job_policy_compile(&list->items[i]);
        if (rows[i].timeout_ms > 0 && job_policy_names(&rows[i], EVENT_POD_EVICTED))
            shape->evicted_delayed++;
    }
    shape->has_policies |= list->count > 0;
    return (struct job_policy_rows){rows, list->count};
}

static bool broken(struct job_shape *shape, const char *reason, const char *message)
{
    if (!shape->broken) {
        shape->broken_reason = reason;
        shape->broken = message;
    }
    return false;
}

static bool knows(const uint32_t *list, uint32_t count, uint32_t value)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

/* dependsOn as positions, duplicates folded (O-09). */
static bool resolve_needs(struct job_shape *shape, uint32_t at)
{
    const struct job_task *task = &shape->spec->tasks.items[at];
    struct job_shape_task *out = &shape->tasks[at];
    uint32_t *needs = arena_array(shape->arena, task->depends_on.count, sizeof *needs);

    for (size_t i = 0; i < task->depends_on.count; i++) {
        int32_t target = job_shape_task_at(shape, task->depends_on.items[i]);

        if (target < 0)
            return broken(shape, "InvalidDependsOn",
                          arena_printf(shape->arena,
                                       "task %s depends on task %s, which the job does not have",
                                       task->name, task->depends_on.items[i]));
        if (!knows(needs, out->n_needs, (uint32_t)target))
            needs[out->n_needs++] = (uint32_t)target;
    }
    out->needs = needs;
    out->needs_any = task->depends_on.count >= 2 && task->depends_iteration &&
                     (strcasecmp(task->depends_iteration, "any") == 0 ||
                      strcasecmp(task->depends_iteration, "IterationAny") == 0); /* O-01 */
    shape->has_dependencies |= out->n_needs > 0;
    return true;
}

static void index_dependents(struct job_shape *shape)
{
    uint32_t count = (uint32_t)shape->spec->tasks.count;

    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < shape->tasks[t].n_needs; i++)
            shape->tasks[shape->tasks[t].needs[i]].n_dependents++;
    for (uint32_t t = 0; t < count; t++) {
        shape->tasks[t].dependents =
            arena_array(shape->arena, shape->tasks[t].n_dependents, sizeof(uint32_t));
        shape->tasks[t].n_dependents = 0;
    }
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < shape->tasks[t].n_needs; i++) {
            struct job_shape_task *need = &shape->tasks[shape->tasks[t].needs[i]];

            ((uint32_t *)(uintptr_t)need->dependents)[need->n_dependents++] = t;
        }
}

/* Take away tasks whose needs are all gone, until none is left or a cycle remains. */
static bool check_cycles(struct job_shape *shape)
{
    uint32_t count = (uint32_t)shape->spec->tasks.count, done = 0, ready = 0;
    uint32_t *open = arena_array(shape->arena, count, sizeof *open);
    uint32_t *queue = arena_array(shape->arena, count, sizeof *queue);

    for (uint32_t t = 0; t < count; t++) {
        open[t] = shape->tasks[t].n_needs;
        if (open[t] == 0)
            queue[ready++] = t;
    }
    for (; done < ready; done++) {
        const struct job_shape_task *task = &shape->tasks[queue[done]];

        for (uint32_t i = 0; i < task->n_dependents; i++)
            if (--open[task->dependents[i]] == 0)
                queue[ready++] = task->dependents[i];
    }
    for (uint32_t t = 0; done < count && t < count; t++)
        if (open[t] > 0)
            return broken(shape, "InvalidDependsOn",
                          arena_printf(shape->arena,
                                       "task %s depends on itself, directly or by others",
                                       shape->spec->tasks.items[t].name));
    return true;
}

static bool check_partitions(struct job_shape *shape)
{
    for (size_t t = 0; t < shape->spec->tasks.count; t++) {
        const struct job_task *task = &shape->spec->tasks.items[t];

        if (task->partition && task->partition->size <= 0)
            return broken(shape, "InvalidPartition",
                          arena_printf(shape->arena,
                                       "task %s: partitionSize is %d, must be at least 1",
                                       task->name, task->partition->size));
    }
    return true;
}

static void note_plugin(void *arg, const struct job_plugin *plugin,
                        const struct job_plugin_job *job)
{
    struct job_shape *shape = arg;

    shape->pods_differ |= plugin->pod != NULL;
    shape->sees_pods |= plugin->sees_pods && plugin->sees_pods(job);
}

static bool check_plugins(struct job_shape *shape)
{
    const struct job_plugin_job job = {.spec = shape->spec};
    struct error_list refused = {0};
    struct error err = {0};
    bool ok;

    if (!job_plugins_each(&job, note_plugin, shape, &err))
        return broken(shape, "PluginError", arena_strdup(shape->arena, err.message));
    job_plugins_review(&job, "spec", &refused, NULL);
    ok = error_list_ok(&refused, &err);
    error_list_release(&refused);
    return ok || broken(shape, "PluginError",
                        arena_printf(shape->arena, "%s%s%s", err.field, *err.field ? ": " : "",
                                     err.message));
}

/* Plugins write host names into files of lines and into scripts; where admission has run they are
 * labels (SEC-29). */
static bool check_host_names(struct job_shape *shape)
{
    static const char *const members[] = {"hostname", "subdomain"};

    for (size_t t = 0; shape->spec->plugins.count > 0 && t < shape->spec->tasks.count; t++)
        for (size_t m = 0; m < countof(members); m++) {
            const struct job_task *task = &shape->spec->tasks.items[t];
            const char *name = job_template_text(task, members[m]);

            if (name && !name_is_dns_label(name, NULL))
                return broken(shape, "PluginError",
                              arena_printf(shape->arena,
                                           "task %s: %s of the template is no DNS label",
                                           task->name, members[m]));
        }
    return true;
}

static const struct kv *template_map(struct job_shape *shape, const json_t *template_,
                                     const char *key, uint32_t *out_count)
{
    json_t *map = json_object_get(json_object_get(template_, "metadata"), key), *value;
    struct kv *rows = arena_array(shape->arena, json_object_size(map), sizeof *rows);
    const char *name;

    json_object_foreach(map, name, value) if (json_is_string(value)) rows[(*out_count)++] =
        (struct kv){name, json_string_value(value)};
    return rows;
}

static void compile(struct job_shape *shape, const struct object *job)
{
    const struct job_spec *given = job_spec_of(job);
    size_t count = given->tasks.count;
    uint32_t *order;

    shape->arena = arena_new(0);
    shape->spec = with_defaults(shape, given);
    sum_up(shape, (struct job_spec *)(uintptr_t)shape->spec);
    shape->tasks = arena_array(shape->arena, count, sizeof *shape->tasks);
    order = arena_array(shape->arena, count, sizeof *order);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    if (count > 1)
        qsort_r(order, count, sizeof *order, compare_names, shape->spec->tasks.items);
    shape->by_name = order;

    shape->policies = compile_policies(shape, &shape->spec->policies);
    for (uint32_t t = 0; t < count; t++) {
        const struct job_task *task = &shape->spec->tasks.items[t];
        struct job_shape_task *out = &shape->tasks[t];

        out->policies = compile_policies(shape, &task->policies);
        out->labels = template_map(shape, task->template_, "labels", &out->n_labels);
        out->annotations = template_map(shape, task->template_, "annotations", &out->n_annotations);
    }
    for (uint32_t t = 0; t < count; t++)
        if (!resolve_needs(shape, t))
            return;
    index_dependents(shape);
    if (count == 0)
        broken(shape, "InvalidSpec", "the job has no tasks");
    else if (check_cycles(shape) && check_partitions(shape) && check_host_names(shape))
        check_plugins(shape);
}

struct job_shapes *job_shapes_new(void)
{
    return mem_alloc(sizeof(struct job_shapes));
}

static void drop(struct job_shapes *shapes, struct cached *cached)
{
    HASH_DEL(shapes->all, cached);
    for (size_t t = 0; t < cached->shape.spec->tasks.count; t++)
        blob_unref(cached->shape.tasks[t].pod_body);
    blob_unref(cached->shape.group_body);
    arena_free(cached->shape.arena);
    blob_unref(cached->shape.body); /* the decoded spec lives on it */
    mem_free(cached);
}

static void unlink_unused(struct job_shapes *shapes, struct job_shape *shape)
{
    *(shape->newer ? &shape->newer->older : &shapes->newest) = shape->older;
    *(shape->older ? &shape->older->newer : &shapes->oldest) = shape->newer;
    shape->newer = shape->older = NULL;
    shapes->unused--;
}

void job_shapes_free(struct job_shapes *shapes)
{
    struct cached *cached, *next;

    if (!shapes)
        return;
    HASH_ITER(hh, shapes->all, cached, next)
    drop(shapes, cached);
    mem_free(shapes);
}

struct job_shape *job_shape_get(struct job_shapes *shapes, const struct object *job)
{
    struct shape_key key = {job->body, !job->body->admitted_as && job->meta->generation <= 1};
    struct cached *cached;

    HASH_FIND(hh, shapes->all, &key, sizeof key, cached);
    if (!cached) {
        cached = mem_alloc(sizeof *cached);
        cached->key = key;
        cached->shape.owner = shapes;
        cached->shape.body = blob_ref(job->body);
        cached->shape.first_generation = key.first_generation;
        compile(&cached->shape, job);
        HASH_ADD(hh, shapes->all, key, sizeof key, cached);
    } else if (cached->shape.users == 0) {
        unlink_unused(shapes, &cached->shape);
    }
    cached->shape.users++;
    return &cached->shape;
}

void job_shape_put(struct job_shape *shape)
{
    struct job_shapes *shapes;

    if (!shape || --shape->users > 0)
        return;
    shapes = shape->owner;
    shape->older = shapes->newest;
    *(shapes->newest ? &shapes->newest->newer : &shapes->oldest) = shape;
    shapes->newest = shape;
    if (++shapes->unused > SHAPES_KEPT) {
        struct job_shape *oldest = shapes->oldest;

        unlink_unused(shapes, oldest);
        drop(shapes, container_of(oldest, struct cached, shape));
    }
}
