#pragma once
/*
 * Admission of JobFlows: the rules that the spec alone decides, those that need templates, and
 * those of updates. Ref: spec/jobflow.md 10.2, 13.9, 13.10; DC-02, DC-05.
 */
#include "api/types/admission.h"
#include "api/types/kinds/jobflow/jobflow.h"

void jobflow_validate(const struct admission *adm, const struct object *old,
                      const struct object *flow, struct error_list *errors);
void jobflow_validate_in_context(const struct admission *adm, const struct object *old,
                                 const struct object *flow, struct error_list *errors);

/** Checks the annotations of a flow that `before`, the metadata before an update, does not have with
 * the same value. `before` NULL: the flow is created. */
void jobflow_validate_meta(const struct admission *adm, const struct meta *before,
                           const struct meta *meta, struct error_list *errors);
/** Returns whether an annotation has been added, changed or removed. `before` NULL has none. */
bool jobflow_annotation_changed(const struct meta *before, const struct meta *meta,
                                const char *key);

/**
 * Checks whether the spec of `flow` may differ from that of `old` (DC-02, spec/jobflow.md 13.10).
 * Appends findings to `errors` and warns about changes that have no effect. Reports nothing when
 * the specs mean the same.
 */
void jobflow_check_update(const struct admission *adm, const struct object *old,
                          const struct object *flow, struct error_list *errors);

/** Checks that step names are unique, that targets name steps, and that the steps form a DAG. */
void jobflow_check_graph(const struct admission *adm, const struct jobflow_spec *spec,
                         struct error_list *errors);

/**
 * Checks references in the templates of a flow, which admission does not know. Findings name the
 * field `spec.flows[step].<member>`. jobflow_references_end adds what was put off and frees.
 */
struct jobflow_references;
struct jobflow_references *jobflow_references_new(const struct jobflow_spec *spec,
                                                  struct error_list *errors,
                                                  struct error_list *warnings);
void jobflow_references_check(struct jobflow_references *references, size_t step,
                              const char *member, const json_t *template_spec);
void jobflow_references_end(struct jobflow_references *references);

/** Checks the probes of spec.flows[step] (2.4, 6.2, SEC-15, L-32, L-34). */
void jobflow_check_probe(const struct admission *adm, const struct flow_depends *depends,
                         size_t step, struct error_list *errors);

/** Returns the document that jobflow_spec_of was decoded from, borrowed from the object's blob;
 * NULL when there is no spec. */
const json_t *jobflow_spec_document(const struct object *flow);

/** Returns the name of the step's JobTemplate: jobTemplateName, or else the step's name. */
static inline const char *flow_step_template(const struct flow_step *step)
{
    return step->template_name && *step->template_name ? step->template_name : step->name;
}
