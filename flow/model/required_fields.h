#pragma once
/*
 * Whether a spec has the members that the engine takes for granted. Admission sees to that; an
 * object that came into the store past it must not stop the others (P-11).
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/error.h"

/** False with INVALID at the first member that is missing. O(steps). */
bool flow_check_required_fields(const struct jobflow_spec *spec, struct error *err);
