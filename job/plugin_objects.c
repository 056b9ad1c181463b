/*
 * Objects that plugins ask for: created when missing, updated where the plugin says so, and removed
 * when the job has finished. Each plugin has a record in controlledResources, which is written
 * after its objects are created and removed after they are gone. Ref: spec/job-plugins.md 1.2, 3.4,
 * O-P02, O-P03, O-P11…O-P13.
 */
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"
#include "job/objects/pod_plugins.h"
#include "job/prepare.h"

#define RECORD_PREFIX "plugin-"

static void run_object_hook(void *arg, const struct job_plugin *plugin,
                            const struct job_plugin_job *job)
{
    struct job_object_plan *plan = arg;
    size_t before = plan->count;

    if (plugin->objects)
        plugin->objects(job, plan);
    for (size_t i = before; i < plan->count; i++)
        plan->items[i].plugin = plugin->name;
}

static struct job_object_plan plan_objects(const struct job_run *run)
{
    const struct job_plugin_job job = job_plugin_job_of(&run->model);
    struct job_object_plan plan = {0};

    job_plugins_each(&job, run_object_hook, &plan, NULL);
    return plan;
}

/* The completion of a planned body on a worker thread, for bodies that take long to make (key
 * pairs). The object is created afterwards. */
struct completion {
    struct pool_work work;
    struct job_run *run;
    struct cluster_call *call; /* call of the creation that follows */
    const struct kind *kind;
    char *name;
    struct blob *planned;
    job_complete_fn complete;
    struct buf body;
    struct error err;
};

static void complete_body(struct pool_work *work)
{
    struct completion *c = container_of(work, struct completion, work);

    c->complete(c->planned->text, c->planned->len, &c->body, &c->err);
}

static void create_completed(struct pool_work *work)
{
    struct completion *c = container_of(work, struct completion, work);
    struct job_run *run = c->run;

    if (run->gone || !job_phase_active(run->model.state.phase))
        c->call->done(c->call, NULL, NULL); /* the object is not needed any more */
    else if (c->err.code != ERR_NONE)
        c->call->done(c->call, NULL, &c->err);
    else
        cluster_create(
            run->ctl->cluster, c->call,
            job_owned_object(run, c->kind, c->name, blob_intern(c->body.data, c->body.len)));
    secret_wipe(&c->body);
    blob_unref(c->planned);
    mem_free(c->name);
    mem_free(c);
}

static void begin_completion(struct job_run *run, const struct job_plan_object *wanted)
{
    struct completion *c = mem_alloc(sizeof *c);

    *c = (struct completion){
        .work = {.run = complete_body, .done = create_completed},
        .run = run,
        .call = job_prepare_write(run, "PluginError"),
        .kind = wanted->kind,
        .name = mem_strdup(wanted->name),
        .planned = blob_ref(wanted->body),
        .complete = wanted->complete,
    };
    loop_work(run->ctl->loop, &c->work);
}

static void begin_creation(struct job_run *run, const struct job_plan_object *wanted)
{
    if (wanted->complete)
        begin_completion(run, wanted);
    else
        cluster_create(run->ctl->cluster, job_prepare_write(run, "PluginError"),
                       job_owned_object(run, wanted->kind, wanted->name, blob_ref(wanted->body)));
}

/* Another API server prints the members of a body in an order of its own. */
static bool is_same_body(const struct blob *a, const struct blob *b)
{
    scoped(json) json_t *left = NULL, *right = NULL;

    if (a == b || strcmp(a->text, b->text) == 0)
        return true;
    left = json_loadb(a->text, a->len, 0, NULL);
    right = json_loadb(b->text, b->len, 0, NULL);
    return left && right && json_equal(left, right);
}

static bool update_object(struct job_run *run, const struct job_plan_object *wanted,
                          const struct object *is)
{
    struct blob *body = wanted->adapt ? wanted->adapt(is, wanted->body) : blob_ref(is->body);

    if (is_same_body(body, is->body)) {
        blob_unref(body);
        return true;
    }
    cluster_update(run->ctl->cluster, job_prepare_write(run, "PluginError"),
                   object_with_body(is, body));
    return false;
}

/* An object of another owner is never overwritten (O-P11). */
static void report_foreign(struct job_run *run, const struct job_plan_object *wanted,
                           const struct object *is)
{
    const struct owner_ref *owner = meta_controller(is->meta);
    scoped_str message =
        mem_printf("%s %s exists and belongs to %s%s%s: rename or delete it, or rename the job",
                   wanted->kind->name, wanted->name, owner ? owner->kind : "no controller",
                   owner ? " " : "", owner ? owner->name : "");

    job_run_event(run, EVENT_WARNING, "PluginError", "%s", message);
    job_status_waits(run, "PluginError", message);
    work_add_backoff(&run->work);
}

/* Ensures that an object is as planned. Returns true when it exists, belongs to the job and is as
 * planned; otherwise a write was begun or the conflict reported. */
static bool ensure_object(struct job_run *run, const struct job_plan_object *wanted)
{
    const struct object *is = cluster_get(run->ctl->cluster, wanted->kind,
                                          object_namespace(run->model.job), wanted->name);

    if (!is) {
        begin_creation(run, wanted);
        return false;
    }
    if (job_run_owns(run, is))
        return update_object(run, wanted, is);
    if (wanted->shared)
        return true;
    report_foreign(run, wanted, is);
    return false;
}

/* Repeats the warnings of admission as events of the job, once per record. */
static void report_warnings(struct job_run *run)
{
    struct job_plugin_job job = job_plugin_job_of(&run->model);
    struct error_list warnings = {0};

    if (run->warned_arguments)
        return;
    run->warned_arguments = true;
    job_plugins_review(&job, "spec", NULL, &warnings);
    job.name = NULL;
    job_plugins_review(&job, "spec", NULL, &warnings);
    for (size_t i = 0; i < warnings.count; i++)
        job_run_event(run, EVENT_WARNING, warnings.items[i].field, "%s", warnings.items[i].message);
    error_list_release(&warnings);
}

static bool has_made(const struct job_object_plan *plan, const char *plugin)
{
    for (size_t i = 0; i < plan->count; i++)
        if (strcmp(plan->items[i].plugin, plugin) == 0)
            return true;
    return false;
}

static bool record(struct job_run *run, const char *name)
{
    scoped_str key = mem_printf(RECORD_PREFIX "%s", name);

    return job_state_control(&run->model.state, key, name);
}

static bool is_ours(const struct job_run *run, const struct job_plan_object *wanted)
{
    const struct object *is = cluster_get(run->ctl->cluster, wanted->kind,
                                          object_namespace(run->model.job), wanted->name);

    return is && job_run_owns(run, is);
}

/* Records each plugin once its objects exist (O-P03), and objects that have a record of their own
 * (O-P16). */
static void record_plugins(struct job_run *run, const struct job_object_plan *plan)
{
    const struct job_spec *spec = run->model.compiled->spec;
    bool changed = false;

    for (size_t i = 0; i < spec->plugins.count; i++) {
        const char *name = spec->plugins.items[i].key;

        if (!job_plugin_find(name, NULL)->unrecorded || has_made(plan, name))
            changed |= record(run, name);
    }
    for (size_t i = 0; i < plan->count; i++)
        if (plan->items[i].record && is_ours(run, &plan->items[i]))
            changed |= record(run, plan->items[i].record);
    if (changed)
        job_status_mark_stale(run);
}

bool job_plugin_objects_ensure(struct job_run *run)
{
    struct job_object_plan plan;
    bool all = true;

    if (run->model.compiled->spec->plugins.count == 0)
        return true;
    plan = plan_objects(run);
    for (size_t i = 0; i < plan.count; i++)
        all &= ensure_object(run, &plan.items[i]);
    report_warnings(run);
    if (all)
        record_plugins(run, &plan);
    job_object_plan_release(&plan);
    return all;
}

bool job_plugin_objects_recorded(const struct job_run *run)
{
    for (size_t i = 0; i < run->model.state.n_controlled; i++)
        if (strncmp(run->model.state.controlled[i].key, RECORD_PREFIX, strlen(RECORD_PREFIX)) == 0)
            return true;
    return false;
}

static void drop_records(struct job_run *run)
{
    struct job_state *state = &run->model.state;

    for (size_t i = state->n_controlled; i > 0; i--) {
        scoped_str key = mem_strdup(state->controlled[i - 1].key);

        if (strncmp(key, RECORD_PREFIX, strlen(RECORD_PREFIX)) == 0)
            job_state_drop(state, key);
    }
    job_status_mark_stale(run);
}

/* Records are removed last: while they exist, removal is repeated (O-P13). */
void job_plugin_objects_remove(struct job_run *run)
{
    const char *ns = object_namespace(run->model.job);
    struct job_object_plan plan = plan_objects(run);
    bool any = false;

    for (size_t i = 0; i < plan.count; i++) {
        const struct object *is =
            cluster_get(run->ctl->cluster, plan.items[i].kind, ns, plan.items[i].name);
        const struct cluster_removal how = {
            .uid = is ? object_uid(is) : NULL, .grace_s = -1, .propagation = PROPAGATE_BACKGROUND};

        if (!is || !job_run_owns(run, is) || object_deleting(is))
            continue;
        cluster_remove(run->ctl->cluster, job_prepare_write(run, "PluginError"), is->kind, ns,
                       object_name(is), &how);
        any = true;
    }
    job_object_plan_release(&plan);
    if (!any)
        drop_records(run);
}
