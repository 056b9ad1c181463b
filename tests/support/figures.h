#pragma once
/*
 * What a process would show on /metrics.
 */
#include "base/loop.h"

/** A line is there, as "name{label=\"value\"} 1". */
void check_figure(struct loop *loop, const char *line);
/** No line begins like this. */
void check_no_figure(struct loop *loop, const char *begin);
