/*
 * See probe_fixture.h.
 */
#include "tests/support/probe_fixture.h"
#include "tests/unit.h"

#include "base/mem.h"

struct probe_bed *probe_bed_new(void)
{
    struct probe_bed *bed = mem_alloc(sizeof *bed);

    bed->loop = loop_new(clock_real());
    bed->client = probe_http_client_new(bed->loop);
    return bed;
}

void probe_bed_free(struct probe_bed *bed)
{
    if (!bed)
        return;
    probe_http_client_free(bed->client);
    loop_settle(bed->loop);
    loop_free(bed->loop);
    mem_free(bed);
}

struct probe_address probe_bed_address(const struct canned_server *peer)
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
    loop_stop(outcome->bed->loop);
}

struct probe_outcome probe_outcome_of(struct probe_bed *bed)
{
    return (struct probe_outcome){.attempt.done = on_done, .bed = bed};
}

bool probe_outcome_wait(struct probe_outcome *outcome)
{
    check_int("never inside the call", outcome->calls, 0);
    loop_run(outcome->bed->loop);
    check_int("once", outcome->calls, 1);
    return outcome->passed;
}
