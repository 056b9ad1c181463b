#pragma once
/*
 * Inline templates: the template that a step contains instead of naming a JobTemplate.
 *
 * It is either `jobTemplate`, a whole template, or `run`, a shell script, which stands for a
 * template of one container. Everything that works with templates works with an object made of it,
 * so no other code knows the short form. Ref: spec/everyday.md 3.1.
 */
#include "api/types/kinds/jobflow/pin.h"

/* Name of the task and of the container that run the script of a step, for patches, conditions and
 * `jobflow logs -c`. */
#define INLINE_TASK_NAME "main"

/** Returns the member of a step in which its template stands, or is named. */
const char *flow_step_template_member(const struct flow_step *step);

/**
 * Returns the JobTemplate that an inline template stands for. Its metadata has the labels and
 * annotations of `jobTemplate`; references are not replaced. Owned. The step must have an inline
 * template.
 */
struct object *jobflow_inline_template(const struct object *flow, const struct flow_step *step);

/** Returns the template that the jobs of a step are made from, inline or named (jobflow_template).
 * An owned reference; NULL when the template does not exist. */
struct object *jobflow_step_template(const struct object *flow, const struct flow_step *step,
                                     jobflow_pin_get *get, void *ctx);
