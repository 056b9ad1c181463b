/*
 * Checks changes to the spec of an existing flow.
 *
 * By default only spec.suspend may change, and the refusal names the alternatives. A write that asks
 * an ended flow to run again may change every step. Where updates are allowed, steps without a job may change in any way, and steps with a job keep the definition
 * that the job was made from. Ref: DC-02; spec/jobflow.md 13.10.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/admission.h"
#include "api/types/semantic.h"
#include "base/collections/name_index.h"
#include "base/compiler.h"

static bool updates_allowed(const struct admission *adm, const struct object *flow)
{
    const char *annotation = meta_annotation(flow->meta, ANNOTATION_ALLOW_UPDATES);

    return annotation ? strcmp(annotation, "true") == 0 : adm->allow_flow_updates;
}

/* Compares one member of a step or spec by its row in the table. */
static bool member_equal(const struct schema *schema, const char *member, const json_t *a,
                         const json_t *b)
{
    const struct field one[] = {*schema_find(schema, member), {0}};

    return schema_equal(&(struct schema){.fields = one}, a, b);
}

/* A step has started when its job exists and belongs to this flow and not to an earlier flow of the
 * same name. */
static bool has_started(const struct admission *adm, const struct object *flow, const char *step,
                        bool loop)
{
    scoped(buf) struct buf name = {0};
    const struct object *job;
    const struct owner_ref *owner;

    buf_printf(&name, "%s-%s%s", object_name(flow), step, loop ? "-0" : "");
    job = lookup(adm, &kind_job, object_namespace(flow), name.data);
    owner = job ? meta_controller(job->meta) : NULL;
    return owner && strcmp(owner->uid, object_uid(flow)) == 0;
}

struct update_check {
    const struct admission *adm;
    const struct object *old;
    const struct schema *step; /* field table of a step */
    struct error_list *errors;
};

static void check_step(struct update_check *c, size_t i, const json_t *before, const json_t *after)
{
    static const char *const fixed[] = {"jobTemplateName", "run",   "image", "env",
                                        "jobTemplate",     "patch", "for",   "switch"};
    const char *name = json_string_value(json_object_get(after, "name"));

    if (schema_equal(c->step, before, after) ||
        !has_started(c->adm, c->old, name, json_object_get(before, "for") != NULL))
        return;
    for (size_t m = 0; m < countof(fixed); m++)
        if (!member_equal(c->step, fixed[m], before, after))
            FINDING(c->errors, ("spec.flows[%zu].%s", i, fixed[m]),
                    "Forbidden: step %s has a job already, which keeps the definition it was made "
                    "from: delete the job "
                    "first, or add a step of another name",
                    name);
    if (!member_equal(c->step, "dependsOn", before, after))
        WARNING(c->adm, ("spec.flows[%zu].dependsOn", i),
                "has no effect: step %s has a job already", name);
}

static void check_steps(struct update_check *c, const json_t *before, const json_t *after)
{
    scoped(name_index) struct name_index names = {0};
    const json_t *step;
    size_t i;

    name_index_init(&names, json_array_size(before));
    json_array_foreach(before, i, step)
        name_index_put(&names, json_string_value(json_object_get(step, "name")), (uint32_t)i);
    json_array_foreach(after, i, step)
    {
        uint32_t at = name_index_get(&names, json_string_value(json_object_get(step, "name")));

        if (at != NAME_NONE)
            check_step(c, i, json_array_get(before, at), step);
    }
}

/* Checks an update of a flow that has ended: only the rules that delete the flow and its jobs may
 * change. */
static void check_finished(struct update_check *c, const json_t *before, const json_t *after)
{
    for (const struct field *field = jobflow_spec_schema.fields; field->name; field++) {
        if (strcmp(field->name, "jobRetainPolicy") == 0 || strcmp(field->name, "suspend") == 0 ||
            strcmp(field->name, "ttlSecondsAfterFinished") == 0)
            continue;
        if (!member_equal(&jobflow_spec_schema, field->name, before, after))
            FINDING(c->errors, ("spec.%s", field->name),
                    "Forbidden: the flow has ended (%s): only jobRetainPolicy and "
                    "ttlSecondsAfterFinished may change",
                    flow_phase_text(jobflow_phase_of(c->old)));
    }
}

/* Returns whether the write asks an ended flow to run again. Its steps may then be edited: those that
 * are begin again. */
static bool runs_again(const struct object *old, const struct object *flow)
{
    const char *before = meta_annotation(old->meta, ANNOTATION_FLOW_RETRY);
    const char *asked = meta_annotation(flow->meta, ANNOTATION_FLOW_RETRY);
    const struct flow_rerun rerun = jobflow_rerun_of(flow);

    return asked && !(before && strcmp(before, asked) == 0) &&
           (jobflow_phase_of(old) == FLOW_FAILED ||
            (jobflow_phase_of(old) == FLOW_SUCCEED && flow_rerun_is_selective(&rerun)));
}

/* Returns whether two specs are equal except for suspend, which may change at any time. */
static bool equal_except_suspend(const json_t *before, const json_t *after)
{
    for (const struct field *field = jobflow_spec_schema.fields; field->name; field++)
        if (strcmp(field->name, "suspend") != 0 &&
            !member_equal(&jobflow_spec_schema, field->name, before, after))
            return false;
    return true;
}

/* A suspended flow that never made a job is a pattern of triggers: no change can be applied half. */
static bool is_pattern(const struct admission *adm, const struct object *flow)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow);

    if (!spec->suspend || flow_phase_finished(jobflow_phase_of(flow)))
        return false;
    for (size_t i = 0; i < spec->steps.count; i++)
        if (has_started(adm, flow, spec->steps.items[i].name, spec->steps.items[i].loop != NULL))
            return false;
    return true;
}

void jobflow_check_update(const struct admission *adm, const struct object *old,
                          const struct object *flow, struct error_list *errors)
{
    const json_t *before = jobflow_spec_document(old), *after = jobflow_spec_document(flow);
    struct update_check check = {adm, old, schema_find(&jobflow_spec_schema, "flows")->of, errors};

    if (old->body == flow->body || equal_except_suspend(before, after) || runs_again(old, flow) ||
        is_pattern(adm, old))
        return;
    if (!updates_allowed(adm, flow)) {
        FINDING(errors, ("spec"),
                "Forbidden: jobflow updates are not supported: delete and create the flow, or set "
                "the annotation "
                "%s: \"true\" on it to allow changes to steps that have no job yet",
                ANNOTATION_ALLOW_UPDATES);
        return;
    }
    if (flow_phase_finished(jobflow_phase_of(old)))
        check_finished(&check, before, after);
    else
        check_steps(&check, json_object_get(before, "flows"), json_object_get(after, "flows"));
}
