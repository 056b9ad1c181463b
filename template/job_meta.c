/*
 * Labels, annotations and the owner reference of generated jobs and of the copies of templates that
 * flows keep.
 */
#include "template/job_meta.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/types/kinds/jobflow/pin.h"
#include "base/hash.h"

enum {
    KEPT_CHARACTERS = 52,
    NAME_MAX_BYTES = 63 + 1 + 253, /* longest "<namespace>.<name>" */
};

/* The template of a job as "<namespace>.<name>", in full and as a label value. */
struct provenance {
    char full[NAME_MAX_BYTES + 1];
    char label[TEMPLATE_LABEL_MAX + 1];
};

void template_label_value(const char *namespace, const char *name, char out[TEMPLATE_LABEL_MAX + 1])
{
    char full[NAME_MAX_BYTES + 1];
    size_t kept = KEPT_CHARACTERS, len;

    snprintf(full, sizeof full, "%s.%s", namespace, name);
    len = strlen(full);
    if (len <= TEMPLATE_LABEL_MAX) {
        memcpy(out, full, len + 1);
        return;
    }
    while (kept &&
           !isalnum((unsigned char)full[kept - 1])) /* a label value must end with a letter or
                                                     * digit */
        kept--;
    snprintf(out, TEMPLATE_LABEL_MAX + 1, "%.*s-%010" PRIx64, (int)kept, full,
             hash_stable(full, len) & UINT64_C(0xffffffffff));
}

static void write_provenance(const char *namespace, const char *name, struct provenance *out)
{
    size_t ns_len = strlen(namespace), len = strlen(name);

    if (ns_len + 1 + len > NAME_MAX_BYTES)
        len = NAME_MAX_BYTES - ns_len - 1; /* admission refuses longer names */
    memcpy(out->full, namespace, ns_len);
    out->full[ns_len] = '.';
    memcpy(out->full + ns_len + 1, name, len);
    out->full[ns_len + 1 + len] = '\0';
    if (ns_len + 1 + len <= TEMPLATE_LABEL_MAX)
        memcpy(out->label, out->full, ns_len + 1 + len + 1);
    else
        template_label_value(namespace, name, out->label);
}

struct meta *template_job_meta(const struct template_job *job)
{
    const char *ns = job->namespace;
    struct provenance by_template, by_flow;
    const char *origin = jobflow_pin_origin(job->template);
    char revision[24], attempt[12];
    const struct kv labels[] = {
        {LABEL_CREATED_BY_TEMPLATE, by_template.label},
        {LABEL_CREATED_BY_FLOW, by_flow.label},
    };
    size_t n_annotations = 4; /* annotations that every job has; optional ones follow */
    struct kv annotations[9] = {
        {LABEL_CREATED_BY_TEMPLATE, by_template.full},
        {LABEL_CREATED_BY_FLOW, by_flow.full},
        {ANNOTATION_FLOW_STEP, job->step},
        {ANNOTATION_TEMPLATE_REVISION,
         origin ? meta_annotation(job->template->meta, ANNOTATION_PINNED_REVISION) : revision},
    };
    const struct owner_ref owner = {"flow.volcano.sh/v1alpha1",
                                    kind_job_flow.name,
                                    object_name(job->flow),
                                    object_uid(job->flow),
                                    true,
                                    true};
    struct meta draft = {
        .namespace = ns,
        .name = job->name,
        .uid = "",
        .deletion_grace_s = -1,
        .labels = labels,
        .n_labels = countof(labels),
        .annotations = annotations,
        .owners = &owner,
        .n_owners = 1,
    };

    write_provenance(ns, origin ? origin : object_name(job->template), &by_template);
    write_provenance(ns, object_name(job->flow), &by_flow);
    snprintf(revision, sizeof revision, "%" PRId64, job->template->revision);
    snprintf(attempt, sizeof attempt, "%u", job->attempt);
    if (job->attempt > 1)
        annotations[n_annotations++] = (struct kv){ANNOTATION_FLOW_ATTEMPT, attempt};
    if (job->iteration)
        annotations[n_annotations++] = (struct kv){ANNOTATION_FLOW_ITERATION, job->iteration};
    if (job->gang)
        annotations[n_annotations++] = (struct kv){ANNOTATION_FLOW_GANG, job->gang};
    if (job->gang && job->gang_least)
        annotations[n_annotations++] = (struct kv){ANNOTATION_FLOW_GANG_LEAST, job->gang_least};
    if (job->spec_hash)
        annotations[n_annotations++] = (struct kv){ANNOTATION_FLOW_SPEC_HASH, job->spec_hash};
    draft.n_annotations = n_annotations;
    return meta_new(&draft);
}

const char *template_of_job(const struct object *job, const char **out_name)
{
    const char *value = meta_annotation(job->meta, LABEL_CREATED_BY_TEMPLATE);
    size_t ns_len = strlen(object_namespace(job));

    if (!value)
        value = meta_label(job->meta, LABEL_CREATED_BY_TEMPLATE);
    if (!value || strncmp(value, object_namespace(job), ns_len) != 0 || value[ns_len] != '.' ||
        !value[ns_len + 1])
        return NULL;
    *out_name = value + ns_len + 1;
    return value;
}

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
        .namespace = ns,
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
