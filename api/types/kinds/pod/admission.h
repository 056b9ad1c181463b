#pragma once
/*
 * Admission of pods. Ref: spec/job.md 4.8, spec/kube-api.md 8.7.
 */
#include "api/types/admission.h"

void pod_mutate(const struct admission *adm, json_t *body, const struct object *draft);
void pod_validate(const struct admission *adm, const struct object *old, const struct object *pod,
                  struct error_list *errors);
void pod_validate_in_context(const struct admission *adm, const struct object *old,
                             const struct object *pod, struct error_list *errors);
