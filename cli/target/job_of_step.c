/*
 * Merges as the flow controller does. References have the values that they would have in the first
 * attempt; the others are refused by name.
 */
#include "cli/target/job_of_step.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/inline_template.h"
#include "base/mem.h"
#include "template/references.h"

struct values {
    const struct job_of_step *request;
    const struct flow_loop *loop;
};

static bool value_of(void *ctx, const struct flow_ref *ref, struct buf *out, bool *out_leave,
                     struct error *err);

/* Items may refer to parameters themselves. */
static bool write_item(const struct job_of_step *request, const struct flow_loop *loop,
                       struct buf *out, struct error *err)
{
    struct values values = {request, NULL};
    const struct flow_ref_values refs = {value_of, &values};
    const int iteration = request->iteration;

    if (!loop->range && request->resolve)
        return flow_refs_replace_text(loop->items.items[iteration], &refs, out, err);
    if (!loop->range)
        buf_str(out, loop->items.items[iteration]);
    else
        buf_int(out, loop->range->start +
                         iteration * (loop->range->step.set ? loop->range->step.value : 1));
    return true;
}

static const char *why_unknown(enum flow_ref_kind kind)
{
    return kind == FLOW_REF_OUTPUT ? "Volcano passes no outputs on: let the step write a file to a "
                                     "volume that the next one reads"
                                   : "Volcano has no steps at the end of a flow";
}

static bool value_of(void *ctx, const struct flow_ref *ref, struct buf *out, bool *out_leave,
                     struct error *err)
{
    const struct values *values = ctx;
    const struct job_of_step *request = values->request;
    scoped(buf) struct buf text = {0};
    scoped_str name = mem_printf("%.*s", (int)ref->name_len, ref->name ? ref->name : "");
    const char *value;

    switch (ref->kind) {
    case FLOW_REF_PARAMETER:
        value = jobflow_parameter(jobflow_spec_of(request->flow), name);
        if (value)
            buf_str(out, value);
        return value ||
               error_set(err, ERR_INVALID, "",
                         "parameter %s has no value: give it one with -p %s=VALUE", name, name);
    case FLOW_REF_FLOW_NAME:
        buf_str(out, object_name(request->flow));
        return *object_name(request->flow) ||
               error_set(err, ERR_INVALID, "",
                         "$(flow.name) is not known before the server has made a name");
    case FLOW_REF_ITEM:
    case FLOW_REF_INDEX:
        *out_leave = !values->loop;
        if (values->loop && ref->kind == FLOW_REF_ITEM)
            return write_item(request, values->loop, out, err);
        if (values->loop)
            buf_int(out, request->iteration);
        return true;
    case FLOW_REF_ATTEMPT:
        buf_char(out, '1');
        return true;
    case FLOW_REF_DOUBTFUL:
        *out_leave = true;
        return true;
    case FLOW_REF_OUTPUT:
    case FLOW_REF_FLOW_PHASE:
        break;
    }
    flow_ref_write(ref, &text);
    return error_set(err, ERR_INVALID, "", "%s stands for what only a run can tell: %s", text.data,
                     why_unknown(ref->kind));
}

/* Replaces the references in template and patch; what the patch borrows then is in `out`. */
static bool resolve(struct template_cache *bodies, const struct job_of_step *request,
                    struct template_patch *patch, struct template_resolved *out, struct error *err)
{
    const struct flow_step *step = &jobflow_spec_of(request->flow)->steps.items[request->step];
    struct values values = {request, request->iteration >= 0 ? step->loop : NULL};
    const struct flow_ref_values refs = {value_of, &values};
    struct error why = {0};
    scoped_str field = NULL;

    if (template_resolve(bodies, request->template, patch, &refs, out, &why))
        return true;
    if (strncmp(why.field, "patch.", strlen("patch.")) == 0 || flow_step_is_inline(step)) {
        field = mem_printf("spec.flows[%zu].%s", request->step, why.field);
        return error_set(err, ERR_INVALID, field, "%s", why.message);
    }
    field = mem_printf("spec.flows[%zu].%s", request->step, flow_step_template_member(step));
    return error_set(err, ERR_INVALID, field, "%s%s%s", why.field, *why.field ? ": " : "",
                     why.message);
}

json_t *job_of_step(struct template_cache *bodies, const struct job_of_step *request,
                    struct error *err)
{
    const struct jobflow_spec *spec = jobflow_spec_of(request->flow);
    const struct flow_step *step = &spec->steps.items[request->step];
    struct template_patch patch = {
        .job_spec = step->patch_job_spec,
        .spec = step->patch_spec,
        .step = (uint32_t)request->step,
        .scheduling = spec->scheduling,
        .inlined = flow_step_is_inline(step) ? flow_step_template_member(step) : NULL};
    scoped(template_resolved) struct template_resolved resolved = {0};
    scoped(buf) struct buf item = {0};
    struct blob *body = NULL;
    json_t *made = NULL;
    char index[16];

    if (request->iteration >= 0) {
        struct error why = {0};

        if (!write_item(request, step->loop, &item, &why)) {
            scoped_str field =
                mem_printf("spec.flows[%zu].for.items[%d]", request->step, request->iteration);

            error_set(err, ERR_INVALID, field, "%s", why.message);
            return NULL;
        }
        snprintf(index, sizeof index, "%d", request->iteration);
        patch.item = item.data ? item.data : "";
        patch.index = index;
    }
    if (!request->resolve || resolve(bodies, request, &patch, &resolved, err))
        body = template_instantiate(bodies, request->template, &patch, err);
    if (body) {
        scoped(json) json_t *members = json_loadb(body->text, body->len, 0, NULL);

        made = json_incref(json_object_get(members, "spec"));
    }
    blob_unref(body);
    return made;
}
