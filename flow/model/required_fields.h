#pragma once
/*
 * Whether a spec has the required members that the controller relies on. Admission ensures that; an
 * object that bypassed admission must not stop the controller (P-11).
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/error.h"

/** Returns false with INVALID at the first missing member. O(steps). */
bool flow_check_required_fields(const struct jobflow_spec *spec, struct error *err);
