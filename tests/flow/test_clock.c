/*
 * Tests wall clocks that jump by a second or a day, forward or back. A wait ends when its time has
 * come by the clock that does not jump.
 *
 * covers: reliability.md D-12 FT-16
 */
#include "tests/unit.h"

#include "tests/support/flow_fixture.h"

static const int64_t jumps_ms[] = {1000, 3600000, 86400000, -1000, -3600000, -86400000};

enum restart { STAYS, RESTARTS };

/* Runs a flow that waits for 100 s; the wall clock jumps after 10 s. */
static struct flow_fixture *jumped(const char *spec, int64_t jump_ms, enum restart restart)
{
    struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "a", spec);
    flow_fixture_end(fixture, "f-a", strstr(spec, "retry") ? 1 : 0, NULL);
    flow_fixture_advance(fixture, 10000);
    clock_jump_ms(fixture->clock, jump_ms);
    if (restart == RESTARTS)
        flow_fixture_restart(fixture);
    return fixture;
}

static bool is_retried(struct flow_fixture *fixture)
{
    return strcmp(fixture->created.data, "f-a f-a") == 0;
}

static bool is_gone(struct flow_fixture *fixture)
{
    return !flow_fixture_get(fixture, &kind_job_flow, "f");
}

static bool has_failed(struct flow_fixture *fixture)
{
    return strcmp(flow_fixture_at(fixture, "f", "state/phase"), "Failed") == 0;
}

/* clang-format off */
static const struct {
    const char *name, *spec;
    bool (*is_over)(struct flow_fixture *fixture);
} waits[] = {
    {"back-off",     "flows: [{name: a, retry: {maxRetry: 1, backoffSeconds: 100}}]",          is_retried},
    {"time to live", "flows: [{name: a}], ttlSecondsAfterFinished: 100",                       is_gone},
    {"deadline",     "flows: [{name: a}, {name: b, jobTemplateName: a}], activeDeadlineSeconds: 100", has_failed},
};
/* clang-format on */

static void a_jump_neither_shortens_nor_lengthens_a_wait(void **state)
{
    for (size_t w = 0; w < countof(waits); w++)
        for (size_t j = 0; j < countof(jumps_ms); j++) {
            scoped(flow_fixture) struct flow_fixture *fixture =
                jumped(waits[w].spec, jumps_ms[j], STAYS);

            flow_fixture_advance(fixture, 88000);
            check(waits[w].name, !waits[w].is_over(fixture));
            flow_fixture_advance(fixture, 4000);
            check(waits[w].name, waits[w].is_over(fixture));
        }
}

/* After a restart only the wall clock is known. If it was set back, the wait is at most the whole
     * time once more. */
static void a_restart_after_a_jump_waits_no_longer_than_the_whole_time(void **state)
{
    for (size_t w = 0; w < countof(waits); w++)
        for (size_t j = 0; j < countof(jumps_ms); j++) {
            scoped(flow_fixture) struct flow_fixture *fixture =
                jumped(waits[w].spec, jumps_ms[j], RESTARTS);

            flow_fixture_advance(fixture, 102000);
            check(waits[w].name, waits[w].is_over(fixture));
        }
}

/* The wall clock is set back while the job runs. By that clock the job would end before it began,
 * but its stored times do not. */
static void no_end_comes_before_its_start(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    const char *start, *end;
    json_t *status, *span;

    flow_fixture_spec(fixture, "f", "a", "flows: [{name: a}]");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_advance(fixture, 5000);
    clock_jump_ms(fixture->clock, -3600000);
    flow_fixture_phase(fixture, "f-a", JOB_COMPLETED);
    flow_fixture_advance(fixture, 5000);
    status = flow_fixture_flow_status(fixture, "f");
    span =
        json_array_get(json_object_get(json_array_get(json_object_get(status, "jobStatusList"), 0),
                                       "runningHistories"),
                       0);
    start = json_string_value(json_object_get(span, "startTimestamp"));
    end = json_string_value(json_object_get(span, "endTimestamp"));
    check("both are there", start && end);
    check("in order", strcmp(start, end) <= 0);
    start = json_string_value(json_object_get(status, "startTime"));
    end = json_string_value(json_object_get(status, "completionTime"));
    check("the flow's are there", start && end);
    check("the flow's are in order", strcmp(start, end) <= 0);
    json_decref(status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_jump_neither_shortens_nor_lengthens_a_wait),
        cmocka_unit_test(a_restart_after_a_jump_waits_no_longer_than_the_whole_time),
        cmocka_unit_test(no_end_comes_before_its_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
