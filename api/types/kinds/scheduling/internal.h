#pragma once
/*
 * The admission of Queues (queue_admission.c), which the kind Queue (queue.c) refers to.
 * Ref: spec/job.md 4.7.
 */
#include "api/types/admission.h"

void queue_mutate(const struct admission *adm, json_t *body, const struct object *draft);
/** Prefixes the legacy hierarchy annotations with the queue root. Returns new metadata, owned by
 * the caller, or NULL when nothing changes. */
struct meta *queue_mutate_meta(const struct meta *meta);
void queue_validate(const struct admission *adm, const struct object *old,
                    const struct object *queue, struct error_list *errors);
void queue_validate_in_context(const struct admission *adm, const struct object *old,
                               const struct object *queue, struct error_list *errors);
bool queue_validate_delete(const struct admission *adm, const struct object *queue,
                           struct error *err);
