/*
 * What wakes the engine, and how often: events of one turn are looked at once.
 */
#include "tests/unit.h"

#include "tests/support/flow_fixture.h"

static unsigned writes_since(struct flow_bed *bed, unsigned *before)
{
    unsigned made;

    flow_bed_advance(bed, 5000);
    made = bed->flow_writes - *before;
    *before = bed->flow_writes;
    return made;
}

/* covers: jobflow.md 131 133 135 136 */
static void events_of_one_turn_are_one_look(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    unsigned before = 0;

    flow_bed_run(bed, "f", "a, b, c<-a+b");
    flow_bed_run(bed, "g", "a, b");
    check_str("each once", bed->created.data, "f-a f-b g-a g-b");
    writes_since(bed, &before);
    check_int("nothing happens", (int)writes_since(bed, &before), 0);
    flow_bed_phase_soon(bed, "f-a", JOB_RUNNING);
    flow_bed_phase_soon(bed, "f-b", JOB_RUNNING);
    check_int("two events of one flow", (int)writes_since(bed, &before), 1);
    flow_bed_phase_soon(bed, "f-a", JOB_RESTARTING);
    flow_bed_phase_soon(bed, "g-a", JOB_RUNNING);
    check_int("events of two flows", (int)writes_since(bed, &before), 2);
    check_str("the owner's", flow_bed_at(bed, "g", "runningJobs"), "[\"g-a\"]");
}

/* covers: jobflow.md 132 */
static void a_policy_set_after_the_end_is_seen(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_run(bed, "f", "a");
    flow_bed_complete(bed, "f-a");
    flow_bed_advance(bed, 1000);
    check_str("ended", flow_bed_at(bed, "f", "state/phase"), "Succeed");
    check("kept", flow_bed_has_job(bed, "f-a"));
    flow_bed_flow(bed, "f", "a", "jobRetainPolicy: delete");
    check("then deleted", !flow_bed_has_job(bed, "f-a"));
}

/* covers: jobflow.md 134 */
static void jobs_of_others_wake_nobody(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    unsigned before = 0;

    flow_bed_run(bed, "f", "a");
    flow_bed_apply(bed, "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: f-x}\n"
                        "spec: {tasks: [{name: main, replicas: 1, template: {spec: {containers: "
                        "[{name: c, image: i}]}}}]}\n");
    writes_since(bed, &before);
    flow_bed_phase(bed, "f-x", JOB_RUNNING);
    flow_bed_phase(bed, "f-x", JOB_FAILED);
    check_int("no write", (int)writes_since(bed, &before), 0);
    check_str("no failure", flow_bed_at(bed, "f", "failedJobs"), "");
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
