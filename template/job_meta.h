#pragma once
/*
 * The metadata of a generated job. Ref: spec/jobflow.md section 4.
 */
#include "api/types/kinds/jobflow/jobflow.h"

/* Which version of the template the job was made from. Ref: spec/jobflow.md section 11, row 6. */
#define ANNOTATION_TEMPLATE_REVISION "volcano.sh/jobTemplateResourceVersion"

enum { TEMPLATE_LABEL_MAX = 63 };

struct template_job {
    const struct object *flow;
    const struct object *template_;
    const char *step;
    const char *name; /* <flow>-<step> */
    const char *namespace_;
    unsigned attempt;       /* from 1 */
    const char *gang;       /* NULL = none */
    const char *gang_least; /* of its jobs that start together; NULL: all */
    const char *iteration;  /* of a loop, as a number; NULL = of none */
    const char *spec_hash;  /* of its step, where no status has it; NULL = there it is */
};

/** `<namespace>.<name>` as a label value: as it is up to 63 characters, beyond that its first 52, a
 * dash and ten hex digits of a hash of it all. */
void template_label_value(const char *namespace_, const char *name,
                          char out[TEMPLATE_LABEL_MAX + 1]);

/** Name, labels, annotations and owner reference of the job of one attempt of a step. Owned. */
struct meta *template_job_meta(const struct template_job *job);

/** The template a job says it was made from, as `<namespace>.<name>`, from its annotation, or from
 * its label; `out_name` is the part behind the first dot. NULL when it names none of its namespace.
 */
const char *template_of_job(const struct object *job, const char **out_name);
