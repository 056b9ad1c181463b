#pragma once
/*
 * A simulation in which nothing can happen any more, although a flow is not over: what waits for
 * what, as errors.
 */
#include "view/run_model.h"

/** Print why each unfinished flow and job can never go on. */
void stuck_tell(const struct follow *follow);
