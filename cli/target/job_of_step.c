/*
 * Merges as the flow controller does. References have the values that they would have in the first
 * attempt; the others are refused by name.
 */
#include "cli/target/job_of_step.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/schema/flow_reference.h"
#include "base/mem.h"

struct values {
    const struct job_of_step *request;
    const struct flow_loop *loop;
};

static void write_item(const struct flow_loop *loop, int iteration, struct buf *out)
{
    if (loop->range)
        buf_int(out, loop->range->start +
                         iteration * (loop->range->step.set ? loop->range->step.value : 1));
    else
        buf_str(out, loop->items.items[iteration]);
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
            write_item(values->loop, request->iteration, out);
        else if (values->loop)
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
    return error_set(err, ERR_INVALID, "",
                     "$(%s%.*s%s%.*s) stands for what only a run can tell: %s",
                     ref->kind == FLOW_REF_OUTPUT ? "steps." : "flow.phase", (int)ref->name_len,
                     ref->name ? ref->name : "", ref->key ? ".outputs." : "", (int)ref->key_len,
                     ref->key ? ref->key : "", why_unknown(ref->kind));
}

/* The parts of a patch with their references replaced; owned. */
static bool resolve(const struct job_of_step *request, struct template_patch *patch,
                    json_t *out_owned[2], struct error *err)
{
    struct values values = {request,
                            request->iteration >= 0
                                ? jobflow_spec_of(request->flow)->steps.items[request->step].loop
                                : NULL};
    const struct flow_ref_values refs = {value_of, &values};
    const json_t **const parts[] = {&patch->job_spec, &patch->spec};
    static const char *const members[] = {"jobSpec", "spec"};

    for (size_t i = 0; i < countof(parts); i++) {
        struct error why = {0};

        if (!*parts[i] || !flow_refs_any(*parts[i]))
            continue;
        out_owned[i] =
            flow_refs_replace(&job_patch_schema, (json_t *)(uintptr_t)*parts[i], &refs, &why);
        if (!out_owned[i]) {
            scoped_str field = mem_printf("spec.flows[%zu].patch.%s", request->step, members[i]);

            return error_set(err, ERR_INVALID, field, "%s", why.message);
        }
        *parts[i] = out_owned[i];
    }
    return true;
}

json_t *job_of_step(struct template_cache *bodies, const struct job_of_step *request,
                    struct error *err)
{
    const struct jobflow_spec *spec = jobflow_spec_of(request->flow);
    const struct flow_step *step = &spec->steps.items[request->step];
    struct template_patch patch = {.job_spec = step->patch_job_spec,
                                   .spec = step->patch_spec,
                                   .step = (uint32_t)request->step,
                                   .scheduling = spec->scheduling};
    json_t *owned[2] = {NULL, NULL};
    scoped(buf) struct buf item = {0};
    struct blob *body = NULL;
    json_t *made = NULL;
    char index[16];

    if (request->iteration >= 0) {
        write_item(step->loop, request->iteration, &item);
        snprintf(index, sizeof index, "%d", request->iteration);
        patch.item = item.data ? item.data : "";
        patch.index = index;
    }
    if (!request->resolve || resolve(request, &patch, owned, err))
        body = template_instantiate(bodies, request->template, &patch, err);
    if (body) {
        scoped(json) json_t *members = json_loadb(body->text, body->len, 0, NULL);

        made = json_incref(json_object_get(members, "spec"));
    }
    blob_unref(body);
    json_decref(owned[0]);
    json_decref(owned[1]);
    return made;
}
