/*
 * The registry of plugins, and the words several of them need.
 */
#include "job/plugins/plugin.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

#define JOB_PLUGIN_ROW(name) &job_plugin_##name,
static const struct job_plugin *const plugins[] = {JOB_PLUGINS(JOB_PLUGIN_ROW)};
#undef JOB_PLUGIN_ROW

/* Names the API accepts. Those without a row above fail the job with a message instead of running
 * it wrongly. */
static const char *const api_names[] = {"env",        "svc",     "ssh", "mpi",
                                        "tensorflow", "pytorch", "ray", "hcclrank"};

const struct job_plugin *job_plugin_find(const char *name, struct error *err)
{
    for (size_t i = 0; i < countof(plugins); i++)
        if (strcmp(plugins[i]->name, name) == 0)
            return plugins[i];
    for (size_t i = 0; i < countof(api_names); i++)
        if (strcmp(api_names[i], name) == 0) {
            error_set(err, ERR_INVALID, "spec.plugins",
                      "plugin \"%s\" is not supported by this version; remove it from spec.plugins",
                      name);
            return NULL;
        }
    error_set(err, ERR_INVALID, "spec.plugins",
              "plugin \"%s\" is unknown; known are env, svc, ssh, mpi, tensorflow, pytorch, ray, "
              "hcclrank",
              name);
    return NULL;
}

bool job_plugins_each(const struct job_plugin_job *job, job_plugin_visit_fn visit, void *arg,
                      struct error *err)
{
    for (size_t i = 0; i < job->spec->plugins.count; i++)
        if (!job_plugin_find(job->spec->plugins.items[i].key, err))
            return false;
    for (size_t p = 0; p < countof(plugins); p++)
        for (size_t i = 0; i < job->spec->plugins.count; i++)
            if (strcmp(job->spec->plugins.items[i].key, plugins[p]->name) == 0) {
                struct job_plugin_job with_args = *job;

                with_args.args = job->spec->plugins.items[i].value;
                visit(arg, plugins[p], &with_args);
            }
    return true;
}

void job_plan_object(struct job_object_plan *plan, const struct kind *kind, const char *name,
                     struct blob *body, bool follow)
{
    mem_grow(plan->items, plan->count, plan->cap);
    plan->items[plan->count++] = (struct job_plan_object){kind, mem_strdup(name), body, follow};
}

void job_object_plan_release(struct job_object_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        mem_free(plan->items[i].name);
        blob_unref(plan->items[i].body);
    }
    mem_free(plan->items);
    *plan = (struct job_object_plan){0};
}

void job_pod_plan_release(struct job_pod_plan *plan)
{
    json_decref(plan->env);
    json_decref(plan->volumes);
    json_decref(plan->mounts);
    mem_free(plan->hostname);
    mem_free(plan->subdomain);
    *plan = (struct job_pod_plan){0};
}

/* Append unless an entry with the same `key` is there; consumes `entry`. */
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

void job_pod_plan_env(struct job_pod_plan *plan, json_t *entry)
{
    append_once(&plan->env, entry, "name");
}

void job_pod_plan_volume(struct job_pod_plan *plan, json_t *volume)
{
    append_once(&plan->volumes, volume, "name");
}

void job_pod_plan_mount(struct job_pod_plan *plan, json_t *mount)
{
    append_once(&plan->mounts, mount, "mountPath");
}

static const char *template_text(const struct job_task *task, const char *key)
{
    const char *text =
        json_string_value(json_object_get(json_object_get(task->template_, "spec"), key));

    return text && *text ? text : NULL;
}

void job_host_write(struct buf *out, const char *job_name, const struct job_task *task,
                    int32_t index)
{
    const char *fixed = template_text(task, "hostname");

    if (fixed) {
        buf_str(out, fixed);
        return;
    }
    buf_str(out, job_name);
    buf_char(out, '-');
    buf_str(out, task->name);
    buf_char(out, '-');
    buf_int(out, index);
}

void job_fqdn_write(struct buf *out, const char *job_name, const struct job_task *task,
                    int32_t index)
{
    const char *subdomain = template_text(task, "subdomain");

    job_host_write(out, job_name, task, index);
    buf_char(out, '.');
    buf_str(out, subdomain ? subdomain : job_name);
}

int32_t job_host_count(const struct job_task *task)
{
    return template_text(task, "hostname") ? 1 : task->replicas;
}

void job_task_word(struct buf *out, const char *task_name, bool upper)
{
    for (; *task_name; task_name++) {
        char c = *task_name == '-' ? '_' : *task_name;

        buf_char(out, upper ? (char)toupper((unsigned char)c) : c);
    }
}
