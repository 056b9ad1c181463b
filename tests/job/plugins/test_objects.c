/*
 * Tests what plugins create and remove: ConfigMaps, Secrets, Services, NetworkPolicies, records.
 */
#include "tests/unit.h"

#include "base/encoding/base64.h"
#include "job/plugins/ssh_keys.h"
#include "tests/fake/faulty.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static struct job_fixture *running_pods(void)
{
    return job_fixture_new(&(struct job_fixture_options){.run_pods = true});
}

static void check_phase(struct job_fixture *fixture, const char *want)
{
    check_str("phase", job_fixture_phase(fixture, "j"), want);
}

/* Returns the record that a plugin has left in the job's status, or NULL. */
static const char *record_of(struct job_fixture *fixture, const char *plugin)
{
    const struct job_status *status = job_fixture_job(fixture, "j");
    scoped_str key = mem_printf("plugin-%s", plugin);

    for (size_t i = 0; i < status->controlled.count; i++)
        if (strcmp(status->controlled.items[i].key, key) == 0)
            return status->controlled.items[i].value;
    return NULL;
}

/* Returns the body of an object as text with sorted keys; owned. Returns NULL when there is no such
 * object. */
static char *body_text(struct job_fixture *fixture, const struct kind *kind, const char *name,
                       const char *member)
{
    const struct object *object = job_fixture_get(fixture, kind, name);
    scoped(json) json_t *body = object ? object_body_json(object) : NULL;
    json_t *part = json_object_get(body, member);

    return part ? json_dumps(part, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
}

#define check_body(fixture, kind, name, member, want)                                              \
    do {                                                                                           \
        scoped_str got_body_ = body_text(fixture, kind, name, member);                             \
        check_str(name "." member, got_body_, want);                                               \
    } while (0)

static bool owned_by_job(struct job_fixture *fixture, const struct kind *kind, const char *name)
{
    const struct object *object = job_fixture_get(fixture, kind, name);
    const struct owner_ref *owner = object ? meta_controller(object->meta) : NULL;

    return owner && strcmp(owner->kind, "Job") == 0 && strcmp(owner->name, "j") == 0 &&
           strcmp(owner->uid, object_uid(job_fixture_get(fixture, &kind_job, "j"))) == 0 &&
           owner->controller && owner->block_owner_deletion &&
           strcmp(owner->api_version, "batch.volcano.sh/v1alpha1") == 0;
}

/* covers: job-plugins.md PLG-003 PLG-004 PLG-005 */
static void a_record_says_that_a_plugin_is_at_work(void **unused)
{
    struct job_fixture *fixture = running_pods();
    int64_t revision;

    job_fixture_job_simple(fixture, "j", "t*1", "plugins: {env: [--x], hcclrank: []}");
    check_phase(fixture, "Running");
    check_str("record", record_of(fixture, "env"), "env");
    check_str("hcclrank leaves none", record_of(fixture, "hcclrank"), NULL);
    revision = job_fixture_get(fixture, &kind_job, "j")->revision;
    job_fixture_restart(fixture); /* a new controller looks at everything again */
    assert_int_equal(job_fixture_get(fixture, &kind_job, "j")->revision, revision);
    job_fixture_pods(fixture, POD_SUCCEEDED);
    check_phase(fixture, "Completed");
    check_str("at the end", record_of(fixture, "env"), NULL);
    revision = job_fixture_get(fixture, &kind_job, "j")->revision;
    job_fixture_restart(fixture);
    assert_int_equal(job_fixture_get(fixture, &kind_job, "j")->revision, revision);
    job_fixture_free(fixture);
}

struct hosts_case {
    const char *tasks, *data;
};

static void apply_tasks(struct job_fixture *fixture, const char *plugins, const char *tasks)
{
    scoped_str yaml =
        mem_printf("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, "
                   "namespace: default}, spec: {minAvailable: 1, plugins: %s, tasks: [%s]}}",
                   plugins, tasks);

    job_fixture_apply(fixture, yaml);
}

#define TASK_OF(name, replicas, spec)                                                              \
    "{name: " name ", replicas: " #replicas ", template: {spec: {" spec                            \
    "restartPolicy: Never, containers: [{name: c, command: [run]}]}}}"
#define KEEP TASK_OF("keep", 1, "")

/* covers: job-plugins.md PLG-010 PLG-011 PLG-012 PLG-013 PLG-014 */
static void svc_writes_the_host_lists_byte_for_byte(void **unused)
{
#define KEEP_DATA "\"VC_KEEP_HOSTS\":\"j-keep-0.j\",\"VC_KEEP_NUM\":\"1\""
    /* clang-format off */
    static const struct hosts_case cases[] = {
        {TASK_OF("ps", 1, "") "," TASK_OF("worker", 2, ""),
         "{\"VC_PS_HOSTS\":\"j-ps-0.j\",\"VC_PS_NUM\":\"1\",\"VC_WORKER_HOSTS\":\"j-worker-0.j,j-worker-1.j\","
         "\"VC_WORKER_NUM\":\"2\",\"ps.host\":\"j-ps-0.j\",\"worker.host\":\"j-worker-0.j\\nj-worker-1.j\"}"},
        {TASK_OF("mpi-worker", 1, ""),
         "{\"VC_MPI_WORKER_HOSTS\":\"j-mpi-worker-0.j\",\"VC_MPI_WORKER_NUM\":\"1\",\"mpi_worker.host\":\"j-mpi-worker-0.j\"}"},
        {KEEP "," TASK_OF("w", 0, ""),
         "{" KEEP_DATA ",\"VC_W_HOSTS\":\"\",\"VC_W_NUM\":\"0\",\"keep.host\":\"j-keep-0.j\",\"w.host\":\"\"}"},
        {TASK_OF("w", 3, "hostname: h, subdomain: s, "),
         "{\"VC_W_HOSTS\":\"h.s\",\"VC_W_NUM\":\"1\",\"w.host\":\"h.s\"}"},
        {TASK_OF("w", 2, "subdomain: s, "),
         "{\"VC_W_HOSTS\":\"j-w-0.s,j-w-1.s\",\"VC_W_NUM\":\"2\",\"w.host\":\"j-w-0.s\\nj-w-1.s\"}"},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_fixture *fixture = running_pods();

        apply_tasks(fixture, "{svc: []}", cases[i].tasks);
        check_body(fixture, &kind_config_map, "j-svc", "data", cases[i].data);
        assert_true(owned_by_job(fixture, &kind_config_map, "j-svc"));
        job_fixture_free(fixture);
    }
}

#define LABELS "{\"volcano.sh/job-name\":\"j\",\"volcano.sh/job-namespace\":\"default\"}"

static json_t *spec_member(struct job_fixture *fixture, const struct kind *kind, const char *name,
                           const char *member)
{
    const struct object *object = job_fixture_get(fixture, kind, name);
    scoped(json) json_t *body = object ? object_body_json(object) : NULL;

    return json_incref(json_object_get(json_object_get(body, "spec"), member));
}

/* covers: job-plugins.md PLG-015 PLG-016 PLG-017 PLG-018 */
static void svc_makes_a_service_and_a_policy(void **unused)
{
    struct job_fixture *fixture = running_pods();
    struct job_fixture *other = running_pods();
    scoped(json) json_t *labels = json_loads(LABELS, 0, NULL);

    job_fixture_job_simple(fixture, "j", "t*1", "plugins: {svc: []}");
    scoped(json) json_t *cluster_ip = spec_member(fixture, &kind_service, "j", "clusterIP");
    scoped(json) json_t *selector = spec_member(fixture, &kind_service, "j", "selector");
    scoped(json) json_t *publish =
        spec_member(fixture, &kind_service, "j", "publishNotReadyAddresses");
    scoped(json) json_t *ports = spec_member(fixture, &kind_service, "j", "ports");
    check_str("clusterIP", json_string_value(cluster_ip), "None");
    assert_true(json_equal(selector, labels));
    assert_false(json_is_true(publish));
    assert_int_equal(json_array_size(ports), 0);
    assert_true(owned_by_job(fixture, &kind_service, "j"));
    check_body(fixture, &kind_network_policy, "j", "spec",
               "{\"ingress\":[{\"from\":[{\"podSelector\":{\"matchLabels\":" LABELS
               "}}]}],\"podSelector\":{\"matchLabels\":" LABELS "},\"policyTypes\":[\"Ingress\"]}");
    assert_true(owned_by_job(fixture, &kind_network_policy, "j"));
    job_fixture_free(fixture);

    job_fixture_job_simple(
        other, "j", "t*1",
        "plugins: {svc: [--publish-not-ready-addresses=true, --disable-network-policy=true]}");
    scoped(json) json_t *published =
        spec_member(other, &kind_service, "j", "publishNotReadyAddresses");
    assert_true(json_is_true(published));
    assert_int_equal(job_fixture_count(other, &kind_network_policy), 0);
    job_fixture_pods(other, POD_SUCCEEDED);
    check_phase(other, "Completed");
    check_str("record", record_of(other, "svc"), NULL);
    assert_int_equal(job_fixture_count(other, &kind_service), 0);
    job_fixture_free(other);
}

/* covers: job-plugins.md PLG-024 PLG-025 */
static void scaling_changes_the_lists_and_nothing_else(void **unused)
{
    struct job_fixture *fixture = running_pods();
    int64_t map, service, pod;

    job_fixture_job_simple(fixture, "j", "worker*2", "minAvailable: 1;plugins: {svc: []}");
    map = job_fixture_get(fixture, &kind_config_map, "j-svc")->revision;
    service = job_fixture_get(fixture, &kind_service, "j")->revision;
    pod = job_fixture_get(fixture, &kind_pod, "j-worker-0")->revision;
    for (int i = 0; i < 10; i++)
        job_fixture_pod_restarts(fixture, "j-worker-1", i + 1);
    job_fixture_restart(fixture);
    assert_int_equal(job_fixture_get(fixture, &kind_config_map, "j-svc")->revision, map);

    job_fixture_patch(
        fixture, &kind_job, "j",
        "{\"spec\":{\"tasks\":[{\"name\":\"worker\",\"replicas\":4,\"minAvailable\":1,"
        "\"maxRetry\":3,\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
        "\"containers\":[{\"name\":\"main\",\"image\":\"x\",\"command\":[\"run\"]}]}}}]}}");
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 4);
    check_body(fixture, &kind_config_map, "j-svc", "data",
               "{\"VC_WORKER_HOSTS\":\"j-worker-0.j,j-worker-1.j,j-worker-2.j,j-worker-3.j\","
               "\"VC_WORKER_NUM\":\"4\",\"worker.host\":"
               "\"j-worker-0.j\\nj-worker-1.j\\nj-worker-2.j\\nj-worker-3.j\"}");
    assert_int_equal(job_fixture_get(fixture, &kind_service, "j")->revision, service);
    assert_int_equal(job_fixture_get(fixture, &kind_pod, "j-worker-0")->revision, pod);
    job_fixture_free(fixture);
}

struct lost_case {
    const struct kind *kind;
    const char *name;
};

/* covers: job-plugins.md PLG-026 PLG-027; see O-P12 */
static void what_somebody_deletes_comes_back(void **unused)
{
    static const struct lost_case cases[] = {{&kind_config_map, "j-svc"},
                                             {&kind_service, "j"},
                                             {&kind_network_policy, "j"},
                                             {&kind_secret, "j-ssh"},
                                             {&kind_service, "j-head-svc"}};
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*1",
                           "plugins: {svc: [], ssh: [--ssh-key-type=ed25519], ray: [--head=t]}");
    check_phase(fixture, "Running");
    for (size_t i = 0; i < countof(cases); i++) {
        job_fixture_delete(fixture, cases[i].kind, cases[i].name);
        job_fixture_settle(fixture);
        check(cases[i].name, owned_by_job(fixture, cases[i].kind, cases[i].name));
    }
    job_fixture_patch(fixture, &kind_config_map, "j-svc", "{\"data\":{\"VC_T_NUM\":\"9\"}}");
    check_body(fixture, &kind_config_map, "j-svc", "data",
               "{\"VC_T_HOSTS\":\"j-t-0.j\",\"VC_T_NUM\":\"1\",\"t.host\":\"j-t-0.j\"}");
    job_fixture_patch(fixture, &kind_service, "j",
                      "{\"spec\":{\"publishNotReadyAddresses\":true}}");
    scoped(json) json_t *publish =
        spec_member(fixture, &kind_service, "j", "publishNotReadyAddresses");
    assert_false(json_is_true(publish));
    check_phase(fixture, "Running");
    job_fixture_free(fixture);
}

/* covers: job-plugins.md PLG-028 PLG-029 PLG-053 PLG-105; see O-P13 */
static void the_end_of_a_job_takes_everything_away(void **unused)
{
    struct job_fixture *fixture = running_pods();
    int64_t revision;

    job_fixture_job_simple(fixture, "j", "t*1",
                           "plugins: {svc: [], ssh: [--ssh-key-type=ed25519], ray: [--head=t]}");
    assert_int_equal(job_fixture_count(fixture, &kind_service), 2);
    faulty_expect(fixture->cluster, .ops = FAULTY_REMOVE, .kind = &kind_network_policy, .times = 1);
    job_fixture_pods(fixture, POD_SUCCEEDED);
    job_fixture_advance(fixture,
                        1000); /* the removal is refused once and then repeated, because the record
                                * was still there */
    check_phase(fixture, "Completed");
    assert_int_equal(faulty_hits(fixture->cluster), 1);
    assert_int_equal(job_fixture_count(fixture, &kind_config_map), 0);
    assert_int_equal(job_fixture_count(fixture, &kind_service), 0);
    assert_int_equal(job_fixture_count(fixture, &kind_network_policy), 0);
    assert_int_equal(job_fixture_count(fixture, &kind_secret), 0);
    assert_int_equal(job_fixture_job(fixture, "j")->controlled.count, 0);
    revision = job_fixture_get(fixture, &kind_job, "j")->revision;
    job_fixture_restart(fixture);
    assert_int_equal(job_fixture_get(fixture, &kind_job, "j")->revision, revision);
    job_fixture_free(fixture);

    /* Another client created the object first. The result is the same. */
    fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .slow_deletion = true});
    job_fixture_job_simple(fixture, "j", "t*2",
                           "plugins: {svc: [], ssh: [--ssh-key-type=ed25519]};policies: [{event: "
                           "PodFailed, action: AbortJob}]");
    job_fixture_pod_failed(fixture, "j-t-0", 1);
    check_phase(fixture, "Aborting");
    job_fixture_delete(fixture, &kind_config_map, "j-svc");
    job_fixture_delete(fixture, &kind_service, "j");
    job_fixture_delete(fixture, &kind_network_policy, "j");
    job_fixture_delete(fixture, &kind_secret, "j-ssh");
    job_fixture_let_go(fixture);
    check_phase(fixture, "Aborted");
    assert_int_equal(job_fixture_count(fixture, &kind_config_map), 0);
    assert_int_equal(job_fixture_count(fixture, &kind_secret), 0);
    assert_int_equal(job_fixture_job(fixture, "j")->controlled.count, 0);
    job_fixture_free(fixture);
}

/* covers: job-plugins.md PLG-030; see O-P11 */
static void a_service_of_somebody_else_is_left_alone(void **unused)
{
    struct job_fixture *fixture = running_pods();
    int64_t revision;

    job_fixture_apply(fixture,
                      "{apiVersion: v1, kind: Service, metadata: {name: j, namespace: default}, "
                      "spec: {clusterIP: None, selector: {app: theirs}}}");
    revision = job_fixture_get(fixture, &kind_service, "j")->revision;
    job_fixture_job_simple(fixture, "j", "t*1", "plugins: {svc: []}");
    check_phase(fixture, "Pending");
    assert_true(job_fixture_has_event(fixture, "PluginError"));
    check_has("message", job_fixture_job(fixture, "j")->message,
              "Service j exists and belongs to no controller");
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 0);
    job_fixture_delete(fixture, &kind_job, "j");
    assert_int_equal(job_fixture_get(fixture, &kind_service, "j")->revision, revision);
    job_fixture_free(fixture);
}

/* covers: see O-P16 */
static void a_subdomain_of_its_own_gets_a_service_unless_there_is_one(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_apply(fixture,
                      "{apiVersion: v1, kind: Service, metadata: {name: theirs, namespace: "
                      "default}, spec: {clusterIP: None, selector: {app: theirs}}}");
    apply_tasks(fixture, "{svc: []}",
                TASK_OF("a", 1, "subdomain: ours, ") "," TASK_OF(
                    "b", 1, "subdomain: ours, ") "," TASK_OF("c", 1, "subdomain: theirs, "));
    check_phase(fixture, "Running");
    assert_true(owned_by_job(fixture, &kind_service, "ours"));
    assert_int_equal(job_fixture_count(fixture, &kind_service), 3);
    check_str("a record of its own", record_of(fixture, "svc-ours"), "svc-ours");
    check_str("not of one that is not ours", record_of(fixture, "svc-theirs"), NULL);
    job_fixture_pods(fixture, POD_SUCCEEDED);
    check_phase(fixture, "Completed");
    assert_int_equal(job_fixture_count(fixture, &kind_service), 1);
    assert_non_null(job_fixture_get(fixture, &kind_service, "theirs"));
    check_str("the record goes", record_of(fixture, "svc-ours"), NULL);
    job_fixture_free(fixture);
}

/* covers: job-plugins.md PLG-033 */
static void everything_goes_with_the_job(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*1",
                           "plugins: {svc: [], ssh: [--ssh-key-type=ed25519]}");
    assert_int_equal(job_fixture_count(fixture, &kind_config_map), 1);
    job_fixture_delete(fixture, &kind_job, "j");
    job_fixture_advance(fixture, 1000);
    check_phase(fixture, "");
    assert_int_equal(job_fixture_count(fixture, &kind_config_map), 0);
    assert_int_equal(job_fixture_count(fixture, &kind_service), 0);
    assert_int_equal(job_fixture_count(fixture, &kind_network_policy), 0);
    assert_int_equal(job_fixture_count(fixture, &kind_secret), 0);
    job_fixture_free(fixture);
}

/* covers: job-plugins.md PLG-131 */
static void a_failure_in_the_middle_is_made_good(void **unused)
{
    struct job_fixture *fixture = running_pods();

    faulty_expect(fixture->cluster, .ops = FAULTY_CREATE, .kind = &kind_service, .times = 1,
                  .code = ERR_INTERNAL);
    job_fixture_job_simple(fixture, "j", "t*1", "plugins: {svc: []}");
    job_fixture_advance(fixture, 1000);
    check_phase(fixture, "Running");
    assert_int_equal(faulty_hits(fixture->cluster), 1);
    assert_int_equal(job_fixture_count(fixture, &kind_config_map), 1);
    assert_int_equal(job_fixture_count(fixture, &kind_service), 1);
    check_str("record", record_of(fixture, "svc"), "svc");
    assert_int_equal(job_fixture_job(fixture, "j")->controlled.count, 1);
    job_fixture_free(fixture);
}

/* covers: job-plugins.md PLG-104; see O-P34 */
static void ray_has_a_service_for_its_head(void **unused)
{
    struct job_fixture *fixture = running_pods();
    const json_t *port;

    apply_tasks(fixture, "{ray: [--headContainer=c]}",
                "{name: head, replicas: 1, template: {spec: {restartPolicy: Never, containers: "
                "[{name: c, command: [run], ports: [{name: web, containerPort: 8265}]}]}}}");
    assert_true(owned_by_job(fixture, &kind_service, "j-head-svc"));
    check_str("record", record_of(fixture, "ray"), "ray");
    scoped(json) json_t *ports = spec_member(fixture, &kind_service, "j-head-svc", "ports");
    scoped(json) json_t *selector = spec_member(fixture, &kind_service, "j-head-svc", "selector");
    static const struct kv want[] = {
        {"gcs", "gcs"}, {"dashboard", NULL}, {"client-server", "client-server"}};
    static const int numbers[] = {6379, 8265, 10001};

    assert_int_equal(json_array_size(ports), 3);
    for (size_t i = 0; i < countof(want); i++) {
        port = json_array_get(ports, i);
        check_str("name", json_string_value(json_object_get(port, "name")), want[i].key);
        check_str("protocol", json_string_value(json_object_get(port, "protocol")), "TCP");
        check_int(want[i].key, json_integer_value(json_object_get(port, "port")), numbers[i]);
        check_str(want[i].key, json_string_value(json_object_get(port, "targetPort")),
                  want[i].value);
    }
    check_int("targetPort",
              json_integer_value(json_object_get(json_array_get(ports, 1), "targetPort")), 8265);
    check_str("selector", json_string_value(json_object_get(selector, "volcano.sh/task-spec")),
              "head");
    check_str("selector", json_string_value(json_object_get(selector, "volcano.sh/job-name")), "j");
    job_fixture_free(fixture);
}

/* covers: job-plugins.md PLG-031; see O-P10 */
static void a_list_too_long_for_a_variable_is_told_in_an_event(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.hold_groups = true});

    apply_tasks(fixture, "{svc: []}",
                TASK_OF("worker-with-quite-a-long-name-of-40-bytes", 4000, ""));
    assert_true(job_fixture_has_event(fixture, "HostsEnvTooLong"));
    job_fixture_free(fixture);
}

struct ssh_files {
    char *private_key, *public_key, *allowed, *config;
    size_t count;
};

static char *secret_file(const json_t *data, const char *key)
{
    const json_t *value = json_object_get(data, key);
    struct buf out = {0};

    if (!value)
        return NULL;
    base64_decode(json_string_value(value), json_string_length(value), &out);
    return buf_take(&out);
}

static struct ssh_files files_of(struct job_fixture *fixture)
{
    const struct object *secret = job_fixture_get(fixture, &kind_secret, "j-ssh");
    scoped(json) json_t *body = secret ? object_body_json(secret) : NULL;
    const json_t *data = json_object_get(body, "data");

    return (struct ssh_files){secret_file(data, "id_rsa"), secret_file(data, "id_rsa.pub"),
                              secret_file(data, "authorized_keys"), secret_file(data, "config"),
                              json_object_size(data)};
}

static void files_release(struct ssh_files *files)
{
    mem_free(files->private_key);
    mem_free(files->public_key);
    mem_free(files->allowed);
    mem_free(files->config);
}
SCOPED_DEFINE(files, struct ssh_files, files_release)

#define CONFIG_HEAD            "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n"
#define HOST(name, full, port) "Host " name "\n  HostName " full "\n  Port " port "\n"
#define REPLICA(name, port)    HOST(name, name ".j", port)

/* covers: job-plugins.md PLG-040 PLG-041; reliability.md SEC-29 */
static void ssh_makes_a_pair_and_a_configuration(void **unused)
{
    struct job_fixture *fixture = running_pods();
    scoped(buf) struct buf derived = {0};
    struct error err = {0};

    job_fixture_job_simple(fixture, "j", "m*1 w*2", "plugins: {ssh: []}");
    scoped(files) struct ssh_files files = files_of(fixture);
    assert_int_equal(files.count, 4);
    check_has("id_rsa", files.private_key, "-----BEGIN RSA PRIVATE KEY-----\n");
    check_str("authorized_keys", files.allowed, files.public_key);
    check_ok("pair",
             job_key_public(files.private_key, files.private_key ? strlen(files.private_key) : 0,
                            &derived, &err),
             err);
    check_str("pair", derived.data, files.public_key);
    check_str("config", files.config,
              CONFIG_HEAD REPLICA("j-m-0", "22") REPLICA("j-w-0", "22") REPLICA("j-w-1", "22"));
    check_body(fixture, &kind_secret, "j-ssh", "type", "\"Opaque\"");
    assert_true(owned_by_job(fixture, &kind_secret, "j-ssh"));
    check_str("record", record_of(fixture, "ssh"), "ssh");
    job_fixture_free(fixture);
}

struct config_case {
    const char *name, *plugins, *tasks, *config;
    bool warned;
};

/* covers: job-plugins.md PLG-042 PLG-043 PLG-048 PLG-067; see O-P22 O-P25 */
static void the_configuration_names_hosts_and_port(void **unused)
{
    /* clang-format off */
    static const struct config_case cases[] = {
        {"another port is in the configuration",
         "{ssh: [--ssh-key-type=ed25519, --ssh-port=2026]}", TASK_OF("w", 1, ""), CONFIG_HEAD REPLICA("j-w-0", "2026") "Host *.j\n  Port 2026\n"},
        {"a negative port is replaced by 22",
         "{ssh: [--ssh-key-type=ed25519, --ssh-port=-10]}", TASK_OF("w", 1, ""), CONFIG_HEAD REPLICA("j-w-0", "22"), true},
        {"a port above 65535 is replaced by 22",
         "{ssh: [--ssh-key-type=ed25519, --ssh-port=70000]}", TASK_OF("w", 1, ""), CONFIG_HEAD REPLICA("j-w-0", "22"), true},
        {"pods with one hostname are one entry",
         "{ssh: [--ssh-key-type=ed25519]}", TASK_OF("w", 3, "hostname: h, "), CONFIG_HEAD HOST("h", "h.j", "22")},
        {"ssh takes the port of mpi",
         "{mpi: [--port=2222, --master=w]}", TASK_OF("w", 1, ""), CONFIG_HEAD REPLICA("j-w-0", "2222") "Host *.j\n  Port 2222\n"},
        {"a port of ssh goes before that of mpi",
         "{mpi: [--port=2222, --master=w], ssh: [--ssh-port=23]}", TASK_OF("w", 1, ""), CONFIG_HEAD REPLICA("j-w-0", "23") "Host *.j\n  Port 23\n"},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_fixture *fixture = running_pods();

        apply_tasks(fixture, cases[i].plugins, cases[i].tasks);
        scoped(files) struct ssh_files files = files_of(fixture);
        check_str(cases[i].name, files.config, cases[i].config);
        check_int(cases[i].name, job_fixture_has_event(fixture, "PluginArgumentIgnored"),
                  cases[i].warned);
        job_fixture_free(fixture);
    }
}

/* covers: job-plugins.md PLG-044; see O-P24 */
static void keys_of_the_author_are_taken_as_they_are(void **unused)
{
    struct job_fixture *fixture = running_pods();
    struct job_fixture *alone = running_pods();
    scoped(secret) struct secret key = {0};
    scoped(buf) struct buf public_key = {0};
    struct error err = {0};

    job_fixture_job_simple(fixture, "j", "t*1",
                           "plugins: {ssh: ['--ssh-private-key=a\\nb', --ssh-public-key=public]}");
    scoped(files) struct ssh_files files = files_of(fixture);
    check_str("id_rsa", files.private_key, "a\\nb"); /* a backslash and an n stay two characters */
    check_str("id_rsa.pub", files.public_key, "public");
    check_str("authorized_keys", files.allowed, "public");
    job_fixture_free(fixture);

    check_ok("key", job_key_ed25519(&key, &public_key, &err), err);
    scoped(json) json_t *text = json_string(key.bytes.data);
    scoped_str quoted = json_dumps(text, JSON_ENCODE_ANY);
    scoped_str plugins = mem_printf("{ssh: [--ssh-private-key, %s]}", quoted);
    apply_tasks(alone, plugins, TASK_OF("t", 1, ""));
    scoped(files) struct ssh_files derived = files_of(alone);
    check_str("id_rsa", derived.private_key, key.bytes.data);
    check_str("id_rsa.pub", derived.public_key, public_key.data);
    check_str("authorized_keys", derived.allowed, public_key.data);
    job_fixture_free(alone);
}

static void a_kind_of_key_may_be_asked_for(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(fixture, "j", "t*1", "plugins: {ssh: [--ssh-key-type=ed25519]}");
    scoped(files) struct ssh_files files = files_of(fixture);
    check_has("id_rsa", files.private_key, "-----BEGIN OPENSSH PRIVATE KEY-----");
    check_has("id_rsa.pub", files.public_key, "ssh-ed25519 ");
    job_fixture_free(fixture);
}

#define SCALE_W(n)                                                                                 \
    "{\"spec\":{\"tasks\":[{\"name\":\"w\",\"replicas\":" #n ",\"minAvailable\":1,"                \
    "\"maxRetry\":3,\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{"         \
    "\"name\":\"main\",\"image\":\"x\",\"command\":[\"run\"]}]}}}]}}"

static void check_same_keys(struct job_fixture *fixture, const char *when,
                            const struct ssh_files *before)
{
    scoped(files) struct ssh_files after = files_of(fixture);

    check_str(when, after.private_key, before->private_key);
    check_str(when, after.public_key, before->public_key);
    check_str(when, after.allowed, before->allowed);
}

/* covers: job-plugins.md PLG-049; see PLG-050 O-P20 O-P21 */
static void a_job_keeps_its_keys_for_life(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.hold_groups = true});

    job_fixture_job_simple(fixture, "j", "w*2",
                           "minAvailable: 1;plugins: {ssh: [--ssh-key-type=ed25519]}");
    scoped(files) struct ssh_files first = files_of(fixture);

    assert_int_equal(first.count, 4);
    for (int i = 0; i < 5; i++) {
        job_fixture_restart(fixture);
        check_same_keys(fixture, "while the queue does not admit it", &first);
    }
    job_fixture_group_phase(fixture, PODGROUP_INQUEUE);
    job_fixture_pods(fixture, POD_RUNNING);
    check_phase(fixture, "Running");
    check_same_keys(fixture, "running", &first);
    job_fixture_patch(fixture, &kind_job, "j", SCALE_W(3));
    check_same_keys(fixture, "scaled up", &first);
    scoped(files) struct ssh_files scaled = files_of(fixture);
    check_str("config", scaled.config,
              CONFIG_HEAD REPLICA("j-w-0", "22") REPLICA("j-w-1", "22") REPLICA("j-w-2", "22"));
    job_fixture_patch(fixture, &kind_job, "j", SCALE_W(1));
    check_same_keys(fixture, "scaled down", &first);
    scoped(files) struct ssh_files shrunk = files_of(fixture);
    check_str("config", shrunk.config, CONFIG_HEAD REPLICA("j-w-0", "22"));
    job_fixture_free(fixture);
}

/* A kubelet of Kubernetes would empty the mounted directory if the configuration were removed. */
static void in_a_cluster_the_configuration_stays_as_well(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .elsewhere = true});

    job_fixture_job_simple(fixture, "j", "w*2",
                           "minAvailable: 1;plugins: {ssh: [--ssh-key-type=ed25519]}");
    int64_t revision = job_fixture_get(fixture, &kind_secret, "j-ssh")->revision;

    job_fixture_patch(fixture, &kind_job, "j", SCALE_W(3));
    assert_int_equal(job_fixture_count(fixture, &kind_pod), 3);
    assert_int_equal(job_fixture_get(fixture, &kind_secret, "j-ssh")->revision, revision);
    job_fixture_free(fixture);
}

static void job_fixture_command(struct job_fixture *fixture, const char *action)
{
    scoped_str yaml =
        mem_printf("{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: c, "
                   "namespace: default}, action: %s, target: {apiVersion: "
                   "batch.volcano.sh/v1alpha1, kind: Job, name: j, uid: %s}}",
                   action, object_uid(job_fixture_get(fixture, &kind_job, "j")));

    job_fixture_apply(fixture, yaml);
}

/* covers: job-plugins.md PLG-052; see section 13 */
static void a_restart_keeps_the_keys_and_a_resume_needs_not(void **unused)
{
    struct job_fixture *fixture = running_pods();

    job_fixture_job_simple(
        fixture, "j", "w*2",
        "plugins: {ssh: [--ssh-key-type=ed25519], svc: []};policies: [{event: PodFailed, action: "
        "RestartJob}]");
    scoped(files) struct ssh_files first = files_of(fixture);
    job_fixture_pod_failed(fixture, "j-w-0", 1);
    check_phase(fixture, "Running");
    assert_int_equal(job_fixture_job(fixture, "j")->retry_count, 1);
    check_same_keys(fixture, "restarted", &first);

    job_fixture_command(fixture, "AbortJob");
    check_phase(fixture, "Aborted");
    assert_int_equal(job_fixture_count(fixture, &kind_secret), 0);
    job_fixture_command(fixture, "ResumeJob");
    check_phase(fixture, "Running");
    scoped(files) struct ssh_files resumed = files_of(fixture);
    assert_int_equal(resumed.count, 4);
    check_str("record", record_of(fixture, "ssh"), "ssh");
    job_fixture_free(fixture);
}

struct presence {
    struct cluster_watcher watcher;
    unsigned deletions;
};

static void count_deletions(struct cluster_watcher *watcher, enum cluster_change change,
                            const struct object *old, const struct object *object)
{
    container_of(watcher, struct presence, watcher)->deletions += change == CHANGE_DELETED;
}

/* covers: job-plugins.md PLG-133 */
static void a_targeted_restart_takes_nothing_from_the_survivors(void **unused)
{
    static const char *const actions[] = {"RestartTask", "RestartPod", "RestartPartition"};
    static const struct kind *const kinds[] = {&kind_config_map, &kind_secret, &kind_service,
                                               &kind_network_policy};

    for (size_t i = 0; i < countof(actions); i++) {
        struct job_fixture *fixture = running_pods();
        struct presence present[countof(kinds)];
        scoped_str yaml = mem_printf(
            "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, namespace: "
            "default}, spec: {plugins: {svc: [], ssh: [--ssh-key-type=ed25519]}, policies: "
            "[{event: PodFailed, action: "
            "%s}], tasks: [{name: w, replicas: 2, partitionPolicy: {totalPartitions: 2, "
            "partitionSize: 1, minPartitions: 2}, template: {spec: {restartPolicy: Never, "
            "containers: [{name: c, command: [run]}]}}}]}}",
            actions[i]);

        job_fixture_apply(fixture, yaml);
        scoped(files) struct ssh_files first = files_of(fixture);
        for (size_t k = 0; k < countof(kinds); k++) {
            present[k] = (struct presence){{count_deletions, kinds[k]}, 0};
            cluster_watch(fixture->backend, &present[k].watcher);
        }
        job_fixture_pod_failed(fixture, "j-w-0", 1);
        check_phase(fixture, "Running");
        check_int(actions[i], job_fixture_job(fixture, "j")->running, 2);
        for (size_t k = 0; k < countof(kinds); k++) {
            check_int(actions[i], present[k].deletions, 0);
            cluster_unwatch(fixture->backend, &present[k].watcher);
        }
        check_same_keys(fixture, actions[i], &first);
        job_fixture_free(fixture);
    }
}

/* covers: job-plugins.md PLG-132; see O-P03 */
static void objects_of_a_life_before_are_adopted(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.hold_groups = true});

    faulty_expect(fixture->cluster, .ops = FAULTY_STATUS, .kind = &kind_job, .skip = 1);
    job_fixture_job_simple(fixture, "j", "w*1",
                           "plugins: {svc: [], ssh: [--ssh-key-type=ed25519]}");
    scoped(files) struct ssh_files first = files_of(fixture);
    assert_int_equal(first.count, 4);
    /* The plugins have made their objects, and the write of the status that records them was refused,
     * as after a crash between the two. */
    check_str("record", record_of(fixture, "ssh"), NULL);
    job_fixture_stop_controller(fixture);
    faulty_clear(fixture->cluster);
    job_fixture_start_controller(fixture);
    job_fixture_settle(fixture);
    check_str("record", record_of(fixture, "ssh"), "ssh");
    check_str("record", record_of(fixture, "svc"), "svc");
    check_same_keys(fixture, "adopted", &first);
    assert_int_equal(job_fixture_count(fixture, &kind_secret), 1);
    job_fixture_free(fixture);
}

/* The controller goes away, or the job does, while a worker still makes the key pair. */
static void a_pair_nobody_waits_for_any_more_is_dropped(void **unused)
{
    struct job_fixture *fixture = running_pods();
    struct error_list errors = {0};
    const struct registry_delete how = {.grace_s = -1};
    const struct object *out;

    faulty_expect(fixture->cluster, .ops = FAULTY_CREATE, .kind = &kind_secret, .way = FAULTY_DELAY,
                  .delay_ms = 1000, .times = 1);
    job_fixture_job_simple(fixture, "j", "w*1", "plugins: {ssh: [--ssh-key-type=ed25519]}");
    registry_delete(fixture->registry, (struct registry_target){&kind_job, "default", "j"}, &how,
                    &out, &errors);
    job_fixture_advance(fixture, 5000);
    check_phase(fixture, "");
    assert_int_equal(job_fixture_count(fixture, &kind_secret), 0);
    error_list_release(&errors);
    job_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_says_that_a_plugin_is_at_work),
        cmocka_unit_test(svc_writes_the_host_lists_byte_for_byte),
        cmocka_unit_test(svc_makes_a_service_and_a_policy),
        cmocka_unit_test(scaling_changes_the_lists_and_nothing_else),
        cmocka_unit_test(what_somebody_deletes_comes_back),
        cmocka_unit_test(the_end_of_a_job_takes_everything_away),
        cmocka_unit_test(a_service_of_somebody_else_is_left_alone),
        cmocka_unit_test(a_subdomain_of_its_own_gets_a_service_unless_there_is_one),
        cmocka_unit_test(everything_goes_with_the_job),
        cmocka_unit_test(a_failure_in_the_middle_is_made_good),
        cmocka_unit_test(ray_has_a_service_for_its_head),
        cmocka_unit_test(a_list_too_long_for_a_variable_is_told_in_an_event),
        cmocka_unit_test(ssh_makes_a_pair_and_a_configuration),
        cmocka_unit_test(the_configuration_names_hosts_and_port),
        cmocka_unit_test(keys_of_the_author_are_taken_as_they_are),
        cmocka_unit_test(a_kind_of_key_may_be_asked_for),
        cmocka_unit_test(a_job_keeps_its_keys_for_life),
        cmocka_unit_test(in_a_cluster_the_configuration_stays_as_well),
        cmocka_unit_test(a_restart_keeps_the_keys_and_a_resume_needs_not),
        cmocka_unit_test(a_targeted_restart_takes_nothing_from_the_survivors),
        cmocka_unit_test(objects_of_a_life_before_are_adopted),
        cmocka_unit_test(a_pair_nobody_waits_for_any_more_is_dropped),
    };
    static void (*const spared[])(void **state) = {
        the_end_of_a_job_takes_everything_away, /* plans faults of its own */
        a_failure_in_the_middle_is_made_good,   /* plans faults of its own */
        objects_of_a_life_before_are_adopted,   /* plans faults of its own */
        ssh_makes_a_pair_and_a_configuration,   /* making a key pair for each write takes long */
        the_configuration_names_hosts_and_port, /* making a key pair for each write takes long */
        NULL,
    };

    return job_tests_with_faults(tests, countof(tests), spared);
}
