#pragma once
/*
 * Tries of probes at peers, on a loop and a real clock of their own.
 */
#include "probes/attempt.h"
#include "tests/support/canned_server.h"

struct probe_fixture {
    struct loop *loop;
    struct probe_http_client *client;
};
struct probe_fixture *probe_fixture_new(void);
void probe_fixture_free(struct probe_fixture *fixture); /* NULL is fine */
SCOPED_DEFINE_PTR(probe_fixture, struct probe_fixture *, probe_fixture_free)

/** Where a peer listens. */
struct probe_address probe_fixture_address(const struct canned_server *peer);

struct probe_outcome {
    struct probe_attempt attempt;
    struct probe_fixture *fixture;
    int calls; /* of its done */
    bool passed;
};
/** Of a try that has not begun. */
struct probe_outcome probe_outcome_of(struct probe_fixture *fixture);
/** Wait for the outcome of a try that has just begun: true when it passed. Asserts that it is told
 * once, and was not yet. */
bool probe_outcome_wait(struct probe_outcome *outcome);
