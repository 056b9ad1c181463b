#pragma once
/*
 * The spec of the jobs that a step makes: template, the flow's scheduling, the patch, and in an
 * iteration of a loop its variables. What `plan` shows without the defaults.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "template/instantiate.h"

struct job_of_step {
    const struct object *flow, *template;
    size_t step;
    int iteration; /* number of the iteration; -1 = none */
    bool resolve;  /* replace references `$(…)` by their values */
};

/** Returns the Job of a step as written (owned): no defaults are set. Returns NULL with `err` at a
 * field of the flow: a patch cannot be merged, or a reference stands for what is known only while
 * the flow runs. */
json_t *job_of_step(struct template_cache *bodies, const struct job_of_step *request,
                    struct error *err);
