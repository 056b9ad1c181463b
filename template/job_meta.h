#pragma once
/*
 * The metadata of objects that a flow makes: its jobs, and the copies of templates that it pins.
 * Labels and annotations say which flow and which template each object comes from. Ref:
 * spec/jobflow.md section 4.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/schema/flow_reference.h"

/* Annotation with the version of the template that the job was made from. Ref: spec/jobflow.md
 * section 11, row 6. */
#define ANNOTATION_TEMPLATE_REVISION "volcano.sh/jobTemplateResourceVersion"

enum { TEMPLATE_LABEL_MAX = 63 };

struct template_job {
    const struct object *flow;
    const struct object *template;
    const char *step;
    const char *name; /* name of the job, <flow>-<step> */
    const char *namespace;
    unsigned attempt;        /* number of the attempt, from 1 */
    const char *gang;        /* name of the gang; NULL = none */
    const char *gang_least;  /* how many jobs of the gang start together; NULL = all */
    const char *iteration;   /* number of the loop's iteration; NULL = no loop */
    const char *spec_hash;   /* hash of the step's definition, for flows whose status does not have
                             * it; or NULL */
    const char *cache_entry; /* name of the CacheEntry that becomes the job's record; or NULL */
    const struct meta *inlined; /* labels and annotations of an inline template; NULL: the template
                                 * is a named one */
};

/** Writes `<namespace>.<name>` as a label value. Up to 63 characters stay unchanged. Of a longer
 * text the first 52 characters are kept, followed by a dash and ten hex digits of a hash of the
 * whole. */
void template_label_value(const char *namespace, const char *name,
                          char out[TEMPLATE_LABEL_MAX + 1]);

/** Returns the metadata of an inline template with the references in labels and annotations
 * replaced. An owned reference, or NULL with the error of `values` at jobTemplate.metadata. */
struct meta *template_inline_meta(struct meta *meta, const struct flow_ref_values *values,
                                  struct error *err);

/** Name, labels, annotations and owner reference of the job of one attempt of a step. Owned. */
struct meta *template_job_meta(const struct template_job *job);

/** Returns the template that a job was made from, as `<namespace>.<name>`. It is read from the
 * job's annotation, else from its label. `out_name` is the part behind the first dot. NULL when the
 * job names no template of its namespace. */
const char *template_of_job(const struct object *job, const char **out_name);

/** Returns the copy of template `name` that a flow keeps (api/types/kinds/jobflow/pin.h), as a
 * draft with the template's body as of `revision`. It carries the label of the flow's jobs, so that
 * lists of templates can select or exclude copies. Owned. */
struct object *template_pinned(const struct object *flow, const char *name, struct blob *body,
                               int64_t revision);
