#pragma once
/*
 * A random walk of a flow (tests/support/flow_gen): jobs end, time passes, the controller restarts,
 * writes fail or are lost, and users suspend, abort, retry, edit and delete the flow, its jobs and
 * its template. What the controller does is compared with the rules (tests/support/flow_rules), at
 * each change and whenever nothing is in flight: reliability.md INV-F1…F11, LIV-1…3.
 *
 * A walk has a twin: the same flow with the same ends of its jobs and without disturbances. Where
 * the order of events cannot matter, both must end alike.
 */
#include <stdbool.h>
#include <stdint.h>

enum { FLOW_WALK_TEXT = 1024 };

struct flow_walk_options {
    bool trace;              /* print what happens */
    unsigned (*syncs)(void); /* syncs of the controller so far, for LIV-3; or NULL */
    uint64_t *hash;          /* hash of all events, or NULL */
};

/** Returns true when no rule was violated; else `violation` says which, and after which event. */
bool walk_flow(uint64_t seed, const struct flow_walk_options *options,
               char violation[FLOW_WALK_TEXT]);
