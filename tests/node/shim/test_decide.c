/* Tests node/shim/decide: the next action and the phase of a pod, in every situation. */
#include "tests/unit.h"

#include "node/shim/decide.h"

#define W CONTAINER_WAITING
#define R CONTAINER_RUNNING
#define T CONTAINER_TERMINATED

/* covers: local-runtime.md LRT-23; see 6.3 */
static void every_situation_has_its_next_action(void **state)
{
    static const struct {
        const char *name;
        struct decide_container c[4]; /* containers: state, sidecar, in_backoff, starting, exit
                                       * code */
        unsigned n_init, n_main;
        enum decide_what what;
        unsigned container;
        enum pod_phase phase, final;
    } cases[] = {
        {"begin", {{W, false}}, 0, 1, DECIDE_START, 0, POD_PENDING, POD_FAILED},
        {"starting", {{W, false, .starting = true}}, 0, 1, DECIDE_WAIT, 0, POD_PENDING, POD_FAILED},
        {"running", {{R, false}}, 0, 1, DECIDE_WAIT, 0, POD_RUNNING, POD_FAILED},
        {"in_backoff",
         {{W, false, .in_backoff = true}},
         0,
         1,
         DECIDE_WAIT,
         0,
         POD_RUNNING,
         POD_FAILED},
        {"done", {{T, false}}, 0, 1, DECIDE_END, 0, POD_RUNNING, POD_SUCCEEDED},
        {"failed", {{T, false, .exit_code = 1}}, 0, 1, DECIDE_END, 0, POD_RUNNING, POD_FAILED},
        {"one of two done",
         {{T, false}, {R, false}},
         0,
         2,
         DECIDE_WAIT,
         0,
         POD_RUNNING,
         POD_FAILED},
        {"second to start",
         {{R, false}, {W, false}},
         0,
         2,
         DECIDE_START,
         1,
         POD_PENDING,
         POD_FAILED},
        {"init first", {{W, false}, {W, false}}, 1, 1, DECIDE_START, 0, POD_PENDING, POD_FAILED},
        {"init runs", {{R, false}, {W, false}}, 1, 1, DECIDE_WAIT, 0, POD_PENDING, POD_FAILED},
        {"init done", {{T, false}, {W, false}}, 1, 1, DECIDE_START, 1, POD_PENDING, POD_FAILED},
        {"init failed",
         {{T, false, .exit_code = 2}, {W, false}},
         1,
         1,
         DECIDE_END,
         0,
         POD_PENDING,
         POD_FAILED},
        {"init rests",
         {{W, false, .in_backoff = true}, {W, false}},
         1,
         1,
         DECIDE_WAIT,
         0,
         POD_PENDING,
         POD_FAILED},
        {"second init waits",
         {{R, false}, {W, false}, {W, false}},
         2,
         1,
         DECIDE_WAIT,
         0,
         POD_PENDING,
         POD_FAILED},
        {"sidecar first", {{W, true}, {W, false}}, 1, 1, DECIDE_START, 0, POD_PENDING, POD_FAILED},
        {"beside a sidecar",
         {{R, true}, {W, false}},
         1,
         1,
         DECIDE_START,
         1,
         POD_PENDING,
         POD_FAILED},
        {"beside a sidecar that is not up",
         {{R, true, .startup_pending = true}, {W, false}},
         1,
         1,
         DECIDE_WAIT,
         0,
         POD_PENDING,
         POD_FAILED},
        {"a sidecar that is not up is started again",
         {{W, true, .startup_pending = true}, {W, false}},
         1,
         1,
         DECIDE_START,
         0,
         POD_PENDING,
         POD_FAILED},
        {"sidecar left", {{R, true}, {T, false}}, 1, 1, DECIDE_END, 0, POD_RUNNING, POD_SUCCEEDED},
        {"sidecar rests",
         {{W, true, .in_backoff = true}, {R, false}},
         1,
         1,
         DECIDE_WAIT,
         0,
         POD_RUNNING,
         POD_FAILED},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct decide_pod pod = {cases[i].c, cases[i].n_init, cases[i].n_main, RESTART_NEVER};
        struct decide_next next = pod_decide(&pod);

        check_int(cases[i].name, next.what, cases[i].what);
        if (next.what == DECIDE_START)
            check_int(cases[i].name, next.container, cases[i].container);
        check_int(cases[i].name, pod_phase_of(&pod, false), cases[i].phase);
        check_int(cases[i].name, pod_phase_of(&pod, true), cases[i].final);
    }
}

static void restart_policies_match_the_kubelet(void **state)
{
    static const struct {
        enum shim_restart restart;
        int32_t code;
        bool sidecar, init, again;
    } cases[] = {
        {RESTART_NEVER, 1, false, false, false},     {RESTART_NEVER, 1, false, true, false},
        {RESTART_NEVER, 0, true, true, true},        {RESTART_ON_FAILURE, 0, false, false, false},
        {RESTART_ON_FAILURE, 1, false, false, true}, {RESTART_ON_FAILURE, 1, false, true, true},
        {RESTART_ALWAYS, 0, false, false, true},     {RESTART_ALWAYS, 0, false, true, false},
        {RESTART_ALWAYS, 1, false, true, true},      {RESTART_ALWAYS, 0, true, true, true},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str name = mem_printf("row %zu", i);

        check_int(name,
                  pod_restarts(cases[i].restart, cases[i].sidecar, cases[i].init, cases[i].code),
                  cases[i].again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_situation_has_its_next_action),
        cmocka_unit_test(restart_policies_match_the_kubelet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
