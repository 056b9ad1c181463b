/*
 * The list of all plugins, look-up by name, the arguments of a plugin in a job, and the plugins
 * that others imply.
 */
#include "job/plugins/plugin.h"

#include <string.h>

#include "base/buf.h"

#define JOB_PLUGIN_ROW(name) &job_plugin_##name,
static const struct job_plugin *const plugins[] = {JOB_PLUGINS(JOB_PLUGIN_ROW)};
#undef JOB_PLUGIN_ROW

const struct job_plugin *job_plugin_find(const char *name, struct error *err)
{
    scoped(buf) struct buf known = {0};

    for (size_t i = 0; i < countof(plugins); i++)
        if (strcmp(plugins[i]->name, name) == 0)
            return plugins[i];
    for (size_t i = 0; i < countof(plugins); i++)
        buf_printf(&known, "%s%s", i ? ", " : "", plugins[i]->name);
    error_set(err, ERR_INVALID, "spec.plugins", "unable to find job plugin: %s: there are %s", name,
              known.data);
    return NULL;
}

bool job_plugin_args(const struct job_spec *spec, const char *name, struct str_list *out)
{
    for (size_t i = 0; i < spec->plugins.count; i++)
        if (strcmp(spec->plugins.items[i].key, name) == 0) {
            *out = spec->plugins.items[i].value;
            return true;
        }
    return false;
}

bool job_plugins_each(const struct job_plugin_job *job, job_plugin_visit_fn visit, void *arg,
                      struct error *err)
{
    struct job_plugin_job with_args = *job;

    for (size_t i = 0; i < job->spec->plugins.count; i++)
        if (!job_plugin_find(job->spec->plugins.items[i].key, err))
            return false;
    for (size_t p = 0; p < countof(plugins); p++)
        if (job_plugin_args(job->spec, plugins[p]->name, &with_args.args))
            visit(arg, plugins[p], &with_args);
    return true;
}

static void add_missing(struct job_spec *spec, struct arena *arena, const char *name)
{
    struct str_list_pair *items;
    size_t count = spec->plugins.count;
    struct str_list args;

    if (job_plugin_args(spec, name, &args))
        return;
    items = arena_array(arena, count + 1, sizeof *items);
    memcpy(items, spec->plugins.items, count * sizeof *items);
    items[count] = (struct str_list_pair){.key = name};
    spec->plugins.items = items;
    spec->plugins.count = count + 1;
}

void job_plugins_imply(struct job_spec *spec, struct arena *arena)
{
    size_t given = spec->plugins.count;

    for (size_t i = 0; i < given; i++) {
        const struct job_plugin *plugin = job_plugin_find(spec->plugins.items[i].key, NULL);

        for (size_t n = 0; plugin && plugin->implies[n]; n++)
            add_missing(spec, arena, plugin->implies[n]);
    }
}
