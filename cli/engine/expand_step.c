/*
 * Admission decides what a template may have: what it refuses is moved to the patch until it accepts
 * the rest.
 */
#include "cli/engine/expand_step.h"

#include <string.h>

#include "api/types/admission.h"
#include "api/types/kinds/jobflow/inline_template.h"
#include "api/types/schema/flow_reference.h"
#include "base/mem.h"
#include "job/plugins/plugin.h"
#include "template/split.h"

/* Jobs of a named template do not get its labels, those of an inline template do. */
static bool check_metadata(const struct flow_step *step, struct error *err)
{
    const json_t *metadata = json_object_get(step->job_template, "metadata");

    if (!json_object_size(json_object_get(metadata, "labels")) &&
        !json_object_size(json_object_get(metadata, "annotations")))
        return true;
    return error_set(err, ERR_INVALID, "jobTemplate.metadata",
                     "jobs do not get the labels and annotations of a named template: remove them "
                     "here, or write them into the tasks' templates, for the pods");
}

/* Admits the spec as that of a template. */
static void check_spec(json_t *spec, struct error_list *errors)
{
    const struct admission adm = {.scheduler_name = "volcano",
                                  .virtual_runtime = true,
                                  .plugins = &job_plugin_rules,
                                  .strict_plugin_arguments = true};
    scoped(json) json_t *doc =
        json_pack("{s:s, s:s, s:{s:s, s:s}, s:o}", "apiVersion",
                  kind_api_version(&kind_job_template), "kind", kind_job_template.name, "metadata",
                  "name", "step", "namespace", "default", "spec", json_deep_copy(spec));

    object_unref(admission_admit(&adm, doc, NULL, UNKNOWN_ERROR, errors));
}

/* Marks what admission refuses. False with the first finding about which nothing can be done. */
static bool mark_refused(const json_t *spec, const struct error_list *errors, json_t *moved,
                         struct error *err)
{
    bool marked = false;

    for (size_t i = 0; i < errors->count; i++) {
        const char *field = errors->items[i].field;

        if (strncmp(field, "spec.", strlen("spec.")) == 0 &&
            template_split_mark(spec, field + strlen("spec."), moved))
            marked = true;
    }
    return marked ||
           error_set(err, ERR_INVALID, errors->items[0].field, "%s", errors->items[0].message);
}

/* Settings of the flow replace these members of a template, but not of a patch. */
static void leave_to_scheduling(const struct flow_scheduling *scheduling, json_t *patch)
{
    const struct {
        const char *member;
        bool set;
    } members[] = {
        {"queue", scheduling->queue && *scheduling->queue},
        {"priorityClassName", scheduling->priority_class && *scheduling->priority_class},
        {"schedulerName", scheduling->scheduler_name && *scheduling->scheduler_name},
        {"networkTopology", scheduling->network_topology != NULL},
    };

    for (size_t i = 0; i < countof(members); i++)
        if (members[i].set)
            json_object_del(patch, members[i].member);
}

/* Puts `first` (consumed) before the step's own patch. NULL when the step has no place for it. */
static json_t *patch_before(const struct flow_step *step, json_t *first)
{
    const json_t *own = step->patch_job_spec ? step->patch_job_spec : step->patch_spec;
    json_t *patch;

    if (step->patch_job_spec && step->patch_spec) {
        json_decref(first);
        return NULL;
    }
    patch = json_pack("{s:o}", "jobSpec", first);
    if (own)
        json_object_set_new(patch, "spec", json_deep_copy(own));
    return patch;
}

/* A task whose replicas are in the patch has one in the template, so that it makes a pod without the
 * patch, too. */
static void give_replicas(const json_t *spec, json_t *template)
{
    const json_t *tasks = json_object_get(template, "tasks");
    json_t *task;
    size_t i;

    json_array_foreach(json_object_get(spec, "tasks"), i, task)
    {
        if (json_object_get(task, "replicas") &&
            !json_object_get(json_array_get(tasks, i), "replicas"))
            json_object_set_new(json_array_get(tasks, i), "replicas", json_integer(1));
    }
}

static bool split(const struct object *flow, const json_t *spec, struct expanded_step *out,
                  json_t **out_patch, struct error *err)
{
    const struct flow_scheduling *scheduling = jobflow_spec_of(flow)->scheduling;
    scoped(json) json_t *moved = json_object();

    for (;;) {
        struct error_list errors = {0};
        bool go_on;

        out->spec = template_split(spec, moved, out_patch);
        give_replicas(spec, out->spec);
        check_spec(out->spec, &errors);
        if (!errors.count) {
            if (scheduling)
                leave_to_scheduling(scheduling, *out_patch);
            return true;
        }
        go_on = mark_refused(spec, &errors, moved, err);
        error_list_release(&errors);
        json_decref(take(out->spec));
        json_decref(take(*out_patch));
        if (!go_on)
            return false;
    }
}

bool expand_step(const struct object *flow, size_t step, struct expanded_step *out,
                 struct error *err)
{
    const struct flow_step *its = &jobflow_spec_of(flow)->steps.items[step];
    scoped(object) struct object *template = jobflow_inline_template(flow, its);
    scoped(json) json_t *body = object_body_json(template);
    struct error why = {0};
    json_t *patch = NULL;

    *out = (struct expanded_step){0};
    if (!check_metadata(its, err))
        return false;
    if (!split(flow, json_object_get(body, "spec"), out, &patch, &why)) {
        const char *hint = flow_ref_hint(why.message);
        char *at = *hint ? strstr(why.message, hint) : NULL;
        scoped_str field = its->run ? mem_strdup("run") : mem_printf("jobTemplate.%s", why.field);

        if (at)
            *at = '\0'; /* the hint says that a patch may have it */
        return error_set(err, ERR_INVALID, field,
                         "a JobTemplate cannot have it, and no patch finds it: %s", why.message);
    }
    if (!json_object_size(patch)) {
        json_decref(patch);
        return true;
    }
    out->patch = patch_before(its, patch);
    if (out->patch)
        return true;
    json_decref(take(out->spec));
    return error_set(err, ERR_INVALID, "patch",
                     "has jobSpec and spec, and references of the template that stand for no text "
                     "need a patch before both: write one of the two into the template");
}
