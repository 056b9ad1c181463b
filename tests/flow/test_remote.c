/*
 * Tests the flow controller on a remote cluster whose server, in the same process, loses requests
 * and answers. Whatever is lost, the flow ends and each of its jobs is created once. covers:
 * cluster.md CLU-071 CLU-267 CLU-268
 */
#include "tests/unit.h"

#include "tests/support/flow_fixture.h"

struct plan {
    const struct flow_fixture *fixture;
    enum api_fate fate;
    unsigned first, times; /* the writes from `first` on meet `fate`, `times` of them */
    unsigned writes;       /* number of writes so far */
};

static enum api_fate fate_of(void *ctx, const char *method, const char *target)
{
    struct plan *plan = ctx;

    if (strcmp(method, "GET") == 0)
        return API_ANSWERED;
    plan->writes++;
    return plan->writes > plan->first && plan->writes <= plan->first + plan->times ? plan->fate
                                                                                   : API_ANSWERED;
}

/* Runs flow `f`, a then b and c, with the plan. Returns the number of writes without it. */
static unsigned run(const char *name, struct plan *plan)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    unsigned before;

    check("remote", fixture->transport != NULL);
    api_transport_plan(fixture->transport, fate_of, plan);
    flow_fixture_run(fixture, "f", "a, b<-a, c<-a");
    for (int i = 0; i < 3; i++) {
        static const char *const jobs[] = {"f-a", "f-b", "f-c"};

        flow_fixture_advance(fixture, 100000);
        check(name, flow_fixture_has_job(fixture, jobs[i]));
        flow_fixture_complete(fixture, jobs[i]);
    }
    flow_fixture_advance(fixture, 200000);
    before = plan->writes;
    check_str(name,
              flow_phase_text(jobflow_phase_of(flow_fixture_get(fixture, &kind_job_flow, "f"))),
              "Succeed");
    check(name, strcmp(fixture->created.data, "f-a f-b f-c") == 0 ||
                    strcmp(fixture->created.data, "f-a f-c f-b") == 0);
    return before;
}

static void each_write_may_be_lost(void **state)
{
    static const struct {
        const char *name;
        enum api_fate fate;
    } fates[] = {
        {"unreachable", API_UNREACHABLE},
        {"request lost", API_REQUEST_LOST},
        {"answer lost", API_ANSWER_LOST},
        {"hangs", API_HANGS},
        {"busy", API_BUSY},
        {"fails", API_FAILS},
    };
    struct plan none = {.first = 1000000};
    unsigned writes = run("without faults", &none);

    for (size_t f = 0; f < countof(fates); f++) {
        for (unsigned i = 0; i < writes; i++) {
            scoped_str name = mem_printf("write %u: %s", i + 1, fates[f].name);
            struct plan plan = {.fate = fates[f].fate, .first = i, .times = 1};

            run(name, &plan);
        }
    }
}

/* A leader that dies at any write is followed by another one, which finds what was done. */
static void the_next_leader_goes_on_after_each_write(void **state)
{
    for (unsigned i = 0; i < 12; i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        scoped_str name = mem_printf("write %u", i + 1);
        struct plan plan = {.fate = API_ANSWER_LOST, .first = i, .times = 1000};
        static const char *const jobs[] = {"f-a", "f-b", "f-c"};

        api_transport_plan(fixture->transport, fate_of, &plan);
        flow_fixture_run(fixture, "f", "a, b<-a, c<-b");
        for (size_t k = 0; k < countof(jobs); k++) {
            if (flow_fixture_has_job(fixture, jobs[k]))
                flow_fixture_complete(fixture, jobs[k]);
        }
        flow_fixture_fence(fixture);
        flow_fixture_stop(fixture);
        plan.times = 0;
        flow_fixture_unfence(fixture);
        flow_fixture_start(fixture);
        for (size_t k = 0; k < countof(jobs); k++) {
            flow_fixture_advance(fixture, 100000);
            check(name, flow_fixture_has_job(fixture, jobs[k]));
            flow_fixture_complete(fixture, jobs[k]);
        }
        flow_fixture_advance(fixture, 200000);
        check_str(name,
                  flow_phase_text(jobflow_phase_of(flow_fixture_get(fixture, &kind_job_flow, "f"))),
                  "Succeed");
        check_str(name, fixture->created.data, "f-a f-b f-c");
    }
}

static enum api_fate no_watch_of_pods(void *ctx, const char *method, const char *target)
{
    return strstr(target, "/pods") && strstr(target, "watch=true") ? API_HANGS : API_ANSWERED;
}

/* Starts a fixture whose watch of pods tells nothing, and runs a flow in it. */
static struct flow_fixture *run_without_pods(const char *spec)
{
    struct flow_fixture *fixture = flow_fixture_new(NULL);

    api_transport_plan(fixture->transport, no_watch_of_pods, NULL);
    api_transport_break(fixture->transport);
    flow_fixture_advance(fixture, 5000); /* the other watches are open again */
    flow_fixture_spec(fixture, "f", "a b", spec);
    check("job", flow_fixture_has_job(fixture, "f-a"));
    return fixture;
}

static void complete_with_pods(struct flow_fixture *fixture, const char *job, int succeeded)
{
    const struct job_status status = {.phase = JOB_COMPLETED,
                                      .succeeded = succeeded,
                                      .transition_ms = loop_wall_ms(fixture->loop),
                                      .running_duration_ns = -1};

    flow_fixture_status(fixture, job, &status);
    flow_fixture_advance(fixture, 1000);
}

static unsigned lists_of_pods(const struct flow_fixture *fixture)
{
    return api_transport_count(fixture->transport, "GET", "job-name%3Df-a");
}

#define WITH_OUTPUT                                                                                \
    "flows: [{name: a}, {name: b, dependsOn: {targets: [a]}, if: {terms: [{target: a, output: "    \
    "{key: k, values: [\"1\"]}}]}}]"

static void outputs_are_there_though_the_pods_are_seen_late(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = run_without_pods(WITH_OUTPUT);

    flow_fixture_end_pod(fixture, "f-a", "main", 0, 0, "k=1");
    check_int("nothing is asked yet", (int)lists_of_pods(fixture), 0);
    complete_with_pods(fixture, "f-a", 1);
    check_int("the pods are read once", (int)lists_of_pods(fixture), 1);
    check("the output is there", flow_fixture_has_job(fixture, "f-b"));
}

/* Only the template of the second step tells that it needs the output. */
static void outputs_in_a_template_are_there_though_the_pods_are_seen_late(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    api_transport_plan(fixture->transport, no_watch_of_pods, NULL);
    api_transport_break(fixture->transport);
    flow_fixture_advance(fixture, 5000);
    flow_fixture_apply(
        fixture, "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobTemplate, metadata: {name: b, "
                 "namespace: default}, spec: {tasks: [{name: main, replicas: 1, template: {spec: "
                 "{containers: [{name: c, image: i, command: [c, $(steps.a.outputs.k)]}]}}}]}}");
    flow_fixture_spec(fixture, "f", "a",
                      "flows: [{name: a}, {name: b, dependsOn: {targets: [a]}}]");
    flow_fixture_end_pod(fixture, "f-a", "main", 0, 0, "k=out");
    complete_with_pods(fixture, "f-a", 1);
    check_int("the pods are read once", (int)lists_of_pods(fixture), 1);
    check("b", flow_fixture_has_job(fixture, "f-b"));
    check_has("the output", flow_fixture_get(fixture, &kind_job, "f-b")->body->text, "\"out\"");
}

static void pods_that_are_gone_are_asked_for_once(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = run_without_pods(WITH_OUTPUT);

    complete_with_pods(fixture, "f-a", 2);
    check_int("the pods are read once", (int)lists_of_pods(fixture), 1);
    check("the condition is not met", !flow_fixture_has_job(fixture, "f-b"));
    check_str("the flow goes on without the output",
              flow_phase_text(jobflow_phase_of(flow_fixture_get(fixture, &kind_job_flow, "f"))),
              "Succeed");
}

static void without_outputs_no_pods_are_asked_for(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture =
        run_without_pods("flows: [{name: a}, {name: b, dependsOn: {targets: [a]}}]");

    flow_fixture_end_pod(fixture, "f-a", "main", 0, 0, "k=1");
    complete_with_pods(fixture, "f-a", 1);
    check("b", flow_fixture_has_job(fixture, "f-b"));
    check_int("no list", (int)lists_of_pods(fixture), 0);
}

/* The lists fail until the server is well again; another leader may come meanwhile. */
static enum api_fate no_pods(void *ctx, const char *method, const char *target)
{
    return strstr(target, "/pods") ? API_FAILS : API_ANSWERED;
}

static void a_list_of_pods_is_asked_for_again(void **state)
{
    static const bool replaced[] = {false, true};

    for (size_t i = 0; i < countof(replaced); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = run_without_pods(WITH_OUTPUT);

        flow_fixture_end_pod(fixture, "f-a", "main", 0, 0, "k=1");
        api_transport_plan(fixture->transport, no_pods, NULL);
        complete_with_pods(fixture, "f-a", 1);
        check("the next step waits", !flow_fixture_has_job(fixture, "f-b"));
        if (replaced[i]) {
            flow_fixture_stop(fixture);
            flow_fixture_start(fixture);
        }
        api_transport_plan(fixture->transport, no_watch_of_pods, NULL);
        flow_fixture_advance(fixture, 100000);
        check("the output is there", flow_fixture_has_job(fixture, "f-b"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_write_may_be_lost),
        cmocka_unit_test(the_next_leader_goes_on_after_each_write),
        cmocka_unit_test(outputs_are_there_though_the_pods_are_seen_late),
        cmocka_unit_test(outputs_in_a_template_are_there_though_the_pods_are_seen_late),
        cmocka_unit_test(pods_that_are_gone_are_asked_for_once),
        cmocka_unit_test(without_outputs_no_pods_are_asked_for),
        cmocka_unit_test(a_list_of_pods_is_asked_for_again),
    };

    setenv(FLOW_FIXTURE_REMOTE, "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
