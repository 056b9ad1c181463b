/*
 * Builds the copy: name, label, owner and the annotation that says which template it was made from.
 */
#include "template/pinned.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/types/kinds/jobflow/pin.h"
#include "template/job_meta.h"

struct object *template_pinned(const struct object *flow, const char *name, struct blob *body,
                               int64_t revision)
{
    const char *ns = object_namespace(flow);
    char copy_name[PIN_NAME_MAX + 1], revision_text[24], by_flow[TEMPLATE_LABEL_MAX + 1];
    const struct kv labels[] = {{LABEL_CREATED_BY_FLOW, by_flow}};
    const struct kv annotations[] = {{ANNOTATION_PINNED_TEMPLATE, name},
                                     {ANNOTATION_PINNED_REVISION, revision_text}};
    const struct owner_ref owner = {"flow.volcano.sh/v1alpha1",
                                    kind_job_flow.name,
                                    object_name(flow),
                                    object_uid(flow),
                                    true,
                                    true};
    const struct meta draft = {
        .namespace_ = ns,
        .name = copy_name,
        .uid = "",
        .deletion_grace_s = -1,
        .labels = labels,
        .n_labels = countof(labels),
        .annotations = annotations,
        .n_annotations = countof(annotations),
        .owners = &owner,
        .n_owners = 1,
    };

    jobflow_pin_name(object_uid(flow), name, copy_name);
    template_label_value(ns, object_name(flow), by_flow);
    snprintf(revision_text, sizeof revision_text, "%" PRId64, revision);
    return object_new(&kind_job_template, meta_new(&draft), blob_ref(body), NULL);
}
