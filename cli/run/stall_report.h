#pragma once
/*
 * The report about a simulation that has stalled: nothing can happen any more, although a flow is
 * not over.
 */
#include "view/flow_tracker.h"

/** Prints on stderr why each unfinished flow and job can never go on. Takes what the newest
 * statuses tell (flow_tracker_complete). */
void stall_report_print(struct flow_tracker *tracker);
