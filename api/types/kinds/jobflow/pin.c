/*
 * Derives the name of a pinned copy from its flow and template. A copy is recognised by its owner
 * and its annotation.
 */
#include "api/types/kinds/jobflow/pin.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/collections/hash.h"

enum { HASH_DIGITS = 16 };

bool jobflow_pins(const struct object *flow)
{
    return jobflow_spec_of(flow)->template_policy == TEMPLATE_POLICY_PINNED;
}

void jobflow_pin_name(const char *flow_uid, const char *template_name, char out[PIN_NAME_MAX + 1])
{
    scoped(buf) struct buf whole = {0};
    size_t kept = strnlen(template_name, PIN_NAME_MAX - HASH_DIGITS - 1);

    buf_printf(&whole, "%s/%s", flow_uid, template_name);
    while (
        kept &&
        !isalnum((unsigned char)template_name[kept - 1])) /* a name like "a.-1" would be invalid */
        kept--;
    snprintf(out, PIN_NAME_MAX + 1, "%.*s-%016" PRIx64, (int)kept, template_name,
             hash_stable(whole.data, whole.len));
}

const struct object *jobflow_template(const struct object *flow, const char *name,
                                      jobflow_pin_get *get, void *ctx)
{
    const char *ns = object_namespace(flow);
    const struct object *copy = NULL;
    char copy_name[PIN_NAME_MAX + 1];

    if (*object_uid(flow) && jobflow_pins(flow)) {
        jobflow_pin_name(object_uid(flow), name, copy_name);
        copy = get(ctx, &kind_job_template, ns, copy_name);
    }
    return copy && jobflow_pin_is_of(copy, object_uid(flow))
               ? copy
               : get(ctx, &kind_job_template, ns, name);
}

const char *jobflow_pin_origin(const struct object *template)
{
    const struct owner_ref *owner = meta_controller(template->meta);

    return owner && strcmp(owner->kind, kind_job_flow.name) == 0
               ? meta_annotation(template->meta, ANNOTATION_PINNED_TEMPLATE)
               : NULL;
}

bool jobflow_pin_is_of(const struct object *template, const char *flow_uid)
{
    const struct owner_ref *owner = meta_controller(template->meta);

    return owner && strcmp(owner->uid, flow_uid) == 0 && jobflow_pin_origin(template);
}
