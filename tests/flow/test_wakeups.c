/*
 * Tests how often the controller syncs a flow: once for all events of a turn.
 */
#include "tests/unit.h"

#include "tests/support/flow_fixture.h"

static unsigned writes_since(struct flow_fixture *fixture, unsigned *before)
{
    unsigned made;

    flow_fixture_advance(fixture, 5000);
    made = fixture->flow_writes - *before;
    *before = fixture->flow_writes;
    return made;
}

/* covers: jobflow.md 131 133 135 136 */
static void events_of_one_turn_are_one_look(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    unsigned before = 0;

    flow_fixture_run(fixture, "f", "a, b, c<-a+b");
    flow_fixture_run(fixture, "g", "a, b");
    check_str("each once", fixture->created.data, "f-a f-b g-a g-b");
    writes_since(fixture, &before);
    check_int("nothing happens", (int)writes_since(fixture, &before), 0);
    flow_fixture_phase_soon(fixture, "f-a", JOB_RUNNING);
    flow_fixture_phase_soon(fixture, "f-b", JOB_RUNNING);
    check_int("two events of one flow", (int)writes_since(fixture, &before), 1);
    flow_fixture_phase_soon(fixture, "f-a", JOB_RESTARTING);
    flow_fixture_phase_soon(fixture, "g-a", JOB_RUNNING);
    check_int("events of two flows", (int)writes_since(fixture, &before), 2);
    check_str("the owner's", flow_fixture_at(fixture, "g", "runningJobs"), "[\"g-a\"]");
}

/* covers: jobflow.md 132 */
static void a_policy_set_after_the_end_is_seen(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_advance(fixture, 1000);
    check_str("ended", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    check("kept", flow_fixture_has_job(fixture, "f-a"));
    flow_fixture_flow(fixture, "f", "a", "jobRetainPolicy: delete");
    check("then deleted", !flow_fixture_has_job(fixture, "f-a"));
}

/* covers: jobflow.md 134 */
static void jobs_of_others_wake_nobody(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    unsigned before = 0;

    flow_fixture_run(fixture, "f", "a");
    flow_fixture_apply(fixture,
                       "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: f-x}\n"
                       "spec: {tasks: [{name: main, replicas: 1, template: {spec: {containers: "
                       "[{name: c, image: i}]}}}]}\n");
    writes_since(fixture, &before);
    flow_fixture_phase(fixture, "f-x", JOB_RUNNING);
    flow_fixture_phase(fixture, "f-x", JOB_FAILED);
    check_int("no write", (int)writes_since(fixture, &before), 0);
    check_str("no failure", flow_fixture_at(fixture, "f", "failedJobs"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_one_turn_are_one_look),
        cmocka_unit_test(a_policy_set_after_the_end_is_seen),
        cmocka_unit_test(jobs_of_others_wake_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
