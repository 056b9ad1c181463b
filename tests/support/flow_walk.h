#pragma once
/*
 * A random test of one flow (tests/support/flow_gen): jobs end, time passes, the controller
 * restarts, writes fail or are lost, and users suspend, abort, retry, edit and delete the flow, its
 * jobs and its template. The controller is compared with the rules (tests/support/flow_rules) at
 * each change and whenever nothing is in flight: reliability.md INV-F1…F11, LIV-1…3.
 *
 * Each random test has a twin: the same flow with the same ends of its jobs and without
 * disturbances. Where the order of events cannot matter, both must have the same result.
 */
#include <stdbool.h>
#include <stdint.h>

enum { FLOW_WALK_TEXT = 1024 };

struct flow_walk_options {
    bool trace;  /* print each event */
    bool reruns; /* flows that have ended also run some of their steps again */
    /* Returns the number of syncs of the controller so far, for rule LIV-3; or NULL. */
    unsigned (*syncs)(void);
    uint64_t *hash; /* receives a hash of all events; or NULL */
};

/** Returns true when no rule was violated; otherwise `violation` names the rule and the event
 * before. */
bool walk_flow(uint64_t seed, const struct flow_walk_options *options,
               char violation[FLOW_WALK_TEXT]);
