/*
 * What must be there before the first pod: the queue, claims, what plugins ask for, and the
 * PodGroup; and the way back when the job ends. Ref: spec/job.md 9, 12, 15; spec/job-plugins.md
 * 1, 3.4; O-39, O-46, O-53, O-55, O-59.
 */
#include <string.h>

#include "api/types/podgroup.h"
#include "base/mem.h"
#include "job/names.h"
#include "job/plugins/plugin.h"
#include "job/pod.h"
#include "job/podgroup.h"
#include "job/run.h"

#define RECORD_PREFIX "plugin-"

/* A write that preparation waits for. */
struct prep_op {
    struct cluster_call call;
    struct job_run *run;
    const char *reason; /* of the event when it fails */
};

static void prep_done(struct cluster_call *call, const struct object *result,
                      const struct error *err)
{
    struct prep_op *op = container_of(call, struct prep_op, call);
    struct job_run *run = op->run;
    const char *reason = op->reason;

    mem_free(op);
    run->ops--;
    run->prep_ops--;
    if (run->gone) {
        job_run_settle(run);
        return;
    }
    if (err && err->code == ERR_EXISTS) { /* the cache will show whose it is */
        if (!job_run_holding(run))
            work_add_backoff(&run->work);
    } else if (err && err->code != ERR_NOT_FOUND) {
        job_apply_failed(run, reason, "prepare the job", err);
        job_explain(run, reason, err->message);
    } else if (result && result->kind == &kind_job) {
        job_run_job(run, result);
    }
    job_run_sync(run);
}

static struct cluster_call *prep_begin(struct job_run *run, const char *reason)
{
    struct prep_op *op = mem_alloc(sizeof *op);

    *op = (struct prep_op){{.done = prep_done}, run, reason};
    run->ops++;
    run->prep_ops++;
    return &op->call;
}

static struct object *owned_object(const struct job_run *run, const struct kind *kind,
                                   const char *name, struct blob *body)
{
    const struct object *job = run->view.job;
    struct owner_ref owner = {JOB_API_VERSION, "Job", object_name(job), run->uid, true, true};
    struct meta *meta = meta_new(&(struct meta){.namespace_ = object_namespace(job),
                                                .name = name,
                                                .uid = "",
                                                .deletion_grace_s = -1,
                                                .owners = &owner,
                                                .n_owners = 1});

    return object_new(kind, meta, body, NULL);
}

static bool is_owned(const struct job_run *run, const struct object *object)
{
    const struct owner_ref *owner = meta_controller(object->meta);

    return owner && strcmp(owner->uid, run->uid) == 0;
}

/* ---- queue ---- */

/* It exists, and takes PodGroups when one is still to be made. */
static bool queue_takes_us(struct job_run *run)
{
    const char *name = run->view.shape->spec->queue;
    const struct object *queue = cluster_get(run->ctl->cluster, &kind_queue, "", name);
    scoped_str message = NULL;

    if (queue && (run->view.group || strcmp(queue_state_of(queue), "Open") == 0))
        return true;
    message = queue ? mem_printf("queue %s is %s; the job goes on when it is open", name,
                                 *queue_state_of(queue) ? queue_state_of(queue) : "not open yet")
                    : mem_printf("queue %s does not exist; the job goes on when it does", name);
    job_explain(run, queue ? "QueueNotOpen" : "QueueNotFound", message);
    job_wait_for(run, &kind_queue, "", name);
    return false;
}

/* ---- claims ---- */

static bool falls_back(const struct job_run *run)
{
    const char *text = meta_annotation(run->view.job->meta, ANNOTATION_VOLUME_FALLBACK);

    return text && strcmp(text, "emptyDir") == 0;
}

static void use_empty_dir(struct job_run *run, size_t position)
{
    scoped_str key = job_volume_empty_key(&run->view, position);
    scoped_str name = job_volume_name(&run->view, position);

    if (job_state_control(&run->view.state, key, name))
        job_status_stale(run);
}

/* Write the names of the claims that are still to be made into the spec, before any is made (O-53).
 */
static bool names_are_written(struct job_run *run)
{
    const struct job_spec *spec = run->view.shape->spec;
    scoped(json) json_t *body = NULL;
    json_t *volumes;

    for (size_t i = 0; i < spec->volumes.count; i++) {
        const struct job_volume *volume = &spec->volumes.items[i];
        scoped_str name = NULL;

        if (!volume->claim || (volume->claim_name && *volume->claim_name))
            continue;
        if (!body)
            body = object_body_json(run->view.job);
        name = job_claim_name(run->view.job, i);
        volumes = json_object_get(json_object_get(body, "spec"), "volumes");
        json_object_set_new(json_array_get(volumes, i), "volumeClaimName", json_string(name));
    }
    if (!body)
        return true;
    cluster_update(run->ctl->cluster, prep_begin(run, "PVCError"),
                   object_with_body(run->view.job, object_body_from_json(body)));
    return false;
}

static void create_claim(struct job_run *run, const char *name, json_t *claim)
{
    scoped(json) json_t *body = json_pack("{s:O}", "spec", claim);

    cluster_create(run->ctl->cluster, prep_begin(run, "PVCError"),
                   owned_object(run, &kind_pvc, name, object_body_from_json(body)));
}

static bool claim_is_there(struct job_run *run, size_t position)
{
    const struct job_volume *volume = &run->view.shape->spec->volumes.items[position];
    scoped_str name = job_volume_claim(&run->view, position);
    scoped_str key = name ? mem_printf("volume-pvc-%s", name) : NULL;
    scoped_str message = NULL;
    const char *ns = object_namespace(run->view.job);

    if (!name) { /* an emptyDir, because it was decided so or nothing else is said */
        use_empty_dir(run, position);
        return true;
    }
    if (cluster_get(run->ctl->cluster, &kind_pvc, ns, name)) {
        if (job_state_control(&run->view.state, key, name))
            job_status_stale(run);
        return true;
    }
    if (volume->claim) {
        create_claim(run, name, volume->claim);
        return false;
    }
    if (falls_back(run)) {
        use_empty_dir(run, position);
        return true;
    }
    message = mem_printf("claim %s does not exist; the job goes on when it does", name);
    job_explain(run, "PVCNotFound", message);
    job_wait_for(run, &kind_pvc, ns, name);
    return false;
}

static bool claims_are_there(struct job_run *run)
{
    bool all = true;

    if (run->view.shape->spec->volumes.count == 0)
        return true;
    if (!names_are_written(run))
        return false;
    for (size_t i = 0; i < run->view.shape->spec->volumes.count; i++)
        all &= claim_is_there(run, i);
    return all;
}

/* ---- plugins ---- */

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
    if (plugin->check && !pass->run->warned_arguments)
        plugin->check(job, &pass->warnings);
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
        cluster_create(run->ctl->cluster, prep_begin(run, "PluginError"),
                       owned_object(run, wanted->kind, wanted->name, blob_ref(wanted->body)));
        return false;
    }
    if (is_owned(run, is)) {
        if (!wanted->follow || is->body == wanted->body ||
            strcmp(is->body->text, wanted->body->text) == 0)
            return true;
        cluster_update(run->ctl->cluster, prep_begin(run, "PluginError"),
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

static bool plugins_are_there(struct job_run *run)
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
static void remove_plugin_objects(struct job_run *run)
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

        if (!is || !is_owned(run, is) || object_deleting(is))
            continue;
        cluster_remove(run->ctl->cluster, prep_begin(run, "PluginError"), is->kind, ns,
                       object_name(is), &how);
        any = true;
    }
    release_pass(&pass);
    if (!any)
        drop_records(run);
}

/* ---- PodGroup ---- */

static int32_t priority_of(void *ctx, const char *name)
{
    const struct object *class = cluster_get(ctx, &kind_priority_class, "", name);

    return class ? priority_class_value_of(class) : 0;
}

static bool is_staged(const struct job_run *run)
{
    const char *text;

    if (!run->view.shape->has_dependencies)
        return false;
    text = meta_annotation(run->view.job->meta, ANNOTATION_DEPENDSON_GANG);
    return !run->ctl->options.whole_gang || (text && strcmp(text, "staged") == 0);
}

static struct blob *wanted_group_body(struct job_run *run)
{
    const struct job_group_options options = {priority_of, run->ctl->cluster, is_staged(run)};

    return job_group_body(&run->view, &options);
}

static void group_done(struct cluster_call *call, const struct object *group,
                       const struct error *err)
{
    struct job_run *run = container_of(call, struct job_run, group_call);
    enum group_op op = (enum group_op)run->group_op;

    run->group_op = GROUP_IDLE;
    if (run->gone) {
        job_run_settle(run);
        return;
    }
    if (!err && group && op != GROUP_REMOVING)
        job_run_group(run, group);
    else if (op == GROUP_REMOVING && (!err || err->code == ERR_NOT_FOUND))
        run->group_removed = true;             /* its deletion shows in the cache, now or soon */
    else if (err && err->code == ERR_EXISTS) { /* the old one is still on its way out */
        if (!job_run_holding(run))
            work_add_backoff(&run->work);
    } else if (err)
        job_apply_failed(run, "PodGroupError", "write the PodGroup", err);
    job_run_sync(run);
}

static struct cluster_call *group_begin(struct job_run *run, enum group_op op)
{
    run->group_op = (uint8_t)op;
    run->group_call.done = group_done;
    return &run->group_call;
}

static void remove_group(struct job_run *run)
{
    const struct object *group = run->view.group;
    const struct cluster_removal how = {
        .uid = object_uid(group), .grace_s = -1, .propagation = PROPAGATE_BACKGROUND};

    if (run->group_op != GROUP_IDLE || object_deleting(group) || run->group_removed)
        return;
    cluster_remove(run->ctl->cluster, group_begin(run, GROUP_REMOVING), &kind_pod_group,
                   object_namespace(group), object_name(group), &how);
}

/* Only what the core follows is replaced: queue and topology stay, and so do task minimums of
 * others (15.1). */
static void update_group(struct job_run *run, const struct blob *wanted)
{
    static const char *const followed[] = {"minMember", "minResources", "priorityClassName",
                                           "subGroupPolicy"};
    scoped(json) json_t *body = object_body_json(run->view.group);
    scoped(json) json_t *want = json_loadb(wanted->text, wanted->len, 0, NULL);
    json_t *spec = json_object_get(body, "spec"), *from = json_object_get(want, "spec");
    json_t *minimums = json_object_get(spec, "minTaskMember");

    if (!spec) {
        spec = json_object();
        json_object_set_new(body, "spec", spec);
    }
    for (size_t i = 0; i < countof(followed); i++) {
        json_t *value = json_object_get(from, followed[i]);

        if (value)
            json_object_set(spec, followed[i], value);
        else
            json_object_del(spec, followed[i]);
    }
    if (minimums)
        json_object_update(minimums, json_object_get(from, "minTaskMember"));
    else
        json_object_set(spec, "minTaskMember", json_object_get(from, "minTaskMember"));
    cluster_update(run->ctl->cluster, group_begin(run, GROUP_UPDATING),
                   object_with_body(run->view.group, object_body_from_json(body)));
}

static bool group_is_there(struct job_run *run)
{
    struct job_view *view = &run->view;
    struct blob *wanted;

    if (run->group_op != GROUP_IDLE)
        return false;
    if (view->group && (object_deleting(view->group) || run->group_removed))
        return false;
    if (view->group && job_group_outdated(view)) {
        remove_group(run);
        return false;
    }
    if (view->group && run->group_checked && !view->gang_changed)
        return true;
    wanted = wanted_group_body(run);
    view->gang_changed = false;
    run->group_checked = true;
    if (!view->group) {
        cluster_create(run->ctl->cluster, group_begin(run, GROUP_CREATING),
                       job_group_build(view, wanted)); /* consumes `wanted` */
        return false;
    }
    if (job_group_differs(view->group, wanted)) {
        update_group(run, wanted);
        blob_unref(wanted);
        return false;
    }
    blob_unref(wanted);
    return true;
}

bool job_prepare(struct job_run *run)
{
    if (run->prep_ops > 0)
        return false;
    if (!run->prepared) {
        if (!queue_takes_us(run) || !claims_are_there(run) || !plugins_are_there(run))
            return false;
        run->prepared = true;
    }
    return group_is_there(run);
}

void job_unprepare(struct job_run *run, bool plugins_too)
{
    run->prepared = false;
    if (run->view.group)
        remove_group(run);
    if (plugins_too && run->prep_ops == 0 && job_has_plugin_records(run))
        remove_plugin_objects(run);
}
