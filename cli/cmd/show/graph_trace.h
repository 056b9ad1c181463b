#pragma once
/*
 * The form of `jobflow graph` that shows a flow over time: `-o trace`.
 */
#include "cli/inspect/flow_source.h"

/** Prints the trace of the one flow of the sources, compressed if `gzip`. Returns the exit code
 * after printing what is wrong. */
int graph_trace(struct flow_sources *sources, bool gzip);
