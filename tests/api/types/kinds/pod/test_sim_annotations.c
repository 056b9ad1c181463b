/*
 * The annotations that script a simulated run.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/sim_annotations.h"

#define SECONDS(n) ((n)*INT64_C(1000000000))

static const struct {
    const char *name, *durations, *codes, *want; /* `want`: the expected message; NULL: accepted */
} checked[] = {
    /* clang-format off */
    {"nothing said",            NULL,          NULL},
    {"one duration",            "90s",         NULL},
    {"minutes and hours",       "1h30m",       NULL},
    {"one for each container",  "a=1s,b=2m",   NULL},
    {"a word",                  "soon",        NULL,    "\"soon\": write a duration"},
    {"a bare number",           "5",           NULL,    "\"5\": write a duration"},
    {"negative",                "-5s",         NULL,    "\"-5s\": write a duration"},
    {"empty",                   "",            NULL,    "\"\": write a duration"},
    {"two without names",       "1s,2s",       NULL,    "write a duration"},
    {"a name that is missing",  "a=1s,2s",     NULL,    "\"2s\": write a duration"},
    {"an empty name",           "=1s",         NULL,    "\"=1s\": write a duration"},
    {"one code",                NULL,          "3"},
    {"a code for each attempt", NULL,          "1,1,0"},
    {"a word as a code",        NULL,          "ok",    "\"ok\": write an exit code"},
    {"a code out of range",     NULL,          "256",   "\"256\": write an exit code"},
    {"a negative code",         NULL,          "-1",    "\"-1\": write an exit code"},
    {"a hole between codes",    NULL,          "1,,0",  "\"\": write an exit code"},
    {"a comma at the end",      NULL,          "1,",    "\"\": write an exit code"},
    {"a code with letters",     NULL,          "1x",    "\"1x\": write an exit code"},
    /* clang-format on */
};

static void invalid_annotations_are_refused(void **state)
{
    for (size_t i = 0; i < countof(checked); i++) {
        struct error_list errors = {0};

        pod_sim_check(checked[i].durations, checked[i].codes, "metadata.annotations", &errors);
        check_int(checked[i].name, errors.count > 0, checked[i].want != NULL);
        if (errors.count && checked[i].want)
            check_has(checked[i].name, errors.items[0].message, checked[i].want);
        if (errors.count)
            check_has(checked[i].name, errors.items[0].field,
                      "metadata.annotations[sim.jobflow.dev/");
        error_list_release(&errors);
    }
}

static void a_container_gets_its_own_duration(void **state)
{
    check_int("all", pod_sim_duration_ns("5s", "c"), SECONDS(5));
    check_int("by name", pod_sim_duration_ns("a=5s,ab=7s", "ab"), SECONDS(7));
    check_int("not named", pod_sim_duration_ns("a=5s", "b"), 0);
    check_int("nothing said", pod_sim_duration_ns(NULL, "b"), 0);
}

static void exit_codes_follow_the_runs_and_the_last_one_stays(void **state)
{
    check_int("first", pod_sim_exit_code("3,1,0", 0), 3);
    check_int("second", pod_sim_exit_code("3,1,0", 1), 1);
    check_int("fifth", pod_sim_exit_code("3,1,0", 4), 0);
    check_int("one for all", pod_sim_exit_code("7", 9), 7);
    check_int("nothing said", pod_sim_exit_code(NULL, 0), 0);
    check("varies", pod_sim_exit_code_varies("1,0") && !pod_sim_exit_code_varies("1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_annotations_are_refused),
        cmocka_unit_test(a_container_gets_its_own_duration),
        cmocka_unit_test(exit_codes_follow_the_runs_and_the_last_one_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
