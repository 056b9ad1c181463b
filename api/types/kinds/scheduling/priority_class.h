#pragma once
/*
 * PriorityClass (scheduling.k8s.io/v1): a named priority of pods and jobs. Ref: spec/job.md 15.
 */
#include "api/types/object.h"

/** Returns the priority of the class; higher values go first. */
int32_t priority_class_value_of(const struct object *priority_class);
/** Returns whether pods of the class may evict others: preemptionPolicy is not Never. */
bool priority_class_preempts(const struct object *priority_class);
