#pragma once
/*
 * Flows whose status Volcano's own controller keeps. It knows neither retries nor aborts.
 */
#include <jansson.h>

/** Prints a note when Volcano's own controller has written the status of the JobFlow (borrowed): it
 * does not act on what is asked of the flow. */
void volcano_flow_note(const json_t *flow);
