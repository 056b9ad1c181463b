/*
 * Compiles the body of a job, and caches the result for the next job with the same body. Specs in
 * use are counted; the most recently used of the unused ones are kept.
 */
#include "job/model/compiled_spec.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/types/labels.h"
#include "base/collections/hash.h"
#include "base/mem.h"
#include "job/plugins/plugin.h"

/* Compiled specs kept although no job uses them now. */
enum { UNUSED_KEPT = 256 };

struct shape_key {
    const struct blob *body;
    uint64_t first_generation; /* generation of a new job, in which minAvailable 0 means "not given"
                                * (M8) */
};

struct cached {
    struct job_compiled_spec compiled;
    struct shape_key key;
    UT_hash_handle hh;
};

struct job_spec_cache {
    struct cached *all;
    struct job_compiled_spec *newest, *oldest; /* the compiled specs that are not used now */
    unsigned unused;
    struct job_schedulers schedulers;
};

int32_t job_task_minimum(const struct job_task *task)
{
    if (task->min_available.set)
        return task->min_available.value;
    if (task->partition && task->partition->min > 0 && task->partition->size > 0)
        return task->partition->min * task->partition->size;
    return task->replicas;
}

/* Orders task positions by name, so that the task of a pod is found by binary search. */
static int compare_names(const void *a, const void *b, void *tasks)
{
    const struct job_task *items = tasks;

    return strcmp(items[*(const uint32_t *)a].name, items[*(const uint32_t *)b].name);
}

int32_t job_compiled_task_at(const struct job_compiled_spec *compiled, const char *name)
{
    size_t low = 0, high = compiled->spec->tasks.count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, compiled->spec->tasks.items[compiled->by_name[middle]].name);

        if (order == 0)
            return (int32_t)compiled->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

static bool is_absent(const struct job_compiled_spec *compiled, const char *scheduler)
{
    const char *absent = compiled->owner->schedulers.absent;

    return absent && scheduler && strcmp(scheduler, absent) == 0;
}

const char *job_compiled_scheduler(const struct job_compiled_spec *compiled, const char *given)
{
    return given && *given && !is_absent(compiled, given) ? given
                                                          : compiled->owner->schedulers.usual;
}

static const char *template_scheduler(const struct job_task *task)
{
    return json_string_value(
        json_object_get(json_object_get(task->template, "spec"), "schedulerName"));
}

static void note_lacking_scheduler(struct job_compiled_spec *compiled, const struct job_spec *given)
{
    bool lacks = is_absent(compiled, given->scheduler_name);

    for (size_t i = 0; i < given->tasks.count; i++)
        lacks = lacks || is_absent(compiled, template_scheduler(&given->tasks.items[i]));
    compiled->lacking = lacks ? compiled->owner->schedulers.absent : NULL;
}

/* Returns a copy of the decoded spec with the defaults of admission: M1 to M4, M6 to M10. */
static const struct job_spec *with_defaults(struct job_compiled_spec *compiled,
                                            const struct job_spec *given)
{
    struct job_spec *spec = arena_alloc(compiled->arena, sizeof *spec);

    *spec = *given;
    spec->tasks.items = arena_array(compiled->arena, given->tasks.count, sizeof *spec->tasks.items);
    for (size_t i = 0; i < given->tasks.count; i++) {
        struct job_task *task = &spec->tasks.items[i];

        *task = given->tasks.items[i];
        if (!task->name || !*task->name)
            task->name = arena_printf(compiled->arena, "default%zu", i);
        if (task->max_retry == 0)
            task->max_retry = 3;
        if (task->replicas < 0)
            task->replicas = 0;
        task->min_available = (struct opt_i32){true, job_task_minimum(task)};
    }
    spec->scheduler_name = job_compiled_scheduler(compiled, given->scheduler_name);
    if (!spec->queue || !*spec->queue)
        spec->queue = "default";
    if (spec->max_retry == 0)
        spec->max_retry = 3;
    job_plugins_imply(spec, compiled->arena); /* rule O-P40: plugins imply others */
    return spec;
}

static void sum_up(struct job_compiled_spec *compiled, struct job_spec *spec)
{
    for (size_t i = 0; i < spec->tasks.count; i++) {
        const struct job_task *task = &spec->tasks.items[i];

        compiled->replicas += task->replicas;
        compiled->task_minimums +=
            task->min_available.set ? task->min_available.value : task->replicas;
    }
    if (spec->min_available == 0 && compiled->first_generation)
        spec->min_available =
            compiled->task_minimums > INT32_MAX ? INT32_MAX : (int32_t)compiled->task_minimums;
}

static struct job_policy_rows compile_policies(struct job_compiled_spec *compiled,
                                               const struct job_policy_list *list)
{
    struct job_policy_row *rows = arena_array(compiled->arena, list->count, sizeof *rows);

    for (size_t i = 0; i < list->count; i++) {
        rows[i] = job_policy_compile(&list->items[i]);
        if (rows[i].timeout_ms > 0 && job_policy_names(&rows[i], EVENT_POD_EVICTED))
            compiled->evicted_delayed++;
    }
    compiled->has_policies |= list->count > 0;
    return (struct job_policy_rows){rows, list->count};
}

static bool refuse(struct job_compiled_spec *compiled, const char *reason, const char *message)
{
    if (!compiled->invalid) {
        compiled->invalid_reason = reason;
        compiled->invalid = message;
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

/* Resolve dependsOn to task positions without duplicates (O-09). */
static bool resolve_needs(struct job_compiled_spec *compiled, uint32_t at)
{
    const struct job_task *task = &compiled->spec->tasks.items[at];
    struct job_compiled_task *out = &compiled->tasks[at];
    uint32_t *needs = arena_array(compiled->arena, task->depends_on.count, sizeof *needs);

    for (size_t i = 0; i < task->depends_on.count; i++) {
        int32_t target = job_compiled_task_at(compiled, task->depends_on.items[i]);

        if (target < 0)
            return refuse(compiled, "InvalidDependsOn",
                          arena_printf(compiled->arena,
                                       "task %s depends on task %s, which the job does not have",
                                       task->name, task->depends_on.items[i]));
        if (!knows(needs, out->n_needs, (uint32_t)target))
            needs[out->n_needs++] = (uint32_t)target;
    }
    out->needs = needs;
    out->needs_any = task->depends_on.count >= 2 && task->depends_iteration &&
                     (strcasecmp(task->depends_iteration, "any") == 0 ||
                      strcasecmp(task->depends_iteration, "IterationAny") == 0); /* rule O-01 */
    compiled->has_dependencies |= out->n_needs > 0;
    return true;
}

static void index_dependents(struct job_compiled_spec *compiled)
{
    uint32_t count = (uint32_t)compiled->spec->tasks.count;

    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < compiled->tasks[t].n_needs; i++)
            compiled->tasks[compiled->tasks[t].needs[i]].n_dependents++;
    for (uint32_t t = 0; t < count; t++) {
        compiled->tasks[t].dependents =
            arena_array(compiled->arena, compiled->tasks[t].n_dependents, sizeof(uint32_t));
        compiled->tasks[t].n_dependents = 0;
    }
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < compiled->tasks[t].n_needs; i++) {
            struct job_compiled_task *need = &compiled->tasks[compiled->tasks[t].needs[i]];

            ((uint32_t *)(uintptr_t)need->dependents)[need->n_dependents++] = t;
        }
}

/* Removes tasks whose dependencies are all removed, until none is left or only a cycle remains. */
static bool check_cycles(struct job_compiled_spec *compiled)
{
    uint32_t count = (uint32_t)compiled->spec->tasks.count, done = 0, ready = 0;
    uint32_t *open = arena_array(compiled->arena, count, sizeof *open);
    uint32_t *queue = arena_array(compiled->arena, count, sizeof *queue);

    for (uint32_t t = 0; t < count; t++) {
        open[t] = compiled->tasks[t].n_needs;
        if (open[t] == 0)
            queue[ready++] = t;
    }
    for (; done < ready; done++) {
        const struct job_compiled_task *task = &compiled->tasks[queue[done]];

        for (uint32_t i = 0; i < task->n_dependents; i++)
            if (--open[task->dependents[i]] == 0)
                queue[ready++] = task->dependents[i];
    }
    for (uint32_t t = 0; done < count && t < count; t++)
        if (open[t] > 0)
            return refuse(compiled, "InvalidDependsOn",
                          arena_printf(compiled->arena,
                                       "task %s depends on itself, directly or through other tasks",
                                       compiled->spec->tasks.items[t].name));
    return true;
}

static bool check_partitions(struct job_compiled_spec *compiled)
{
    for (size_t t = 0; t < compiled->spec->tasks.count; t++) {
        const struct job_task *task = &compiled->spec->tasks.items[t];

        if (task->partition && task->partition->size <= 0)
            return refuse(compiled, "InvalidPartition",
                          arena_printf(compiled->arena,
                                       "task %s: partitionSize is %d, must be at least 1",
                                       task->name, task->partition->size));
    }
    return true;
}

static void note_plugin(void *arg, const struct job_plugin *plugin,
                        const struct job_plugin_job *job)
{
    struct job_compiled_spec *compiled = arg;

    compiled->pods_differ |= plugin->pod != NULL;
    compiled->uses_pod_addresses |= plugin->uses_pod_addresses && plugin->uses_pod_addresses(job);
}

static bool check_plugins(struct job_compiled_spec *compiled)
{
    const struct job_plugin_job job = {.spec = compiled->spec};
    struct error_list refused = {0};
    struct error err = {0};
    bool ok;

    if (!job_plugins_each(&job, note_plugin, compiled, &err))
        return refuse(compiled, "PluginError", arena_strdup(compiled->arena, err.message));
    job_plugins_review(&job, "spec", &refused, NULL);
    ok = error_list_ok(&refused, &err);
    error_list_release(&refused);
    return ok || refuse(compiled, "PluginError",
                        arena_printf(compiled->arena, "%s%s%s", err.field, *err.field ? ": " : "",
                                     err.message));
}

/* Plugins write host names into files and scripts, so only DNS labels are accepted; admission
 * checks the same (SEC-29). */
static bool check_host_names(struct job_compiled_spec *compiled)
{
    static const char *const members[] = {"hostname", "subdomain"};

    for (size_t t = 0; compiled->spec->plugins.count > 0 && t < compiled->spec->tasks.count; t++)
        for (size_t m = 0; m < countof(members); m++) {
            const struct job_task *task = &compiled->spec->tasks.items[t];
            const char *name = job_template_text(task, members[m]);

            if (name && !name_is_dns_label(name, NULL))
                return refuse(compiled, "PluginError",
                              arena_printf(compiled->arena,
                                           "task %s: %s of the template is no DNS label",
                                           task->name, members[m]));
        }
    return true;
}

static const struct kv *template_map(struct job_compiled_spec *compiled, const json_t *template,
                                     const char *key, uint32_t *out_count)
{
    json_t *map = json_object_get(json_object_get(template, "metadata"), key), *value;
    struct kv *rows = arena_array(compiled->arena, json_object_size(map), sizeof *rows);
    const char *name;

    json_object_foreach(map, name, value) if (json_is_string(value)) rows[(*out_count)++] =
        (struct kv){name, json_string_value(value)};
    return rows;
}

static void compile(struct job_compiled_spec *compiled, const struct object *job)
{
    const struct job_spec *given = job_spec_of(job);
    size_t count = given->tasks.count;
    uint32_t *order;

    compiled->arena = arena_new(0);
    compiled->spec = with_defaults(compiled, given);
    note_lacking_scheduler(compiled, given);
    sum_up(compiled, (struct job_spec *)(uintptr_t)compiled->spec);
    compiled->tasks = arena_array(compiled->arena, count, sizeof *compiled->tasks);
    order = arena_array(compiled->arena, count, sizeof *order);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    if (count > 1)
        qsort_r(order, count, sizeof *order, compare_names, compiled->spec->tasks.items);
    compiled->by_name = order;

    compiled->policies = compile_policies(compiled, &compiled->spec->policies);
    for (uint32_t t = 0; t < count; t++) {
        const struct job_task *task = &compiled->spec->tasks.items[t];
        struct job_compiled_task *out = &compiled->tasks[t];

        out->policies = compile_policies(compiled, &task->policies);
        out->labels = template_map(compiled, task->template, "labels", &out->n_labels);
        out->annotations =
            template_map(compiled, task->template, "annotations", &out->n_annotations);
    }
    for (uint32_t t = 0; t < count; t++)
        if (!resolve_needs(compiled, t))
            return;
    index_dependents(compiled);
    if (count == 0)
        refuse(compiled, "InvalidSpec", "the job has no tasks");
    else if (check_cycles(compiled) && check_partitions(compiled) && check_host_names(compiled))
        check_plugins(compiled);
}

struct job_spec_cache *job_spec_cache_new(const struct job_schedulers *schedulers)
{
    struct job_spec_cache *cache = mem_alloc(sizeof *cache);

    if (schedulers)
        cache->schedulers = *schedulers;
    return cache;
}

static void drop(struct job_spec_cache *cache, struct cached *cached)
{
    HASH_DEL(cache->all, cached);
    for (size_t t = 0; t < cached->compiled.spec->tasks.count; t++)
        blob_unref(cached->compiled.tasks[t].pod_body);
    blob_unref(cached->compiled.group_body);
    arena_free(cached->compiled.arena);
    blob_unref(cached->compiled.body); /* the body holds the decoded spec */
    mem_free(cached);
}

static void unlink_unused(struct job_spec_cache *cache, struct job_compiled_spec *compiled)
{
    *(compiled->newer ? &compiled->newer->older : &cache->newest) = compiled->older;
    *(compiled->older ? &compiled->older->newer : &cache->oldest) = compiled->newer;
    compiled->newer = compiled->older = NULL;
    cache->unused--;
}

void job_spec_cache_free(struct job_spec_cache *cache)
{
    struct cached *cached, *next;

    if (!cache)
        return;
    HASH_ITER(hh, cache->all, cached, next)
    drop(cache, cached);
    mem_free(cache);
}

struct job_compiled_spec *job_compiled_spec_get(struct job_spec_cache *cache,
                                                const struct object *job)
{
    struct shape_key key = {job->body, !job->body->admitted_as && job->meta->generation <= 1};
    struct cached *cached;

    HASH_FIND(hh, cache->all, &key, sizeof key, cached);
    if (!cached) {
        cached = mem_alloc(sizeof *cached);
        cached->key = key;
        cached->compiled.owner = cache;
        cached->compiled.body = blob_ref(job->body);
        cached->compiled.first_generation = key.first_generation;
        compile(&cached->compiled, job);
        HASH_ADD(hh, cache->all, key, sizeof key, cached);
    } else if (cached->compiled.users == 0) {
        unlink_unused(cache, &cached->compiled);
    }
    cached->compiled.users++;
    return &cached->compiled;
}

void job_compiled_spec_put(struct job_compiled_spec *compiled)
{
    struct job_spec_cache *cache;

    if (!compiled || --compiled->users > 0)
        return;
    cache = compiled->owner;
    compiled->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = compiled;
    cache->newest = compiled;
    if (++cache->unused > UNUSED_KEPT) {
        struct job_compiled_spec *oldest = cache->oldest;

        unlink_unused(cache, oldest);
        drop(cache, container_of(oldest, struct cached, compiled));
    }
}
