#pragma once
/*
 * Objects that live with a job: the annotation lives-with names a vcjob of the namespace, and the
 * object is deleted when that job ends. Ref: armada-submit.md B.5.
 */
#include "api/types/object.h"

/* The prefix of all annotations and labels of submissions. */
#define SUBMIT_PREFIX         "submit.flow.volcano.sh/"
#define ANNOTATION_LIVES_WITH SUBMIT_PREFIX "lives-with"

/** Returns the name of the job that the object lives with, or NULL. */
const char *lives_with(const struct meta *meta);
/** Returns whether objects of the kind may live with a job: ConfigMaps, Secrets, Services, claims. */
bool lives_with_is_for(const struct kind *kind);
/** Adds a finding when the annotation names no job, or is on an object of another kind. */
void lives_with_check(const struct kind *kind, const struct meta *meta, struct error_list *errors);
