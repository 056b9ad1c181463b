/*
 * A plan is a few growing lists. Each function appends what a hook asks for, unless the plan has an
 * entry of that name.
 */
#include "job/plugins/plan.h"

#include <string.h>

#include "base/mem.h"

struct job_plan_object *job_plan_object(struct job_object_plan *plan, const struct kind *kind,
                                        const char *name, struct blob *body)
{
    mem_grow(plan->items, plan->count, plan->cap);
    plan->items[plan->count] =
        (struct job_plan_object){.kind = kind, .name = mem_strdup(name), .body = body};
    return &plan->items[plan->count++];
}

struct blob *job_adapt_replace(const struct object *is, const struct blob *wanted)
{
    return blob_ref((struct blob *)(uintptr_t)wanted);
}

void job_object_plan_release(struct job_object_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        mem_free(plan->items[i].name);
        mem_free(plan->items[i].record);
        blob_unref(plan->items[i].body);
    }
    mem_free(plan->items);
    *plan = (struct job_object_plan){0};
}

void job_pod_plan_release(struct job_pod_plan *plan)
{
    for (size_t i = 0; i < plan->n_env; i++)
        json_decref(plan->env[i].entry);
    mem_free(plan->env);
    mem_free(plan->ports);
    json_decref(plan->init);
    json_decref(plan->volumes);
    json_decref(plan->mounts);
    json_decref(plan->run);
    json_decref(plan->annotations);
    mem_free(plan->hostname);
    mem_free(plan->subdomain);
    *plan = (struct job_pod_plan){0};
}

static void add_env(struct job_pod_plan *plan, const struct job_pod_env *env)
{
    const json_t *name = json_object_get(env->entry, "name");

    for (size_t i = 0; i < plan->n_env; i++)
        if (json_equal(json_object_get(plan->env[i].entry, "name"), name)) {
            json_decref(env->entry);
            return;
        }
    mem_grow(plan->env, plan->n_env, plan->cap_env);
    plan->env[plan->n_env++] = *env;
}

static json_t *variable(const char *name, const char *value)
{
    return json_pack("{s:s, s:s}", "name", name, "value", value);
}

void job_pod_plan_env(struct job_pod_plan *plan, enum job_pod_scope scope, json_t *entry)
{
    add_env(plan, &(struct job_pod_env){entry, scope, false});
}

void job_pod_plan_value(struct job_pod_plan *plan, enum job_pod_scope scope, const char *name,
                        const char *value)
{
    add_env(plan, &(struct job_pod_env){variable(name, value), scope, false});
}

void job_pod_plan_default(struct job_pod_plan *plan, enum job_pod_scope scope, const char *name,
                          const char *value)
{
    add_env(plan, &(struct job_pod_env){variable(name, value), scope, true});
}

void job_pod_plan_port(struct job_pod_plan *plan, enum job_pod_scope scope, const char *container,
                       const char *name, int64_t number)
{
    mem_grow(plan->ports, plan->n_ports, plan->cap_ports);
    plan->ports[plan->n_ports++] = (struct job_pod_port){container, name, (int32_t)number, scope};
}

/* Appends unless an entry with the same `key` is there; consumes `entry`. */
static void append_once(json_t **list, json_t *entry, const char *key)
{
    size_t i;
    json_t *other;

    if (!*list)
        *list = json_array();
    json_array_foreach(
        *list, i, other) if (json_equal(json_object_get(other, key), json_object_get(entry, key)))
    {
        json_decref(entry);
        return;
    }
    json_array_append_new(*list, entry);
}

void job_pod_plan_volume(struct job_pod_plan *plan, json_t *volume)
{
    append_once(&plan->volumes, volume, "name");
}

void job_pod_plan_mount(struct job_pod_plan *plan, json_t *mount)
{
    append_once(&plan->mounts, mount, "mountPath");
}

void job_pod_plan_init(struct job_pod_plan *plan, json_t *container)
{
    append_once(&plan->init, container, "name");
}

void job_pod_plan_run(struct job_pod_plan *plan, const char *container, json_t *command)
{
    json_decref(plan->run);
    plan->run_container = container;
    plan->run = command;
}

void job_pod_plan_annotation(struct job_pod_plan *plan, const char *key, const char *value)
{
    if (!plan->annotations)
        plan->annotations = json_object();
    json_object_set_new(plan->annotations, key, json_string(value));
}
