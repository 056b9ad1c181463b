/*
 * Names, labels, annotations and the owner of generated jobs.
 */
#include "template/job_meta.h"
#include "base/hash.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEPT_CHARACTERS = 52 };

void template_label_value(const char *namespace_, const char *name,
                          char out[TEMPLATE_LABEL_MAX + 1])
{
    scoped(buf) struct buf full = {0};
    size_t kept = KEPT_CHARACTERS;

    buf_str(&full, namespace_);
    buf_char(&full, '.');
    buf_str(&full, name);
    if (full.len <= TEMPLATE_LABEL_MAX) {
        memcpy(out, full.data, full.len + 1);
        return;
    }
    while (kept && !isalnum((unsigned char)full.data[kept - 1])) /* "-." would be no label value */
        kept--;
    snprintf(out, TEMPLATE_LABEL_MAX + 1, "%.*s-%010" PRIx64, (int)kept, full.data,
             hash_stable(full.data, full.len) & UINT64_C(0xffffffffff));
}

struct meta *template_job_meta(const struct template_job *job)
{
    const char *ns = job->namespace_;
    const char *template_name = object_name(job->template_), *flow = object_name(job->flow);
    scoped(buf) struct buf by_template = {0};
    scoped(buf) struct buf by_flow = {0};
    char template_label[TEMPLATE_LABEL_MAX + 1], flow_label[TEMPLATE_LABEL_MAX + 1];
    char revision[24], attempt[12];
    const struct kv labels[] = {
        {LABEL_CREATED_BY_TEMPLATE, template_label},
        {LABEL_CREATED_BY_FLOW, flow_label},
    };
    const struct owner_ref owner = {kind_api_version(&kind_job_flow),
                                    kind_job_flow.name,
                                    flow,
                                    object_uid(job->flow),
                                    true,
                                    true};

    template_label_value(ns, template_name, template_label);
    template_label_value(ns, flow, flow_label);
    buf_printf(&by_template, "%s.%s", ns, template_name);
    buf_printf(&by_flow, "%s.%s", ns, flow);
    snprintf(revision, sizeof revision, "%" PRId64, job->template_->revision);
    snprintf(attempt, sizeof attempt, "%u", job->attempt);

    const struct kv annotations[] = {
        {LABEL_CREATED_BY_TEMPLATE, by_template.data},
        {LABEL_CREATED_BY_FLOW, by_flow.data},
        {ANNOTATION_FLOW_STEP, job->step},
        {ANNOTATION_TEMPLATE_REVISION, revision},
        {ANNOTATION_FLOW_ATTEMPT, attempt}, /* last: left out for the first attempt */
    };
    const struct meta draft = {
        .namespace_ = ns,
        .name = job->name,
        .uid = "",
        .deletion_grace_s = -1,
        .labels = labels,
        .n_labels = countof(labels),
        .annotations = annotations,
        .n_annotations = countof(annotations) - (job->attempt <= 1),
        .owners = &owner,
        .n_owners = 1,
    };

    return meta_new(&draft);
}

bool template_of_job(const struct object *job, char *out_namespace, size_t size,
                     const char **out_name)
{
    const char *value = meta_annotation(job->meta, LABEL_CREATED_BY_TEMPLATE);
    const char *dot;

    if (!value)
        value = meta_label(job->meta, LABEL_CREATED_BY_TEMPLATE);
    dot = value ? strchr(value, '.') : NULL;
    if (!dot || !dot[1])
        return false;
    snprintf(out_namespace, size, "%.*s", (int)(dot - value), value);
    *out_name = dot + 1;
    return true;
}
