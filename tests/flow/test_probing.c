/*
 * Tests steps that wait for probes: task phases on the virtual clock, sockets on the real one.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "base/loop/metrics.h"
#include "tests/support/canned_server.h"
#include "tests/support/flow_fixture.h"

/* A flow whose last step "z" waits for the others with `probe`; templates have tasks ps (2
 * replicas) and worker (2, one available is enough). */
static void run_probed(struct flow_fixture *fixture, const char *flow, const char *targets,
                       const char *probe)
{
    scoped(buf) struct buf yaml = {0};
    scoped_str list = mem_strdup(targets);
    char *rest = NULL;

    buf_printf(&yaml,
               "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\n"
               "metadata: {name: %s}\nspec: {flows: [",
               flow);
    for (char *name = strtok_r(list, " ,", &rest); name; name = strtok_r(NULL, " ,", &rest))
        buf_printf(&yaml, "{name: %s, jobTemplateName: servers},", name);
    buf_printf(&yaml,
               "{name: z, jobTemplateName: servers, dependsOn: {targets: [%s], probe: {%s}}}"
               "]}\n",
               targets, probe);
    if (!flow_fixture_get(fixture, &kind_job_template, "servers"))
        flow_fixture_apply(
            fixture, "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\n"
                     "metadata: {name: servers}\nspec: {tasks: [\n"
                     "{name: ps, replicas: 2, template: {spec: {containers: [{name: c, image: i, "
                     "command: [c]}]}}},\n"
                     "{name: worker, replicas: 2, minAvailable: 1, template: {spec: {containers: "
                     "[{name: c, image: i, command: [c]}]}}}]}\n");
    flow_fixture_apply(fixture, yaml.data);
}

static bool started(struct flow_fixture *fixture)
{
    return flow_fixture_has_job(fixture, "f-z");
}

/* covers: jobflow.md 71 72; see old issue 21 */
static void task_that_ends_starts_the_next_step(void **state)
{
    static const char *const probes[] = {
        "taskStatusList: [{taskName: ps, phase: Succeeded}]",
        "taskStatusList: [{taskName: ps, phase: Completed}]",
        "taskStatusList: [{taskName: ps, phase: succeeded}]",
    };

    for (size_t i = 0; i < countof(probes); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        run_probed(fixture, "f", "a", probes[i]);
        flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
        flow_fixture_pod(fixture, "f-a", "worker", 0, POD_RUNNING, NULL);
        flow_fixture_pod(fixture, "f-a", "ps", 0, POD_SUCCEEDED, NULL);
        flow_fixture_pod(fixture, "f-a", "ps", 1, POD_RUNNING, NULL);
        check("one is not enough", !started(fixture));
        flow_fixture_pod(fixture, "f-a", "ps", 1, POD_SUCCEEDED, NULL);
        check("both are", started(fixture));
        check_str("while it runs", flow_fixture_at(fixture, "f", "state/phase"), "Running");
        flow_fixture_advance(fixture, 1000);
        check_str("recorded", flow_fixture_at(fixture, "f", "nodes/1/satisfiedTargets"), "[\"a\"]");
    }
}

/* covers: jobflow.md 73 */
static void passed_phase_counts_as_reached(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    run_probed(fixture, "f", "a", "taskStatusList: [{taskName: worker, phase: Running}]");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_pod(fixture, "f-a", "worker", 0, POD_PENDING, NULL);
    check("not yet", !started(fixture));
    flow_fixture_pod(fixture, "f-a", "worker", 0, POD_SUCCEEDED, NULL);
    check("passed through", started(fixture));
}

/* covers: see jobflow.md 12.2 */
static void verdicts_are_counted(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped(buf) struct buf text = {0};

    run_probed(fixture, "f", "a", "taskStatusList: [{taskName: worker, phase: Running}]");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_pod(fixture, "f-a", "worker", 0, POD_RUNNING, NULL);
    check("passed", started(fixture));
    metrics_write(loop_metrics(fixture->loop), &text);
    check_has("counted", text.data,
              "volcano_jobflow_probe_total{kind=\"taskStatus\",result=\"passed\"} 1\n");
    check_has("others", text.data,
              "volcano_jobflow_probe_total{kind=\"http\",result=\"failed\"} 0\n");
}

/* covers: jobflow.md 74 */
static void every_entry_must_pass(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    run_probed(
        fixture, "f", "a",
        "taskStatusList: [{taskName: worker, phase: Running}, {taskName: ps, phase: Running}]");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_pod(fixture, "f-a", "worker", 0, POD_RUNNING, NULL);
    flow_fixture_pod(fixture, "f-a", "ps", 0, POD_RUNNING, NULL);
    check("one entry is short of a pod", !started(fixture));
    flow_fixture_pod(fixture, "f-a", "ps", 1, POD_RUNNING, NULL);
    check("both", started(fixture));
}

/* covers: jobflow.md 75 */
static void entry_without_a_task_never_passes(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "servers");
    run_probed(fixture, "f", "a", "taskStatusList: [{taskName: master, phase: Running}]");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_advance(fixture, 60000);
    check("never", !started(fixture));
    check_int("one warning", flow_fixture_events(fixture, "ProbeTaskNotFound"), 1);
    check_has("which", flow_fixture_event_text(fixture, "ProbeTaskNotFound"), "master");
}

/* Runs a flow with two templates, so that only one of the targets has the task. */
static void run_two_kinds(struct flow_fixture *fixture)
{
    flow_fixture_templates(fixture, "plain z");
    flow_fixture_apply(fixture,
                       "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\n"
                       "metadata: {name: server}\nspec: {tasks: [{name: ps, replicas: 1, template: "
                       "{spec: {containers: [{name: c, image: i, command: [c]}]}}}]}\n"
                       "---\napiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\n"
                       "metadata: {name: f}\nspec: {flows: [{name: server}, {name: plain},\n"
                       "{name: z, dependsOn: {targets: [server, plain], probe: {taskStatusList: "
                       "[{taskName: ps, phase: Running}]}}}]}\n");
    flow_fixture_phase(fixture, "f-server", JOB_RUNNING);
    flow_fixture_phase(fixture, "f-plain", JOB_RUNNING);
}

/* covers: jobflow.md 76 */
static void target_no_entry_speaks_of_must_complete(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    run_two_kinds(fixture);
    flow_fixture_pod(fixture, "f-server", "ps", 0, POD_RUNNING, NULL);
    check("the other still runs", !started(fixture));
    flow_fixture_phase(fixture, "f-plain", JOB_COMPLETED);
    check("started", started(fixture));
}

/* covers: jobflow.md 77; see 6.2 "latching" */
static void met_target_stays_met(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    run_two_kinds(fixture);
    flow_fixture_pod(fixture, "f-server", "ps", 0, POD_RUNNING, NULL);
    flow_fixture_pod(fixture, "f-server", "ps", 0, POD_PENDING, NULL);
    flow_fixture_advance(fixture, 1000);
    flow_fixture_restart(fixture);
    flow_fixture_phase(fixture, "f-plain", JOB_COMPLETED);
    check("also over a restart", started(fixture));
}

/* covers: jobflow.md 77 */
static void completed_target_counts_before_its_probe_passed(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    run_probed(fixture, "f", "a, b", "tcpSocketList: [{taskName: ps, port: 1}]");
    flow_fixture_complete(fixture, "f-a");
    check("the other", !started(fixture));
    flow_fixture_complete(fixture, "f-b");
    check("both", started(fixture));
}

/* covers: jobflow.md 78 */
static void target_that_fails_fails_the_flow(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    run_probed(fixture, "f", "a", "taskStatusList: [{taskName: ps, phase: Running}]");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    check_str("failed", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    check("not started", !started(fixture));
}

/* covers: see 6.2 "targets that fail", the exception */
static void failure_somebody_waits_for_is_handled(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    run_probed(fixture, "f", "a", "taskStatusList: [{taskName: ps, phase: Failed}]");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_pod(fixture, "f-a", "ps", 0, POD_FAILED, NULL);
    check("one pod is enough", started(fixture));
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    flow_fixture_advance(fixture, 1000);
    check_str("goes on", flow_fixture_at(fixture, "f", "state/phase"), "Running");
    flow_fixture_restart(fixture);
    check_str("after a restart too", flow_fixture_at(fixture, "f", "state/phase"), "Running");
    flow_fixture_complete(fixture, "f-z");
    check_str("ends", flow_fixture_at(fixture, "f", "state/phase"), "Failed");
    check_str("says so", flow_fixture_at(fixture, "f", "state/message"),
              "failed: a; handled by: z");
}

/* covers: see 6.2 "taskStatus": pods of the job's current version */
static void restarted_job_is_looked_at_anew(void **state)
{
    struct job_status status = {.phase = JOB_RUNNING, .running_duration_ns = -1, .version = 0};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    run_probed(fixture, "f", "a", "taskStatusList: [{taskName: ps, phase: Running}]");
    flow_fixture_status(fixture, "f-a", &status);
    flow_fixture_pod(fixture, "f-a", "ps", 0, POD_RUNNING, NULL);
    flow_fixture_delete(fixture, &kind_pod, "f-a-ps-0", REGISTRY_BACKGROUND);
    status.version = 1;
    flow_fixture_status(fixture, "f-a", &status);
    flow_fixture_pod(fixture, "f-a", "ps", 1, POD_RUNNING, NULL);
    check("a pod that is gone does not count", !started(fixture));
    flow_fixture_pod(fixture, "f-a", "ps", 0, POD_RUNNING, NULL);
    check("both of the new", started(fixture));
}

struct wait {
    struct flow_fixture *fixture;
    struct timer look;
    int looks;
    bool (*over)(struct flow_fixture *fixture);
};

static void on_look(struct timer *timer)
{
    struct wait *wait = container_of(timer, struct wait, look);

    if (wait->over(wait->fixture) || ++wait->looks > 2000)
        loop_stop(wait->fixture->loop);
    else
        timer_start(wait->fixture->loop, &wait->look, 5);
}

/* Runs the real loop until the condition holds, for ten seconds at most. */
static bool until(struct flow_fixture *fixture, bool (*over)(struct flow_fixture *fixture))
{
    struct wait wait = {.fixture = fixture, .look.fire = on_look, .over = over};

    timer_start(fixture->loop, &wait.look, 0);
    loop_run(fixture->loop);
    return over(fixture);
}

static struct canned_server *peer;

static bool asked(struct flow_fixture *fixture)
{
    return canned_server_connections(peer) > 0;
}

static bool asked_again(struct flow_fixture *fixture)
{
    return canned_server_connections(peer) > 2;
}

/* covers: jobflow.md 67 68 */
static void as_many_pods_as_needed_must_listen(void **state)
{
    static const struct {
        const char *task;
        bool one_is_enough;
    } cases[] = {{"ps", false}, {"worker", true}};

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new_real(NULL);
        char probe[128];

        peer = canned_server_new(fixture->loop, NULL);
        snprintf(probe, sizeof probe, "tcpSocketList: [{taskName: %s, port: %d}]", cases[i].task,
                 canned_server_port(peer));
        run_probed(fixture, "f", "a", probe);
        flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
        flow_fixture_pod(fixture, "f-a", cases[i].task, 0, POD_RUNNING, "127.0.0.1");
        check("asked at once", until(fixture, asked));
        if (cases[i].one_is_enough) {
            check("one is enough", until(fixture, started));
        } else {
            flow_fixture_settle(fixture);
            check("one is not", !started(fixture));
            flow_fixture_pod(fixture, "f-a", cases[i].task, 1, POD_RUNNING, "127.0.0.1");
            check("two are", until(fixture, started));
        }
        canned_server_free(peer);
    }
}

/* covers: jobflow.md 69 */
static void failing_answer_is_asked_again(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new_real(NULL);
    char probe[128];

    peer = canned_server_new(fixture->loop, "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
    snprintf(probe, sizeof probe, "httpGetList: [{taskName: worker, path: /up, port: %d}]",
             canned_server_port(peer));
    run_probed(fixture, "f", "a", probe);
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_pod(fixture, "f-a", "worker", 0, POD_RUNNING, "127.0.0.1");
    check("asked", until(fixture, asked));
    flow_fixture_settle(fixture);
    check("not started", !started(fixture));
    canned_server_set_answer(peer, "HTTP/1.1 204 No Content\r\n\r\n");
    check("started", until(fixture, started));
    canned_server_free(peer);
}

static void pod_without_an_address_is_asked_at_the_hosts(void **state)
{
    const struct flow_options options = {.host_address = "127.0.0.1"};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new_real(&options);
    char probe[128];

    peer = canned_server_new(fixture->loop, NULL);
    snprintf(probe, sizeof probe, "tcpSocketList: [{taskName: worker, port: %d}]",
             canned_server_port(peer));
    run_probed(fixture, "f", "a", probe);
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_pod(fixture, "f-a", "worker", 0, POD_PENDING, NULL);
    flow_fixture_settle(fixture);
    check("not before it runs", !started(fixture));
    flow_fixture_pod(fixture, "f-a", "worker", 0, POD_RUNNING, NULL);
    check("started", until(fixture, started));
    canned_server_free(peer);
}

/* covers: jobflow.md 70 */
static void silent_peer_delays_nobody_else(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new_real(NULL);
    char probe[128];

    peer = canned_server_new(fixture->loop, NULL);
    snprintf(probe, sizeof probe, "httpGetList: [{taskName: worker, path: /up, port: %d}]",
             canned_server_port(peer));
    run_probed(fixture, "f", "a", probe);
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_pod(fixture, "f-a", "worker", 0, POD_RUNNING, "127.0.0.1");
    check("asked", until(fixture, asked));
    for (int i = 0; i < 100; i++) {
        char name[32], job[32];

        snprintf(name, sizeof name, "g%d", i);
        snprintf(job, sizeof job, "g%d-a", i);
        flow_fixture_run(fixture, name, "a, b<-a");
        flow_fixture_phase(fixture, job, JOB_COMPLETED);
        snprintf(job, sizeof job, "g%d-b", i);
        check(job, flow_fixture_has_job(fixture, job));
    }
    check("its tries end and are repeated", until(fixture, asked_again));
    check("without success", !started(fixture));
    canned_server_free(peer);
}

/* covers: reliability.md SEC-13 */
static void api_address_is_never_asked(void **state)
{
    struct loop *loop = loop_new(clock_real());
    char own[32], probe[128];
    const char *refused[] = {own, NULL};
    const struct flow_options options = {.refused_addresses = refused};

    peer = canned_server_new(loop, "HTTP/1.1 200 OK\r\n\r\n");
    snprintf(own, sizeof own, "127.0.0.1:%d", canned_server_port(peer));
    snprintf(probe, sizeof probe, "tcpSocketList: [{taskName: worker, port: %d}]",
             canned_server_port(peer));
    {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(&options);

        run_probed(fixture, "f", "a", probe);
        flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
        flow_fixture_pod(fixture, "f-a", "worker", 0, POD_RUNNING, "127.0.0.1");
        flow_fixture_advance(fixture, 10000);
        check("not started", !started(fixture));
    }
    loop_settle(loop);
    check_int("not asked", canned_server_connections(peer), 0);
    canned_server_free(peer);
    loop_settle(loop);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(task_that_ends_starts_the_next_step),
        cmocka_unit_test(passed_phase_counts_as_reached),
        cmocka_unit_test(verdicts_are_counted),
        cmocka_unit_test(every_entry_must_pass),
        cmocka_unit_test(entry_without_a_task_never_passes),
        cmocka_unit_test(target_no_entry_speaks_of_must_complete),
        cmocka_unit_test(met_target_stays_met),
        cmocka_unit_test(completed_target_counts_before_its_probe_passed),
        cmocka_unit_test(target_that_fails_fails_the_flow),
        cmocka_unit_test(failure_somebody_waits_for_is_handled),
        cmocka_unit_test(restarted_job_is_looked_at_anew),
        cmocka_unit_test(as_many_pods_as_needed_must_listen),
        cmocka_unit_test(failing_answer_is_asked_again),
        cmocka_unit_test(pod_without_an_address_is_asked_at_the_hosts),
        cmocka_unit_test(silent_peer_delays_nobody_else),
        cmocka_unit_test(api_address_is_never_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
