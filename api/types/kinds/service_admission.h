#pragma once
/*
 * Admission of Services: what their field table cannot say. Ref: Kubernetes
 * pkg/apis/core/validation ValidateService.
 */
#include "api/types/admission.h"

void service_validate(const struct admission *adm, const struct object *old,
                      const struct object *service, struct error_list *errors);
