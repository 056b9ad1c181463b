#pragma once
/*
 * Admission of Jobs: defaults, rules, warnings. JobTemplates share most of it, and flows the checks
 * of names. Ref: spec/job.md section 4.
 */
#include "api/types/admission.h"
#include "api/types/kinds/job/job.h"
#include "base/collections/name_index.h"

/* Defined in defaults.c. */

/** Sets the defaults of tasks. Runs on updates as well, because `kubectl apply` sends the tasks as
 * they were written. */
void job_normalize(json_t *body);
/** Sets the defaults of a new Job. */
void job_mutate(const struct admission *adm, json_t *body, const struct object *draft);

/* Defined in admission.c. */
void job_validate(const struct admission *adm, const struct object *old, const struct object *job,
                  struct error_list *errors);
void job_validate_in_context(const struct admission *adm, const struct object *old,
                             const struct object *job, struct error_list *errors);

/* Defined in spec_check.c, policy_check.c. */

/**
 * Checks the rules of a spec that need no other object (V1-V6, V8-V11, V13-V16, V21, O-12, O-13,
 * L-18, L-19). `doc` is the spec's document, `path` its path in the object.
 */
void job_check_spec(const struct admission *adm, const struct job_spec *spec, const json_t *doc,
                    const char *path, struct error_list *errors);

/** Checks a list of policies at `path` (4.5, O-12, O-13). */
void job_check_policies(const struct admission *adm, const struct job_policy_list *policies,
                        const char *path, struct error_list *errors);

/* Defined in warnings.c. */

/** Warns about specs that are valid but probably mistaken. `tasks` maps names to positions. */
void job_warn(const struct admission *adm, const struct job_spec *spec,
              const struct name_index *tasks, const char *path);
/** Warns about a priority class that does not exist. */
void job_warn_class(const struct admission *adm, const char *class, const char *path);

/* admission.c, spec_check.c: parts that JobTemplates check as warnings */

/** V7, V12, L-14: checks the names that the pods of job `name` will have. Findings are reported at
 * metadata.name. */
void job_check_names(const struct job_spec *spec, const char *name, struct error_list *errors);

/** V16: refuses volumes with neither a claim nor a claim's name. */
void job_check_volume_sources(const struct job_spec *spec, const char *path,
                              struct error_list *errors);

/** V16: refuses volumes with both a claim and a claim's name. It holds only for new objects: the
 * job controller writes the name of the claim that it created beside the claim. */
void job_check_volume_conflicts(const struct job_spec *spec, const char *path,
                                struct error_list *errors);

/** V17-V20: checks that a queue exists, is open and is a leaf. */
void job_check_queue(const struct admission *adm, const char *queue, struct error_list *errors);

/** Returns the document that job_spec_of was decoded from, borrowed from the object's blob; NULL
 * when there is no spec. */
const json_t *job_spec_document(const struct object *job_or_template);

/* O-11: the value emptyDir allows volumes without a claim; they become empty directories. */
#define ANNOTATION_VOLUME_FALLBACK "volcano.sh/volume-fallback"
