#pragma once
/*
 * Checks of the metrics that a process exposes on /metrics.
 */
#include "base/loop/loop.h"

/** Checks that /metrics contains this line, for example "name{label=\"value\"} 1". */
void check_metric(struct loop *loop, const char *line);
/** Checks that no line of /metrics begins with this text. */
void check_no_metric(struct loop *loop, const char *begin);
