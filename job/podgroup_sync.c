/*
 * Keeps the PodGroup of a job in line with the job: creates it, updates it when the spec changes,
 * replaces it in a new kill epoch, and removes it when the job ends. Ref: spec/job.md 15, O-57,
 * O-59.
 */
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/scheduling/priority_class.h"
#include "job/model/names.h"
#include "job/objects/podgroup.h"
#include "job/prepare.h"

static int32_t priority_of(void *ctx, const char *name)
{
    const struct object *class = cluster_get(ctx, &kind_priority_class, "", name);

    return class ? priority_class_value_of(class) : 0;
}

static bool is_staged(const struct job_run *run)
{
    const char *text;

    if (run->model.lifecycle.has_companions) /* they must run before the other pods exist */
        return true;
    if (!run->model.compiled->has_dependencies)
        return false;
    text = meta_annotation(run->model.job->meta, ANNOTATION_DEPENDSON_GANG);
    return !run->ctl->options.whole_gang || (text && strcmp(text, "staged") == 0);
}

static struct blob *wanted_group_body(struct job_run *run)
{
    const struct job_podgroup_options options = {priority_of, run->ctl->cluster, is_staged(run)};

    return job_podgroup_body(&run->model, &options);
}

static void write_done(struct cluster_call *call, const struct object *group,
                       const struct error *err)
{
    struct job_run *run = container_of(call, struct job_run, group_call);
    bool removed = run->podgroup == GROUP_REMOVING && (!err || err->code == ERR_NOT_FOUND);

    job_podgroup_set(&run->podgroup, removed && run->model.group ? GROUP_REMOVED : GROUP_UNCHECKED);
    if (run->gone) {
        job_run_free_if_done(run);
        return;
    }
    if (removed) {
        ; /* the deletion arrives as a change of the PodGroup */
    } else if (!err) {
        job_run_group(run, group);
    } else if (err->code == ERR_EXISTS) { /* the previous one is still being deleted */
        if (!job_run_holding(run))
            work_add_backoff(&run->work);
    } else {
        job_write_failed(run, "PodGroupError", "write the PodGroup", err);
        if (err->code != ERR_CONFLICT)
            job_status_waits(run, "PodGroupError", err->message);
    }
    job_run_sync(run);
}

static struct cluster_call *begin_write(struct job_run *run, enum job_podgroup_state write)
{
    job_podgroup_set(&run->podgroup, write);
    run->group_call.done = write_done;
    return &run->group_call;
}

void job_podgroup_remove(struct job_run *run)
{
    const struct object *group = run->model.group;
    const struct cluster_removal how = {
        .uid = object_uid(group), .grace_s = -1, .propagation = PROPAGATE_BACKGROUND};

    if (job_podgroup_writing(run->podgroup) || run->podgroup == GROUP_REMOVED ||
        object_deleting(group))
        return;
    cluster_remove(run->ctl->cluster, begin_write(run, GROUP_REMOVING), group->kind,
                   object_namespace(group), object_name(group), &how);
}

/* Replaces only the members that follow the job. Queue, topology and the task minimums of other
 * writers stay (15.1). */
static void update_group(struct job_run *run, const struct blob *wanted)
{
    static const char *const followed[] = {"minMember", "minResources", "priorityClassName",
                                           "subGroupPolicy"};
    scoped(json) json_t *body = object_body_json(run->model.group);
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
    else if (json_object_get(from, "minTaskMember"))
        json_object_set(spec, "minTaskMember", json_object_get(from, "minTaskMember"));
    cluster_update(run->ctl->cluster, begin_write(run, GROUP_UPDATING),
                   object_with_body(run->model.group, object_body_from_json(body)));
}

bool job_podgroup_ensure(struct job_run *run)
{
    struct job_model *model = &run->model;
    struct blob *wanted;

    if (job_podgroup_writing(run->podgroup) || run->podgroup == GROUP_REMOVED)
        return false;
    if (model->group && object_deleting(model->group))
        return false;
    if (model->group && job_podgroup_outdated(model)) {
        job_podgroup_remove(run);
        return false;
    }
    if (model->group && run->podgroup == GROUP_CHECKED && !model->gang_changed)
        return true;
    wanted = wanted_group_body(run);
    model->gang_changed = false;
    job_podgroup_recheck(&run->podgroup);
    if (!model->group) {
        cluster_create(run->ctl->cluster, begin_write(run, GROUP_CREATING),
                       job_podgroup_build(model, wanted)); /* frees `wanted` */
        return false;
    }
    if (!run->ctl->gang->fixed && job_podgroup_differs(model->group, wanted)) {
        update_group(run, wanted);
        blob_unref(wanted);
        return false;
    }
    blob_unref(wanted);
    if (run->ctl->gang->admits &&
        job_queue_priority(model->group->meta) != job_queue_priority(model->job->meta)) {
        cluster_update(run->ctl->cluster, begin_write(run, GROUP_UPDATING),
                       job_podgroup_with_priority(model));
        return false;
    }
    job_podgroup_set(&run->podgroup, GROUP_CHECKED);
    return true;
}
