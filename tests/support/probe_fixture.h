#pragma once
/*
 * Tries of probes at peers, on a loop and a real clock of their own.
 */
#include "probes/attempt.h"
#include "tests/support/canned_server.h"

struct probe_bed {
    struct loop *loop;
    struct probe_http_client *client;
};
struct probe_bed *probe_bed_new(void);
void probe_bed_free(struct probe_bed *bed); /* NULL is fine */
SCOPED_DEFINE_PTR(probe_bed, struct probe_bed *, probe_bed_free)

/** Where a peer listens. */
struct probe_address probe_bed_address(const struct canned_server *peer);

struct probe_outcome {
    struct probe_attempt attempt;
    struct probe_bed *bed;
    int calls; /* of its done */
    bool passed;
};
/** Of a try that has not begun. */
struct probe_outcome probe_outcome_of(struct probe_bed *bed);
/** Wait for the outcome of a try that has just begun: true when it passed. Asserts that it is told
 * once, and was not yet. */
bool probe_outcome_wait(struct probe_outcome *outcome);
