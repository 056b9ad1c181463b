/*
 * Deletion protection (DC-02): rejects the deletion of a flow that has not finished, of the pattern
 * of a trigger, and of a template that such a flow still needs. Ref: spec/jobflow.md 13.9.
 *
 * A step needs its template until its job exists; the job keeps a copy of the definition.
 */
#include <stdio.h>
#include <string.h>

#include "api/registry/internal.h"
#include "api/types/kinds/jobflow/pin.h"
#include "api/types/kinds/schedule/flowtrigger.h"

#define ANNOTATION_PROTECTION "flow.volcano.sh/deletion-protection"

/* Returns whether the object is protected: its annotation overrides the server's option. */
static bool is_protected(const struct registry *r, const struct object *object)
{
    const char *annotation = meta_annotation(object->meta, ANNOTATION_PROTECTION);

    if (annotation && strcmp(annotation, "false") == 0)
        return false;
    return r->options.flows.deletion_protection || (annotation && strcmp(annotation, "true") == 0);
}

static bool is_unfinished(const struct object *flow)
{
    return !object_deleting(flow) && !flow_phase_finished(jobflow_phase_of(flow));
}

static bool refuse(const struct object *object, const char *why, struct error *err)
{
    char resource[RESOURCE_TEXT_MAX];

    return error_set(err, ERR_FORBIDDEN, "",
                     "%s \"%s\" is forbidden: %s; delete it with --force (gracePeriodSeconds: 0) "
                     "or set its annotation " ANNOTATION_PROTECTION "=false first",
                     registry_resource(object->kind, resource), object_name(object), why);
}

/* Looks for a trigger that makes flows from a flow. */
struct pattern_search {
    const char *flow;
    const struct object *trigger;
};

static void search_trigger(void *arg, const struct object *trigger)
{
    struct pattern_search *search = arg;
    const char *name = trigger_spec_of(trigger)->flow_name;

    if (!search->trigger && name && strcmp(name, search->flow) == 0 && !object_deleting(trigger))
        search->trigger = trigger;
}

static bool flow_may_go(const struct registry *r, const struct object *flow, struct error *err)
{
    struct pattern_search search = {.flow = object_name(flow)};
    enum flow_phase phase = jobflow_phase_of(flow);
    char why[ERROR_FIELD_MAX];

    if (jobflow_spec_of(flow)->suspend && !object_deleting(flow))
        store_each(r->store, &kind_flow_trigger, object_namespace(flow), search_trigger, &search);
    if (search.trigger) {
        snprintf(why, sizeof why,
                 "jobflow %.64s is the pattern of flowtrigger %.64s: delete that "
                 "first",
                 object_name(flow), object_name(search.trigger));
        return refuse(flow, why, err);
    }
    if (!is_unfinished(flow))
        return true;
    snprintf(why, sizeof why, "jobflow %s is %s, wait for it to finish or abort it",
             object_name(flow), phase == FLOW_NONE ? "new" : flow_phase_text(phase));
    return refuse(flow, why, err);
}

/* Collects the unfinished flows that still need a template. */
struct search {
    const struct registry *r;
    const struct object *template;
    const char *name; /* the name used by steps; for a copy, the original's */
    size_t count;
    char names[160]; /* names of the first flows found */
};

static bool has_job(const struct registry *r, const struct object *flow,
                    const struct flow_step *step)
{
    char name[512];
    const struct object *job;
    const struct owner_ref *controller;

    snprintf(name, sizeof name, "%s-%s", object_name(flow), step->name);
    job = store_get(r->store, &kind_job, object_namespace(flow), name);
    controller = job ? meta_controller(job->meta) : NULL;
    return controller && strcmp(controller->uid, object_uid(flow)) == 0;
}

/* Returns whether the flow creates jobs from this object. A flow that pins its templates uses its
 * copies once they exist. */
static bool runs_with(const struct search *search, const struct object *flow)
{
    const struct object *copy = NULL;
    char name[PIN_NAME_MAX + 1];

    if (jobflow_pins(flow)) {
        jobflow_pin_name(object_uid(flow), search->name, name);
        copy = store_get(search->r->store, &kind_job_template, object_namespace(flow), name);
    }
    if (copy && jobflow_pin_is_of(copy, object_uid(flow)))
        return strcmp(object_uid(copy), object_uid(search->template)) == 0;
    return !jobflow_pin_origin(search->template);
}

static bool needs(const struct search *search, const struct object *flow)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow);

    for (size_t i = 0; spec && i < spec->steps.count; i++) {
        const struct flow_step *step = &spec->steps.items[i];
        const char *name = step->template_name ? step->template_name : step->name;

        if (!flow_step_is_inline(step) && strcmp(name, search->name) == 0 &&
            !has_job(search->r, flow, step))
            return runs_with(search, flow);
    }
    return false;
}

static void search_flow(void *arg, const struct object *flow)
{
    struct search *search = arg;
    size_t used = strlen(search->names);

    if (!is_unfinished(flow) || !needs(search, flow))
        return;
    if (search->count++ < 3)
        snprintf(search->names + used, sizeof search->names - used, "%s%.40s", used ? ", " : "",
                 object_name(flow));
}

static bool template_may_go(const struct registry *r, const struct object *template,
                            struct error *err)
{
    const char *origin = jobflow_pin_origin(template);
    struct search search = {
        .r = r, .template = template, .name = origin ? origin : object_name(template)};
    char why[ERROR_FIELD_MAX];

    store_each(r->store, &kind_job_flow, object_namespace(template), search_flow, &search);
    if (search.count == 0)
        return true;
    snprintf(why, sizeof why, "unfinished jobflows still need it: %s%s", search.names,
             search.count > 3 ? ", …" : "");
    return refuse(template, why, err);
}

bool registry_may_delete(const struct registry *r, const struct object *object, struct error *err)
{
    if ((object->kind != &kind_job_flow && object->kind != &kind_job_template) ||
        !is_protected(r, object))
        return true;
    return object->kind == &kind_job_flow ? flow_may_go(r, object, err)
                                          : template_may_go(r, object, err);
}
