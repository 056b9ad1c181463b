/*
 * Tests what plugins add to pods.
 */
#include "tests/unit.h"

#include "job/plugins/plugin.h"
#include "tests/support/job_bench.h"

#define JOB_OF(name, plugins, tasks)                                                               \
    "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: " name                    \
    ", namespace: 'n', uid: u}, spec: {plugins: " plugins ", tasks: [" tasks "]}}"
#define JOB(plugins, tasks) JOB_OF("j", plugins, tasks)
/* A task with a container c. `spec` are further members of its pod's spec. */
#define TASK_WITH(name, replicas, spec)                                                            \
    "{name: " name ", replicas: " #replicas ", template: {spec: {" spec "}}}"
#define C                    "containers: [{name: c, command: [x]}]"
#define TASK(name, replicas) TASK_WITH(name, replicas, C)
#define INIT                 "initContainers: [{name: i, command: [x]}], "
#define QUIET                "svc: [--inject-hosts-env=false]"

struct env_case {
    const char *name;
    const char *yaml;
    const char *task;
    int32_t index;
    const char *container;
    const char *env;
};

/* covers: job-plugins.md PLG-001 PLG-002 PLG-021 PLG-022 PLG-060 PLG-061 PLG-064 PLG-065
 * PLG-066 PLG-080 PLG-081 PLG-082 PLG-083 PLG-090 */
static void variables_go_behind_the_authors(void **unused)
{
    /* clang-format off */
    static const struct env_case cases[] = {
        {"env sets variables in a container",
         JOB("{env: []}", TASK_WITH("w", 3, INIT C)), "w", 2, "c", "VK_TASK_INDEX=2 VC_TASK_INDEX=2"},
        {"env sets variables in an init container",
         JOB("{env: []}", TASK_WITH("w", 3, INIT C)), "w", 2, "i", "VK_TASK_INDEX=2 VC_TASK_INDEX=2"},
        {"variables of the author come first",
         JOB("{env: [--x]}", TASK_WITH("w", 3, "containers: [{name: c, command: [x], env: [{name: A, value: '1'}]}]")),
         "w", 0, "c", "A=1 VK_TASK_INDEX=0 VC_TASK_INDEX=0"},
        {"a variable of the author is not replaced but followed",
         JOB("{env: []}", TASK_WITH("w", 3, "containers: [{name: c, command: [x], env: [{name: VC_TASK_INDEX, value: '9'}]}]")),
         "w", 0, "c", "VC_TASK_INDEX=9 VK_TASK_INDEX=0 VC_TASK_INDEX=0"},

        {"svc refers to the ConfigMap",
         JOB("{svc: []}", TASK_WITH("a", 1, INIT C) "," TASK("b", 1)), "a", 0, "c",
         "VC_A_HOSTS=<j-svc/VC_A_HOSTS> VC_A_NUM=<j-svc/VC_A_NUM> VC_B_HOSTS=<j-svc/VC_B_HOSTS> VC_B_NUM=<j-svc/VC_B_NUM>"},
        {"svc refers to it in init containers, too",
         JOB("{svc: []}", TASK_WITH("a", 1, INIT C) "," TASK("b", 1)), "a", 0, "i",
         "VC_A_HOSTS=<j-svc/VC_A_HOSTS> VC_A_NUM=<j-svc/VC_A_NUM> VC_B_HOSTS=<j-svc/VC_B_HOSTS> VC_B_NUM=<j-svc/VC_B_NUM>"},
        {"svc may set no variables",
         JOB("{svc: [--inject-hosts-env=false]}", TASK("a", 1)), "a", 0, "c", ""},

        {"the launcher of mpi gets the hosts",
         JOB("{mpi: [--master=m, --worker=w], " QUIET "}", TASK_WITH("m", 1, INIT C) "," TASK("w", 2)), "m", 0, "c", "MPI_HOST=j-w-0.j,j-w-1.j"},
        {"its init container gets the hosts, too",
         JOB("{mpi: [--master=m, --worker=w], " QUIET "}", TASK_WITH("m", 1, INIT C) "," TASK("w", 2)), "m", 0, "i", "MPI_HOST=j-w-0.j,j-w-1.j"},
        {"a worker of mpi gets no hosts",
         JOB("{mpi: [--master=m, --worker=w], " QUIET "}", TASK("m", 1) "," TASK("w", 2)), "w", 1, "c", ""},
        {"without a task of workers mpi sets nothing",
         JOB("{mpi: [], " QUIET "}", TASK("master", 1)), "master", 0, "c", ""},
        {"without workers mpi sets an empty list",
         JOB("{mpi: [], " QUIET "}", TASK("master", 1) "," TASK("worker", 0)), "master", 0, "c", "MPI_HOST="},
        {"workers with one hostname are one host",
         JOB("{mpi: [], " QUIET "}", TASK("master", 1) "," TASK_WITH("worker", 3, "hostname: h, " C)), "master", 0, "c", "MPI_HOST=h.j"},

        {"the master of pytorch has rank 0",
         JOB("{pytorch: [], " QUIET "}", TASK("master", 1) "," TASK("worker", 2) "," TASK("extra", 2)), "master", 0, "c",
         "MASTER_ADDR=j-master-0.j MASTER_PORT=23456 WORLD_SIZE=3 RANK=0"},
        {"a worker of pytorch is ranked behind the master",
         JOB("{pytorch: [], " QUIET "}", TASK("master", 1) "," TASK("worker", 2) "," TASK("extra", 2)), "worker", 1, "c",
         "MASTER_ADDR=j-master-0.j MASTER_PORT=23456 WORLD_SIZE=3 RANK=2"},
        {"a pod of another task gets no rank",
         JOB("{pytorch: [], " QUIET "}", TASK("master", 1) "," TASK("worker", 2) "," TASK("extra", 2)), "extra", 0, "c",
         "MASTER_ADDR=j-master-0.j MASTER_PORT=23456 WORLD_SIZE=3"},
        {"pytorch sets nothing in init containers",
         JOB("{pytorch: [], " QUIET "}", TASK_WITH("master", 1, INIT C)), "master", 0, "i", ""},
        {"without a master pytorch sets nothing",
         JOB("{pytorch: [], " QUIET "}", TASK("worker", 2)), "worker", 0, "c", ""},
        {"the second of two masters has rank 1",
         JOB("{pytorch: [], " QUIET "}", TASK("master", 2) "," TASK("worker", 2)), "master", 1, "c",
         "MASTER_ADDR=j-master-0.j MASTER_PORT=23456 WORLD_SIZE=4 RANK=1"},
        {"a worker is ranked behind two masters",
         JOB("{pytorch: [], " QUIET "}", TASK("master", 2) "," TASK("worker", 2)), "worker", 1, "c",
         "MASTER_ADDR=j-master-0.j MASTER_PORT=23456 WORLD_SIZE=4 RANK=3"},
        {"pytorch may set variables for torchrun", JOB("{pytorch: [--torchrun-env], " QUIET "}",
                             TASK_WITH("master", 1, "containers: [{name: c, command: [x], env: [{name: PET_NNODES, value: '9'}]}]")), "master", 0, "c",
         "PET_NNODES=9 MASTER_ADDR=j-master-0.j MASTER_PORT=23456 WORLD_SIZE=1 RANK=0 PET_MASTER_ADDR=j-master-0.j PET_MASTER_PORT=23456 PET_NODE_RANK=0"},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_bench bench = job_bench_new(cases[i].yaml);
        scoped(json) json_t *pod = job_bench_pod(&bench, cases[i].task, cases[i].index);

        check_str(cases[i].name, job_bench_env(&bench, pod, cases[i].container), cases[i].env);
        job_bench_free(&bench);
    }
}

#define TRAIN                                                                                      \
    JOB_OF("train-123", "{tensorflow: [--port=5000]}",                                             \
           TASK_WITH("ps", 2, INIT C) "," TASK("worker", 2) "," TASK("chief", 1))
#define TRAIN_CLUSTER                                                                              \
    "{\"cluster\":{\"ps\":[\"train-123-ps-0.train-123:5000\",\"train-123-ps-1.train-123:5000\"],"  \
    "\"worker\":[\"train-123-worker-0.train-123:5000\",\"train-123-worker-1.train-123:5000\"],"    \
    "\"chief\":[\"train-123-chief-0.train-123:5000\"]},"

/* covers: job-plugins.md PLG-070 PLG-071 PLG-072 PLG-073 PLG-074 PLG-075 PLG-076 PLG-077 */
static void tensorflow_tells_the_cluster_and_the_pods_place(void **unused)
{
    /* clang-format off */
    static const struct env_case cases[] = {
        {"a ps knows the cluster and its place",
         TRAIN, "ps", 0, "c", TRAIN_CLUSTER "\"task\":{\"type\":\"ps\",\"index\":0}}"},
        {"the chief knows the cluster and its place",
         TRAIN, "chief", 0, "c", TRAIN_CLUSTER "\"task\":{\"type\":\"chief\",\"index\":0}}"},
        {"an init container does not know the cluster", TRAIN, "ps", 0, "i", NULL},
        {"a single pod gets no TF_CONFIG",
         JOB("{tensorflow: []}", TASK("worker", 1)), "worker", 0, "c", NULL},
        {"one task may be the whole cluster",
         JOB("{tensorflow: []}", TASK("worker", 2)), "worker", 1, "c",
         "{\"cluster\":{\"worker\":[\"j-worker-0.j:2222\",\"j-worker-1.j:2222\"]},\"task\":{\"type\":\"worker\",\"index\":1}}"},
        {"a task without a role is no part of the cluster",
         JOB("{tensorflow: []}", TASK("worker", 1) "," TASK("log", 1)), "log", 0, "c",
         "{\"cluster\":{\"worker\":[\"j-worker-0.j:2222\"]},\"task\":{\"type\":\"log\",\"index\":0}}"},
        {"an argument names the task of a role",
         JOB("{tensorflow: [--worker=w]}", TASK("w", 2)), "w", 0, "c",
         "{\"cluster\":{\"worker\":[\"j-w-0.j:2222\",\"j-w-1.j:2222\"]},\"task\":{\"type\":\"worker\",\"index\":0}}"},
        {"an evaluator is the last in the cluster",
         JOB("{tensorflow: []}", TASK("evaluator", 1) "," TASK("worker", 1)), "worker", 0, "c",
         "{\"cluster\":{\"worker\":[\"j-worker-0.j:2222\"],\"evaluator\":[\"j-evaluator-0.j:2222\"]},\"task\":{\"type\":\"worker\",\"index\":0}}"},
        {"an argument keeps the evaluator out of the cluster",
         JOB("{tensorflow: [--evaluator-in-cluster=false]}", TASK("evaluator", 1) "," TASK("worker", 1)), "worker", 0, "c",
         "{\"cluster\":{\"worker\":[\"j-worker-0.j:2222\"]},\"task\":{\"type\":\"worker\",\"index\":0}}"},
        {"pods with one hostname are one entry",
         JOB("{tensorflow: []}", TASK_WITH("worker", 3, "hostname: h, " C)), "worker", 2, "c",
         "{\"cluster\":{\"worker\":[\"h.j:2222\"]},\"task\":{\"type\":\"worker\",\"index\":2}}"},
        {"a task with two roles is listed under the first",
         JOB("{tensorflow: [--ps=both, --chief=both]}", TASK("both", 2)), "both", 0, "c",
         "{\"cluster\":{\"ps\":[\"j-both-0.j:2222\",\"j-both-1.j:2222\"]},\"task\":{\"type\":\"chief\",\"index\":0}}"},
        {"without any role the cluster is empty",
         JOB("{tensorflow: []}", TASK("a", 1) "," TASK("b", 1)), "a", 0, "c",
         "{\"cluster\":{},\"task\":{\"type\":\"a\",\"index\":0}}"},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_bench bench = job_bench_new(cases[i].yaml);
        scoped(json) json_t *pod = job_bench_pod(&bench, cases[i].task, cases[i].index);

        check_str(cases[i].name, job_bench_value(pod, cases[i].container, "TF_CONFIG"),
                  cases[i].env);
        job_bench_free(&bench);
    }
}

struct port_case {
    const char *name;
    const char *yaml;
    const char *task, *container;
    bool local;
    const char *ports;
};

#define PORTS(list) "containers: [{name: c, command: [x], ports: [" list "]}]"

/* covers: job-plugins.md PLG-060 PLG-061 PLG-062 PLG-063 PLG-064 PLG-080 PLG-082 PLG-083 PLG-084
 * PLG-100 PLG-106; see O-P27 O-P34 */
static void ports_are_declared_once(void **unused)
{
    /* clang-format off */
    static const struct port_case cases[] = {
        {"the launcher of mpi declares the port",
         JOB("{mpi: [--master=m, --worker=w]}", TASK_WITH("m", 1, INIT C) "," TASK("w", 2)), "m", "c", false, "22:mpijob-port"},
        {"its init container declares the port, too",
         JOB("{mpi: [--master=m, --worker=w]}", TASK_WITH("m", 1, INIT C) "," TASK("w", 2)), "m", "i", false, "22:mpijob-port"},
        {"a worker of mpi declares the port",
         JOB("{mpi: [--master=m, --worker=w]}", TASK("m", 1) "," TASK("w", 2)), "w", "c", false, "22:mpijob-port"},
        {"a pod of another task declares the port of mpi",
         JOB("{mpi: [--master=m, --worker=w]}", TASK("m", 1) "," TASK("w", 2) "," TASK("o", 1)), "o", "c", false, "22:mpijob-port"},
        {"an argument changes the port of mpi",
         JOB("{mpi: [--port=5000]}", TASK("master", 1) "," TASK("worker", 1)), "worker", "c", false, "5000:mpijob-port"},
        {"a port that the author has declared is not declared again",
         JOB("{mpi: []}", TASK("master", 1) "," TASK_WITH("worker", 1, PORTS("{name: ssh, containerPort: 22}"))), "worker", "c", false, "22:ssh"},
        {"a port gets another name when its name is taken",
         JOB("{mpi: []}", TASK("master", 1) "," TASK_WITH("worker", 1, PORTS("{name: mpijob-port, containerPort: 23}"))), "worker", "c", false,
         "23:mpijob-port 22:mpijob-port-2"},
        {"a long name is cut for its number",
         JOB("{pytorch: []}", TASK_WITH("master", 1, PORTS("{name: pytorchjob-port, containerPort: 23}"))), "master", "c", false,
         "23:pytorchjob-port 23456:pytorchjob-po-2"},
        {"a launcher without a task of workers declares nothing",
         JOB("{mpi: []}", TASK("master", 1)), "master", "c", false, ""},
        {"the master of pytorch declares the port",
         JOB("{pytorch: []}", TASK("master", 1) "," TASK("extra", 1)), "master", "c", false, "23456:pytorchjob-port"},
        {"a pod of another task declares the port of pytorch",
         JOB("{pytorch: []}", TASK("master", 1) "," TASK("extra", 1)), "extra", "c", false, "23456:pytorchjob-port"},
        {"a port of the author stays first",
         JOB("{pytorch: []}", TASK_WITH("master", 1, PORTS("{containerPort: 123}"))), "master", "c", false, "123: 23456:pytorchjob-port"},
        {"an init container declares no port of pytorch",
         JOB("{pytorch: []}", TASK_WITH("master", 1, INIT C)), "master", "i", false, ""},
        {"without a master pytorch declares nothing",
         JOB("{pytorch: []}", TASK("worker", 1)), "worker", "c", false, ""},
        {"tensorflow declares no port",
         JOB("{tensorflow: []}", TASK("worker", 2)), "worker", "c", false, ""},
        {"where pods share the host's network tensorflow declares its port",
         JOB("{tensorflow: [--port=5000]}", TASK("worker", 2)), "worker", "c", true, "5000:tfjob-port"},
        {"the head of ray declares its ports",
         JOB("{ray: [--headContainer=c]}", TASK("head", 1)), "head", "c", false, "6379:gcs 8265:dashboard 10001:client-server"},
        {"an argument changes a port of ray",
         JOB("{ray: [--headContainer=c, --clientServerPort=10002]}", TASK("head", 1)), "head", "c", false, "6379:gcs 8265:dashboard 10002:client-server"},
        {"ray keeps a port of the author",
         JOB("{ray: [--headContainer=c]}", TASK_WITH("head", 1, PORTS("{name: web, containerPort: 8265}"))), "head", "c", false,
         "8265:web 6379:gcs 10001:client-server"},
        {"a worker of ray declares no port",
         JOB("{ray: [--workerContainer=c]}", TASK("head", 1) "," TASK("worker", 1)), "worker", "c", false, ""},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_bench bench = job_bench_new(cases[i].yaml);
        json_t *pod;

        bench.model.local_pods = cases[i].local;
        pod = job_bench_pod(&bench, cases[i].task, 0);
        check_str(cases[i].name, job_bench_ports(&bench, pod, cases[i].container), cases[i].ports);
        json_decref(pod);
        job_bench_free(&bench);
    }
}

static const char *spec_text(const json_t *pod, const char *key)
{
    return json_string_value(json_object_get(json_object_get(pod, "spec"), key));
}

/* covers: job-plugins.md PLG-019 PLG-020 PLG-023 */
static void svc_gives_names_and_the_lists_as_files(void **unused)
{
    struct job_bench bench = job_bench_new(
        JOB("{svc: []}", TASK_WITH("w", 2, INIT C) "," TASK_WITH("fixed", 1, "hostname: h, " C)));
    scoped(json) json_t *pod = job_bench_pod(&bench, "w", 0);
    scoped(json) json_t *fixed = job_bench_pod(&bench, "fixed", 0);
    scoped(json) json_t *volumes =
        json_loads("[{\"name\": \"j-svc\", \"configMap\": {\"name\": \"j-svc\"}}]", 0, NULL);

    check_str("hostname", spec_text(pod, "hostname"), "j-w-0");
    check_str("subdomain", spec_text(pod, "subdomain"), "j");
    check_str("the author's hostname", spec_text(fixed, "hostname"), "h");
    check_str("subdomain", spec_text(fixed, "subdomain"), "j");
    assert_true(json_equal(json_object_get(json_object_get(pod, "spec"), "volumes"), volumes));
    check_str("container", job_bench_mounts(&bench, pod, "c"), "j-svc:/etc/volcano");
    check_str("init container", job_bench_mounts(&bench, pod, "i"), "j-svc:/etc/volcano");
    job_bench_free(&bench);
}

struct ssh_case {
    const char *name;
    const char *yaml;
    bool local;
    const char *mount;
    int mode;
};

/* covers: job-plugins.md PLG-045 PLG-046 PLG-047; see O-P23 */
static void ssh_mounts_its_four_files(void **unused)
{
    /* clang-format off */
    static const struct ssh_case cases[] = {
        {"keys in root's home are readable for the owner only",
         JOB("{ssh: []}", TASK_WITH("w", 1, INIT C)), false, "j-ssh/.ssh:/root/.ssh", 0600},
        {"keys elsewhere are readable for any user",
         JOB("{ssh: [--ssh-key-file-path=/a/b]}", TASK_WITH("w", 1, INIT C)), false, "j-ssh/.ssh:/a/b", 0644},
        {"keys elsewhere are readable for the pod's user only",
         JOB("{ssh: [--ssh-key-file-path=/a/b]}", TASK_WITH("w", 1, "securityContext: {runAsUser: 7}, " INIT C)), false, "j-ssh/.ssh:/a/b", 0600},
        {"on one machine keys elsewhere are readable for the owner only",
         JOB("{ssh: [--ssh-key-file-path=/a/b]}", TASK_WITH("w", 1, INIT C)), true, "j-ssh/.ssh:/a/b", 0600},
        {"an unknown flag changes nothing",
         JOB("{ssh: [--no-root]}", TASK_WITH("w", 1, INIT C)), false, "j-ssh/.ssh:/root/.ssh", 0600},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_bench bench = job_bench_new(cases[i].yaml);
        scoped_str volumes =
            mem_printf("[{\"name\":\"j-ssh\",\"secret\":{\"secretName\":\"j-ssh\",\"items\":["
                       "{\"key\":\"id_rsa\",\"path\":\".ssh/id_rsa\"},"
                       "{\"key\":\"id_rsa.pub\",\"path\":\".ssh/id_rsa.pub\"},"
                       "{\"key\":\"authorized_keys\",\"path\":\".ssh/authorized_keys\"},"
                       "{\"key\":\"config\",\"path\":\".ssh/config\"}],\"defaultMode\":%d}}]",
                       cases[i].mode);
        scoped(json) json_t *want = json_loads(volumes, 0, NULL);
        json_t *pod;

        bench.model.local_pods = cases[i].local;
        pod = job_bench_pod(&bench, "w", 0);
        check(cases[i].name,
              json_equal(json_object_get(json_object_get(pod, "spec"), "volumes"), want));
        check_str(cases[i].name, job_bench_mounts(&bench, pod, "c"), cases[i].mount);
        check_str(cases[i].name, job_bench_mounts(&bench, pod, "i"), cases[i].mount);
        json_decref(pod);
        job_bench_free(&bench);
    }
}

/* The machine's only network is the loopback interface. covers: see O-P28 */
static void mpi_is_told_to_use_the_loopback_of_one_machine(void **unused)
{
    struct job_bench bench = job_bench_new(
        JOB("{mpi: [], " QUIET "}",
            TASK_WITH("master", 1,
                      "containers: [{name: c, command: [x], env: [{name: "
                      "OMPI_MCA_btl_tcp_if_include, value: eth0}]}]") "," TASK("worker", 1)));
    json_t *pod;

    bench.model.local_pods = true;
    pod = job_bench_pod(&bench, "master", 0);
    check_str("env", job_bench_env(&bench, pod, "c"),
              "OMPI_MCA_btl_tcp_if_include=eth0 MPI_HOST=j-worker-0.j "
              "OMPI_MCA_oob_tcp_if_include=lo");
    json_decref(pod);
    job_bench_free(&bench);
}

static const char *image_of(const json_t *container)
{
    return json_string_value(json_object_get(container, "image"));
}

static const char *script_of(const json_t *container)
{
    return json_string_value(json_array_get(json_object_get(container, "command"), 2));
}

/* covers: job-plugins.md PLG-085 PLG-086 PLG-087 PLG-088; see O-P14 O-P29 */
static void who_must_wait_gets_an_init_container(void **unused)
{
    struct job_bench bench =
        job_bench_new(JOB("{env: [], pytorch: [--wait-master-enabled=true]}",
                          TASK("master", 1) "," TASK_WITH("worker", 2, INIT C)));
    struct job_bench own = job_bench_new(
        JOB("{pytorch: [--wait-master-enabled]}",
            TASK("master", 1) "," TASK_WITH(
                "worker", 2, "initContainers: [{name: wait-for-master, command: [own]}], " C)));
    struct job_bench tuned = job_bench_new(
        JOB("{pytorch: [--wait-master-enabled=true, --wait-master-image=alpine:latest, "
            "--wait-master-timeout=600]}",
            TASK("master", 1) "," TASK("worker", 2)));
    struct job_bench launcher =
        job_bench_new(JOB("{mpi: [--wait-workers]}", TASK("master", 1) "," TASK("worker", 2)));
    scoped(json) json_t *worker = job_bench_pod(&bench, "worker", 0);
    scoped(json) json_t *master = job_bench_pod(&bench, "master", 0);
    scoped(json) json_t *given = job_bench_pod(&own, "worker", 0);
    scoped(json) json_t *changed = job_bench_pod(&tuned, "worker", 0);
    scoped(json) json_t *waiting = job_bench_pod(&launcher, "master", 0);
    const json_t *init = json_object_get(json_object_get(worker, "spec"), "initContainers");
    const json_t *wait = job_bench_container(worker, "wait-for-master");

    assert_int_equal(json_array_size(init), 2);
    /* Behind the init container that the author wrote. */
    assert_ptr_equal(json_array_get(init, 1), wait);
    check_str("image", image_of(wait), "busybox:1.36.1");
    check_str("shell", json_string_value(json_array_get(json_object_get(wait, "command"), 0)),
              "sh");
    check_has("script", script_of(wait), "j-master-0.j");
    check_has("script", script_of(wait), "port=23456 limit=300");
    check_has("it has svc's variables", job_bench_env(&bench, worker, "wait-for-master"),
              "VC_MASTER_HOSTS");
    check_has("and env's", job_bench_env(&bench, worker, "wait-for-master"), "VC_TASK_INDEX=0");
    check_str("and files", job_bench_mounts(&bench, worker, "wait-for-master"),
              "j-svc:/etc/volcano");

    assert_null(job_bench_container(master, "wait-for-master"));
    init = json_object_get(json_object_get(given, "spec"), "initContainers");
    assert_int_equal(json_array_size(init), 1);
    check_str(
        "the author's",
        json_string_value(json_array_get(json_object_get(json_array_get(init, 0), "command"), 0)),
        "own");
    wait = job_bench_container(changed, "wait-for-master");
    check_str("image", image_of(wait), "alpine:latest");
    check_has("timeout", script_of(wait), "limit=600");
    check_has("all workers", script_of(job_bench_container(waiting, "wait-for-workers")),
              "for host in j-worker-0.j j-worker-1.j; do");
    job_bench_free(&bench);
    job_bench_free(&own);
    job_bench_free(&tuned);
    job_bench_free(&launcher);
}

/* covers: job-plugins.md PLG-100 PLG-101 PLG-102; see O-P35 */
static void ray_runs_its_own_commands(void **unused)
{
#define RAY_POD(name)                                                                              \
    "initContainers: [{name: i, command: [x]}], containers: [{name: " name                         \
    ", command: [own], args: [a]}, {name: sidecar, command: [side], args: [b]}]"
    struct job_bench bench = job_bench_new(JOB(
        "{ray: [--port=1234, --dashboardPort=3456, --clientPort=4567, --head=test-head]}",
        TASK_WITH("test-head", 1, RAY_POD("head")) "," TASK_WITH("worker", 2, RAY_POD("worker"))));
    struct job_bench plain = job_bench_new(
        JOB("{ray: []}",
            TASK_WITH("head", 1, RAY_POD("head")) "," TASK_WITH("worker", 2, RAY_POD("worker"))));
    scoped(json) json_t *head = job_bench_pod(&bench, "test-head", 0);
    scoped(json) json_t *worker = job_bench_pod(&plain, "worker", 0);
    const json_t *sidecar = job_bench_container(head, "sidecar");

    check_str("head", script_of(job_bench_container(head, "head")),
              "ray start --head --block --dashboard-host=0.0.0.0 --port=1234 "
              "--dashboard-port=3456 --ray-client-server-port=4567");
    check_str("its ports", job_bench_ports(&bench, head, "head"),
              "1234:gcs 3456:dashboard 4567:client-server");
    assert_null(json_object_get(job_bench_container(head, "head"), "args"));
    check_str("worker", script_of(job_bench_container(worker, "worker")),
              "ray start --block --address=j-head-0.j:6379");
    check_str("sidecar", json_string_value(json_array_get(json_object_get(sidecar, "command"), 0)),
              "side");
    assert_int_equal(json_array_size(json_object_get(sidecar, "args")), 1);
    check_str("its ports", job_bench_ports(&bench, head, "sidecar"), "");
    check_str("init container",
              json_string_value(
                  json_array_get(json_object_get(job_bench_container(head, "i"), "command"), 0)),
              "x");
    job_bench_free(&bench);
    job_bench_free(&plain);
}

struct rank_case {
    const char *name;
    const char *yaml;
    const char *task;
    int32_t index;
    const char *rank;
};

#define RANK_POD(first, second)                                                                    \
    "containers: [{name: a, command: [x], env: [" first "]}, {name: b, command: [x], env: "        \
    "[" second "]}]"

/* covers: job-plugins.md PLG-110 PLG-111 PLG-112 PLG-113 PLG-114 PLG-116 PLG-117 */
static void hcclrank_writes_the_rank_of_a_pod(void **unused)
{
    /* clang-format off */
    static const struct rank_case cases[] = {
        {"a rank that the author gives stays",
         JOB("{hcclrank: []}", "{name: worker, replicas: 2, template: {metadata: {annotations: {hccl/rankIndex: '1'}}, spec: {" C "}}}"), "worker", 0, "1"},
        {"a variable RANK of a container gives the rank",
         JOB("{hcclrank: []}", TASK_WITH("worker", 2, RANK_POD("", "{name: RANK, value: '5'}"))), "worker", 0, "5"},
        {"the first of two variables RANK counts",
         JOB("{hcclrank: []}", TASK_WITH("worker", 2, RANK_POD("{name: RANK, value: first}", "{name: RANK, value: second}"))), "worker", 0, "first"},
        {"an empty variable RANK does not count",
         JOB("{hcclrank: []}", TASK_WITH("worker", 2, RANK_POD("{name: RANK, value: ''}", "{name: RANK, value: '5'}"))), "worker", 0, "5"},
        {"a worker is ranked behind the masters",
         JOB("{hcclrank: []}", TASK("master", 2) "," TASK("worker", 2)), "worker", 1, "3"},
        {"a master is ranked by its index",
         JOB("{hcclrank: []}", TASK("master", 2) "," TASK("worker", 2)), "master", 1, "1"},
        {"without masters a worker is ranked by its index",
         JOB("{hcclrank: []}", TASK("master", 0) "," TASK("worker", 2)), "worker", 1, "1"},
        {"without a task of masters a worker is ranked by its index",
         JOB("{hcclrank: []}", TASK("worker", 2)), "worker", 1, "1"},
        {"arguments name the tasks",
         JOB("{hcclrank: [--master, tm, --worker, tw]}", TASK("tm", 2) "," TASK("tw", 2)), "tw", 0, "2"},
        {"a pod of another task gets no rank",
         JOB("{hcclrank: []}", TASK("master", 1) "," TASK("other", 2)), "other", 1, NULL},
        {"an index label of the author does not count",
         JOB("{hcclrank: []}", "{name: master, replicas: 2, template: {metadata: {labels: {volcano.sh/task-index: x}}, spec: {" C "}}}"), "master", 1, "1"},
        {"a master has the rank that pytorch gives",
         JOB("{hcclrank: [], pytorch: []}", TASK("master", 1) "," TASK("worker", 3)), "master", 0, "0"},
        {"a worker has the rank that pytorch gives",
         JOB("{hcclrank: [], pytorch: []}", TASK("master", 1) "," TASK("worker", 3)), "worker", 2, "3"},
        {"the tasks are those of pytorch, not of hcclrank",
         JOB("{hcclrank: [], pytorch: [--master=m, --worker=w]}", TASK("m", 1) "," TASK("w", 3)), "w", 2, "3"},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        struct job_bench bench = job_bench_new(cases[i].yaml);

        for (int again = 0; again < 100; again++) {
            scoped(json) json_t *pod = job_bench_pod(&bench, cases[i].task, cases[i].index);
            json_t *annotations = json_object_get(json_object_get(pod, "metadata"), "annotations");

            check_str(cases[i].name,
                      json_string_value(json_object_get(annotations, "hccl/rankIndex")),
                      cases[i].rank);
        }
        job_bench_free(&bench);
    }
}

/* The error of the case cannot happen here: see docs/deviations.md. covers: job-plugins.md
 * PLG-115 */
static void no_pod_is_without_the_index_it_is_ranked_by(void **unused)
{
#define LABELLED(labels)                                                                           \
    "{name: master, replicas: 2, template: {metadata: {labels: " labels "}, spec: {" C "}}}"
    static const char *const masters[] = {
        TASK("master", 2),
        LABELLED("{volcano.sh/task-index: ''}"),
        LABELLED("{volcano.sh/task-index: x}"),
        LABELLED("{volcano.sh/task-index: '7'}"),
    };
#undef LABELLED

    for (size_t i = 0; i < countof(masters); i++) {
        scoped_str yaml = mem_printf(JOB("{hcclrank: []}", "%s"), masters[i]);
        struct job_bench bench = job_bench_new(yaml);
        scoped(json) json_t *pod = job_bench_pod(&bench, "master", 1);
        const json_t *metadata = json_object_get(pod, "metadata");
        const json_t *labels = json_object_get(metadata, "labels");
        const json_t *annotations = json_object_get(metadata, "annotations");

        check_str("label", json_string_value(json_object_get(labels, LABEL_TASK_INDEX)), "1");
        check_str("rank", json_string_value(json_object_get(annotations, "hccl/rankIndex")), "1");
        job_bench_free(&bench);
    }
}

/* covers: job-plugins.md PLG-130; see O-P06 */
static void the_same_pod_comes_out_every_time(void **unused)
{
    struct job_bench bench =
        job_bench_new(JOB("{svc: [], pytorch: [--wait-master-enabled], ssh: [], env: []}",
                          TASK("master", 1) "," TASK_WITH("worker", 2, INIT C)));
    scoped(json) json_t *first = job_bench_pod(&bench, "worker", 1);
    scoped_str text = json_dumps(first, JSON_COMPACT);
    struct job_pod_plan plan = job_pod_plan_of(&bench.model, (struct slot_id){1, 1});

    for (int i = 0; i < 1000; i++) {
        scoped(json) json_t *pod = job_bench_pod(&bench, "worker", 1);
        scoped_str again = json_dumps(pod, JSON_COMPACT);

        assert_string_equal(again, text);
    }
    job_pod_plan_apply(&plan, json_object_get(first, "spec"));
    scoped_str twice = json_dumps(first, JSON_COMPACT);
    assert_string_equal(twice, text);
    job_pod_plan_release(&plan);
    job_bench_free(&bench);
}

/* covers: see O-P10 */
static void a_host_list_beyond_the_kernels_limit_is_left_out(void **unused)
{
    struct job_bench bench =
        job_bench_new(JOB_OF("abcdefghijklmnopqrstuvwxyzabcd", "{svc: []}", TASK("worker", 4000)));
    struct job_plugin_job job = job_plugin_job_of(&bench.model);
    scoped(json) json_t *pod = job_bench_pod(&bench, "worker", 0);
    struct error_list warnings = {0};

    check_str("env", job_bench_env(&bench, pod, "c"),
              "VC_WORKER_NUM=<abcdefghijklmnopqrstuvwxyzabcd-svc/VC_WORKER_NUM>");
    job_plugins_review(&job, "spec", NULL, &warnings);
    assert_int_equal(warnings.count, 1);
    assert_string_equal(warnings.items[0].field, "HostsEnvTooLong");
    check_has("warning", warnings.items[0].message, "/etc/volcano/VC_WORKER_HOSTS");
    error_list_release(&warnings);
    job_bench_free(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_go_behind_the_authors),
        cmocka_unit_test(tensorflow_tells_the_cluster_and_the_pods_place),
        cmocka_unit_test(ports_are_declared_once),
        cmocka_unit_test(svc_gives_names_and_the_lists_as_files),
        cmocka_unit_test(ssh_mounts_its_four_files),
        cmocka_unit_test(mpi_is_told_to_use_the_loopback_of_one_machine),
        cmocka_unit_test(who_must_wait_gets_an_init_container),
        cmocka_unit_test(ray_runs_its_own_commands),
        cmocka_unit_test(hcclrank_writes_the_rank_of_a_pod),
        cmocka_unit_test(no_pod_is_without_the_index_it_is_ranked_by),
        cmocka_unit_test(the_same_pod_comes_out_every_time),
        cmocka_unit_test(a_host_list_beyond_the_kernels_limit_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
