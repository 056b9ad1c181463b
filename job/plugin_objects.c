/*
 * What plugins ask for: made when missing, kept up to date where they say so, removed when the job
 * has come to rest. The records in controlledResources come last, both ways. Ref:
 * spec/job-plugins.md 1.2, 3.4, O-P02, O-P03, O-P11…O-P13.
 */
#include <string.h>

#include "base/mem.h"
#include "job/plugins/plugin.h"
#include "job/prepare.h"

#define RECORD_PREFIX "plugin-"

struct plugin_pass {
    struct job_run *run;
    struct job_object_plan plan;
    struct error_list warnings;
};

static void run_object_hook(void *arg, const struct job_plugin *plugin,
                            const struct job_plugin_job *job)
{
    struct plugin_pass *pass = arg;

    if (plugin->objects)
        plugin->objects(job, &pass->plan);
    if (plugin->review && !pass->run->warned_arguments)
        plugin->review(job, &pass->warnings);
}

static void plan_objects(struct job_run *run, struct plugin_pass *pass)
{
    const struct job_plugin_job job = {object_namespace(run->view.job),
                                       object_name(run->view.job),
                                       run->uid,
                                       run->view.shape->spec,
                                       {0}};

    *pass = (struct plugin_pass){.run = run};
    job_plugins_each(&job, run_object_hook, pass, NULL);
}

static void release_pass(struct plugin_pass *pass)
{
    job_object_plan_release(&pass->plan);
    error_list_release(&pass->warnings);
}

/* True when the object is there and ours and right; otherwise something was begun or reported. */
static bool object_is_there(struct job_run *run, const struct job_plan_object *wanted)
{
    const struct object *job = run->view.job;
    const struct object *is =
        cluster_get(run->ctl->cluster, wanted->kind, object_namespace(job), wanted->name);
    const struct owner_ref *owner;
    scoped_str message = NULL;

    if (!is) {
        cluster_create(run->ctl->cluster, job_prep_begin(run, "PluginError"),
                       job_prep_owned(run, wanted->kind, wanted->name, blob_ref(wanted->body)));
        return false;
    }
    if (job_run_owns(run, is)) {
        if (!wanted->follow || is->body == wanted->body ||
            strcmp(is->body->text, wanted->body->text) == 0)
            return true;
        cluster_update(run->ctl->cluster, job_prep_begin(run, "PluginError"),
                       object_with_body(is, blob_ref(wanted->body)));
        return false;
    }
    owner = meta_controller(is->meta); /* never overwritten (O-P11) */
    message = mem_printf("%s %s exists and belongs to %s %s", wanted->kind->name, wanted->name,
                         owner ? owner->kind : "nobody", owner ? owner->name : "");
    job_run_event(run, EVENT_WARNING, "PluginError", "%s", message);
    job_explain(run, "PluginError", message);
    work_add_backoff(&run->work);
    return false;
}

static void report_warnings(struct job_run *run, const struct error_list *warnings)
{
    for (size_t i = 0; i < warnings->count; i++)
        job_run_event(run, EVENT_WARNING,
                      warnings->items[i].code == ERR_TOO_LARGE ? "HostsEnvTooLong"
                                                               : "PluginArgumentIgnored",
                      "%s: %s", warnings->items[i].field, warnings->items[i].message);
    run->warned_arguments = true;
}

/* The record of each plugin, once its objects are there (O-P03). */
static void record_plugins(struct job_run *run)
{
    const struct job_spec *spec = run->view.shape->spec;
    bool changed = false;

    for (size_t i = 0; i < spec->plugins.count; i++) {
        scoped_str key = mem_printf(RECORD_PREFIX "%s", spec->plugins.items[i].key);

        changed |= job_state_control(&run->view.state, key, spec->plugins.items[i].key);
    }
    if (changed)
        job_status_stale(run);
}

bool job_plugins_are_there(struct job_run *run)
{
    struct plugin_pass pass;
    bool all = true;

    if (run->view.shape->spec->plugins.count == 0)
        return true;
    plan_objects(run, &pass);
    for (size_t i = 0; i < pass.plan.count; i++)
        all &= object_is_there(run, &pass.plan.items[i]);
    report_warnings(run, &pass.warnings);
    release_pass(&pass);
    if (all)
        record_plugins(run);
    return all;
}

bool job_has_plugin_records(const struct job_run *run)
{
    for (size_t i = 0; i < run->view.state.n_controlled; i++)
        if (strncmp(run->view.state.controlled[i].key, RECORD_PREFIX, strlen(RECORD_PREFIX)) == 0)
            return true;
    return false;
}

static void drop_records(struct job_run *run)
{
    struct job_state *state = &run->view.state;

    for (size_t i = state->n_controlled; i > 0; i--) {
        scoped_str key = mem_strdup(state->controlled[i - 1].key);

        if (strncmp(key, RECORD_PREFIX, strlen(RECORD_PREFIX)) == 0)
            job_state_drop(state, key);
    }
    job_status_stale(run);
}

/* The records go last: while they are there, removal is repeated (O-P13). */
void job_plugins_remove(struct job_run *run)
{
    const char *ns = object_namespace(run->view.job);
    struct plugin_pass pass;
    bool any = false;

    run->warned_arguments = true;
    plan_objects(run, &pass);
    for (size_t i = 0; i < pass.plan.count; i++) {
        const struct object *is =
            cluster_get(run->ctl->cluster, pass.plan.items[i].kind, ns, pass.plan.items[i].name);
        const struct cluster_removal how = {
            .uid = is ? object_uid(is) : NULL, .grace_s = -1, .propagation = PROPAGATE_BACKGROUND};

        if (!is || !job_run_owns(run, is) || object_deleting(is))
            continue;
        cluster_remove(run->ctl->cluster, job_prep_begin(run, "PluginError"), is->kind, ns,
                       object_name(is), &how);
        any = true;
    }
    release_pass(&pass);
    if (!any)
        drop_records(run);
}
