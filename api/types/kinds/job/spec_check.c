/*
 * Rules of a Job's spec that need no other object. Ref: spec/job.md 4.3.
 *
 * They hold for JobTemplates as well, so that a broken template is refused when it is written and
 * not when a flow uses it.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/job/admission.h"
#include "api/types/kinds/pod/admission.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "api/types/labels.h"
#include "api/types/text/quantity.h"
#include "base/collections/dag.h"
#include "base/collections/name_index.h"
#include "base/mem.h"

struct check {
    const struct admission *adm;
    const struct job_spec *spec;
    const char *path;
    struct error_list *errors;
    struct name_index tasks;
};

static const char *task_name(const struct job_task *task)
{
    return task->name ? task->name : "";
}

/* Checks the partitions of a task (rule V10). */
static void check_partitions(struct check *c, const struct job_task *task, const char *path)
{
    const struct job_partition *p = task->partition;
    int64_t minimum = p ? (int64_t)p->min * p->size : 0;

    if (!p)
        return;
    if (p->total <= 0)
        FINDING(c->errors, ("%s.partitionPolicy.totalPartitions", path),
                "Invalid value: %d: 'totalPartitions' must be greater than 0 in task: %s", p->total,
                task_name(task));
    else if (p->size <= 0)
        FINDING(c->errors, ("%s.partitionPolicy.partitionSize", path),
                "Invalid value: %d: 'partitionSize' must be greater than 0 in task: %s", p->size,
                task_name(task));
    else if (task->replicas != (int64_t)p->total * p->size)
        FINDING(c->errors, ("%s.replicas", path),
                "Invalid value: %d: 'replicas' must be 'totalPartitions' x 'partitionSize' = %lld "
                "in task: %s",
                task->replicas, (long long)p->total * p->size, task_name(task));
    else if (task->min_available.set && p->min > 0 && task->min_available.value != minimum)
        FINDING(c->errors, ("%s.minAvailable", path),
                "Invalid value: %d: 'minAvailable' must be 'minPartitions' x 'partitionSize' = "
                "%lld in task: %s",
                task->min_available.value, (long long)minimum, task_name(task));
}

static bool has_whole_cpu(const struct pod_container *container)
{
    const struct str_map *map =
        container->requests.count ? &container->requests : &container->limits;
    const quantity_nano one = 1000000000;
    quantity_nano cpu;

    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->items[i].key, "cpu") == 0 &&
            quantity_parse(map->items[i].value, &cpu, NULL))
            return cpu > 0 && cpu % one == 0;
    return false;
}

static void check_whole_cpus(struct check *c, const struct job_task *task, const char *path,
                             const char *list, const struct pod_container *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!has_whole_cpu(&items[i]))
            FINDING(c->errors, ("%s.template.spec.%s[%zu].resources.requests[cpu]", path, list, i),
                    "the cpu request isn't an integer, which topologyPolicy %s of task %s needs: "
                    "request whole cpus",
                    task->topology_policy, task_name(task));
}

/* Checks the NUMA policy of a task (rule V9). */
static void check_numa(struct check *c, const struct job_task *task, const char *path)
{
    scoped(arena) struct arena *arena = NULL;
    struct pod_spec pod;

    if (!task->topology_policy || !*task->topology_policy ||
        strcmp(task->topology_policy, "none") == 0)
        return;
    arena = arena_new(0);
    if (!schema_decode(&pod_spec_schema, json_object_get(task->template, "spec"), arena, &pod,
                       NULL))
        return; /* pod_check_template has reported it */
    check_whole_cpus(c, task, path, "initContainers", pod.init_containers.items,
                     pod.init_containers.count);
    check_whole_cpus(c, task, path, "containers", pod.containers.items, pod.containers.count);
}

static void check_retries(struct check *c, const char *path, int32_t retries)
{
    int64_t most = limits_of(c->adm)->retries;

    if (retries > most)
        FINDING(c->errors, ("%s.maxRetry", path), "Invalid value: %d: at most %lld are allowed",
                retries, (long long)most);
}

/* The task whose template is checked. Job plugins supply the commands of some of its containers. */
struct commanded {
    const struct check *check;
    const struct job_task *task;
};

static bool plugin_commands(const void *ctx, const char *container)
{
    const struct commanded *commanded = ctx;
    const struct check *c = commanded->check;

    return commanded->task->name && c->adm->plugins->commands(c->spec, commanded->task, container);
}

static void check_template(struct check *c, const struct job_task *task, const char *path)
{
    const struct commanded commanded = {c, task};
    const struct pod_commands commands = {plugin_commands, &commanded};

    pod_check_template(c->adm, task->template, c->adm->plugins ? &commands : NULL, path, c->errors);
}

/* Checks one task (rules V4 to V11). */
static void check_task(struct check *c, size_t i, const json_t *doc)
{
    const struct job_task *task = &c->spec->tasks.items[i];
    scoped(buf) struct buf path = {0}, part = {0};

    buf_printf(&path, "%s.tasks[%zu]", c->path, i);
    if (task->min_available.set && task->min_available.value > task->replicas)
        FINDING(c->errors, ("%s.minAvailable", path.data),
                "Invalid value: %d: 'minAvailable' is greater than 'replicas' in task: %s, which "
                "has %d",
                task->min_available.value, task_name(task), task->replicas);
    if (task->name && *task->name &&
        name_index_put(&c->tasks, task->name, (uint32_t)i) != NAME_NONE)
        FINDING(c->errors, ("%s.name", path.data), "duplicated task name %s", task->name);
    check_retries(c, path.data, task->max_retry);
    buf_printf(&part, "%s.policies", path.data);
    job_check_policies(c->adm, &task->policies, part.data, c->errors);
    buf_clear(&part);
    buf_printf(&part, "%s.template", path.data);
    check_template(c, task, part.data);
    if (!json_object_get(json_object_get(task->template, "spec"), "restartPolicy"))
        WARNING(c->adm, ("%s.template.spec.restartPolicy", path.data),
                "not set, so Always holds and the pods of task %s never succeed: set Never or "
                "OnFailure",
                task_name(task));
    check_numa(c, task, path.data);
    check_partitions(c, task, path.data);
    buf_clear(&part);
    buf_printf(&part, "%s.partitionPolicy.networkTopology", path.data);
    network_topology_check(
        json_object_get(json_object_get(doc, "partitionPolicy"), "networkTopology"), part.data,
        c->errors);
}

static int64_t total_replicas(const struct job_spec *spec)
{
    int64_t total = 0;

    for (size_t i = 0; i < spec->tasks.count; i++)
        total += spec->tasks.items[i].replicas;
    return total;
}

/* Checks the sums over all tasks (rules V13, L-18, L-19). */
static void check_totals(struct check *c)
{
    int64_t replicas = total_replicas(c->spec), most = limits_of(c->adm)->job_replicas;

    if (c->spec->min_available > replicas)
        FINDING(c->errors, ("%s.minAvailable", c->path),
                "Invalid value: %d: job 'minAvailable' should not be greater than total replicas "
                "in tasks (%lld)",
                c->spec->min_available, (long long)replicas);
    if (replicas > most)
        FINDING(c->errors, ("%s.tasks", c->path),
                "Too many: %lld replicas in all tasks: at most %lld are allowed",
                (long long)replicas, (long long)most);
    if ((int64_t)c->spec->tasks.count > limits_of(c->adm)->job_tasks)
        FINDING(c->errors, ("%s.tasks", c->path), "Too many: %zu: must have at most %lld items",
                c->spec->tasks.count, (long long)limits_of(c->adm)->job_tasks);
    check_retries(c, c->path, c->spec->max_retry);
}

/* V21: the tasks form a DAG. A task may list a name twice (O-09). */
static void check_order(struct check *c)
{
    size_t tasks = c->spec->tasks.count, edges = 0, room = 0;
    struct dag_edge *list;
    bool unknown = false;

    for (size_t i = 0; i < tasks; i++)
        room += c->spec->tasks.items[i].depends_on.count;
    if (!room)
        return;
    list = mem_array(room, sizeof *list);
    for (size_t i = 0; i < tasks; i++) {
        const struct str_list *names = &c->spec->tasks.items[i].depends_on;

        for (size_t n = 0; n < names->count; n++) {
            uint32_t from = name_index_get(&c->tasks, names->items[n]);

            if (from != NAME_NONE) {
                list[edges++] = (struct dag_edge){from, (uint32_t)i};
                continue;
            }
            unknown = true;
            FINDING(c->errors, ("%s.tasks[%zu].dependsOn.name[%zu]", c->path, i, n),
                    "job has dependencies between tasks, but doesn't form a directed acyclic "
                    "graph(DAG): task \"%s\" is not defined",
                    names->items[n]);
        }
    }
    if (!unknown) {
        scoped(dag) struct dag dag = {0};
        scoped(buf) struct buf text = {0};
        uint32_t *cycle = mem_array(tasks, sizeof *cycle);
        size_t length;

        dag_init(&dag, (uint32_t)tasks, list, edges);
        length = dag_cycle(&dag, cycle);
        for (size_t i = 0; i <= length && length; i++)
            buf_printf(&text, "%s%s", i ? " -> " : "",
                       task_name(&c->spec->tasks.items[cycle[i % length]]));
        if (length)
            FINDING(c->errors, ("%s.tasks[%u].dependsOn", c->path, cycle[0]),
                    "job has dependencies between tasks, but doesn't form a directed acyclic "
                    "graph(DAG): %s",
                    text.data);
        mem_free(cycle);
    }
    mem_free(list);
}

/* V16, except for volumes without any source, which an annotation can allow. */
static void check_volumes(struct check *c)
{
    scoped(name_index) struct name_index paths = {0};
    struct error err = {0};

    name_index_init(&paths, c->spec->volumes.count);
    for (size_t i = 0; i < c->spec->volumes.count; i++) {
        const struct job_volume *volume = &c->spec->volumes.items[i];
        bool named = volume->claim_name && *volume->claim_name;

        if (!volume->mount_path || !*volume->mount_path)
            FINDING(c->errors, ("%s.volumes[%zu].mountPath", c->path, i), "mountPath is required");
        else if (name_index_put(&paths, volume->mount_path, (uint32_t)i) != NAME_NONE)
            FINDING(c->errors, ("%s.volumes[%zu].mountPath", c->path, i),
                    "duplicated mountPath: %s", volume->mount_path);
        if (named && !name_is_dns_subdomain(volume->claim_name, &err))
            FINDING(c->errors, ("%s.volumes[%zu].volumeClaimName", c->path, i),
                    "invalid volumeClaimName \"%s\": %s", volume->claim_name, err.message);
    }
}

void job_check_volume_sources(const struct job_spec *spec, const char *path,
                              struct error_list *errors)
{
    for (size_t i = 0; i < spec->volumes.count; i++) {
        const struct job_volume *volume = &spec->volumes.items[i];

        if (!volume->claim && (!volume->claim_name || !*volume->claim_name))
            FINDING(errors, ("%s.volumes[%zu]", path, i),
                    "either VolumeClaim or VolumeClaimName must be specified");
    }
}

void job_check_volume_conflicts(const struct job_spec *spec, const char *path,
                                struct error_list *errors)
{
    for (size_t i = 0; i < spec->volumes.count; i++) {
        const struct job_volume *volume = &spec->volumes.items[i];

        if (volume->claim && volume->claim_name && *volume->claim_name)
            FINDING(errors, ("%s.volumes[%zu]", path, i),
                    "Conflict: If you want to use an existing PVC, just specify VolumeClaimName. "
                    "If you want to create a new PVC, you do not need to specify VolumeClaimName");
    }
}

void job_check_spec(const struct admission *adm, const struct job_spec *spec, const json_t *doc,
                    const char *path, struct error_list *errors)
{
    struct check check = {adm, spec, path, errors};
    scoped(buf) struct buf part = {0};

    if (!spec->tasks.count) {
        FINDING(errors, ("%s.tasks", path),
                "No task specified in job spec: at least one is needed");
        return;
    }
    name_index_init(&check.tasks, spec->tasks.count);
    for (size_t i = 0; i < spec->tasks.count; i++)
        check_task(&check, i, json_array_get(json_object_get(doc, "tasks"), i));
    check_totals(&check);
    check_order(&check);
    if (adm->plugins) /* rules V2 and V15 */
        adm->plugins->check(adm, spec, NULL, path, errors);
    check_volumes(&check);
    buf_printf(&part, "%s.policies", path);
    job_check_policies(adm, &spec->policies, part.data, errors);
    buf_clear(&part);
    buf_printf(&part, "%s.networkTopology", path);
    network_topology_check(spec->network_topology, part.data, errors);
    job_warn(adm, spec, &check.tasks, path);
    name_index_release(&check.tasks);
}
