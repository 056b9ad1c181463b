/*
 * Admits FlowTriggers: checks the schedule, the pattern, the parameters and the names of the flows.
 * A template is checked as a flow is. A pattern that is only named may be created later.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/admission.h"
#include "api/types/kinds/jobflow/step_names.h"
#include "api/types/kinds/schedule/flowtrigger.h"
#include "api/types/kinds/schedule/internal.h"
#include "api/types/kinds/schedule/timing.h"
#include "base/mem.h"

/* The longest end of the names of flows, which begin with the name of the trigger. */
#define LONGEST_SUFFIX "-0123456789"

static bool sets(const struct trigger_spec *spec, const char *name)
{
    for (size_t i = 0; name && i < spec->parameters.count; i++)
        if (spec->parameters.items[i].name && strcmp(spec->parameters.items[i].name, name) == 0)
            return true;
    return false;
}

/* The spec of the inline template (owned), in which the parameters that the trigger sets have a
 * value. */
static json_t *template_spec(const struct trigger_spec *spec)
{
    json_t *own = json_deep_copy(json_object_get(spec->flow_template, "spec")), *parameter;
    size_t i;

    json_array_foreach(json_object_get(own, "parameters"), i, parameter)
    {
        if (sets(spec, json_string_value(json_object_get(parameter, "name"))))
            json_object_set_new(parameter, "value", json_string(""));
    }
    return own;
}

/* Returns the annotations of the inline template, [*out_count]; owned. */
static struct kv *template_annotations(const struct trigger_spec *spec, uint32_t *out_count)
{
    json_t *map = json_object_get(json_object_get(spec->flow_template, "metadata"), "annotations");
    struct kv *pairs = mem_array(json_object_size(map) + 1, sizeof *pairs);
    const char *key;
    json_t *value;

    *out_count = 0;
    json_object_foreach(map, key, value)
    {
        if (json_is_string(value))
            pairs[(*out_count)++] = (struct kv){key, json_string_value(value)};
    }
    return pairs;
}

/* Returns the flow of the inline template, under a name that its flows may have (owned). */
static struct object *flow_of(const struct object *trigger)
{
    const struct trigger_spec *spec = trigger_spec_of(trigger);
    scoped(json) json_t *members = json_object();
    scoped(buf) struct buf name = {0};
    struct meta draft = {.namespace = object_namespace(trigger), .uid = "", .deletion_grace_s = -1};
    struct kv *annotations = template_annotations(spec, &draft.n_annotations);
    struct object *flow;

    name_or_placeholder(trigger->meta, &name);
    buf_str(&name, LONGEST_SUFFIX);
    draft.name = name.data;
    draft.annotations = annotations;
    json_object_set_new(members, "spec", template_spec(spec));
    flow = object_new(&kind_job_flow, meta_new(&draft), object_body_from_json(members), NULL);
    mem_free(annotations);
    return flow;
}

/* Moves the findings of the check of a trigger's flow from `from` to `to`. Their fields then begin
 * with spec.flowTemplate, because that is where the flow stands in the trigger. */
static void move(struct error_list *from, struct error_list *to)
{
    for (size_t i = 0; i < from->count; i++)
        FINDING_CODE(to, from->items[i].code, ("spec.flowTemplate.%s", from->items[i].field), "%s",
                     from->items[i].message);
    error_list_release(from);
}

static void check_flow(const struct admission *adm, const struct object *flow,
                       void (*check)(const struct admission *adm, const struct object *old,
                                     const struct object *flow, struct error_list *errors),
                       struct error_list *errors)
{
    struct admission inner = *adm;
    struct error_list found = {0}, warned = {0};

    inner.warnings = adm->warnings ? &warned : NULL;
    check(&inner, NULL, flow, &found);
    move(&found, errors);
    if (adm->warnings)
        move(&warned, adm->warnings);
}

static void check_values(const struct trigger_spec *spec, const struct jobflow_spec *flow,
                         struct error_list *errors)
{
    for (size_t i = 0; i < spec->parameters.count; i++) {
        const struct trigger_parameter *parameter = &spec->parameters.items[i];
        struct error err = {0};

        for (size_t j = 0; j < i; j++)
            if (strcmp(spec->parameters.items[j].name, parameter->name) == 0)
                FINDING(errors, ("spec.parameters[%zu].name", i), "Duplicate value: \"%.64s\"",
                        parameter->name);
        if (parameter->value && !trigger_value_check(parameter->value, &err))
            FINDING(errors, ("spec.parameters[%zu].value", i), "Invalid value: %s", err.message);
        if (flow && !jobflow_find_parameter(flow, parameter->name)) {
            scoped_str near = jobflow_near_parameter(flow, parameter->name, errors);

            FINDING(errors, ("spec.parameters[%zu].name", i),
                    "the flow has no parameter \"%.64s\"%s", parameter->name, near);
        }
    }
}

static void check_sources(const struct trigger_spec *spec, struct error_list *errors)
{
    for (size_t i = 0; i < spec->flows.count; i++)
        if (!spec->flows.items[i].name == !spec->flows.items[i].trigger)
            FINDING(errors, ("spec.flows[%zu]", i), "write name or trigger, and not both");
    if (spec->webhook)
        FINDING(errors, ("spec.webhook"),
                "Forbidden: this version receives no webhooks: have the sender create a Command "
                "(action FireFlow), or run 'jobflow trigger'");
    if (spec->files)
        FINDING(
            errors, ("spec.files"),
            "Forbidden: this version watches no files: run 'jobflow trigger' when one is there");
}

void trigger_validate(const struct admission *adm, const struct object *old,
                      const struct object *trigger, struct error_list *errors)
{
    const struct trigger_spec *spec = trigger_spec_of(trigger);

    if (!spec->flow_name == !spec->flow_template)
        FINDING(errors, ("spec"), "write flowName or flowTemplate, and not both");
    if (spec->schedule)
        timing_check(adm, spec->schedule->cron, spec->schedule->time_zone, "spec.schedule.cron",
                     "spec.schedule.timeZone", errors);
    if (spec->max_active.set && spec->policy != CONCURRENCY_ALLOW)
        FINDING(errors, ("spec.maxActive"), "Forbid and Replace have one at most");
    check_sources(spec, errors);
    if (spec->flow_template) {
        scoped(object) struct object *flow = flow_of(trigger);

        check_flow(adm, flow, jobflow_validate, errors);
        check_values(spec, jobflow_spec_of(flow), errors);
    } else {
        check_values(spec, NULL, errors);
    }
}

/* Checks the annotations of the template's flow that an update changes. */
static void check_annotations(const struct admission *adm, const struct object *old,
                              const struct object *flow, struct error_list *errors)
{
    scoped(object) struct object *before =
        old && trigger_spec_of(old)->flow_template ? flow_of(old) : NULL;
    struct error_list found = {0};

    jobflow_validate_meta(adm, before ? before->meta : NULL, flow->meta, &found);
    move(&found, errors);
}

/* Checks the lengths of the names of flows and of their jobs, which have the name of the flow and
 * of the step. */
static void check_names(const struct object *trigger, const struct jobflow_spec *flow,
                        struct error_list *errors)
{
    scoped(buf) struct buf name = {0};
    size_t prefix;

    name_or_placeholder(trigger->meta, &name);
    buf_str(&name, LONGEST_SUFFIX);
    if (name.len > LABEL_BYTES_MAX) {
        FINDING(errors, ("metadata.name"),
                "jobflow \"%s\" would have %zu characters, %d is the most: shorten the trigger's "
                "name",
                name.data, name.len, LABEL_BYTES_MAX);
        return;
    }
    prefix = name.len;
    for (size_t i = 0; flow && i < flow->steps.count; i++) {
        const struct flow_step *step = &flow->steps.items[i];

        name.len = prefix;
        buf_printf(&name, "-%s", step->name);
        if (step->loop && flow_loop_iterations(step->loop))
            buf_printf(&name, "-%u", flow_loop_iterations(step->loop) - 1);
        if (name.len <= LABEL_BYTES_MAX)
            continue;
        FINDING(errors, ("metadata.name"),
                "job \"%s\" would have %zu characters, %d is the most: shorten the trigger's or "
                "the step's name",
                name.data, name.len, LABEL_BYTES_MAX);
        return;
    }
}

/* Warns of a pattern that does not exist yet, that runs by itself, or that lacks a parameter. These
 * are no errors, because the pattern may change. */
static void warn_of_pattern(const struct admission *adm, const struct trigger_spec *spec,
                            const struct object *pattern)
{
    if (!pattern) {
        WARNING(adm, ("spec.flowName"), "jobflow %s does not exist yet: the trigger waits for it",
                spec->flow_name);
        return;
    }
    if (!jobflow_spec_of(pattern)->suspend)
        WARNING(adm, ("spec.flowName"),
                "jobflow %s runs by itself, too; suspend: true makes it a pattern only",
                spec->flow_name);
    if (adm->warnings)
        check_values(spec, jobflow_spec_of(pattern), adm->warnings);
}

void trigger_validate_in_context(const struct admission *adm, const struct object *old,
                                 const struct object *trigger, struct error_list *errors)
{
    const struct trigger_spec *spec = trigger_spec_of(trigger);
    const struct object *pattern =
        spec->flow_name ? lookup(adm, &kind_job_flow, object_namespace(trigger), spec->flow_name)
                        : NULL;

    if (spec->flow_template) {
        scoped(object) struct object *flow = flow_of(trigger);

        check_annotations(adm, old, flow, errors);
        check_names(trigger, jobflow_spec_of(flow), errors);
    } else {
        check_names(trigger, pattern ? jobflow_spec_of(pattern) : NULL, errors);
    }
    if (spec->flow_name && adm->get)
        warn_of_pattern(adm, spec, pattern);
}
