/*
 * Additions are appended behind what the author of the template wrote and never replace it, except
 * for the command of a container that a plugin runs itself. Nothing is added twice, so applying a
 * plan again changes nothing (O-P06, O-P07).
 */
#include "job/objects/pod_plugins.h"

#include <stdio.h>
#include <string.h>

enum { PORT_NAME_MAX = 15 };

/* Returns the last entry with that value; of variables with one name the last is effective. */
static const json_t *entry_with(const json_t *list, const char *key, const json_t *value)
{
    const json_t *found = NULL;
    json_t *entry;
    size_t i;

    json_array_foreach(list, i, entry) if (json_equal(json_object_get(entry, key), value)) found =
        entry;
    return found;
}

static void append_new_ones(json_t *object, const char *member, const json_t *entries,
                            const char *key)
{
    json_t *list, *entry;
    size_t i;

    if (json_array_size(entries) == 0)
        return;
    list = json_member_list(object, member);
    json_array_foreach(entries, i, entry) if (!entry_with(list, key, json_object_get(entry, key)))
        json_array_append(list, entry);
}

static void add_env(json_t *container, const struct job_pod_env *env)
{
    json_t *list = json_member_list(container, "env");
    const json_t *there = entry_with(list, "name", json_object_get(env->entry, "name"));

    if (!there || (!env->yields && !json_equal(there, env->entry)))
        json_array_append(list, env->entry);
}

/* A port name is unique in a container: when `wanted` is taken, a number is appended (O-P27). */
static void port_name(const json_t *ports, const char *wanted, char out[PORT_NAME_MAX + 1])
{
    char suffix[12] = "";

    for (int n = 2;; n++) {
        json_t *name;
        bool taken;

        snprintf(out, PORT_NAME_MAX + 1, "%.*s%s", (int)(PORT_NAME_MAX - strlen(suffix)), wanted,
                 suffix);
        name = json_string(out);
        taken = entry_with(ports, "name", name);
        json_decref(name);
        if (!taken)
            return;
        snprintf(suffix, sizeof suffix, "-%d", n);
    }
}

static void add_port(json_t *container, const struct job_pod_port *port)
{
    json_t *ports = json_member_list(container, "ports"), *number = json_integer(port->number);
    char name[PORT_NAME_MAX + 1];

    if (!entry_with(ports, "containerPort", number)) {
        port_name(ports, port->name, name);
        json_array_append_new(ports, json_pack("{s:s, s:O, s:s}", "name", name, "containerPort",
                                               number, "protocol", "TCP"));
    }
    json_decref(number);
}

static bool is_named(const json_t *container, const char *name)
{
    const char *has = json_string_value(json_object_get(container, "name"));

    return has && strcmp(has, name) == 0;
}

static void extend(json_t *container, enum job_pod_scope scope, const struct job_pod_plan *plan)
{
    for (size_t i = 0; i < plan->n_env; i++)
        if (scope == SCOPE_MAIN || plan->env[i].scope == SCOPE_ALL)
            add_env(container, &plan->env[i]);
    for (size_t i = 0; i < plan->n_ports; i++)
        if ((scope == SCOPE_MAIN || plan->ports[i].scope == SCOPE_ALL) &&
            (!plan->ports[i].container || is_named(container, plan->ports[i].container)))
            add_port(container, &plan->ports[i]);
    append_new_ones(container, "volumeMounts", plan->mounts, "mountPath");
    if (scope == SCOPE_MAIN && plan->run && is_named(container, plan->run_container)) {
        json_object_set(container, "command", plan->run);
        json_object_del(container, "args");
    }
}

static void extend_all(json_t *containers, enum job_pod_scope scope,
                       const struct job_pod_plan *plan)
{
    size_t i;
    json_t *container;

    json_array_foreach(containers, i, container) extend(container, scope, plan);
}

static void set_absent(json_t *object, const char *key, const char *value)
{
    const char *given = json_string_value(json_object_get(object, key));

    if (value && (!given || !*given))
        json_object_set_new(object, key, json_string(value));
}

void job_pod_plan_apply(const struct job_pod_plan *plan, json_t *spec)
{
    /* A copy, because its lists grow in the pod. */
    scoped(json) json_t *init = json_deep_copy(plan->init);

    append_new_ones(spec, "initContainers", init, "name");
    extend_all(json_object_get(spec, "initContainers"), SCOPE_ALL, plan);
    extend_all(json_object_get(spec, "containers"), SCOPE_MAIN, plan);
    append_new_ones(spec, "volumes", plan->volumes, "name");
    set_absent(spec, "hostname", plan->hostname);
    set_absent(spec, "subdomain", plan->subdomain);
}

static const struct object *pod_at(const void *pods, size_t task, int32_t index)
{
    const struct job_slot *slot =
        job_model_slot(pods, (struct slot_id){.task = (uint32_t)task, .index = index});

    return slot ? slot->pod : NULL;
}

struct job_plugin_job job_plugin_job_of(const struct job_model *model)
{
    return (struct job_plugin_job){
        .ns = object_namespace(model->job),
        .name = object_name(model->job),
        .uid = object_uid(model->job),
        .spec = model->compiled->spec,
        .local = model->local_pods,
        .own_network = model->own_network,
        .pod = pod_at,
        .pods = model,
    };
}

struct pod_hook {
    const struct job_task *task;
    int32_t index;
    struct job_pod_plan plan;
};

static void run_pod_hook(void *arg, const struct job_plugin *plugin,
                         const struct job_plugin_job *job)
{
    struct pod_hook *hook = arg;

    if (plugin->pod)
        plugin->pod(job, hook->task, hook->index, &hook->plan);
}

struct job_pod_plan job_pod_plan_of(const struct job_model *model, struct slot_id at)
{
    struct pod_hook hook = {&model->compiled->spec->tasks.items[at.task], at.index, {0}};
    const struct job_plugin_job job = job_plugin_job_of(model);

    if (model->compiled->spec->plugins.count > 0)
        job_plugins_each(&job, run_pod_hook, &hook, NULL);
    return hook.plan;
}
