#pragma once
/*
 * A random walk through the life of a flow (tests/support/flow_gen): jobs come to their ends, time
 * passes, the controller restarts, writes fail or are lost, people suspend the flow, delete its
 * jobs, retry it; after each of these everything that must hold (reliability.md INV-F1…F11,
 * LIV-1…3).
 *
 * A walk has a twin: the same flow with the same ends of its jobs, without anything else happening.
 * Where the order of events cannot matter, both must end alike.
 */
#include <stdbool.h>
#include <stdint.h>

enum { FLOW_WALK_TEXT = 1024 };

struct flow_walk_options {
    bool trace; /* print what happens */
};

/** True when nothing was violated; otherwise `violation` says what, and after which event. */
bool walk_flow(uint64_t seed, const struct flow_walk_options *options,
               char violation[FLOW_WALK_TEXT]);
