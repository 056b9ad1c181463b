/*
 * Whether a template has references, and their replacement in template and patch.
 *
 * Where a script stands is known only of the whole: the template may say `command`, and the patch
 * the arguments. So both are merged as they are written, and that is searched for scripts.
 */
#include "template/references.h"

#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/jobflow/script.h"
#include "base/mem.h"
#include "template/internal.h"
#include "template/merge.h"

const json_t *template_spec_document(struct template_cache *cache, const struct object *template)
{
    return json_object_get(template_document(cache, template), "spec");
}

bool template_has_references(struct template_cache *cache, const struct object *template)
{
    struct known_template *known = template_known(cache, template->body);

    if (known->body == template->body)
        return known->has_references;
    blob_unref(known->body);
    known->body = blob_ref(template->body);
    known->has_references = memmem(template->body->text, template->body->len, "$(", 2) &&
                            flow_refs_in(template_spec_document(cache, template));
    return known->has_references;
}

void template_references_each(struct template_cache *cache, const struct object *template,
                              void (*visit)(void *arg, const struct flow_ref *ref), void *arg)
{
    if (template_has_references(cache, template))
        flow_refs_each(template_spec_document(cache, template), visit, arg);
}

static void refuse(void *arg, const struct script_reference *found)
{
    struct error *err = arg;
    scoped(buf) struct buf why = {0};

    if (*err->message)
        return; /* the first one is told */
    script_reference_refusal(found->ref, &why);
    error_set(err, ERR_INVALID, "", "spec.%s: %s", found->path, why.data);
}

/* Whether no script has a reference. Patches that cannot be merged are refused later. */
static bool scripts_are_clean(const json_t *spec, const struct template_patch *patch,
                              struct error *err)
{
    scoped(json) json_t *first = template_merge(spec, patch->job_spec, "", NULL);
    scoped(json) json_t *both = first ? template_merge(first, patch->spec, "", NULL) : NULL;
    struct error found = {0};

    script_references_each(both ? both : spec, refuse, &found);
    if (!*found.message)
        return true;
    return error_set(err, ERR_INVALID, "", "%s", found.message);
}

/* Replaces the references of one part. False, with an error at `where`, when a value is not known or
 * does not fit its member. */
static bool replace(const json_t *part, const char *where, const struct flow_ref_values *values,
                    json_t **out, struct error *err)
{
    struct error why = {0};

    if (!part)
        return true;
    *out = flow_refs_replace(&job_patch_schema, (json_t *)part, values, &why);
    if (*out)
        return true;
    return error_set(err, why.code, where, "%s%s%s", why.field, *why.field ? ": " : "",
                     why.message);
}

bool template_resolve(struct template_cache *cache, const struct object *template,
                      struct template_patch *patch, const struct flow_ref_values *values,
                      struct template_resolved *out, struct error *err)
{
    bool in_template = template_has_references(cache, template);
    const json_t *spec;
    scoped_str where = NULL;

    if (!in_template && !flow_refs_in(patch->job_spec) && !flow_refs_in(patch->spec))
        return true;
    spec = template_spec_document(cache, template);
    where = patch->inlined ? mem_strdup(patch->inlined)
                           : mem_printf("job template %s", object_name(template));
    if (!scripts_are_clean(spec, patch, err) ||
        (in_template && !replace(spec, where, values, &out->template_spec, err)) ||
        !replace(patch->job_spec, "patch.jobSpec", values, &out->job_spec, err) ||
        !replace(patch->spec, "patch.spec", values, &out->spec, err))
        return false;
    patch->template_spec = out->template_spec;
    patch->job_spec = out->job_spec;
    patch->spec = out->spec;
    patch->owner = NULL;
    return true;
}

void template_resolved_release(struct template_resolved *resolved)
{
    json_decref(resolved->template_spec);
    json_decref(resolved->job_spec);
    json_decref(resolved->spec);
}
