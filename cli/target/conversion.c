/*
 * Goes through the flows of the files. A finding about the job of a step is reported where the
 * template has it, once for all steps, or at the step when only the step's patch brings it about.
 */
#include "cli/target/conversion.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/jobflow/admission.h"
#include "api/types/kinds/jobflow/inline_template.h"
#include "api/types/limits.h"
#include "api/types/text/doc.h"
#include "base/collections/hash.h"
#include "base/mem.h"
#include "cli/target/documents.h"
#include "cli/target/flow_check.h"
#include "cli/target/job_check.h"
#include "cli/target/job_normalize.h"
#include "cli/target/job_of_step.h"
#include "cli/target/sources.h"

/* A template that is written for a step, by namespace/name. */
struct written {
    UT_hash_handle hh;
    json_t *doc; /* document as written, borrowed from the list */
    char key[];
};

struct conversion {
    const struct conversion_request *request;
    struct findings findings;
    struct template_cache *bodies;
    struct source *sources;
    struct written *written;
    json_t *templates, *flows; /* documents that are written out, owned */
};

static const char *namespace_of(const struct conversion *c, const json_t *doc)
{
    const char *ns = doc_text(doc, "metadata.namespace");

    return ns ? ns : c->request->namespace;
}

/* The flow at work, and what is looked at. */
struct flow_pass {
    struct conversion *c;
    size_t index; /* index of the flow's manifest */
    const json_t *doc;
    const char *ns;
    struct object *object;
    const struct jobflow_spec *spec;
};

static void report_step(const struct flow_pass *pass, size_t step, const struct error *err)
{
    const struct flow_step *its = &pass->spec->steps.items[step];
    bool patched = its->patch_job_spec || its->patch_spec;
    scoped_str field =
        mem_printf("spec.flows[%zu].%s", step, patched ? "patch" : flow_step_template_member(its));
    struct error finding = {0};

    error_set(&finding, err->code, field, "the job of this step: %s: %s", err->field, err->message);
    findings_error(&pass->c->findings, pass->index, &finding);
}

static void check_made(const struct flow_pass *pass, size_t step, struct source *source,
                       const json_t *spec)
{
    struct error_list errors = {0}, warnings = {0};

    source_warn(source, &pass->c->findings);
    target_check_job(pass->c->request->target, spec, &errors, &warnings);
    for (size_t i = 0; i < errors.count; i++)
        if (!source_report_equal(source, &pass->c->findings, &errors.items[i]))
            report_step(pass, step, &errors.items[i]);
    error_list_release(&errors);
    error_list_release(&warnings);
}

/* Volcano labels jobs with NAMESPACE.NAME of flow and template, and a label has 63 characters. */
static void check_label(const struct flow_pass *pass, const char *field, const char *name)
{
    size_t length = strlen(pass->ns) + 1 + strlen(name);
    struct error err = {0};

    if (length <= LABEL_BYTES_MAX)
        return;
    error_set(&err, ERR_INVALID, field,
              "Volcano makes the label %s.%s of it, which has %zu characters: at most %d are "
              "allowed, choose a shorter name",
              pass->ns, name, length, LABEL_BYTES_MAX);
    findings_error(&pass->c->findings, pass->index, &err);
}

static void collide(const struct flow_pass *pass, size_t step, const char *name)
{
    scoped_str field = mem_printf("spec.flows[%zu].name", step);
    struct error err = {0};

    error_set(&err, ERR_INVALID, field,
              "template \"%s\" would be two different ones: rename a step", name);
    findings_error(&pass->c->findings, pass->index, &err);
}

/* Adds the template of a step, unless an equal one is there. Consumes `doc`. */
static void add_template(const struct flow_pass *pass, size_t step, const char *name, json_t *doc)
{
    struct conversion *c = pass->c;
    scoped_str key = mem_printf("%s/%s", pass->ns, name);
    struct written *written;

    HASH_FIND_STR(c->written, key, written);
    if (written) {
        if (!json_equal(json_object_get(written->doc, "spec"), json_object_get(doc, "spec")))
            collide(pass, step, name);
        json_decref(doc);
        return;
    }
    written = mem_alloc(sizeof *written + strlen(key) + 1);
    memcpy(written->key, key, strlen(key) + 1);
    written->doc = doc;
    HASH_ADD_STR(c->written, key, written);
    json_array_append_new(c->templates, doc);
}

/* False when the step can make no job; then no other iteration of it can. */
static bool make_one(const struct flow_pass *pass, size_t step, int iteration,
                     struct source *source)
{
    struct conversion *c = pass->c;
    const bool volcano = !c->request->target->cluster;
    const bool inlined = flow_step_is_inline(&pass->spec->steps.items[step]);
    const struct job_of_step request = {
        .flow = pass->object,
        .template = source->object,
        .step = step,
        .iteration = iteration,
        .resolve = volcano,
    };
    struct error err = {0};
    json_t *spec = job_of_step(c->bodies, &request, &err);
    scoped_str name = documents_step_name(pass->spec->steps.items[step].name, iteration);
    scoped_str field = mem_printf("spec.flows[%zu].name", step);

    if (!spec) {
        findings_error(&c->findings, pass->index, &err);
        return false;
    }
    if (volcano)
        target_normalize_job(spec);
    check_made(pass, step, source, spec);
    if (volcano) {
        check_label(pass, field, name);
        add_template(pass, step, name,
                     documents_template(inlined ? pass->spec->steps.items[step].job_template
                                                : c->request->docs[source->index],
                                        pass->doc, name, spec));
    } else {
        json_decref(spec);
    }
    return true;
}

/* Returns the template that a step contains, as a source without findings of its own: what is found
 * in it is reported at the step. */
static struct source *inline_source(const struct flow_pass *pass, const struct flow_step *step)
{
    struct source *source = mem_alloc(sizeof *source + 1);

    source->index = pass->index;
    source->object = jobflow_inline_template(pass->object, step);
    return source;
}

static void inline_source_free(struct source *source)
{
    object_unref(source->object);
    mem_free(source);
}

static void make_jobs(const struct flow_pass *pass, size_t step)
{
    const struct flow_step *its = &pass->spec->steps.items[step];
    const bool inlined = flow_step_is_inline(its);
    struct source *source = inlined
                                ? inline_source(pass, its)
                                : sources_find(pass->c->sources, pass->ns, flow_step_template(its));
    const bool unrolls =
        its->loop && target_loop_unrolls(its->loop) && !pass->c->request->target->cluster;
    int n = unrolls ? (int)flow_loop_iterations(its->loop) : 1;

    if (!flow_step_makes_jobs(its) || !source)
        return;
    source->used = true;
    for (int i = 0; i < n; i++)
        if (!make_one(pass, step, unrolls ? i : -1, source))
            break;
    if (inlined)
        inline_source_free(source);
}

static void warn_of_difference(const struct flow_pass *pass)
{
    struct error err = {0};
    char field[96];

    if (!pass->c->request->warn_of_conversion ||
        !target_flow_differs(pass->doc, field, sizeof field))
        return;
    error_set(&err, ERR_INVALID, field,
              "Volcano does not know it: 'jobflow convert --upstream' writes the flow out");
    findings_warn(&pass->c->findings, pass->index, &err);
}

static void convert_flow(struct conversion *c, size_t index)
{
    const json_t *doc = c->request->docs[index];
    struct error_list errors = {0}, warnings = {0};
    struct flow_pass pass = {c, index, doc, namespace_of(c, doc), source_object(doc), NULL};
    const char *name = doc_text(doc, "metadata.name");
    const bool volcano = !c->request->target->cluster;

    if (!pass.object)
        return;
    pass.spec = jobflow_spec_of(pass.object);
    scoped(json) json_t *made = volcano ? documents_flow(doc, pass.spec) : NULL;

    target_check_flow(c->request->target, doc, pass.spec, &errors, &warnings);
    target_check_size(c->request->target, made ? made : doc, &errors);
    findings_add(&c->findings, index, &errors, &warnings);
    for (size_t i = 0; i < pass.spec->steps.count; i++)
        make_jobs(&pass, i);
    if (volcano) {
        check_label(&pass, "metadata.name", name ? name : "");
        warn_of_difference(&pass);
        json_array_append(c->flows, made);
    }
    object_unref(pass.object);
}

static void check_job(struct conversion *c, size_t index)
{
    struct error_list errors = {0}, warnings = {0};
    scoped(json) json_t *spec = json_deep_copy(json_object_get(c->request->docs[index], "spec"));

    if (!c->request->target->cluster)
        target_normalize_job(spec);
    target_check_job(c->request->target, spec, &errors, &warnings);
    findings_add(&c->findings, index, &errors, &warnings);
}

static void check_pod(struct conversion *c, size_t index)
{
    struct error_list errors = {0}, warnings = {0};

    target_check_images(json_object_get(c->request->docs[index], "spec"), "spec", &errors);
    findings_add(&c->findings, index, &errors, &warnings);
}

/* Templates that no flow of the files uses stay as they are. */
static void keep_unused(struct conversion *c)
{
    struct source *source, *next;

    HASH_ITER(hh, c->sources, source, next)
    {
        struct written *written;

        if (source->used)
            continue;
        source_warn(source, &c->findings);
        source_report(source, &c->findings);
        HASH_FIND_STR(c->written, source->key, written);
        if (written) {
            struct error err = {0};

            error_set(&err, ERR_INVALID, "metadata.name",
                      "template \"%s\" would be two different ones: rename it, or the step of this "
                      "name",
                      object_name(source->object));
            findings_error(&c->findings, source->index, &err);
        } else if (!c->request->target->cluster) {
            json_array_append_new(c->templates, documents_job(c->request->docs[source->index]));
        }
    }
}

static void look_at_all(struct conversion *c)
{
    const struct manifests *set = c->request->set;

    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].kind == &kind_job_template)
            sources_add(&c->sources, c->request->target, namespace_of(c, c->request->docs[i]), i,
                        c->request->docs[i]);
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i].kind == &kind_job_flow)
            convert_flow(c, i);
        else if (set->items[i].kind == &kind_job)
            check_job(c, i);
        else if (set->items[i].kind == &kind_pod)
            check_pod(c, i);
    }
    keep_unused(c);
}

static json_t *list_documents(struct conversion *c)
{
    const struct manifests *set = c->request->set;
    json_t *list = json_array();

    for (size_t i = 0; i < set->count; i++) {
        const struct kind *kind = set->items[i].kind;

        if (kind == &kind_job)
            json_array_append_new(c->flows, documents_job(c->request->docs[i]));
        else if (kind != &kind_job_flow && kind != &kind_job_template)
            json_array_append_new(list, documents_other(c->request->docs[i]));
    }
    json_array_extend(list, c->templates);
    json_array_extend(list, c->flows);
    return list;
}

static void release(struct conversion *c)
{
    struct written *written, *next_written;

    sources_free(c->sources);
    HASH_ITER(hh, c->written, written, next_written)
    {
        HASH_DEL(c->written, written);
        mem_free(written);
    }
    json_decref(c->templates);
    json_decref(c->flows);
    template_cache_free(c->bodies);
}

bool conversion_run(const struct conversion_request *request, struct conversion_result *result)
{
    struct conversion c = {.request = request,
                           .findings = {.set = request->set},
                           .bodies = template_cache_new(),
                           .templates = json_array(),
                           .flows = json_array()};

    look_at_all(&c);
    findings_end(&c.findings);
    *result = (struct conversion_result){c.findings.errors, c.findings.warnings, NULL};
    if (!result->errors && !request->target->cluster)
        result->documents = list_documents(&c);
    release(&c);
    return result->errors == 0;
}
