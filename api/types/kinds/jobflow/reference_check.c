/*
 * Checks references: that parameters and outputs exist, that a value will be known, and that none
 * stands in a script.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/internal.h"
#include "api/types/kinds/jobflow/script.h"
#include "api/types/kinds/jobflow/step_names.h"
#include "base/mem.h"

struct reference_check {
    struct control_check *control;
    size_t step;
    const char *path;
};

static void check_parameter(const struct reference_check *r, const char *name)
{
    struct control_check *c = r->control;
    scoped_str near = NULL;

    if (jobflow_find_parameter(c->spec, name))
        return;
    near = jobflow_near_parameter(c->spec, name, c->errors);
    FINDING(c->errors, ("%s", r->path),
            "Invalid value: $(params.%.64s): the flow has no parameter of that name%s", name, near);
}

/* Checks that the step whose iterations are meant is a loop. */
static void check_every(const struct reference_check *r, const struct flow_ref *ref,
                        const char *name)
{
    struct control_check *c = r->control;
    uint32_t at = name_index_get(c->names, name);

    if (!ref->every || at == NAME_NONE || c->spec->steps.items[at].loop)
        return;
    FINDING(c->errors, ("%s", r->path),
            "Invalid value: $(steps.%.64s.*.outputs.%.*s): step %.64s has no iterations, because "
            "it has no for: write $(steps.%.64s.outputs.%.*s)",
            name, (int)ref->key_len, ref->key, name, name, (int)ref->key_len, ref->key);
}

static void check_reference(void *arg, const struct flow_ref *ref)
{
    struct reference_check *r = arg;
    struct control_check *c = r->control;
    const struct flow_step *step = &c->spec->steps.items[r->step];
    scoped_str name = mem_printf("%.*s", (int)ref->name_len, ref->name ? ref->name : "");

    if (ref->kind == FLOW_REF_PARAMETER)
        check_parameter(r, name);
    if (ref->kind == FLOW_REF_OUTPUT) {
        jobflow_check_ancestor(c, name, r->step, CONDITION_OF_EARLIER, r->path);
        check_every(r, ref, name);
    }
    if ((ref->kind == FLOW_REF_ITEM || ref->kind == FLOW_REF_INDEX) && !step->loop)
        WARNING(c->adm, ("%s", r->path), "$(%s) stays as it is written: the step has no for",
                ref->kind == FLOW_REF_ITEM ? "item" : "index");
    if (ref->kind == FLOW_REF_FLOW_PHASE && !flow_step_is_final(step))
        WARNING(c->adm, ("%s", r->path),
                "$(flow.phase) stays as it is written: only steps with when: always know how the "
                "flow ends");
    if (ref->kind == FLOW_REF_DOUBTFUL)
        WARNING(c->adm, ("%s", r->path),
                "%.64s stays as it is written: references are $(params.NAME), "
                "$(steps.NAME.outputs.KEY), $(item), $(index), $(attempt), $(flow.name) and "
                "$(flow.phase)",
                name);
}

/* Items are known before any step runs. */
static void check_item(void *arg, const struct flow_ref *ref)
{
    struct reference_check *r = arg;
    struct control_check *c = r->control;
    scoped_str name = mem_printf("%.*s", (int)ref->name_len, ref->name ? ref->name : "");

    if (ref->kind == FLOW_REF_PARAMETER)
        check_parameter(r, name);
    else if (ref->kind == FLOW_REF_OUTPUT)
        FINDING(c->errors, ("%s", r->path),
                "Invalid value: an output is not known yet: write for: {itemsFrom: {target: "
                "%.64s, key: %.*s}, maxIterations: N}",
                name, (int)ref->key_len, ref->key);
    else if (ref->kind != FLOW_REF_FLOW_NAME)
        WARNING(c->adm, ("%s", r->path),
                "a reference stays as it is written: items may have $(params.NAME) and "
                "$(flow.name)");
}

static void check_script(void *arg, const struct script_reference *found)
{
    struct reference_check *r = arg;
    struct control_check *c = r->control;
    scoped(buf) struct buf why = {0};

    script_reference_refusal(found->ref, &why);
    if (c->created)
        FINDING(c->errors, ("%s.%s", r->path, found->path), "Invalid value: %s", why.data);
    else
        WARNING(c->adm, ("%s.%s", r->path, found->path), "%s", why.data);
}

/* Checks a part of an inline template. Scripts within it are searched for when it is a whole one. */
static void check_inline_references(struct reference_check *r, const char *member,
                                    const json_t *part)
{
    scoped(buf) struct buf path = {0};

    if (!part)
        return;
    buf_printf(&path, "spec.flows[%zu].%s", r->step, member);
    r->path = path.data;
    flow_refs_each(part, check_reference, r);
    buf_str(&path, ".spec");
    r->path = path.data;
    script_references_each(json_object_get(part, "spec"), check_script, r);
}

void jobflow_check_text_references(struct control_check *c, size_t i, const char *field,
                                   const char *text)
{
    struct reference_check r = {c, i, field};

    flow_ref_each(text, check_reference, &r);
}

void jobflow_check_references(struct control_check *c, size_t i)
{
    const struct flow_step *step = &c->spec->steps.items[i];
    const struct {
        const char *member;
        const json_t *part;
    } parts[] = {{"jobSpec", step->patch_job_spec}, {"spec", step->patch_spec}};
    struct reference_check r = {c, i, NULL};

    for (size_t k = 0; k < countof(parts); k++) {
        scoped(buf) struct buf path = {0};

        buf_printf(&path, "spec.flows[%zu].patch", i);
        r.path = path.data;
        flow_refs_each(parts[k].part, check_reference, &r);
        buf_printf(&path, ".%s", parts[k].member);
        r.path = path.data;
        script_references_each(parts[k].part, check_script, &r);
    }
    check_inline_references(&r, "env", step->env);
    check_inline_references(&r, "jobTemplate", step->job_template);
    for (size_t k = 0; step->loop && k < step->loop->items.count; k++) {
        scoped(buf) struct buf path = {0};

        buf_printf(&path, "spec.flows[%zu].for.items[%zu]", i, k);
        r.path = path.data;
        flow_ref_each(step->loop->items.items[k], check_item, &r);
    }
}

struct jobflow_references {
    struct admission adm;
    struct control_check control;
    struct name_index names;
};

/* Which switch lists each step; admission has reported steps that two list. */
static void index_switches(struct control_check *c)
{
    for (size_t i = 0; i < c->spec->steps.count; i++) {
        const struct flow_switch *choice = c->spec->steps.items[i].choice;

        for (size_t k = 0; choice && k <= choice->cases.count; k++) {
            const struct str_list *listed =
                k < choice->cases.count ? &choice->cases.items[k].steps : &choice->default_steps;

            for (size_t n = 0; n < listed->count; n++) {
                uint32_t at = name_index_get(c->names, listed->items[n]);

                if (at != NAME_NONE)
                    c->switch_of[at] = (uint32_t)i + 1;
            }
        }
    }
}

struct jobflow_references *jobflow_references_new(const struct jobflow_spec *spec,
                                                  struct error_list *errors,
                                                  struct error_list *warnings)
{
    struct jobflow_references *r = mem_alloc(sizeof *r);

    r->adm.warnings = warnings;
    r->control =
        (struct control_check){.adm = &r->adm, .spec = spec, .names = &r->names, .errors = errors};
    jobflow_check_begin(&r->control, &r->names);
    index_switches(&r->control);
    return r;
}

void jobflow_references_check(struct jobflow_references *references, size_t step,
                              const char *member, const json_t *template_spec)
{
    scoped(buf) struct buf path = {0};
    struct reference_check r = {&references->control, step, NULL};

    buf_printf(&path, "spec.flows[%zu].%s", step, member);
    r.path = path.data;
    flow_refs_each(template_spec, check_reference, &r);
}

void jobflow_references_end(struct jobflow_references *references)
{
    jobflow_check_deferred_ancestors(&references->control);
    jobflow_check_end(&references->control);
    name_index_release(&references->names);
    mem_free(references);
}
