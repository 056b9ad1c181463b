/*
 * Admission of pods, and their decoded spec.
 * covers: job.md ADM-72; reliability.md L-35 L-36 SEC-19; see decisions.md DC-10
 */
#include "api/types/kinds/pod/pod.h"
#include "tests/api/types/kinds/admission_fixture.h"

#define NAMED(annotations, spec)                                                                   \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns, annotations: {" annotations     \
    "}}\nspec: {" spec "}\n"
#define POD(spec)          NAMED("", spec)
#define CONTAINER(members) POD("containers: [{name: c, command: [run], " members "}]")
#define OURS(annotations)                                                                          \
    NAMED(annotations, "schedulerName: volcano, containers: [{name: c, command: [run]}]")
#define VOLUMES(list) POD("volumes: [" list "], containers: [{name: c, command: [run]}]")
#define MOUNT(members)                                                                             \
    POD("volumes: [{name: v, emptyDir: {}}], containers: [{name: c, command: [run], "              \
        "volumeMounts: [" members "]}]")
#define JDB_MIN(value) "volcano.sh/jdb-min-available: \"" value "\""
#define JDB_MAX(value) "volcano.sh/jdb-max-unavailable: \"" value "\""

/* clang-format off */
static const struct verdict_case cases[] = {
    {"a program",                   CONTAINER("image: i")},
    {"no program",                  POD("containers: [{name: c, image: i}]"), "spec.containers[0].command", "name the program to run"},
    {"no program to begin with",    POD("initContainers: [{name: a, image: i}], containers: [{name: c, args: [x]}]"), "spec.initContainers[0].command", "\"a\" has neither"},
    {"no spec",                     "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns}\n", "spec", "Required value"},
    {"no containers",               POD("containers: []"), "spec.containers", "a pod needs a container"},
    {"container twice",             POD("initContainers: [{name: c, command: [x]}], containers: [{name: c, command: [x]}]"), "spec.containers[0].name", "Duplicate value: \"c\""},
    {"container name",              POD("containers: [{name: C_1, command: [x]}]"), "spec.containers[0].name", "C_1"},
    {"restart policy",              POD("restartPolicy: Sometimes, containers: [{name: c, command: [x]}]"), "spec.restartPolicy", "\"OnFailure\""},
    {"sidecar",                     POD("initContainers: [{name: a, command: [x], restartPolicy: Always}], containers: [{name: c, command: [x]}]")},
    {"restart of a regular one",    CONTAINER("restartPolicy: Always"), "spec.containers[0].restartPolicy", "non-init"},
    {"variable",                    CONTAINER("env: [{name: A, value: b}, {name: A.b-c, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]")},
    {"variable without name",       CONTAINER("env: [{value: b}]"), "spec.containers[0].env[0].name", "Required value"},
    {"variable with =",             CONTAINER("env: [{name: A=b}]"), "spec.containers[0].env[0].name", "no '='"},
    {"variable of two sources",     CONTAINER("env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}, secretKeyRef: {name: s, key: k}}}]"),
                                    "spec.containers[0].env[0].valueFrom", "exactly one"},
    {"variable of value and source", CONTAINER("env: [{name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"), "spec.containers[0].env[0].valueFrom", "not empty"},
    {"request above limit",         CONTAINER("resources: {requests: {cpu: 2}, limits: {cpu: 1}}"), "spec.containers[0].resources.requests", "cpu limit of 1"},
    {"port 0",                      CONTAINER("ports: [{containerPort: 0}]"), "spec.containers[0].ports[0].containerPort", "greater than or equal to 1"},
    {"probe of nothing",            CONTAINER("livenessProbe: {periodSeconds: 1}"), "spec.containers[0].livenessProbe", "exactly one"},
    {"probe of two",                CONTAINER("startupProbe: {exec: {command: [x]}, tcpSocket: {port: 1}}"), "spec.containers[0].startupProbe", "exactly one"},
    {"probe of a named port",       CONTAINER("readinessProbe: {httpGet: {port: web}}")},
    {"mount",                       MOUNT("{name: v, mountPath: /data}, {name: v, mountPath: /dev/shm}")},
    {"mount of no volume",          MOUNT("{name: w, mountPath: /data}"), "spec.containers[0].volumeMounts[0].name", "no volume of this name"},
    {"one path twice",              MOUNT("{name: v, mountPath: /a}, {name: v, mountPath: /a}"), "spec.containers[0].volumeMounts[1].mountPath", "must be unique"},
    {"relative mount path",         MOUNT("{name: v, mountPath: data}"), "spec.containers[0].volumeMounts[0].mountPath", "absolute"},
    {"mount path with ..",          MOUNT("{name: v, mountPath: /a/../b}"), "spec.containers[0].volumeMounts[0].mountPath", "'..'"},
    {"mount path with :",           MOUNT("{name: v, mountPath: \"/a:b\"}"), "spec.containers[0].volumeMounts[0].mountPath", "':'"},
    {"mount on the kernel's",       MOUNT("{name: v, mountPath: /proc/1}"), "spec.containers[0].volumeMounts[0].mountPath", "/proc"},
    {"only alike",                  MOUNT("{name: v, mountPath: /process}")},
    {"the kernel's, written oddly", MOUNT("{name: v, mountPath: //proc/1}"), "spec.containers[0].volumeMounts[0].mountPath", "/proc"},
    {"the kernel's, by a dot",      MOUNT("{name: v, mountPath: /./sys}"), "spec.containers[0].volumeMounts[0].mountPath", "/sys"},
    {"devices",                     MOUNT("{name: v, mountPath: /dev/null}"), "spec.containers[0].volumeMounts[0].mountPath", "/dev"},
    {"shared memory",               MOUNT("{name: v, mountPath: /dev/shm}")},
    {"mount path .. at the end",    MOUNT("{name: v, mountPath: /a/..}"), "spec.containers[0].volumeMounts[0].mountPath", "'..'"},
    {"mount path, relative",        MOUNT("{name: v, mountPath: a}"), "spec.containers[0].volumeMounts[0].mountPath", "absolute"},
    {"sub path with ..",            MOUNT("{name: v, mountPath: /a, subPath: b/..}"), "spec.containers[0].volumeMounts[0].subPath", "relative path"},
    {"sub path with dots",          MOUNT("{name: v, mountPath: /a, subPath: b/..c}")},
    {"sub path, absolute",          MOUNT("{name: v, mountPath: /a, subPath: /etc}"), "spec.containers[0].volumeMounts[0].subPath", "relative path"},
    {"sub path, written oddly",     MOUNT("{name: v, mountPath: /a, subPath: .//../etc}"), "spec.containers[0].volumeMounts[0].subPath", "relative path"},
    {"sub path with a variable",    MOUNT("{name: v, mountPath: /a, subPathExpr: $(A)/b}")},
    {"variable and ..",             MOUNT("{name: v, mountPath: /a, subPathExpr: ../$(A)}"), "spec.containers[0].volumeMounts[0].subPathExpr", "relative path"},
    {"both sub paths",              MOUNT("{name: v, mountPath: /a, subPath: b, subPathExpr: c}"), "spec.containers[0].volumeMounts[0].subPathExpr", "mutually exclusive"},
    {"volume twice",                VOLUMES("{name: v, emptyDir: {}}, {name: v, emptyDir: {}}"), "spec.volumes[1].name", "Duplicate value"},
    {"volume of two types",         VOLUMES("{name: v, emptyDir: {}, hostPath: {path: /}}"), "spec.volumes[0]", "more than 1 volume type"},
    {"volume of a network",         VOLUMES("{name: v, nfs: {server: s, path: /}}"), "spec.volumes[0].nfs", "not supported here"},
    {"item outside",                VOLUMES("{name: v, configMap: {name: m, items: [{key: k, path: ../x}]}}"), "spec.volumes[0].configMap.items[0].path", "without '..'"},
    {"item named as ours",          VOLUMES("{name: v, secret: {secretName: m, items: [{key: k, path: ..data/x}]}}"), "spec.volumes[0].secret.items[0].path", "start with '..'"},
    {"item, absolute",              VOLUMES("{name: v, downwardAPI: {items: [{path: /x, fieldRef: {fieldPath: metadata.name}}]}}"), "spec.volumes[0].downwardAPI.items[0].path", "relative path"},
    {"item of a projected volume",  VOLUMES("{name: v, projected: {sources: [{configMap: {name: m, items: [{key: k, path: a/../../x}]}}]}}"), "spec.volumes[0].projected.sources[0].configMap.items[0].path", "without '..'"},
    {"projected from elsewhere",    VOLUMES("{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}"), "spec.volumes[0].projected.sources[0]", "one of configMap"},
    {"projected from nothing",      VOLUMES("{name: v, projected: {sources: [{}]}}"), "spec.volumes[0].projected.sources[0]", "one of configMap"},
    {"secret without name",         VOLUMES("{name: v, secret: {}}"), "spec.volumes[0].secret.secretName", "Required value"},
    {"config map without name",     VOLUMES("{name: v, configMap: {}}"), "spec.volumes[0].configMap.name", "Required value"},
    {"projected without name",      VOLUMES("{name: v, projected: {sources: [{secret: {}}]}}"), "spec.volumes[0].projected.sources[0].secret.name", "Required value"},
    {"mode of a volume",            VOLUMES("{name: v, configMap: {name: m, defaultMode: 4095}}"), "spec.volumes[0].configMap.defaultMode", "0777"},
    {"mode of an item",             VOLUMES("{name: v, configMap: {name: m, items: [{key: k, path: p, mode: -1}]}}"), "spec.volumes[0].configMap.items[0].mode", "0777"},
    {"size below nothing",          VOLUMES("{name: v, emptyDir: {sizeLimit: -1Gi}}"), "spec.volumes[0].emptyDir.sizeLimit", "greater than or equal to 0"},
    {"host path that climbs",       VOLUMES("{name: v, hostPath: {path: /a/../b}}"), "spec.volumes[0].hostPath.path", "without '..'"},
    {"host path, relative",         VOLUMES("{name: v, hostPath: {path: a}}"), "spec.volumes[0].hostPath.path", "absolute path"},
    {"host path of no type",        VOLUMES("{name: v, hostPath: {path: /a, type: Folder}}"), "spec.volumes[0].hostPath.type", "Directory"},
    {"unknown source",              VOLUMES("{name: v, empty: {}}"), "spec.volumes[0].empty", "unknown field"},
    {"deadline 0",                  POD("activeDeadlineSeconds: 0, containers: [{name: c, command: [x]}]"), "spec.activeDeadlineSeconds", "greater than or equal to 1"},
    {"host name",                   POD("hostname: a.b, containers: [{name: c, command: [x]}]"), "spec.hostname", "a.b"},
    {"72: 0",                       OURS(JDB_MIN("0")), "metadata.annotations[volcano.sh/jdb-min-available]", "positive integer"},
    {"72: -1",                      OURS(JDB_MIN("-1")), NULL, "positive integer"},
    {"72: 0%",                      OURS(JDB_MIN("0%")), NULL, "positive integer"},
    {"72: 100%",                    OURS(JDB_MAX("100%")), "metadata.annotations[volcano.sh/jdb-max-unavailable]", "percentage which between 1% ~ 99%"},
    {"72: abc",                     OURS(JDB_MIN("abc")), NULL, "positive integer"},
    {"72: both",                    OURS(JDB_MIN("1") "," JDB_MAX("1")), "metadata.annotations", "multiple annotations"},
    {"72: 50%",                     OURS(JDB_MIN("50%"))},
    {"72: another scheduler",       NAMED(JDB_MIN("0"), "containers: [{name: c, command: [run]}]")},
};
/* clang-format on */

static void pods_are_accepted_and_refused(void **state)
{
    check_verdicts(cases, countof(cases));
}

static void arguments_beyond_the_limits_are_refused(void **state)
{
    struct admission_fixture fixture;
    struct limits limits = limits_default;
    static const struct verdict_case sizes[] = {
        {"ten bytes", POD("containers: [{name: c, command: [\"0123456789\"], args: [abc]}]")},
        {"eleven bytes", POD("containers: [{name: c, command: [\"01234567890\"]}]"),
         "spec.containers[0].command[0]", "Too long"},
        {"a variable", CONTAINER("env: [{name: ABCDE, value: \"012345\"}]"),
         "spec.containers[0].env[0].value", "11 bytes with its name"},
        {"all together",
         POD("containers: [{name: c, command: [\"0123456789\", \"0123456789\"], args: [\"0\"]}]"),
         "spec.containers[0]", "21 bytes together"},
        {"containers",
         POD("containers: [{name: a, command: [x]}, {name: b, command: [x]}, {name: c, command: "
             "[x]}]"),
         "spec.containers", "at most 2 items"},
        {"volumes", VOLUMES("{name: a, emptyDir: {}}, {name: b, emptyDir: {}}"), "spec.volumes",
         "at most 1 items"},
        {"mounts", MOUNT("{name: v, mountPath: /a}, {name: v, mountPath: /b}"),
         "spec.containers[0].volumeMounts", "at most 1 items"},
    };

    limits.argument_bytes = 10;
    limits.arguments_bytes = 20;
    limits.pod_containers = 2;
    limits.pod_volumes = 1;
    limits.container_mounts = 1;
    fixture_init(&fixture);
    fixture.adm.limits = &limits;
    for (size_t i = 0; i < countof(sizes); i++)
        check_verdict(&fixture, &sizes[i], NULL);
    fixture_release(&fixture);
}

static void a_pod_gets_the_defaults_of_kubernetes(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);

    scoped(object) struct object *pod =
        fixture_admit(&fixture, CONTAINER("ports: [{containerPort: 80}]"), NULL);

    check_str("body", pod->body->text,
              "{\"spec\":{\"containers\":[{\"name\":\"c\",\"command\":[\"run\"],\"ports\":[{"
              "\"containerPort\":80,\"protocol\":\"TCP\"}],"
              "\"resources\":{},\"terminationMessagePath\":\"/dev/"
              "termination-log\",\"terminationMessagePolicy\":\"File\","
              "\"imagePullPolicy\":\"IfNotPresent\"}],\"restartPolicy\":\"Always\","
              "\"terminationGracePeriodSeconds\":30,"
              "\"dnsPolicy\":\"ClusterFirst\",\"securityContext\":{},\"schedulerName\":\"default-"
              "scheduler\","
              "\"enableServiceLinks\":true}}");
    fixture_release(&fixture);
}

/* Only the simulated runtime accepts these sources; their members are not checked. */
static void simulations_take_any_body_of_an_unsupported_volume(void **state)
{
    static const struct verdict_case volumes[] = {
        {"unknown members", VOLUMES("{name: v, rbd: {images: [x]}}")},
        {"no members", VOLUMES("{name: v, csi: {}}")},
        {"no object", VOLUMES("{name: v, nfs: server}"), "spec.volumes[0].nfs",
         "must be of type object"},
        {"two sources", VOLUMES("{name: v, nfs: {}, cephfs: {}}"), "spec.volumes[0]",
         "may not specify more than 1 volume type"},
    };
    struct admission_fixture fixture;

    fixture_init(&fixture);
    fixture.adm.virtual_runtime = true;
    for (size_t i = 0; i < countof(volumes); i++)
        check_verdict(&fixture, &volumes[i], NULL);
    fixture_release(&fixture);
}

static void a_pod_is_decoded_once(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);

    scoped(object) struct object *pod = fixture_admit(
        &fixture,
        POD("restartPolicy: Never, nodeSelector: {a: b}, overhead: {cpu: 10m}, volumes: [{name: v, "
            "configMap: {name: m}}], "
            "initContainers: [{name: i, command: [x], resources: {requests: {cpu: 3}}}], "
            "containers: [{name: c, image: im, command: [run, now], args: [fast], workingDir: /w, "
            "env: [{name: A, value: b}, "
            "{name: S, valueFrom: {secretKeyRef: {name: s, key: k}}}], resources: {requests: {cpu: "
            "500m, memory: 1Mi}}, "
            "volumeMounts: [{name: v, mountPath: /m, readOnly: true}], ports: [{containerPort: "
            "80}]}, "
            "{name: d, command: [x], resources: {limits: {memory: 1Mi}}}]"),
        NULL);

    if (!pod)
        print_findings(&fixture.errors);
    assert_non_null(pod);

    const struct pod_spec *spec = pod_spec_of(pod);
    const struct pod_container *c = &spec->containers.items[0];

    assert_ptr_equal(spec, pod_spec_of(pod));
    check_str("command", c->command.items[1], "now");
    check_str("args", c->args.items[0], "fast");
    check_str("dir", c->working_dir, "/w");
    check_str("env", c->env.items[0].value, "b");
    check("secret", json_object_get(c->env.items[1].value_from, "secretKeyRef") != NULL);
    check_str("mount", c->mounts.items[0].mount_path, "/m");
    check_int("read-only", c->mounts.items[0].read_only, 1);
    check_str("protocol", c->ports.items[0].protocol, "TCP");
    check("volume", json_object_get(spec->volumes.items[0].source, "configMap") != NULL);
    check_int("grace", spec->grace_s.value, 30);
    check("selector", json_object_get(spec->node_selector, "a") != NULL);
    check_int("cpu", pod_spec_requests(spec).cpu_milli, 3010);
    check_int("memory", pod_spec_requests(spec).memory_bytes, 2 << 20);
    check_str("qos", pod_qos_class(spec), "Burstable");
    fixture_release(&fixture);
}

static void updates_may_change_few_fields(void **state)
{
    struct admission_fixture fixture;
    static const char *const before =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns}\nspec: {containers: [{name: "
        "c, image: i, command: [run]}]}\n";
    static const struct verdict_case changes[] = {
        {"bound to a node",
         POD("nodeName: one, containers: [{name: c, image: i, command: [run]}]")},
        {"another image", POD("containers: [{name: c, image: j, command: [run]}]")},
        {"a deadline",
         POD("activeDeadlineSeconds: 5, containers: [{name: c, image: i, command: [run]}]")},
        {"another program", POD("containers: [{name: c, image: i, command: [walk]}]"), "spec",
         "pod updates may not change fields other than"},
        {"another container",
         POD("containers: [{name: c, image: i, command: [run]}, {name: d, command: [x]}]"), "spec",
         "pod updates may not change"},
    };
    static const struct verdict_case deadlines[] = {
        {"a nearer one",
         POD("activeDeadlineSeconds: 4, containers: [{name: c, image: i, command: [run]}]")},
        {"a later one",
         POD("activeDeadlineSeconds: 6, containers: [{name: c, image: i, command: [run]}]"),
         "spec.activeDeadlineSeconds", "must be less than or equal to previous value (5)"},
        {"none", POD("containers: [{name: c, image: i, command: [run]}]"),
         "spec.activeDeadlineSeconds", "must not update from a positive integer to nil value"},
    };
    static const struct verdict_case move = {
        "to another node", POD("nodeName: two, containers: [{name: c, image: i, command: [run]}]"),
        "spec", "pod updates may not"};

    fixture_init(&fixture);

    const struct object *old = fixture_add(&fixture, before);
    const struct object *bound = fixture_add(
        &fixture, POD("nodeName: one, containers: [{name: c, image: i, command: [run]}]"));

    for (size_t i = 0; i < countof(changes); i++)
        check_verdict(&fixture, &changes[i], old);
    check_verdict(&fixture, &move, bound);
    old = fixture_add(
        &fixture,
        POD("activeDeadlineSeconds: 5, containers: [{name: c, image: i, command: [run]}]"));
    for (size_t i = 0; i < countof(deadlines); i++)
        check_verdict(&fixture, &deadlines[i], old);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_are_accepted_and_refused),
        cmocka_unit_test(arguments_beyond_the_limits_are_refused),
        cmocka_unit_test(a_pod_gets_the_defaults_of_kubernetes),
        cmocka_unit_test(simulations_take_any_body_of_an_unsupported_volume),
        cmocka_unit_test(a_pod_is_decoded_once),
        cmocka_unit_test(updates_may_change_few_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
