/*
 * node/runtime_host.c and the shim, with real processes: pods without a box of their own.
 */
#include "tests/unit.h"

#include "tests/support/pods.h"

enum { LIMIT_MS = 20000 };

static struct bed *bed;

static int set_up(void **state)
{
    scoped_str dir = test_path("bare");

    bed = bed_new(dir, NULL);
    return 0;
}

static int tear_down(void **state)
{
    bed_free(bed);
    return 0;
}

/* covers: local-runtime.md LRT-20 LRT-21 LRT-22; reliability.md INV-N2 */
static void exit_codes_and_signals_are_reported_as_they_were(void **state)
{
    static const struct {
        const char *name;
        const char *argv[4];
        int code, signal;
        const char *reason;
        enum pod_phase phase;
        const char *message;
    } cases[] = {
        {"exit 0", {"true"}, 0, 0, "Completed", POD_SUCCEEDED, NULL},
        {"exit 3", {"sh", "-c", "exit 3"}, 3, 0, "Error", POD_FAILED, NULL},
        {"sigsegv", {"sh", "-c", "kill -SEGV $$"}, 139, 11, "Error", POD_FAILED, NULL},
        {"sigkill", {"sh", "-c", "kill -KILL $$"}, 137, 9, "Error", POD_FAILED, NULL},
        {"exit 137", {"sh", "-c", "exit 137"}, 137, 0, "Error", POD_FAILED, NULL},
        {"not found",
         {"no-such-program"},
         127,
         0,
         "ContainerCannotRun",
         POD_FAILED,
         "not found in $PATH"},
        {"no such path",
         {"/no/such/program"},
         127,
         0,
         "ContainerCannotRun",
         POD_FAILED,
         "No such file"},
        {"not executable",
         {"/etc/passwd"},
         126,
         0,
         "ContainerCannotRun",
         POD_FAILED,
         "ermission denied"},
        {"a directory", {"/etc"}, 126, 0, "ContainerCannotRun", POD_FAILED, "ermission denied"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str uid = mem_printf("exit-%zu", i);
        struct bed_pod pod = {uid};
        const struct pod_status *status;

        memcpy(pod.main[0].argv, cases[i].argv, sizeof cases[i].argv);
        bed_start(bed, &pod);
        status = bed_final(bed, uid, LIMIT_MS);
        check(cases[i].name, status);
        check_int(cases[i].name, status->phase, cases[i].phase);

        const struct container_status *c = &status->containers.items[0];

        check_int(cases[i].name, c->state, CONTAINER_TERMINATED);
        check_int(cases[i].name, c->exit_code, cases[i].code);
        check_int(cases[i].name, c->signal, cases[i].signal);
        check_str(cases[i].name, c->reason, cases[i].reason);
        check(cases[i].name, c->finished_ms >= c->started_ms && c->started_ms > 0);
        if (cases[i].message)
            check_has(cases[i].name, c->message, cases[i].message);
        check_int(cases[i].name, bed_finals(bed, uid), 1);
        bed_runtime(bed)->ops->release(bed_runtime(bed), uid);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes_and_signals_are_reported_as_they_were),
    };
    int code = runtime_shim_main(argc, argv);

    return code >= 0 ? code : cmocka_run_group_tests(tests, set_up, tear_down);
}
