/*
 * Checks the files as `validate` does, with images that may have commands of their own, and writes
 * them out with a JobTemplate for each inline template, in front of the object that had it.
 *
 * A FlowTrigger may contain a flow, whose steps are written out like those of a JobFlow. Its flows
 * have the trigger's name and a number, so their templates have the trigger's name.
 */
#include "cli/cmd/file/convert_expand.h"

#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/engine/expand_step.h"
#include "cli/manifest/parameters.h"
#include "cli/preflight/preflight.h"
#include "cli/target/documents.h"
#include "cli/target/sources.h"

struct expansion {
    const struct manifests *set;
    const struct manifest_docs *docs;
    const char *namespace;
    json_t *names; /* templates of the files and written ones, by namespace/name; owned */
    json_t *out;   /* written documents; borrowed */
    size_t errors;
};

/* A flow whose steps are written out. */
struct flow_at {
    struct expansion *e;
    size_t index;       /* index of the manifest */
    const json_t *doc;  /* its document */
    const char *prefix; /* path of the flow in the document: "" or "spec.flowTemplate." */
    struct object *object;
};

static bool refuse(const struct flow_at *flow, size_t step, const struct error *why)
{
    scoped_str field = mem_printf("%sspec.flows[%zu].%s", flow->prefix, step, why->field);
    struct error err = {0};

    error_set(&err, why->code, field, "%s", why->message);
    manifest_print(&flow->e->set->items[flow->index], "error", &err);
    flow->e->errors++;
    return false;
}

static char *key_of(const struct expansion *e, const json_t *doc, const char *name)
{
    const char *ns = doc_text(doc, "metadata.namespace");

    return mem_printf("%s/%s", ns ? ns : e->namespace, name);
}

/* Returns FLOW-STEP; of a flow whose name the server makes, with what the name begins with. Owned. */
static char *template_name(const json_t *doc, const char *step)
{
    const char *name = doc_text(doc, "metadata.name");
    const char *start = doc_text(doc, "metadata.generateName");
    size_t len = start ? strlen(start) : 0;

    if (name || !start)
        return mem_printf("%s-%s", name ? name : "", step);
    return mem_printf("%s%s%s", start, len && start[len - 1] == '-' ? "" : "-", step);
}

/* Returns the step with the name of its template instead of the template. Owned. */
static json_t *named_step(const json_t *step, const char *template, json_t *patch)
{
    static const char *const short_form[] = {"run", "image", "env", "jobTemplate", "patch"};
    json_t *out = json_object(), *value;
    const char *member;

    json_object_foreach((json_t *)(uintptr_t)step, member, value)
    {
        json_object_set(out, member, value);
        if (strcmp(member, "name") == 0)
            json_object_set_new(out, "jobTemplateName", json_string(template));
    }
    for (size_t i = 0; i < countof(short_form); i++)
        if (strcmp(short_form[i], "patch") != 0 || patch)
            json_object_del(out, short_form[i]);
    if (patch)
        json_object_set(out, "patch", patch);
    return out;
}

static bool expand_one(const struct flow_at *flow, size_t i, json_t *steps)
{
    struct expansion *e = flow->e;
    const struct flow_step *step = &jobflow_spec_of(flow->object)->steps.items[i];
    scoped_str name = template_name(flow->doc, step->name);
    scoped_str key = key_of(e, flow->doc, name);
    struct expanded_step made;
    struct error err = {0};
    json_t *template;

    if (json_object_get(e->names, key)) {
        error_set(&err, ERR_INVALID, "name",
                  "template \"%s\" would be two different ones: rename the step, or that template",
                  name);
        return refuse(flow, i, &err);
    }
    if (!expand_step(flow->object, i, &made, &err))
        return refuse(flow, i, &err);
    json_object_set_new(e->names, key, json_true());
    template = documents_template(NULL, flow->doc, name, made.spec);
    json_array_append_new(e->out, template);
    json_array_set_new(steps, i, named_step(json_array_get(steps, i), name, made.patch));
    json_decref(made.patch);
    return true;
}

/* Writes out the steps of a flow. Returns its list of steps; owned. */
static json_t *expand_flow(struct flow_at *flow, const json_t *spec)
{
    json_t *steps = json_copy(json_object_get(spec, "flows"));
    scoped(json) json_t *document =
        json_pack("{s:s, s:s, s:o, s:O}", "apiVersion", kind_api_version(&kind_job_flow), "kind",
                  kind_job_flow.name, "metadata",
                  json_deep_copy(json_object_get(flow->doc, "metadata")), "spec", spec);

    flow->object = source_object(document);
    if (!flow->object)
        return steps;
    for (size_t i = 0; i < jobflow_spec_of(flow->object)->steps.count; i++)
        if (flow_step_is_inline(&jobflow_spec_of(flow->object)->steps.items[i]))
            expand_one(flow, i, steps);
    object_unref(flow->object);
    return steps;
}

/* Replaces an object in `doc` by a copy, which can be changed. Returns the copy; borrowed. */
static json_t *own_object(json_t *doc, const char *member)
{
    json_t *own = json_copy(json_object_get(doc, member));

    json_object_set_new(doc, member, own);
    return own;
}

static void expand_document(struct expansion *e, size_t index)
{
    const struct kind *kind = e->set->items[index].kind;
    const json_t *doc = e->docs->items[index];
    const bool in_trigger = kind == &kind_flow_trigger && doc_at(doc, "spec.flowTemplate.spec");
    struct flow_at flow = {e, index, doc, in_trigger ? "spec.flowTemplate." : "", NULL};
    json_t *written = documents_other(doc), *spec;

    if (kind == &kind_job_flow || in_trigger) {
        spec = own_object(written, "spec");
        if (in_trigger)
            spec = own_object(own_object(spec, "flowTemplate"), "spec");
        json_object_set_new(spec, "flows", expand_flow(&flow, spec));
    }
    json_array_append_new(e->out, written);
}

static void note_templates(struct expansion *e)
{
    for (size_t i = 0; i < e->set->count; i++) {
        const char *name = doc_text(e->docs->items[i], "metadata.name");
        scoped_str key = key_of(e, e->docs->items[i], name ? name : "");

        if (e->set->items[i].kind == &kind_job_template)
            json_object_set_new(e->names, key, json_true());
    }
}

int convert_expand(const struct convert_expand_options *options, int n_files, char **files,
                   json_t *out)
{
    const char *ns = options->namespace ? options->namespace : "default";
    const struct preflight_options check = {.namespace = ns, .sim = true};
    scoped(manifests) struct manifests set = {0};
    scoped(manifest_docs) struct manifest_docs docs = {0};
    scoped(json) json_t *names = json_object();
    struct preflight_result checked = {0};
    struct expansion e = {&set, &docs, ns, names, out, 0};

    if (!manifests_load(&set, n_files, files))
        return EXIT_REFUSED;
    manifest_docs_copy(&set, &docs);
    if (!parameters_set(&set, &options->parameters) || !preflight(&set, &check, &checked))
        return EXIT_REFUSED;
    note_templates(&e);
    for (size_t i = 0; i < set.count; i++)
        expand_document(&e, i);
    return e.errors ? EXIT_REFUSED : EXIT_OK;
}
