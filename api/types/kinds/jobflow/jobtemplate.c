/*
 * The kind JobTemplate (flow.volcano.sh/v1alpha1): the spec of a Job that flows make jobs from.
 *
 * A template is checked like the Job that it becomes: admission applies the defaults of a Job to a
 * copy and checks the copy. The template is stored as it was written. Ref: spec/jobflow.md 3, 10.3.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/job/admission.h"
#include "api/types/kinds/jobflow/pin.h"
#include "api/types/kinds/jobflow/script.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/schema/flow_reference.h"
#include "base/mem.h"

/* Says of findings that quote a reference where such a value may be one. */
static void explain_references(struct error_list *errors, size_t from)
{
    for (size_t i = from; i < errors->count; i++) {
        struct error *finding = &errors->items[i];
        scoped_str message = mem_strdup(finding->message);

        if (*flow_ref_hint(message))
            error_set(finding, finding->code, finding->field, "%s%s", message,
                      flow_ref_hint(message));
    }
}

static void template_validate(const struct admission *adm, const struct object *old,
                              const struct object *template, struct error_list *errors)
{
    const size_t before = errors->count;
    scoped(arena) struct arena *arena = arena_new(0);
    scoped(json) json_t *body = object_body_json(template);
    const json_t *spec = json_object_get(body, "spec");
    struct job_spec decoded;
    struct error err = {0};

    if (adm->upstream_compat)
        return;
    job_mutate(adm, body, template);
    if (!schema_decode(&job_spec_schema, spec, arena, &decoded, &err)) {
        FINDING(errors, ("spec.%s", err.field), "%s", err.message);
        return;
    }
    job_check_spec(adm, &decoded, spec, "spec", errors);
    explain_references(errors, before);
}

/* Rules about the job's name and queue are warnings, because the flow decides the name and the
 * queue may be created later. */
static void warn_about_job(const struct admission *adm, const struct object *template,
                           const struct job_spec *spec)
{
    struct error_list findings = {0};
    scoped(buf) struct buf name = {0};

    name_or_placeholder(template->meta, &name);
    job_check_names(spec, name.data, &findings);
    job_check_queue(adm, spec->queue && *spec->queue ? spec->queue : "default", &findings);
    for (size_t i = 0; i < findings.count; i++)
        error_list_append(adm->warnings, &findings.items[i]);
    error_list_release(&findings);
}

static void warn_of_script(void *arg, const struct script_reference *found)
{
    const struct admission *adm = arg;
    scoped(buf) struct buf why = {0};

    script_reference_refusal(found->ref, &why);
    WARNING(adm, ("spec.%s", found->path), "a flow refuses this: %s", why.data);
}

/* A template alone may have such text for other reasons, so it is accepted. */
static void warn_about_scripts(const struct admission *adm, const struct object *template)
{
    scoped(json) json_t *body = NULL;

    if (!memmem(template->body->text, template->body->len, "$(", 2))
        return;
    body = object_body_json(template);
    script_references_each(json_object_get(body, "spec"), warn_of_script, (void *)(size_t)adm);
}

static bool same_body(const struct object *a, const struct object *b)
{
    scoped(json) json_t *one = a->body == b->body ? NULL : object_body_json(a);
    scoped(json) json_t *other = one ? object_body_json(b) : NULL;

    return !one || json_equal(one, other);
}

/* A pinned copy never changes, because its flow runs with that version. */
static void check_pinned(const struct object *old, const struct object *template,
                         struct error_list *errors)
{
    if (!old || !jobflow_pin_origin(old) || same_body(old, template))
        return;
    FINDING(errors, ("spec"),
            "Forbidden: it is the version of template %s that jobflow %s runs with: change the "
            "template itself for other flows",
            jobflow_pin_origin(old), meta_controller(old->meta)->name);
}

static void template_validate_in_context(const struct admission *adm, const struct object *old,
                                         const struct object *template, struct error_list *errors)
{
    const struct job_spec *spec = job_spec_of(template);

    if (adm->upstream_compat)
        return;
    check_pinned(old, template, errors);
    job_check_volume_sources(spec, "spec", errors);
    job_check_volume_conflicts(spec, "spec", errors);
    if (adm->warnings)
        warn_about_job(adm, template, spec);
    if (adm->warnings)
        warn_about_scripts(adm, template);
}

/* clang-format off */
static const struct field status_fields[] = {
    {"jobDependsOnList", FIELD_STR_LIST, FIELD_PASS, .doc = "Names of the jobs made from the template."},
    {0},
};
static const struct schema status_schema = {"JobTemplateStatus", status_fields};

static const struct field template_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &job_spec_schema, .doc = "Specification of the jobs made from the template."},
    {"status", FIELD_OBJECT, FIELD_PASS, &status_schema, .doc = "Jobs that were made from the template."},
    {0},
};
static const struct schema template_schema = {"JobTemplate", template_fields, .doc = "A template that steps of flows make jobs from."};
/* clang-format on */

static const char *const short_names[] = {"jt", NULL};

const struct kind kind_job_template = {
    .id = KIND_JOB_TEMPLATE,
    .group = "flow.volcano.sh",
    .version = "v1alpha1",
    .name = "JobTemplate",
    .plural = "jobtemplates",
    .singular = "jobtemplate",
    .short_names = short_names,
    .namespaced = true,
    .has_status = true,
    .few = true,
    .schema = &template_schema,
    .validate = template_validate,
    .validate_in_context = template_validate_in_context,
};
