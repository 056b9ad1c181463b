/*
 * A machine as the scheduler sees it, and what a job asks of it. Both are computed by the
 * scheduler's own functions, so that a check before the start says what the scheduler would say.
 */
#include "cli/preflight/fit.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/kinds/scheduling/queue.h"
#include "api/types/text/doc.h"
#include "api/types/text/quantity.h"
#include "base/collections/arena.h"
#include "base/mem.h"
#include "cli/engine/devices.h"
#include "node/node_object.h"
#include "node/node_resources.h"
#include "node/scheduler/node_set.h"
#include "node/scheduler/shortfall.h"

#define NEVER_HERE "can never run on this machine: "

enum { QUEUE_DEPTH_MAX = 16 }; /* a chain of queues that is longer is a cycle */

struct fit {
    struct machine machine;
    struct machine_resources resources; /* owns the names of the machine's extras */
    struct device_list devices;         /* devices of the machine, which own names, too */
    struct node_set nodes;              /* nodes of the machine */
    json_t *node;                       /* the daemon's Node, which owns the names; or NULL */
};

/* The labels alone: a cordoned node may be uncordoned while the job waits. */
static void take_labels(struct fit *fit, const struct object *node)
{
    struct object *labelled;

    if (!node)
        return;
    labelled = object_new(&kind_node, meta_ref(node->meta), blob_intern("{}", 2), NULL);
    node_set_update(&fit->nodes, fit->machine.name, labelled);
    object_unref(labelled);
}

static void init_nodes(struct fit *fit)
{
    const struct scheduler_node node = {.name = fit->machine.name,
                                        .capacity = fit->machine.allocatable,
                                        .labels = fit->machine.labels,
                                        .n_labels = MACHINE_LABELS};

    node_set_init(&fit->nodes, &node, 1, &fit->machine.extras);
}

struct fit *fit_new(const struct fit_options *options)
{
    struct fit *fit = mem_alloc(sizeof *fit);
    struct machine_options machine = {.max_pods = 1, .sim = options->sim};

    machine_resources_parse(options->node_resources, &fit->resources, NULL);
    if (machine_devices_read(&fit->devices, options->devices, options->sim, NULL))
        machine_resources_add_devices(&fit->resources, &fit->devices, false, NULL);
    machine.cpu_milli = fit->resources.cpu_milli;
    machine.memory_bytes = fit->resources.memory_bytes;
    machine.extras = fit->resources.extras;
    memcpy(machine.extra, fit->resources.extra, sizeof machine.extra);
    machine_read(&fit->machine, &machine);
    fit->machine.extras.open = options->sim || options->any_resource;
    fit->machine.allocatable.pods = options->max_pods > 0 ? options->max_pods : AMOUNT_UNLIMITED;
    init_nodes(fit);
    take_labels(fit,
                options->live ? store_get(options->live, &kind_node, "", fit->machine.name) : NULL);
    return fit;
}

static int64_t amount_in(const json_t *list, const char *name,
                         int64_t (*number)(quantity_nano value))
{
    const char *text = json_string_value(json_object_get(list, name));
    quantity_nano value;

    return text && quantity_parse(text, &value, NULL) ? amount_clamp(number(value))
                                                      : AMOUNT_UNLIMITED;
}

static void read_extras(struct machine *machine, const json_t *allocatable)
{
    static const char *const plain[] = {"cpu", "memory", "pods", "ephemeral-storage"};
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)allocatable, name, value)
    {
        bool is_plain = false;

        for (size_t i = 0; i < countof(plain); i++)
            is_plain = is_plain || strcmp(name, plain[i]) == 0;
        if (is_plain || machine->extras.count == AMOUNT_EXTRA)
            continue;
        machine->allocatable.extra[machine->extras.count] =
            amount_in(allocatable, name, quantity_whole);
        machine->extras.names[machine->extras.count++] = name;
    }
}

/* Items of a list have no apiVersion and kind. */
static struct object *object_of_item(json_t *node)
{
    struct error_list errors = {0};
    struct object *object;

    json_object_set_new(node, "apiVersion", json_string(kind_api_version(&kind_node)));
    json_object_set_new(node, "kind", json_string(kind_node.name));
    object = object_from_json(node, &errors);
    error_list_release(&errors);
    return object;
}

struct fit *fit_of_daemon(struct client *client)
{
    scoped(json) json_t *list =
        client && client_is_daemon(client) ? client_get(client, "/api/v1/nodes", NULL) : NULL;
    json_t *node = json_array_get(json_object_get(list, "items"), 0);
    const json_t *allocatable = json_object_get(json_object_get(node, "status"), "allocatable");
    const char *name = doc_text(node, "metadata.name");
    struct object *object;
    struct fit *fit;

    if (!allocatable || !name || json_array_size(json_object_get(list, "items")) != 1)
        return NULL;
    fit = mem_alloc(sizeof *fit);
    machine_read(&fit->machine, &(const struct machine_options){.name = name, .max_pods = 1});
    fit->node = json_incref(node);
    fit->machine.allocatable =
        (struct amount){.cpu_milli = amount_in(allocatable, "cpu", quantity_milli),
                        .memory_bytes = amount_in(allocatable, "memory", quantity_whole),
                        .pods = amount_in(allocatable, "pods", quantity_whole)};
    read_extras(&fit->machine, allocatable);
    init_nodes(fit);
    object = object_of_item(node);
    take_labels(fit, object);
    object_unref(object);
    return fit;
}

void fit_free(struct fit *fit)
{
    node_set_release(&fit->nodes);
    device_list_release(&fit->devices);
    json_decref(fit->node);
    mem_free(fit);
}

struct amount fit_room(const struct fit *fit)
{
    return fit->nodes.capacity;
}

const struct resource_names *fit_resources(const struct fit *fit)
{
    return &fit->nodes.extras;
}

static struct amount times(struct amount amount, int64_t n)
{
    for (size_t kind = 0; kind < AMOUNT_KINDS; kind++) {
        int64_t *one = amount_at(&amount, kind);

        *one = *one && n > AMOUNT_UNLIMITED / *one ? AMOUNT_UNLIMITED : *one * n;
    }
    return amount;
}

/* Decodes the pod of a task. Returns false for a template that admission refuses. */
static bool pod_of(const struct job_task *task, struct arena *arena, struct pod_spec *out)
{
    return schema_decode(&pod_spec_schema, json_object_get(task->template, "spec"), arena, out,
                         NULL);
}

static struct amount need_of(const struct fit *fit, const struct job_task *task)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct pod_spec pod;

    return pod_of(task, arena, &pod) ? node_set_pod_need(&fit->nodes, &pod)
                                     : (struct amount){.pods = 1};
}

static int64_t pods_of_gang(const struct job_task *task)
{
    return task->min_available.set ? task->min_available.value : task->replicas;
}

/* Returns whether it is open which pods make up the gang: tasks that wait for others join it later,
 * and priorities decide whose pods are the first. */
static bool is_gang_open(const struct job_spec *job, int64_t pods)
{
    bool part = job->min_available > 0 && job->min_available < pods;

    for (size_t i = 0; i < job->tasks.count; i++) {
        const struct job_task *task = &job->tasks.items[i];

        if (task->depends_on.count ||
            (part && job->tasks.count > 1 && doc_text(task->template, "spec.priorityClassName")))
            return true;
    }
    return false;
}

/* Returns how many pods of the task are in the gang, which needs `*left` more; the rule of
 * spec/job.md 15.3. */
static int64_t take_pods(int64_t most, int64_t *left)
{
    int64_t n = most < *left ? most : *left;

    *left -= n;
    return n;
}

struct amount fit_need(const struct fit *fit, const struct job_spec *job)
{
    struct amount gang = {0}, largest = {0};
    int64_t minimums = 0, left, more;
    bool part;

    for (size_t i = 0; i < job->tasks.count; i++)
        minimums += pods_of_gang(&job->tasks.items[i]);
    left = job->min_available > 0 ? job->min_available : minimums;
    more = left > minimums ? left - minimums : 0;
    left -= more;
    part = left < minimums;
    for (size_t i = 0; i < job->tasks.count; i++) {
        const struct job_task *task = &job->tasks.items[i];
        int64_t least = part ? task->replicas : pods_of_gang(task);
        struct amount pod = need_of(fit, task);

        gang = amount_add(gang, times(pod, take_pods(least, &left)));
        gang = amount_add(gang, times(pod, take_pods(task->replicas - least, &more)));
        largest = task->replicas ? amount_max(largest, pod) : largest;
    }
    return is_gang_open(job, minimums) ? largest : gang;
}

static bool starts_with(const char *text, const char *part)
{
    return strncmp(text, part, strlen(part)) == 0;
}

/* Why no pod of the task can ever run. */
static char *problem_of_task(const struct fit *fit, const struct job_spec *job,
                             const struct job_task *task)
{
    scoped(arena) struct arena *arena = arena_new(0);
    scoped_str why = NULL;
    struct pod_spec pod;

    if (!task->replicas || !pod_of(task, arena, &pod))
        return NULL;
    node_set_feasible(&fit->nodes, &pod, node_set_pod_need(&fit->nodes, &pod), &why);
    if (!why)
        return NULL;

    const char *never = starts_with(why, "can never") ? "" : NEVER_HERE;

    if (job->tasks.count > 1 && task->name)
        return mem_printf("has a task %s that %s%s", task->name, never, why);
    return mem_printf("%s%s", never, why);
}

/* Returns the name of the queue above this one, NULL for the root. */
static const char *parent_of(const char *name, const struct queue_spec *spec)
{
    if (strcmp(name, "root") == 0)
        return NULL;
    return spec->parent && *spec->parent ? spec->parent : "root";
}

char *fit_queue_problem(const struct fit *fit, const struct store *queues, const char *queue,
                        struct amount need)
{
    const struct resource_names *extras = &fit->nodes.extras;
    const char *name = queue && *queue ? queue : "default";

    for (int depth = 0; queues && name && depth < QUEUE_DEPTH_MAX; depth++) {
        const struct object *object = store_get(queues, &kind_queue, "", name);
        const struct queue_spec *spec = object ? queue_spec_of(object) : NULL;
        scoped_str subject = mem_printf("queue %s allows", name);
        scoped_str what = NULL;

        if (!spec)
            return NULL;
        what = shortfall_of_limit(need, amount_of_map(&spec->capability, extras, AMOUNT_UNLIMITED),
                                  subject, extras);
        if (what)
            return mem_printf("can never run: %s: raise its spec.capability or use another queue",
                              what);
        name = parent_of(name, spec);
    }
    return NULL;
}

/* Returns why the job can never run on the machine, whatever its queue allows. */
static char *problem_of_machine(const struct fit *fit, const struct job_spec *job)
{
    for (size_t i = 0; i < job->tasks.count; i++) {
        char *problem = problem_of_task(fit, job, &job->tasks.items[i]);

        if (problem)
            return problem;
    }
    return shortfall_of_node(fit_need(fit, job), fit->nodes.capacity, &fit->nodes.extras);
}

char *fit_problem(const struct fit *fit, const struct store *queues, const struct job_spec *job)
{
    char *problem = problem_of_machine(fit, job);

    return problem ? problem : fit_queue_problem(fit, queues, job->queue, fit_need(fit, job));
}

bool fit_check(const struct fit *fit, const struct store *queues, const struct job_spec *job,
               const char *subject, struct error *err)
{
    long long pods = fit_need(fit, job).pods, most = fit->nodes.capacity.pods;
    scoped_str problem = NULL;

    if (pods > most)
        return error_set(err, ERR_INVALID, "spec.minAvailable",
                         "%lld pods must run at once (minAvailable), but at most %lld may (-j "
                         "%lld): it would wait for ever; allow more with -j %lld, or lower "
                         "minAvailable",
                         pods, most, most, pods);
    problem = problem_of_machine(fit, job);
    if (problem)
        return error_set(err, ERR_INVALID, "spec.tasks", "%s %s", subject, problem);
    problem = fit_queue_problem(fit, queues, job->queue, fit_need(fit, job));
    return !problem || error_set(err, ERR_INVALID, "spec.queue", "%s %s", subject, problem);
}

static void write_quantity(struct buf *out, int64_t value, int64_t nanos,
                           enum quantity_format format, const char *unit)
{
    char text[QUANTITY_TEXT_MAX];

    quantity_print((quantity_nano)value * nanos, format, text);
    buf_printf(out, ", %s%s%s", text, *unit ? " " : "", unit);
}

void fit_write(const struct fit *fit, struct amount amount, struct buf *out)
{
    enum { MIB = 1 << 20, ROUNDED_FROM = 1 << 30 };
    const struct resource_names *extras = &fit->nodes.extras;
    int64_t bytes = amount.memory_bytes;

    buf_printf(out, "%lld pod%s", (long long)amount.pods, amount.pods == 1 ? "" : "s");
    if (amount.cpu_milli)
        write_quantity(out, amount.cpu_milli, 1000000, QUANTITY_DECIMAL, "cpu");
    if (bytes)
        write_quantity(out, bytes - (bytes >= ROUNDED_FROM ? bytes % MIB : 0), 1000000000,
                       QUANTITY_BINARY, "");
    for (size_t i = 0; i < extras->count; i++)
        if (amount.extra[i])
            write_quantity(out, amount.extra[i], 1000000000, QUANTITY_DECIMAL, extras->names[i]);
}
