/*
 * Runs attempts of probes on a loop with the real clock and waits for their outcome.
 */
#include "tests/support/probe_fixture.h"
#include "tests/unit.h"

#include "base/mem.h"

struct probe_fixture *probe_fixture_new(void)
{
    struct probe_fixture *fixture = mem_alloc(sizeof *fixture);

    fixture->loop = loop_new(clock_real());
    fixture->client = probe_http_client_new(fixture->loop);
    return fixture;
}

void probe_fixture_free(struct probe_fixture *fixture)
{
    if (!fixture)
        return;
    probe_http_client_free(fixture->client);
    loop_settle(fixture->loop);
    loop_free(fixture->loop);
    mem_free(fixture);
}

struct probe_address probe_fixture_address(const struct canned_server *peer)
{
    struct probe_address address;

    check("address", probe_address_of("127.0.0.1", canned_server_port(peer), NULL, &address, NULL));
    return address;
}

static void on_done(struct probe_attempt *attempt, bool passed)
{
    struct probe_outcome *outcome = container_of(attempt, struct probe_outcome, attempt);

    outcome->calls++;
    outcome->passed = passed;
    loop_stop(outcome->fixture->loop);
}

struct probe_outcome probe_outcome_of(struct probe_fixture *fixture)
{
    return (struct probe_outcome){.attempt.done = on_done, .fixture = fixture};
}

bool probe_outcome_wait(struct probe_outcome *outcome)
{
    check_int("never inside the call", outcome->calls, 0);
    loop_run(outcome->fixture->loop);
    check_int("once", outcome->calls, 1);
    return outcome->passed;
}
