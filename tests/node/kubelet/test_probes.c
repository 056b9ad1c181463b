/*
 * Tests probes of containers on a virtual clock. The test gives the results of exec probes.
 */
#include "tests/unit.h"

#include "tests/support/node_fixture.h"

static struct node_fixture *set_up(const char *probes)
{
    struct node_fixture *fixture = node_fixture_new();
    const struct kubelet_options options = {
        .node_name = "here",
        .capacity = {.cpu_milli = 4000, .memory_bytes = 1 << 30, .pods = 4},
        .intents_ahead = 4,
        .volumes = {.data_dir = "/data"},
    };

    node_fixture_start_kubelet(fixture, &options);
    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'default'},"
        "'spec':{'nodeName':'here','restartPolicy':'Always','containers':[{'name':'c',"
        "'command':['serve'],'ports':[{'name':'web','containerPort':8080}],%s}]}}",
        probes);
    node_fixture_settle(fixture);
    return fixture;
}

static bool is_ready(struct node_fixture *fixture)
{
    return pod_status_of(node_fixture_get(fixture, &kind_pod, "p"))->ready;
}

static bool container_ready(struct node_fixture *fixture)
{
    return pod_status_of(node_fixture_get(fixture, &kind_pod, "p"))->containers.items[0].ready;
}

static void a_pod_is_ready_while_its_readiness_probe_passes(void **state)
{
    struct node_fixture *fixture =
        set_up("'readinessProbe':{'exec':{'command':['is','it']},"
               "'initialDelaySeconds':5,'periodSeconds':2,'failureThreshold':2}");
    struct scripted_pod *pod = node_fixture_started(fixture, "p");

    node_fixture_report_running(fixture, "p");
    check_int("running", node_fixture_pod_phase(fixture, "p"), POD_RUNNING);
    check("not ready at first", !is_ready(fixture) && !container_ready(fixture));
    node_fixture_advance(fixture, 4900);
    check_int("not asked yet", pod->execs, 0);
    node_fixture_advance(fixture, 200);
    check_int("asked", pod->execs, 1);
    check_str("with its words", pod->exec_argv, "is it");
    node_fixture_answer_exec(fixture, "p", 0);
    check("ready", is_ready(fixture) && container_ready(fixture));
    check_has("condition", node_fixture_status(fixture, &kind_pod, "p"),
              "\"ContainersReady\",\"status\":\"True\"");

    node_fixture_advance(fixture, 2000);
    node_fixture_answer_exec(fixture, "p", 1);
    check("one failure is not enough", is_ready(fixture));
    node_fixture_advance(fixture, 2000);
    node_fixture_answer_exec(fixture, "p", 1);
    check("two are", !is_ready(fixture) && !container_ready(fixture));
    check_int("it goes on", pod->kills, 0);
    node_fixture_advance(fixture, 2000);
    node_fixture_answer_exec(fixture, "p", 0);
    check("ready again", is_ready(fixture));

    node_fixture_report_ended(fixture, "p", 0);
    node_fixture_advance(fixture, 60000);
    check_int("the probe has stopped", pod->execs, 4);
    node_fixture_free(fixture);
}

static void an_exec_probe_without_a_result_fails_after_a_period(void **state)
{
    struct node_fixture *fixture =
        set_up("'readinessProbe':{'exec':{'command':['x']},'periodSeconds':2,"
               "'failureThreshold':1},'livenessProbe':{'exec':{'command':['y']},"
               "'initialDelaySeconds':1000}");
    struct scripted_pod *pod = node_fixture_started(fixture, "p");

    node_fixture_report_running(fixture, "p");
    node_fixture_advance(fixture, 1);
    node_fixture_answer_exec(fixture, "p", 0);
    check("ready", is_ready(fixture));
    node_fixture_advance(fixture, 2000);
    check_int("asked again", pod->execs, 2);
    node_fixture_advance(fixture, 2000);
    check("not ready", !is_ready(fixture));
    node_fixture_free(fixture);
}

static void a_failed_liveness_probe_ends_the_container_once_and_probing_starts_again(void **state)
{
    struct node_fixture *fixture =
        set_up("'livenessProbe':{'exec':{'command':['alive']},'periodSeconds':1,"
               "'terminationGracePeriodSeconds':7}");
    struct scripted_pod *pod = node_fixture_started(fixture, "p");

    node_fixture_report_running(fixture, "p");
    check("ready without a readiness probe", is_ready(fixture));
    for (int i = 0; i < 3; i++) {
        check_int("not ended", pod->kills, 0);
        node_fixture_advance(fixture, i ? 1000 : 1);
        node_fixture_answer_exec(fixture, "p", 9);
    }
    check_int("ended", pod->kills, 1);
    check_int("with the probe's grace", pod->grace_ms, 7000);
    check_str("why", pod->kill_why, "livenessProbe failed 3 times: alive ended with 9: said so");
    node_fixture_advance(fixture, 10000);
    check_int("not asked while it ends", pod->execs, 3);
    check_int("nor ended again", pod->kills, 1);

    pod->restarts = 1;
    node_fixture_report_running(fixture, "p");
    node_fixture_advance(fixture, 1);
    check_int("asked in the next run", pod->execs, 4);
    node_fixture_answer_exec(fixture, "p", 0);
    node_fixture_advance(fixture, 5000);
    check_int("one failure more is the first again", pod->kills, 1);
    node_fixture_free(fixture);
}

static void other_probes_wait_for_the_startup_probe(void **state)
{
    struct node_fixture *fixture =
        set_up("'startupProbe':{'exec':{'command':['started']},'periodSeconds':1,"
               "'failureThreshold':30},'livenessProbe':{'exec':{'command':['alive']},"
               "'periodSeconds':100},'readinessProbe':{'httpGet':{'path':'/','port':'web'},"
               "'initialDelaySeconds':900}");
    struct scripted_pod *pod = node_fixture_started(fixture, "p");

    node_fixture_report_running(fixture, "p");
    for (int i = 0; i < 5; i++) {
        node_fixture_advance(fixture, i ? 1000 : 1);
        check_str("asked", pod->exec_argv, "started");
        node_fixture_answer_exec(fixture, "p", 1);
    }
    check_has("told", node_fixture_status(fixture, &kind_pod, "p"), "\"started\":false");
    node_fixture_advance(fixture, 1000);
    node_fixture_answer_exec(fixture, "p", 0);
    check_has("told", node_fixture_status(fixture, &kind_pod, "p"), "\"started\":true");
    node_fixture_advance(fixture, 1);
    check_str("now that", pod->exec_argv, "alive");
    check("not ready before it was asked", !is_ready(fixture));
    node_fixture_answer_exec(fixture, "p", 0);
    node_fixture_advance(fixture, 90000);
    check_str("not asked again", pod->exec_argv, "alive");
    node_fixture_free(fixture);
}

/* The pod is Pending until the probe passes, because the containers after the sidecar wait. */
static void containers_wait_for_the_startup_probe_of_a_sidecar(void **state)
{
    struct node_fixture *fixture = set_up(
        "'livenessProbe':{'exec':{'command':['alive']}}}],'initContainers':[{'name':'s','command':["
        "'s'],'restartPolicy':'Always','startupProbe':{'exec':{'command':['up']},"
        "'periodSeconds':1,'failureThreshold':9}");
    struct scripted_pod *pod = node_fixture_started(fixture, "p");

    node_fixture_report_sidecar(fixture, "p");
    node_fixture_advance(fixture, 1);
    check_str("asked", pod->exec_argv, "up");
    node_fixture_answer_exec(fixture, "p", 1);
    check_int("not yet", pod->passed, 0);
    node_fixture_advance(fixture, 1000);
    node_fixture_answer_exec(fixture, "p", 0);
    check_int("told", pod->passed, 1);
    node_fixture_report_sidecar(fixture, "p");
    check_int("once", pod->passed, 1);
    node_fixture_free(fixture);
}

static void a_container_that_never_starts_up_is_ended(void **state)
{
    struct node_fixture *fixture =
        set_up("'startupProbe':{'exec':{'command':['started']},'periodSeconds':1,"
               "'failureThreshold':2}");
    struct scripted_pod *pod = node_fixture_started(fixture, "p");

    node_fixture_report_running(fixture, "p");
    for (int i = 0; i < 2; i++) {
        node_fixture_advance(fixture, i ? 1000 : 1);
        node_fixture_answer_exec(fixture, "p", 1);
    }
    check_int("ended", pod->kills, 1);
    check_has("why", pod->kill_why, "startupProbe failed 2 times");
    node_fixture_free(fixture);
}

static void readiness_survives_a_restart_of_the_daemon(void **state)
{
    struct node_fixture *fixture =
        set_up("'readinessProbe':{'exec':{'command':['x']},'periodSeconds':10}");
    const struct kubelet_options options = {.node_name = "here", .capacity = {.pods = 4}};
    struct scripted_pod *pod = node_fixture_started(fixture, "p");

    node_fixture_report_running(fixture, "p");
    node_fixture_advance(fixture, 1);
    node_fixture_answer_exec(fixture, "p", 0);
    check("ready", is_ready(fixture));
    node_fixture_stop(fixture);
    fixture->found[fixture->n_found++] = pod->uid;
    node_fixture_start_kubelet(fixture, &options);
    node_fixture_report_running(fixture, "p");
    check("still ready", is_ready(fixture));
    node_fixture_free(fixture);
}

/* The pod is scripted, so no program listens at its address. */
static void a_grpc_probe_connects_to_the_pods_address(void **state)
{
    static const struct {
        const char *probe, *says;
    } rows[] = {
        {"'livenessProbe':{'grpc':{'port':1,'service':'s.v1'},'failureThreshold':1}",
         "livenessProbe failed 1 times: gRPC health of 127.10.4.0:1/s.v1: not SERVING"},
        {"'livenessProbe':{'grpc':{'port':1},'failureThreshold':1}",
         "gRPC health of 127.10.4.0:1: not SERVING"},
        {"'livenessProbe':{'httpGet':{'port':1,'path':'/x'},'failureThreshold':1}",
         "GET 127.10.4.0:1/x: no answer of 200 to 399"},
        {"'livenessProbe':{'tcpSocket':{'port':1},'failureThreshold':1}",
         "cannot connect to 127.10.4.0:1"},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        struct node_fixture *fixture = set_up(rows[i].probe);

        node_fixture_report_running(fixture, "p");
        node_fixture_advance(fixture, 10000);
        check_int(rows[i].probe, node_fixture_started(fixture, "p")->kills, 1);
        check_has(rows[i].probe, node_fixture_started(fixture, "p")->kill_why, rows[i].says);
        node_fixture_free(fixture);
    }
}

static void an_unsupported_probe_is_refused_with_a_hint(void **state)
{
    static const struct {
        const char *probe, *says;
    } rows[] = {
        {"'readinessProbe':{'tcpSocket':{'port':'none'}}",
         "container c: readinessProbe: the container declares no port named \\\"none\\\""},
        {"'startupProbe':{'httpGet':{'port':80,'host':'10.0.0.1'}}",
         "probes and hooks connect to the pod's own address only"},
        {"'lifecycle':{'preStop':{'tcpSocket':{'port':80}}}",
         "lifecycle.preStop: tcpSocket cannot be a hook"},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        struct node_fixture *fixture = set_up(rows[i].probe);

        check_int(rows[i].probe, node_fixture_pod_phase(fixture, "p"), POD_FAILED);
        check_has(rows[i].probe, node_fixture_status(fixture, &kind_pod, "p"), "UnsupportedProbe");
        check_has(rows[i].probe, node_fixture_status(fixture, &kind_pod, "p"), rows[i].says);
        check("not started", !node_fixture_started(fixture, "p"));
        node_fixture_free(fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_is_ready_while_its_readiness_probe_passes),
        cmocka_unit_test(an_exec_probe_without_a_result_fails_after_a_period),
        cmocka_unit_test(a_failed_liveness_probe_ends_the_container_once_and_probing_starts_again),
        cmocka_unit_test(other_probes_wait_for_the_startup_probe),
        cmocka_unit_test(containers_wait_for_the_startup_probe_of_a_sidecar),
        cmocka_unit_test(a_container_that_never_starts_up_is_ended),
        cmocka_unit_test(readiness_survives_a_restart_of_the_daemon),
        cmocka_unit_test(a_grpc_probe_connects_to_the_pods_address),
        cmocka_unit_test(an_unsupported_probe_is_refused_with_a_hint),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
