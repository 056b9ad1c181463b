#pragma once
/*
 * A random walk through the life of a flow (tests/support/flow_gen): jobs come to their ends, time
 * passes, the controller restarts, writes fail or are lost, people suspend, abort, retry, edit and
 * delete the flow, its jobs, its template. What the engine does meanwhile is compared with the
 * rules (tests/support/flow_rules), change by change and whenever all is quiet: reliability.md
 * INV-F1…F11, LIV-1…3.
 *
 * A walk has a twin: the same flow with the same ends of its jobs, without anything else happening.
 * Where the order of events cannot matter, both must end alike.
 */
#include <stdbool.h>
#include <stdint.h>

enum { FLOW_WALK_TEXT = 1024 };

struct flow_walk_options {
    bool trace;              /* print what happens */
    unsigned (*syncs)(void); /* decisions of the engine so far, or NULL: LIV-3 is asked */
    uint64_t *hash;          /* of all that happened, or NULL */
};

/** True when nothing was violated; otherwise `violation` says what, and after which event. */
bool walk_flow(uint64_t seed, const struct flow_walk_options *options,
               char violation[FLOW_WALK_TEXT]);
