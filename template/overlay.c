/*
 * Both overlays copy the JSON containers that they change and share the rest with the template.
 */
#include "template/overlay.h"

#include <string.h>

#include "api/types/schema/flow_reference.h"
#include "base/compiler.h"

static void set_text(json_t *spec, const char *member, const char *text)
{
    if (text && *text)
        json_object_set_new(spec, member, json_string(text));
}

static void add_plugins(json_t *spec, const json_t *plugins)
{
    json_t *own = json_object_get(spec, "plugins");
    json_t *all = own ? json_copy(own) : json_object();
    const char *name;
    json_t *arguments;

    json_object_foreach((json_t *)plugins, name, arguments)
    {
        if (!json_object_get(all, name))
            json_object_set(all, name, arguments);
    }
    json_object_set_new(spec, "plugins", all);
}

json_t *overlay_scheduling(json_t *spec, const struct flow_scheduling *scheduling)
{
    json_t *out = json_copy(spec);

    json_decref(spec);
    set_text(out, "queue", scheduling->queue);
    set_text(out, "priorityClassName", scheduling->priority_class);
    set_text(out, "schedulerName", scheduling->scheduler_name);
    if (scheduling->network_topology)
        json_object_set(out, "networkTopology", scheduling->network_topology);
    if (json_object_size(scheduling->plugins))
        add_plugins(out, scheduling->plugins);
    return out;
}

static bool has_variable(const json_t *env, const char *name)
{
    const json_t *variable;
    size_t i;

    json_array_foreach(env, i, variable)
    {
        const char *known = json_string_value(json_object_get(variable, "name"));

        if (known && strcmp(known, name) == 0)
            return true;
    }
    return false;
}

static json_t *with_variables(json_t *container, const char *item, const char *index)
{
    const struct {
        const char *name, *value;
    } variables[] = {{"VC_FLOW_ITEM", item}, {"VC_FLOW_INDEX", index}};
    json_t *out = json_copy(container);
    json_t *known = json_object_get(container, "env");
    json_t *env = known ? json_copy(known) : json_array();

    for (size_t i = 0; i < countof(variables); i++) {
        scoped(buf) struct buf quoted = {0};

        if (has_variable(known, variables[i].name))
            continue;
        flow_ref_quote(variables[i].value, strlen(variables[i].value), &quoted);
        json_array_append_new(env, json_pack("{s:s, s:s}", "name", variables[i].name, "value",
                                             quoted.data ? quoted.data : ""));
    }
    json_object_set_new(out, "env", env);
    return out;
}

static void change_containers(json_t *pod, const char *member, const char *item, const char *index)
{
    const json_t *containers = json_object_get(pod, member);
    json_t *out, *container;
    size_t i;

    if (!json_is_array(containers))
        return;
    out = json_array();
    json_array_foreach(containers, i, container)
    {
        json_array_append_new(out, with_variables(container, item, index));
    }
    json_object_set_new(pod, member, out);
}

static json_t *change_task(const json_t *task, const char *item, const char *index)
{
    json_t *out = json_copy((json_t *)task);
    json_t *template = json_copy(json_object_get(task, "template"));
    json_t *pod = json_copy(json_object_get(template, "spec"));

    if (!template || !pod) {
        json_decref(template);
        json_decref(pod);
        return out;
    }
    change_containers(pod, "initContainers", item, index);
    change_containers(pod, "containers", item, index);
    json_object_set_new(template, "spec", pod);
    json_object_set_new(out, "template", template);
    return out;
}

json_t *overlay_iteration(json_t *spec, const char *item, const char *index)
{
    json_t *out = json_copy(spec);
    json_t *tasks = json_array();
    const json_t *task;
    size_t i;

    json_array_foreach(json_object_get(spec, "tasks"), i, task)
    {
        json_array_append_new(tasks, change_task(task, item, index));
    }
    json_object_set_new(out, "tasks", tasks);
    json_decref(spec);
    return out;
}
