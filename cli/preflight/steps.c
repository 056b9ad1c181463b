/*
 * Builds the job of each step and creates it in the scratch registry as a dry run.
 *
 * Steps without a patch share the result of their template, unless that has references. Each patch
 * makes another job; their number is bounded, and admission checks the rest when the step starts.
 * References to outputs stay in the text, and what is found about the values that hold them is not
 * reported: the step's start decides.
 */
#include "cli/preflight/steps.h"

#include <string.h>

#include "api/types/kinds/jobflow/admission.h"
#include "api/types/kinds/jobflow/inline_template.h"
#include "api/types/kinds/jobflow/pin.h"
#include "api/types/schema/flow_reference.h"
#include "api/types/text/doc.h"
#include "base/collections/hash.h"
#include "base/mem.h"
#include "template/references.h"

enum { PATCHED_MAX = 20000 };

struct seen_template {
    const struct object *template;
    UT_hash_handle hh;
};

struct steps_run {
    const struct preflight_steps *check;
    const struct object *flow;
    struct template_cache *bodies;
    struct seen_template *seen;
    struct step_need *needs; /* for each step what its job needs; NULL: not requested */
};

bool preflight_never_ends(const struct job_spec *job, struct error *err)
{
    for (size_t t = 0; t < job->tasks.count; t++)
        if (job->tasks.items[t].replicas > 0)
            return false;
    error_set(err, ERR_INVALID, "spec.tasks[0].replicas",
              "no task has replicas (0 where nothing is said): a job without pods runs for ever; "
              "set replicas: 1");
    return true;
}

static void found(struct steps_run *run, size_t i, const char *member, const struct error *why)
{
    struct error err = {0};
    char field[96];

    snprintf(field, sizeof field, "spec.flows[%zu].%s", i, member);
    error_set(&err, ERR_INVALID, field, "the job of this step would be refused: %s%s%s", why->field,
              why->field[0] ? ": " : "", why->message);
    run->check->found(run->check->ctx, &err);
}

static json_t *job_document(const struct steps_run *run, size_t i, const struct blob *body)
{
    const struct jobflow_spec *spec = jobflow_spec_of(run->flow);
    json_t *doc = json_loadb(body->text, body->len, 0, NULL);

    json_object_set_new(doc, "apiVersion", json_string(kind_api_version(&kind_job)));
    json_object_set_new(doc, "kind", json_string(kind_job.name));
    json_object_set_new(doc, "metadata",
                        json_pack("{s:s, s:s+++}", "namespace", object_namespace(run->flow), "name",
                                  object_name(run->flow), "-", spec->steps.items[i].name, ""));
    return doc;
}

/* Returns false and reports it when the job can never run on the machine. */
static bool check_room(struct steps_run *run, size_t i, const char *member,
                       const struct job_spec *job, const struct fit *fit,
                       void (*report)(void *ctx, const struct error *err))
{
    struct error err = {0};

    if (!fit || !report ||
        fit_check(fit, registry_store(run->check->registry), job, "the job of this step", &err))
        return true;
    snprintf(err.field, sizeof err.field, "spec.flows[%zu].%s", i, member);
    report(run->check->ctx, &err);
    return false;
}

/* Checks whether the job can run here, and end. */
static void check_run(struct steps_run *run, size_t i, const char *member,
                      const struct job_spec *job)
{
    const struct preflight_steps *check = run->check;
    struct error err = {0};

    if (check->runs && preflight_never_ends(job, &err))
        found(run, i, member, &err);
    else if (check_room(run, i, member, job, check->fit, check->no_room))
        check_room(run, i, member, job, check->simulated, check->warned);
}

/* Returns whether the step's job already exists: the files may hold a flow as it was printed, with
 * the jobs created by then. */
static bool is_made_already(const struct steps_run *run, const json_t *doc)
{
    const char *name = json_string_value(json_object_get(json_object_get(doc, "metadata"), "name"));
    const struct object *job = store_get(registry_store(run->check->registry), &kind_job,
                                         object_namespace(run->flow), name);
    const struct owner_ref *owner = job ? meta_controller(job->meta) : NULL;

    return owner && strcmp(owner->kind, kind_job_flow.name) == 0 &&
           strcmp(owner->name, object_name(run->flow)) == 0;
}

/* Whether the finding is about a value that holds a reference whose text is not known yet. */
static bool is_about_reference(const json_t *doc, const struct error *finding)
{
    return flow_refs_in(doc_at(doc, finding->field));
}

/* `open`: the body has references that are known later. Findings about them are left to the start
 * of the step. */
static void check_body(struct steps_run *run, size_t i, const char *member, const struct blob *body,
                       bool open)
{
    const struct registry_write how = {.dry_run = REGISTRY_DRY_RUN, .unknown = UNKNOWN_ERROR};
    scoped(json) json_t *doc = job_document(run, i, body);
    struct error_list errors = {0};
    const struct object *job = NULL;

    if (is_made_already(run, doc))
        return;
    if (registry_create(run->check->registry, doc, &how, &job, &errors)) {
        check_run(run, i, member, job_spec_of(job));
        if (run->check->made)
            run->check->made(run->check->ctx, i, job);
    }
    for (size_t e = 0; e < errors.count; e++)
        if (!open || !is_about_reference(doc, &errors.items[e]))
            found(run, i, member, &errors.items[e]);
    if (job && run->needs)
        step_need_set(&run->needs[i], run->check->fit, job_spec_of(job), job_spec_of(job)->queue);
    error_list_release(&errors);
}

/* Returns false when another step without a patch has already used this template. */
static bool first_use(struct steps_run *run, const struct object *template)
{
    struct seen_template *seen;

    HASH_FIND_PTR(run->seen, &template, seen);
    if (seen)
        return false;
    seen = mem_alloc(sizeof *seen);
    seen->template = template;
    HASH_ADD_PTR(run->seen, template, seen);
    return true;
}

/* Values of references before the flow starts: parameters, and those of the first iteration. */
struct known_values {
    const struct object *flow;
    const struct flow_loop *loop;
    bool unknown; /* refers to an output, which is not known before the flow has begun */
};

static bool known_value(void *ctx, const struct flow_ref *ref, struct buf *out, bool *out_leave,
                        struct error *err);

/* Appends the first item of the loop. References to parameters in it are replaced. */
static void add_first_item(struct known_values *known, struct buf *out)
{
    const struct flow_loop *loop = known->loop;
    struct known_values of_item = {known->flow, NULL, false};
    const struct flow_ref_values values = {known_value, &of_item};

    if (loop->items.count)
        flow_refs_replace_text(loop->items.items[0], &values, out, NULL);
    else
        buf_printf(out, "%lld", loop->range ? (long long)loop->range->start : 0LL);
}

static bool known_value(void *ctx, const struct flow_ref *ref, struct buf *out, bool *out_leave,
                        struct error *err)
{
    struct known_values *known = ctx;
    scoped_str name = mem_printf("%.*s", (int)ref->name_len, ref->name ? ref->name : "");
    const bool of_iteration = ref->kind == FLOW_REF_ITEM || ref->kind == FLOW_REF_INDEX;
    const char *value = NULL;

    if (ref->kind == FLOW_REF_PARAMETER)
        value = jobflow_parameter(jobflow_spec_of(known->flow), name);
    else if (ref->kind == FLOW_REF_FLOW_NAME)
        value = object_name(known->flow);
    if (value)
        buf_str(out, value);
    else if (of_iteration && !known->loop)
        *out_leave = true;
    else if (ref->kind == FLOW_REF_ITEM && !known->loop->items_from)
        add_first_item(known, out);
    else if (ref->kind == FLOW_REF_INDEX)
        buf_char(out, '0');
    else if (ref->kind == FLOW_REF_ATTEMPT)
        buf_char(out, '1');
    else
        known->unknown = *out_leave = true;
    return true;
}

/* Replaces the references in template and patch. Those that are not known before the flow has begun
 * stay in the text, and *out_open says that there are some. Returns false when a reference is
 * refused. */
static bool resolve(struct steps_run *run, size_t i, const char *member,
                    const struct object *template, struct template_patch *patch,
                    struct template_resolved *out, bool *out_open)
{
    struct known_values known = {run->flow, jobflow_spec_of(run->flow)->steps.items[i].loop, false};
    const struct flow_ref_values values = {known_value, &known};
    struct error err = {0};

    if (!template_resolve(run->bodies, template, patch, &values, out, &err)) {
        found(run, i, member, &err);
        return false;
    }
    *out_open = known.unknown;
    return true;
}

/* Says of a finding about a template that it is the template that is meant. */
static void tell_of_template(struct steps_run *run, const struct error *finding,
                             void (*report)(void *ctx, const struct error *err))
{
    const struct jobflow_spec *spec = jobflow_spec_of(run->flow);
    struct error err = {0};
    size_t step;

    if (!report || sscanf(finding->field, "spec.flows[%zu]", &step) != 1)
        return;
    error_set(&err, ERR_INVALID, finding->field, "job template %s: %s",
              flow_step_template(&spec->steps.items[step]), finding->message);
    report(run->check->ctx, &err);
}

static void note_reference(void *found, const struct flow_ref *ref)
{
    *(bool *)found = true;
}

/* Returns whether the template has a reference, or a text that begins like one. */
static bool has_references(const struct steps_run *run, const struct object *template)
{
    bool found = template_has_references(run->bodies, template);

    if (!found && strstr(template->body->text, "$("))
        flow_refs_each(template_spec_document(run->bodies, template), note_reference, &found);
    return found;
}

/* Checks the references of named templates as admission checks those of patches. Each step of a
 * template with references is looked at, because its place in the flow decides which outputs it may
 * have. Returns false when there are errors. */
static bool check_references(struct steps_run *run)
{
    const struct jobflow_spec *spec = jobflow_spec_of(run->flow);
    struct error_list errors = {0}, warnings = {0};
    struct jobflow_references *references = NULL;
    bool ok;

    for (size_t i = 0; i < spec->steps.count; i++) {
        const struct flow_step *step = &spec->steps.items[i];
        const struct object *template =
            flow_step_has_named_template(step) /* admission has checked the others */
                ? preflight_template(registry_store(run->check->registry), run->flow, step)
                : NULL;

        if (!template || !has_references(run, template))
            continue;
        if (!references)
            references = jobflow_references_new(spec, &errors, &warnings);
        jobflow_references_check(references, i, step->template_name ? "jobTemplateName" : "name",
                                 template_spec_document(run->bodies, template));
    }
    if (references)
        jobflow_references_end(references);
    for (size_t i = 0; i < errors.count; i++)
        tell_of_template(run, &errors.items[i], run->check->found);
    for (size_t i = 0; i < warnings.count; i++)
        tell_of_template(run, &warnings.items[i], run->check->warned);
    ok = errors.count == 0;
    error_list_release(&errors);
    error_list_release(&warnings);
    return ok;
}

static const struct object *get(void *ctx, const struct kind *kind, const char *ns,
                                const char *name)
{
    return store_get(ctx, kind, ns, name);
}

const struct object *preflight_template(const struct store *store, const struct object *flow,
                                        const struct flow_step *step)
{
    return jobflow_template(flow, flow_step_template(step), get, (void *)(size_t)store);
}

/* Whether the step's job is a script that runs anywhere, so that there is nothing to check. */
static bool is_plain_script(const struct steps_run *run, const struct flow_step *step)
{
    return step->run && !step->env && !step->patch_job_spec && !step->patch_spec &&
           !run->check->made && !jobflow_spec_of(run->flow)->scheduling;
}

/* The job of an unpatched step has the template's queue, unless the flow names one for all jobs. */
static void set_need_of_template(struct steps_run *run, size_t i, const struct job_spec *job)
{
    const struct flow_scheduling *all = jobflow_spec_of(run->flow)->scheduling;

    step_need_set(&run->needs[i], run->check->fit, job,
                  all && all->queue ? all->queue : job->queue);
}

static bool check_step(struct steps_run *run, size_t i)
{
    const struct flow_step *step = &jobflow_spec_of(run->flow)->steps.items[i];
    struct template_patch patch = {
        .job_spec = step->patch_job_spec,
        .spec = step->patch_spec,
        .owner = run->flow->body,
        .step = (uint32_t)i,
        .scheduling = jobflow_spec_of(run->flow)->scheduling,
        .inlined = flow_step_is_inline(step) ? flow_step_template_member(step) : NULL};
    scoped(template_resolved) struct template_resolved owned = {0};
    bool resolved, open = false;
    bool is_patched = step->patch_job_spec || step->patch_spec;
    const char *member = is_patched ? "patch" : flow_step_template_member(step);
    const struct object *template =
        flow_step_is_inline(step)
            ? template_inline(run->bodies, run->flow, step)
            : preflight_template(registry_store(run->check->registry), run->flow, step);
    struct error err = {0};
    bool own_body = is_patched || flow_step_is_inline(step) ||
                    (template && template_has_references(run->bodies, template));

    if (template && run->needs && !is_patched)
        set_need_of_template(run, i, job_spec_of(template));
    if (!template || is_plain_script(run, step) ||
        (!own_body && !run->check->made && !first_use(run, template)))
        return false;

    if (!own_body && run->check->known && run->check->known(run->check->ctx, template)) {
        check_run(run, i, member, job_spec_of(template));
        return false;
    }
    resolved = resolve(run, i, member, template, &patch, &owned, &open);

    scoped(blob) struct blob *body =
        resolved ? template_instantiate(run->bodies, template,
                                        own_body || patch.scheduling ? &patch : NULL, &err)
                 : NULL;

    if (!resolved)
        return own_body;
    if (body)
        check_body(run, i, member, body, open);
    else
        run->check->found(run->check->ctx, &err);
    return own_body;
}

void preflight_steps(const struct preflight_steps *check, const struct object *flow,
                     struct step_need *needs)
{
    struct steps_run run = {
        .check = check, .flow = flow, .bodies = template_cache_new(), .needs = needs};
    size_t n = jobflow_spec_of(flow)->steps.count;
    struct seen_template *seen, *next;

    if (!check_references(&run))
        n = 0; /* their jobs would be refused for the same reasons */
    for (size_t i = 0, patched = 0; i < n && patched < PATCHED_MAX; i++)
        patched += check_step(&run, i);
    HASH_ITER(hh, run.seen, seen, next)
    {
        HASH_DEL(run.seen, seen);
        mem_free(seen);
    }
    template_cache_free(run.bodies);
}
