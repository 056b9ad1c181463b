/*
 * Checks inline templates: which members of a step exclude each other, that no reference stands in
 * a script, and, as for a Job, the template itself.
 *
 * A template with references is checked when their values are known: before a run, and when the
 * step's job is created.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/job/admission.h"
#include "api/types/kinds/jobflow/inline_template.h"
#include "api/types/kinds/jobflow/internal.h"
#include "api/types/schema/flow_reference.h"
#include "base/mem.h"

struct inline_check {
    const struct admission *adm;
    const struct object *flow;
    const struct flow_step *step;
    size_t at; /* position of the step */
    struct error_list *errors;
};

static void refuse_in_script(void *arg, const struct flow_ref *ref)
{
    const struct inline_check *c = arg;
    scoped(buf) struct buf text = {0};

    if (ref->kind == FLOW_REF_DOUBTFUL)
        return; /* the shell may know such a command */
    flow_ref_write(ref, &text);
    FINDING(c->errors, ("spec.flows[%zu].run", c->at),
            "Invalid value: %s is not pasted into a script: write env: [{name: NAME, value: %s}], "
            "and \"$NAME\" here",
            text.data, text.data);
}

/* Says which of the ways to give a step its template are used together. */
static void check_exclusive(const struct inline_check *c)
{
    const struct flow_step *step = c->step;
    const int ways = !!step->run + !!step->job_template + !!step->template_name;

    if (ways > 1)
        FINDING(c->errors, ("spec.flows[%zu]", c->at),
                "Invalid value: write run, jobTemplate or jobTemplateName, and only one");
    if (step->image && !step->run)
        FINDING(c->errors, ("spec.flows[%zu].image", c->at),
                "Invalid value: belongs to run; a template says it in its container");
    if (step->env && !step->run)
        FINDING(c->errors, ("spec.flows[%zu].env", c->at),
                "Invalid value: belongs to run; a template says it in its container");
}

/* The labels and annotations with which flows find their jobs. */
static bool is_reserved(const char *key)
{
    return strncmp(key, "volcano.sh/createdBy", strlen("volcano.sh/createdBy")) == 0 ||
           strncmp(key, "volcano.sh/jobFlow", strlen("volcano.sh/jobFlow")) == 0;
}

static void check_metadata(const struct inline_check *c, const char *member)
{
    const json_t *metadata = json_object_get(c->step->job_template, "metadata");
    const char *key;
    json_t *value;

    json_object_foreach(json_object_get(metadata, member), key, value)
    {
        if (is_reserved(key))
            FINDING(c->errors,
                    ("spec.flows[%zu].jobTemplate.metadata.%s[%.200s]", c->at, member, key),
                    "Forbidden: the flow sets it on its jobs");
    }
}

/* Checks the template as a Job is checked. Fields are named as in a Job. */
static void check_as_job(const struct inline_check *c, struct error_list *errors)
{
    static const char path[] = "spec";
    const struct schema_options strict = {.unknown = UNKNOWN_ERROR};
    scoped(object) struct object *template = jobflow_inline_template(c->flow, c->step);
    scoped(arena) struct arena *arena = arena_new(0);
    scoped(json) json_t *body = object_body_json(template);
    struct job_spec decoded;
    struct error err = {0};
    json_t *spec;

    job_mutate(c->adm, body, template);
    spec = json_object_get(body, "spec");
    schema_check(&job_spec_schema, spec, path, &strict, errors);
    if (errors->count)
        return;
    if (!schema_decode(&job_spec_schema, spec, arena, &decoded, &err)) {
        FINDING(errors, ("%s.%s", path, err.field), "%s", err.message);
        return;
    }
    job_check_spec(c->adm, &decoded, spec, path, errors);
    job_check_volume_sources(&decoded, path, errors);
    job_check_volume_conflicts(&decoded, path, errors);
}

/* A script's members stand in the step itself, where its users have written them. */
static void report(const struct inline_check *c, const struct error *found)
{
    static const char container[] = "spec.tasks[0].template.spec.containers[0].";
    const char *field = found->field;
    const bool in_container = c->step->run && strncmp(field, container, strlen(container)) == 0;
    scoped_str place = in_container
                           ? mem_printf("spec.flows[%zu].%s", c->at, field + strlen(container))
                       : c->step->run ? mem_printf("spec.flows[%zu].run", c->at)
                                      : mem_printf("spec.flows[%zu].jobTemplate.%s", c->at, field);

    error_list_add(c->errors, found->code, place, "%s", found->message);
}

static void check_template(const struct inline_check *c)
{
    struct error_list found = {0};

    check_as_job(c, &found);
    for (size_t i = 0; i < found.count; i++)
        report(c, &found.items[i]);
    error_list_release(&found);
}

void jobflow_check_inline(const struct admission *adm, const struct object *flow, size_t step,
                          struct error_list *errors)
{
    const struct flow_step *spec = &jobflow_spec_of(flow)->steps.items[step];
    struct inline_check c = {adm, flow, spec, step, errors};

    check_exclusive(&c);
    if (spec->run)
        flow_ref_each(spec->run, refuse_in_script, &c);
    if (spec->job_template) {
        check_metadata(&c, "labels");
        check_metadata(&c, "annotations");
    }
    if (!flow_step_is_inline(spec) || flow_refs_in(spec->job_template) || flow_refs_in(spec->env) ||
        (spec->run && !spec->env)) /* a script alone makes a template that is right */
        return;
    check_template(&c);
}
