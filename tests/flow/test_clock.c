/*
 * Wall clocks that jump, by a second or a day, forward or back: what waits goes on when its time
 * has come by the clock that does not jump.
 *
 * covers: reliability.md D-12 FT-16
 */
#include "tests/unit.h"

#include "tests/support/flow_fixture.h"

static const int64_t jumps_ms[] = {1000, 3600000, 86400000, -1000, -3600000, -86400000};

enum restart { STAYS, RESTARTS };

/* A wait of 100 s, a jump after 10 s of it. */
static struct flow_bed *jumped(const char *spec, int64_t jump_ms, enum restart restart)
{
    struct flow_bed *bed = flow_bed_new(NULL);

    flow_bed_spec(bed, "f", "a", spec);
    flow_bed_end(bed, "f-a", strstr(spec, "retry") ? 1 : 0, NULL);
    flow_bed_advance(bed, 10000);
    clock_jump_ms(bed->clock, jump_ms);
    if (restart == RESTARTS)
        flow_bed_restart(bed);
    return bed;
}

static bool is_retried(struct flow_bed *bed)
{
    return strcmp(bed->created.data, "f-a f-a") == 0;
}

static bool is_gone(struct flow_bed *bed)
{
    return !flow_bed_get(bed, &kind_job_flow, "f");
}

static bool has_failed(struct flow_bed *bed)
{
    return strcmp(flow_bed_at(bed, "f", "state/phase"), "Failed") == 0;
}

/* clang-format off */
static const struct {
    const char *name, *spec;
    bool (*is_over)(struct flow_bed *bed);
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
            scoped(flow_bed) struct flow_bed *bed = jumped(waits[w].spec, jumps_ms[j], STAYS);

            flow_bed_advance(bed, 88000);
            check(waits[w].name, !waits[w].is_over(bed));
            flow_bed_advance(bed, 4000);
            check(waits[w].name, waits[w].is_over(bed));
        }
}

/* It knows the wall alone: set back, it waits for no more than the whole time once more. */
static void a_restart_after_a_jump_waits_no_longer_than_the_whole_time(void **state)
{
    for (size_t w = 0; w < countof(waits); w++)
        for (size_t j = 0; j < countof(jumps_ms); j++) {
            scoped(flow_bed) struct flow_bed *bed = jumped(waits[w].spec, jumps_ms[j], RESTARTS);

            flow_bed_advance(bed, 102000);
            check(waits[w].name, waits[w].is_over(bed));
        }
}

/* A job that ends, by the wall, before it began: its record does not. */
static void no_end_comes_before_its_start(void **state)
{
    scoped(flow_bed) struct flow_bed *bed = flow_bed_new(NULL);
    const char *start, *end;
    json_t *status, *span;

    flow_bed_spec(bed, "f", "a", "flows: [{name: a}]");
    flow_bed_phase(bed, "f-a", JOB_RUNNING);
    flow_bed_advance(bed, 5000);
    clock_jump_ms(bed->clock, -3600000);
    flow_bed_phase(bed, "f-a", JOB_COMPLETED);
    flow_bed_advance(bed, 5000);
    status = flow_bed_flow_status(bed, "f");
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
