#pragma once
/*
 * Admission of Jobs; JobTemplates share most of it. Ref: spec/job.md section 4.
 */
#include "api/types/admission.h"
#include "api/types/kinds/job/job.h"
#include "base/name_index.h"

void job_normalize(json_t *body);
void job_mutate(const struct admission *adm, json_t *body, const struct object *draft);
void job_validate(const struct admission *adm, const struct object *old, const struct object *job,
                  struct error_list *errors);
void job_validate_in_context(const struct admission *adm, const struct object *old,
                             const struct object *job, struct error_list *errors);

/**
 * The rules of a spec that need nothing else (V1-V6, V8-V11, V13-V16, V21, O-12, O-13, L-18, L-19).
 * `doc` is the spec's document, `path` its place.
 */
void job_check_spec(const struct admission *adm, const struct job_spec *spec, const json_t *doc,
                    const char *path, struct error_list *errors);

/** A list of policies at `path` (4.5, O-12, O-13). */
void job_check_policies(const struct admission *adm, const struct job_policy_list *policies,
                        const char *path, struct error_list *errors);

/** What is allowed and can hardly be meant, as warnings. `tasks`: positions by name. */
void job_warn(const struct admission *adm, const struct job_spec *spec,
              const struct name_index *tasks, const char *path);
/** The same of a priority class that nobody has defined (yet). */
void job_warn_class(const struct admission *adm, const char *class, const char *path);

/** V7, V12, L-14: the names that job `name` will give to its pods. Findings go to `errors` under
 * metadata.name. */
void job_check_names(const struct job_spec *spec, const char *name, struct error_list *errors);

/** V16: volumes with neither claim nor name. */
void job_check_volume_sources(const struct job_spec *spec, const char *path,
                              struct error_list *errors);

/** V16: volumes with both a claim and a name. The core writes the name of the claim it made, so
 * updates may have both. */
void job_check_volume_conflicts(const struct job_spec *spec, const char *path,
                                struct error_list *errors);

/** V17-V20. */
void job_check_queue(const struct admission *adm, const char *queue, struct error_list *errors);

/** The document behind job_spec_of, borrowed alike; NULL when there is no spec. */
const json_t *job_spec_document(const struct object *job_or_template);

#define ANNOTATION_VOLUME_FALLBACK "volcano.sh/volume-fallback" /* O-11: emptyDir */
