#pragma once
/*
 * What annotations of a pod say about a simulated run: how long each container takes and how it
 * ends. One place reads them for admission and for the runtime.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/** Check the values of ANNOTATION_SIM_DURATION and ANNOTATION_SIM_EXIT_CODE; NULL is absent. The
 * findings stand at `<path>[<annotation>]`. */
void pod_sim_check(const char *durations, const char *exit_codes, const char *path,
                   struct error_list *errors);

/** The duration of a container: of "5s" that, of "a=5s,b=1s" its own; 0 when the text is NULL or
 * names it nowhere. */
int64_t pod_sim_duration_ns(const char *durations, const char *container);
/** Whether the codes depend on how often the container has run. */
bool pod_sim_exit_code_varies(const char *exit_codes);
/** Of "1,1,0" the code of run `run` (from 0), the last for all later ones; 0 for NULL. */
int pod_sim_exit_code(const char *exit_codes, size_t run);
