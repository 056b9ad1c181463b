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
#include "base/collections/hash.h"
#include "base/mem.h"

enum {
    KEPT_CHARACTERS = 52,
    NAME_MAX_BYTES = 63 + 1 + 253, /* length of the longest "<namespace>.<name>" */
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

/* Writes `count` texts to `out` with their references replaced. The new values are owned by `out`. */
static bool replace_texts(const struct kv *texts, uint32_t count, const char *member,
                          const struct flow_ref_values *values, struct kv *out, struct error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        struct buf text = {0};
        struct error why = {0};
        scoped_str field = mem_printf("jobTemplate.metadata.%s[%s]", member, texts[i].key);

        out[i].key = texts[i].key;
        if (!flow_refs_replace_text(texts[i].value, values, &text, &why)) {
            buf_release(&text);
            return error_set(err, why.code, field, "%s", why.message);
        }
        out[i].value = text.data ? text.data : mem_strdup("");
    }
    return true;
}

static void free_texts(struct kv *texts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        mem_free((char *)(uintptr_t)texts[i].value);
    mem_free(texts);
}

struct meta *template_inline_meta(struct meta *meta, const struct flow_ref_values *values,
                                  struct error *err)
{
    struct kv *labels = mem_array(meta->n_labels + 1u, sizeof *labels);
    struct kv *annotations = mem_array(meta->n_annotations + 1u, sizeof *annotations);
    struct meta draft = *meta, *made = NULL;

    draft.labels = labels;
    draft.annotations = annotations;
    if (replace_texts(meta->labels, meta->n_labels, "labels", values, labels, err) &&
        replace_texts(meta->annotations, meta->n_annotations, "annotations", values, annotations,
                      err))
        made = meta_new(&draft);
    free_texts(labels, meta->n_labels);
    free_texts(annotations, meta->n_annotations);
    return made;
}

/* A growing list of labels or annotations. */
struct texts {
    struct kv *items;
    uint32_t count;
};

static void add_text(struct texts *texts, const char *key, const char *value)
{
    if (value)
        texts->items[texts->count++] = (struct kv){key, value};
}

/* Adds what an inline template says and the flow does not. */
static void add_inlined(struct texts *texts, const struct kv *more, uint32_t count)
{
    const uint32_t own = texts->count;

    for (uint32_t i = 0; i < count; i++) {
        bool known = false;

        for (uint32_t k = 0; k < own && !known; k++)
            known = strcmp(texts->items[k].key, more[i].key) == 0;
        if (!known)
            texts->items[texts->count++] = more[i];
    }
}

struct meta *template_job_meta(const struct template_job *job)
{
    enum { LABELS = 2, ANNOTATIONS = 10 };
    const char *ns = job->namespace;
    struct provenance by_template, by_flow;
    const struct meta *inlined = job->inlined;
    const char *origin = inlined ? NULL : jobflow_pin_origin(job->template);
    char revision[24], attempt[12];
    struct kv own_labels[LABELS], own_annotations[ANNOTATIONS];
    struct texts labels = {own_labels, 0}, annotations = {own_annotations, 0};
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
        .owners = &owner,
        .n_owners = 1,
    };
    struct meta *made;

    if (inlined) {
        labels.items = mem_array(LABELS + inlined->n_labels, sizeof *labels.items);
        annotations.items =
            mem_array(ANNOTATIONS + inlined->n_annotations, sizeof *annotations.items);
    } else {
        write_provenance(ns, origin ? origin : object_name(job->template), &by_template);
        snprintf(revision, sizeof revision, "%" PRId64, job->template->revision);
        add_text(&labels, LABEL_CREATED_BY_TEMPLATE, by_template.label);
        add_text(&annotations, LABEL_CREATED_BY_TEMPLATE, by_template.full);
    }
    write_provenance(ns, object_name(job->flow), &by_flow);
    snprintf(attempt, sizeof attempt, "%u", job->attempt);
    add_text(&labels, LABEL_CREATED_BY_FLOW, by_flow.label);
    add_text(&annotations, LABEL_CREATED_BY_FLOW, by_flow.full);
    add_text(&annotations, ANNOTATION_FLOW_STEP, job->step);
    if (!inlined)
        add_text(&annotations, ANNOTATION_TEMPLATE_REVISION,
                 origin ? meta_annotation(job->template->meta, ANNOTATION_PINNED_REVISION)
                        : revision);
    add_text(&annotations, ANNOTATION_FLOW_ATTEMPT, job->attempt > 1 ? attempt : NULL);
    add_text(&annotations, ANNOTATION_FLOW_ITERATION, job->iteration);
    add_text(&annotations, ANNOTATION_FLOW_GANG, job->gang);
    add_text(&annotations, ANNOTATION_FLOW_GANG_LEAST, job->gang ? job->gang_least : NULL);
    add_text(&annotations, ANNOTATION_FLOW_SPEC_HASH, job->spec_hash);
    add_text(&annotations, ANNOTATION_CACHE_ENTRY, job->cache_entry);
    if (inlined) {
        add_inlined(&labels, inlined->labels, inlined->n_labels);
        add_inlined(&annotations, inlined->annotations, inlined->n_annotations);
    }
    draft.labels = labels.items;
    draft.n_labels = labels.count;
    draft.annotations = annotations.items;
    draft.n_annotations = annotations.count;
    made = meta_new(&draft);
    if (inlined) {
        mem_free(labels.items);
        mem_free(annotations.items);
    }
    return made;
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
