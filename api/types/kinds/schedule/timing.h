#pragma once
/*
 * Checks that CronJobs and FlowTriggers share: schedules, time zones, and names that are made from
 * the scheduled time.
 */
#include "api/types/admission.h"
#include "base/time/cron.h"

/** Checks a cron expression and a time zone; NULL stands for an absent one. Findings are reported
 * at `cron_path` and `zone_path`. Warns when no time zone is named, because the times are then
 * those of this machine. */
void timing_check(const struct admission *adm, const char *cron, const char *zone,
                  const char *cron_path, const char *zone_path, struct error_list *errors);

/** Parses the expression of an admitted object. Intervals count from the creation of the object.
 * `elapsed` selects the rule of Volcano at clock changes. Returns false with the error of
 * cron_parse. */
bool timing_parse(const char *cron, const struct object *object, bool elapsed, struct cron *out,
                  struct error *err);

/** Returns the number at the end of the name of what is made for a scheduled time. It counts
 * minutes since 1970, or seconds where intervals below a minute would give two times the same name.
 */
int64_t timing_number(const struct cron *cron, int64_t at_s);
