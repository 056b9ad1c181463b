#pragma once
/*
 * Admission of Queues: hierarchy, capability, guarantee and deserved share. Ref: spec/job.md 4.7.
 */
#include "api/types/admission.h"
#include "api/types/kinds/job/podgroup.h"

void queue_mutate(const struct admission *adm, json_t *body, const struct object *draft);
/** The old hierarchy annotations begin at root. */
struct meta *queue_mutate_meta(const struct meta *meta);
void queue_validate(const struct admission *adm, const struct object *old,
                    const struct object *queue, struct error_list *errors);
void queue_validate_in_context(const struct admission *adm, const struct object *old,
                               const struct object *queue, struct error_list *errors);
bool queue_validate_delete(const struct admission *adm, const struct object *queue,
                           struct error *err);

/** status.allocated; empty without status. */
const struct str_map *queue_allocated_of(const struct object *queue);
