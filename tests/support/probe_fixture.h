#pragma once
/*
 * Runs attempts of probes against servers of the test, on a loop with the real clock.
 */
#include "probes/attempt.h"
#include "tests/support/canned_server.h"

struct probe_fixture {
    struct loop *loop;
    struct probe_http_client *client;
};
struct probe_fixture *probe_fixture_new(void);
void probe_fixture_free(struct probe_fixture *fixture); /* NULL is ignored */
SCOPED_DEFINE_PTR(probe_fixture, struct probe_fixture *, probe_fixture_free)

/** Returns the address of a server. */
struct probe_address probe_fixture_address(const struct canned_server *peer);

struct probe_outcome {
    struct probe_attempt attempt;
    struct probe_fixture *fixture;
    int calls; /* number of calls of the attempt's `done` */
    bool passed;
};
/** Returns the struct for the outcome of an attempt that has not begun. */
struct probe_outcome probe_outcome_of(struct probe_fixture *fixture);
/** Waits for the outcome of an attempt that has just begun; returns true when it passed. Asserts
 * that `done` is called once, and not before this call. */
bool probe_outcome_wait(struct probe_outcome *outcome);
