/*
 * Converts Job documents to JobTemplates and back, member by member.
 */
#include "cli/engine/convert.h"

#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/schema/flow_reference.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/engine/engine.h"
#include "template/instantiate.h"
#include "template/job_meta.h"

/* Labels and annotations set by controllers or clients, which are not copied. */
static const char *const made[] = {
    LABEL_CREATED_BY_TEMPLATE,    LABEL_CREATED_BY_FLOW,
    ANNOTATION_FLOW_STEP,         ANNOTATION_FLOW_ATTEMPT,
    ANNOTATION_TEMPLATE_REVISION, "volcano.sh/jobFlowIteration",
    "volcano.sh/jobFlowGang",     "kubectl.kubernetes.io/last-applied-configuration",
};

static void copy_map(const json_t *from, const char *member, json_t *to)
{
    json_t *map = json_copy(json_object_get(from, member));

    for (size_t i = 0; i < countof(made); i++)
        json_object_del(map, made[i]);
    if (json_object_size(map))
        json_object_set(to, member, map);
    json_decref(map);
}

/* Returns the user-written part of metadata; `name` NULL keeps the name. */
static json_t *metadata_of(const json_t *doc, const char *name)
{
    const json_t *metadata = json_object_get(doc, "metadata");
    const char *ns = doc_text(metadata, "namespace");
    json_t *out = json_object();

    if (!name)
        name = doc_text(metadata, "name");
    if (name)
        json_object_set_new(out, "name", json_string(name));
    if (ns)
        json_object_set_new(out, "namespace", json_string(ns));
    copy_map(metadata, "labels", out);
    copy_map(metadata, "annotations", out);
    return out;
}

static json_t *document(const struct kind *kind, json_t *metadata, json_t *spec)
{
    return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", kind_api_version(kind), "kind",
                     kind->name, "metadata", metadata, "spec", spec ? spec : json_object());
}

/* Removes the claim names that the job controller has set: jobs of a template get claims of their
 * own. */
static void drop_made_claims(json_t *spec)
{
    size_t i;
    json_t *volume;

    json_array_foreach(json_object_get(spec, "volumes"), i, volume)
    {
        if (json_object_get(volume, "volumeClaim"))
            json_object_del(volume, "volumeClaimName");
    }
}

json_t *convert_to_template(const json_t *job, const char *name)
{
    json_t *spec = json_deep_copy(json_object_get(job, "spec"));

    drop_made_claims(spec);
    return document(&kind_job_template, metadata_of(job, name), spec);
}

struct first_reference {
    struct flow_ref ref;
    bool found;
};

/* Words such as $(item) may be variables of the container; these cannot. */
static void note_flow_reference(void *arg, const struct flow_ref *ref)
{
    struct first_reference *first = arg;

    if (first->found || (ref->kind != FLOW_REF_PARAMETER && ref->kind != FLOW_REF_OUTPUT &&
                         ref->kind != FLOW_REF_FLOW_NAME && ref->kind != FLOW_REF_FLOW_PHASE))
        return;
    first->ref = *ref;
    first->found = true;
}

/* A job that no flow makes has no parameters and no other steps. Consumes `spec`. */
static json_t *without_references(json_t *spec, struct error *err)
{
    struct first_reference first = {0};
    scoped(buf) struct buf text = {0};

    flow_refs_each(spec, note_flow_reference, &first);
    if (!first.found)
        return spec;
    flow_ref_write(&first.ref, &text);
    error_set(err, ERR_INVALID, "spec",
              "%s has a value only in a flow: name the template in a step of a JobFlow", text.data);
    json_decref(spec);
    return NULL;
}

static json_t *merged_spec(const struct object *template, const json_t *patch, struct error *err)
{
    const struct template_patch change = {.spec = patch};
    struct template_cache *cache = template_cache_new();
    struct blob *body = template_instantiate(cache, template, patch ? &change : NULL, err);
    scoped(json) json_t *made_body = body ? json_loadb(body->text, body->len, 0, NULL) : NULL;

    blob_unref(body);
    template_cache_free(cache);
    return made_body ? without_references(json_incref(json_object_get(made_body, "spec")), err)
                     : NULL;
}

static json_t *patched_spec(struct engine *engine, const json_t *template, const json_t *patch,
                            struct error *err)
{
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    scoped(json) json_t *doc = json_deep_copy(template);
    struct error_list errors = {0};
    const struct object *object = NULL;

    if (!json_object_get(json_object_get(doc, "metadata"), "namespace"))
        json_object_set_new(json_object_get(doc, "metadata"), "namespace", json_string("default"));
    if (!registry_create(engine_registry(engine), doc, &how, &object, &errors)) {
        error_list_ok(&errors, err);
        error_list_release(&errors);
        return NULL;
    }
    return merged_spec(object, patch, err);
}

static json_t *spec_of(const json_t *template, const json_t *patch, struct error *err)
{
    const struct engine_options scratch = {.sim = true};
    struct engine *engine;
    json_t *spec;

    if (!patch)
        return without_references(json_deep_copy(json_object_get(template, "spec")), err);
    engine = engine_start(&scratch, err);
    spec = engine ? patched_spec(engine, template, patch, err) : NULL;
    engine_stop(engine);
    return spec;
}

static void set_member(json_t *metadata, const char *map, const char *key, const char *value)
{
    json_t *members = json_object_get(metadata, map);

    if (!members) {
        members = json_object();
        json_object_set_new(metadata, map, members);
    }
    json_object_set_new(members, key, json_string(value));
}

/* Returns the document of a Job with this spec, which is freed; NULL gives NULL. */
static json_t *job_document(const json_t *template, const char *name, const char *ns, json_t *spec)
{
    const char *its_ns = doc_text(template, "metadata.namespace");
    const char *its_name = doc_text(template, "metadata.name");
    char label[TEMPLATE_LABEL_MAX + 1];
    json_t *metadata;

    if (!spec)
        return NULL;
    metadata = metadata_of(template, name);
    if (its_name) {
        scoped_str full = mem_printf("%s.%s", its_ns ? its_ns : ns, its_name);

        template_label_value(its_ns ? its_ns : ns, its_name, label);
        set_member(metadata, "labels", LABEL_CREATED_BY_TEMPLATE, label);
        set_member(metadata, "annotations", LABEL_CREATED_BY_TEMPLATE, full);
    }
    return document(&kind_job, metadata, spec);
}

json_t *convert_to_job(const json_t *template, const char *name, const char *ns,
                       const json_t *patch, struct error *err)
{
    return job_document(template, name, ns, spec_of(template, patch, err));
}

json_t *convert_stored_to_job(const struct object *template, const json_t *patch, struct error *err)
{
    scoped(json) json_t *doc = object_to_json(template);

    return job_document(doc, NULL, object_namespace(template), merged_spec(template, patch, err));
}
