#pragma once
/*
 * Reads the annotations that script a simulated run: how long each container takes and how it ends.
 * Admission and the simulated runtime both use it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/** Checks the values of ANNOTATION_SIM_DURATION and ANNOTATION_SIM_EXIT_CODE; NULL = absent.
 * Findings are reported at `<path>[<annotation>]`. */
void pod_sim_check(const char *durations, const char *exit_codes, const char *path,
                   struct error_list *errors);

/** Returns the duration of a container. "5s" holds for every container, "a=5s,b=1s" names them; 0
 * when the text is NULL or does not name the container. */
int64_t pod_sim_duration_ns(const char *durations, const char *container);
/** Returns whether the exit code depends on the number of earlier runs. */
bool pod_sim_exit_code_varies(const char *exit_codes);
/** Returns the exit code of run `run`, counted from 0. The last code of a list like "1,1,0" holds
 * for all later runs; NULL stands for 0. */
int pod_sim_exit_code(const char *exit_codes, size_t run);
