#pragma once
/*
 * The parts of the admission of CronJobs and FlowTriggers that their kinds use.
 */
#include "api/types/admission.h"

enum { SCHEDULE_BYTES_MAX = 1024 };

/* cronjob_check.c */
void cronjob_validate(const struct admission *adm, const struct object *old,
                      const struct object *cronjob, struct error_list *errors);
void cronjob_validate_in_context(const struct admission *adm, const struct object *old,
                                 const struct object *cronjob, struct error_list *errors);

/* flowtrigger_check.c */
void trigger_validate(const struct admission *adm, const struct object *old,
                      const struct object *trigger, struct error_list *errors);
void trigger_validate_in_context(const struct admission *adm, const struct object *old,
                                 const struct object *trigger, struct error_list *errors);
