/*
 * Tests plugins at admission: what they imply, what they warn of and what they refuse.
 */
#include "job/plugins/plugin.h"
#include "tests/api/types/kinds/admission_fixture.h"

#define NAMED(name, members)                                                                       \
    "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: " name                     \
    ", namespace: ns}\nspec: {" members "}\n"
#define JOB(members)         NAMED("j", members)
#define POD_OF(spec)         "template: {spec: {restartPolicy: Never, " spec "}}"
#define C                    "containers: [{name: c, image: i, command: [run]}]"
#define TASK(name, replicas) "{name: " name ", replicas: " #replicas ", " POD_OF(C) "}"
#define ONE                  "tasks: [" TASK("t", 1) "]"
#define MOUNTS(volumes)                                                                            \
    "tasks: [{name: t, replicas: 1, " POD_OF(                                                      \
        "containers: [{name: c, command: [run], volumeMounts: [{name: v, mountPath: "              \
        "/etc/volcano}]}], volumes: [" volumes "]") "}]"
#define KEY_BODY "MIIEowIBAAKCAQEAcanarycanarycanarycanary"

static void fixture_with_plugins(struct admission_fixture *fixture)
{
    fixture_init(fixture);
    fixture->adm.plugins = &job_plugin_rules;
}

/* covers: job.md ADM-22 ADM-23 ADM-24; job-plugins.md PLG-032 PLG-047 PLG-103 PLG-124; see O-P07
 * O-P15 O-P36 */
static void what_cannot_be_is_refused(void **unused)
{
    /* clang-format off */
    static const struct verdict_case cases[] = {
        {"an unknown plugin is refused",
         JOB("plugins: {big_plugin: []}, " ONE), "spec.plugins[big_plugin]", "unable to find job plugin: big_plugin: there are env, mpi"},
        {"mpi accepts tasks named by arguments",
         JOB("plugins: {mpi: [--master=launcher, --worker=worker]}, tasks: [" TASK("launcher", 1) "," TASK("worker", 2) "]")},
        {"mpi accepts a worker before the master",
         JOB("plugins: {mpi: [--port=2, --worker, worker, -master, launcher]}, tasks: [" TASK("worker", 2) "," TASK("launcher", 1) "]")},
        {"mpi accepts a job without workers",
         JOB("plugins: {mpi: [--master=launcher]}, tasks: [" TASK("launcher", 1) "]")},
        {"mpi without a master is refused",
         JOB("plugins: {mpi: []}, " ONE), "spec.plugins[mpi]", "mpi master task was not found: the job has no task \"master\""},
        {"ray gives commands to containers that have none",
         JOB("plugins: {ray: [--worker=w]}, tasks: [{name: head, " POD_OF("containers: [{name: head}]") "}, {name: w, " POD_OF("containers: [{name: worker}]") "}]")},
        {"a container without a command that ray does not start is refused",
         JOB("plugins: {ray: []}, tasks: [{name: head, " POD_OF("containers: [{name: head}, {name: worker}]") "}]"),
                                       "spec.tasks[0].template.spec.containers[1].command", "\"worker\" has neither command nor args"},
        {"an init container without a command is refused",
         JOB("plugins: {ray: []}, tasks: [{name: head, " POD_OF("initContainers: [{name: head}], containers: [{name: c, command: [x]}]") "}]"),
                                       "spec.tasks[0].template.spec.initContainers[0].command", "\"head\" has neither command nor args"},
        {"ray without a head is refused",
         JOB("plugins: {ray: []}, " ONE), "spec.plugins[ray]", "ray head task was not found: the job has no task \"head\""},
        {"an unknown flag of ssh is accepted", JOB("plugins: {ssh: [--no-root]}, " ONE)},
        {"a relative path of keys is refused",
         JOB("plugins: {ssh: [--ssh-key-file-path=keys]}, " ONE), "spec.plugins[ssh]", "must be an absolute path"},
        {"a path of keys with .. is refused",
         JOB("plugins: {ssh: [--ssh-key-file-path=/a/../b]}, " ONE), "spec.plugins[ssh]", "must have neither '..'"},
        {"a path of keys in /proc is refused",
         JOB("plugins: {ssh: [--ssh-key-file-path=/proc/keys]}, " ONE), "spec.plugins[ssh]", "must not be within /proc"},
        {"the root directory as path of keys is refused",
         JOB("plugins: {ssh: [--ssh-key-file-path=//.]}, " ONE), "spec.plugins[ssh]", "must not be the root directory"},
        {"two equal ports of ray are refused",
         JOB("plugins: {ray: [--head=t, --port=7, --dashboardPort=7]}, " ONE), "spec.plugins[ray]", "gcs and dashboard have both port 7"},
        {"a rank table of a job with dots in its name is refused",
         NAMED("a.b", "plugins: {hcclrank: [--master=t, --rank-table]}, " ONE), "spec.plugins[hcclrank]", "name of a volume"},
        {"a private key of an unknown kind is refused",
         JOB("plugins: {ssh: [--ssh-private-key=" KEY_BODY "]}, " ONE), "spec.plugins[ssh]", "not of a supported kind"},
        {"a pair of given keys is accepted as it is",
         JOB("plugins: {ssh: [--ssh-private-key=" KEY_BODY ", --ssh-public-key=b]}, " ONE)},
        {"a name that begins with a digit is refused with svc",
         NAMED("1abc", "plugins: {svc: []}, " ONE), "metadata.name", "starts with a letter"},
        {"it is refused with an implied svc, too",
         NAMED("1abc", "plugins: {pytorch: []}, " ONE), "metadata.name", "starts with a letter"},
        {"a long name is refused with svc",
         NAMED("a23456789012345678901234567890123456789012345678901234567890", "plugins: {svc: []}, tasks: [" TASK("t", 0) "]"),
                                       "metadata.name", "at most 59"},
        {"a mount where svc mounts is refused",
         JOB("plugins: {svc: []}, " MOUNTS("{name: v, emptyDir: {}}")),
                                       "spec.tasks[0].template.spec.containers[0].volumeMounts[0].mountPath", "where plugin svc mounts j-svc: mount volume v elsewhere"},
        {"the same ConfigMap at that path is accepted",
         JOB("plugins: {svc: []}, " MOUNTS("{name: v, configMap: {name: j-svc}}"))},
        {"without svc the path is free", JOB(MOUNTS("{name: v, emptyDir: {}}"))},
        {"a volume of the job where ssh mounts is refused",
         JOB("plugins: {ssh: []}, volumes: [{mountPath: /root/.ssh, volumeClaimName: c}], " ONE), "spec.volumes[0].mountPath", "where plugin ssh mounts j-ssh"},
    };
    /* clang-format on */
    struct admission_fixture fixture;

    fixture_with_plugins(&fixture);
    for (size_t i = 0; i < countof(cases); i++)
        check_verdict(&fixture, &cases[i], NULL);
    fixture_release(&fixture);
}

struct warning_case {
    const char *name;
    const char *yaml;
    const char *text; /* text of the expected warning; NULL: none about plugins */
};

/* covers: job-plugins.md PLG-043 PLG-047 PLG-126; see O-P04 O-P24 O-P35 O-P41 */
static void what_would_be_ignored_is_a_warning(void **unused)
{
    /* clang-format off */
    static const struct warning_case cases[] = {
        {"correct plugins cause no warning",
         JOB("plugins: {svc: [], ssh: [], env: [anything]}, " ONE), NULL},
        {"an unknown flag causes a warning",
         JOB("plugins: {ssh: [--no-root]}, " ONE), "plugin ssh: argument ignored: flag \"no-root\" is unknown; known flags are ssh-key-file-path"},
        {"a text that is no boolean causes a warning",
         JOB("plugins: {svc: [--inject-hosts-env=yes]}, " ONE), "plugin svc: argument ignored: inject-hosts-env: \"yes\" is not a boolean"},
        {"a negative port causes a warning",
         JOB("plugins: {ssh: [--ssh-port=-10]}, " ONE), "ssh-port: -10 is not a port"},
        {"a port above 65535 causes a warning",
         JOB("plugins: {ssh: [--ssh-port=70000]}, " ONE), "ssh-port: 70000 is not a port"},
        {"an unknown type of key causes a warning",
         JOB("plugins: {ssh: [--ssh-key-type=dsa]}, " ONE), "ssh-key-type: \"dsa\" is not a key type; use rsa or ed25519"},
        {"a public key alone causes a warning",
         JOB("plugins: {ssh: [--ssh-public-key=x]}, " ONE), "a new pair is made"},
        {"a private key in arguments causes a warning",
         JOB("plugins: {ssh: [--ssh-private-key=a, --ssh-public-key=b]}, " ONE), "can read ssh-private-key in its arguments"},
        {"pytorch without a master causes a warning",
         JOB("plugins: {pytorch: []}, " ONE), "plugin pytorch does nothing: the job has no task \"master\""},
        {"tensorflow without a role causes a warning",
         JOB("plugins: {tensorflow: []}, " ONE), "no task of the job plays a role"},
        {"hcclrank without a task to rank causes a warning",
         JOB("plugins: {hcclrank: []}, " ONE), "hcclrank ranks no pod"},
        {"mpi without workers causes a warning",
         JOB("plugins: {mpi: [--master=t]}, " ONE), "gives no pod MPI_HOST: the job has no task \"worker\""},
        {"a named worker task that pytorch lacks causes a warning",
         JOB("plugins: {pytorch: [--master=t, --worker=w]}, " ONE), "counts no workers: the job has no task \"w\""},
        {"one task as master and workers of pytorch causes a warning",
         JOB("plugins: {pytorch: [--master=t, --worker=t]}, " ONE), "counts every pod twice: task \"t\" is master and workers"},
        {"pytorch without workers causes no warning",
         JOB("plugins: {pytorch: [--master=t]}, " ONE), NULL},
        {"a rank table that is no boolean causes a warning",
         JOB("plugins: {hcclrank: [--master=t, --rank-table=maybe]}, " ONE), "rank-table: \"maybe\" is not a boolean"},
        {"a worker of ray without its container causes a warning",
         JOB("plugins: {ray: [--head=t, --headContainer=c, --worker=t]}, " ONE), "starts no worker: task t has no container \"worker\""},
        {"a head of ray without its container causes a warning",
         JOB("plugins: {ray: [--head=t]}, " ONE), "task t has no container \"head\""},
        {"arguments that ray drops cause a warning",
         JOB("plugins: {ray: [--head=t, --headContainer=c]}, tasks: [{name: t, replicas: 1, "
                                       POD_OF("containers: [{name: c, command: [x], args: [z]}]") "}]"), "its args are dropped"},
        {"one hostname for two pods causes a warning",
         JOB("plugins: {svc: []}, tasks: [{name: t, replicas: 2, " POD_OF("hostname: h, " C) "}]"), "have the hostname h"},
        {"a dashboard that only the job's pods reach causes a warning",
         JOB("plugins: {svc: []}, tasks: [{name: t, " POD_OF("containers: [{name: c, command: [x], ports: [{name: dashboard, containerPort: 80}]}]") "}]"),
                                   "port dashboard of task t is for pods of this job alone"},
        {"a dashboard without a NetworkPolicy causes no warning",
         JOB("plugins: {svc: [--disable-network-policy]}, tasks: [{name: t, " POD_OF("containers: [{name: c, command: [x], ports: [{name: http-api, containerPort: 80}]}]") "}]"), NULL},
        {"another port of the job causes no warning",
         JOB("plugins: {svc: []}, tasks: [{name: t, " POD_OF("containers: [{name: c, command: [x], ports: [{name: rpc, containerPort: 80}]}]") "}]"), NULL},
    };
    /* clang-format on */
    struct admission_fixture fixture;

    fixture_with_plugins(&fixture);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(object) struct object *job = fixture_admit(&fixture, cases[i].yaml, NULL);

        if (!job)
            print_findings(&fixture.errors);
        check(cases[i].name, job != NULL);
        if (cases[i].text && !has_finding(&fixture.warnings, "spec.plugins", cases[i].text)) {
            print_findings(&fixture.warnings);
            check_fail("%s: no warning with %s", cases[i].name, cases[i].text);
        }
        if (!cases[i].text)
            check(cases[i].name, !has_finding(&fixture.warnings, "spec.plugins", ""));
    }
    fixture_release(&fixture);
}

/* covers: see O-P04 */
static void a_strict_server_refuses_what_would_be_ignored(void **unused)
{
    struct admission_fixture fixture;

    fixture_with_plugins(&fixture);
    fixture.adm.strict_plugin_arguments = true;
    assert_null(fixture_admit(&fixture, JOB("plugins: {ssh: [--no-root]}, " ONE), NULL));
    check("error", has_finding(&fixture.errors, "spec.plugins", "flag \"no-root\" is unknown"));
    scoped(object) struct object *job =
        fixture_admit(&fixture, JOB("plugins: {pytorch: []}, " ONE), NULL);
    check("other warnings stay warnings", job != NULL);
    fixture_release(&fixture);
}

/* covers: reliability.md SEC-29 */
static void a_server_takes_no_private_keys_unless_told_to(void **unused)
{
    struct admission_fixture fixture;

    fixture_with_plugins(&fixture);
    fixture.adm.no_key_arguments = true;
    assert_null(fixture_admit(
        &fixture, JOB("plugins: {ssh: [--ssh-private-key=" KEY_BODY ", --ssh-public-key=b]}, " ONE),
        NULL));
    check("error", has_finding(&fixture.errors, "spec.plugins[ssh]", "--allow-ssh-key-arguments"));
    check("and no key", !has_finding(&fixture.errors, NULL, "canary"));
    check("and no key", !has_finding(&fixture.warnings, NULL, "canary"));
    fixture_release(&fixture);
}

/* covers: see O-P42 */
static void a_user_without_low_ports_is_warned_of_sshd(void **unused)
{
    /* clang-format off */
#define SSHD(plugins) JOB("plugins: {" plugins "}, tasks: [{name: t, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, command: [sh, -c, /usr/sbin/sshd -D]}]}}}]")
    static const struct warning_case cases[] = {
        {"mpi with port 22 causes a warning",
         SSHD("mpi: [--master=t]"), "plugin mpi: sshd cannot listen on port 22"},
        {"mpi with a high port causes no warning", SSHD("mpi: [--master=t, --port=2222]"), NULL},
        {"ssh with port 22 causes a warning",
         SSHD("ssh: []"), "plugin ssh: sshd cannot listen on port 22"},
        {"ssh with a low port causes a warning",
         SSHD("ssh: [--ssh-port=1023]"), "plugin ssh: sshd cannot listen on port 1023"},
        {"ssh with port 1024 causes no warning", SSHD("ssh: [--ssh-port=1024]"), NULL},
        {"the port that mpi sets for ssh is judged",
         SSHD("mpi: [--master=t, --port=700], ssh: []"), "plugin mpi: sshd cannot listen on port 700"},
        {"a job that runs no sshd causes no warning", JOB("plugins: {ssh: []}, " ONE), NULL},
        {"a job without ssh and mpi causes no warning", SSHD("svc: []"), NULL},
    };
    /* clang-format on */
    for (int may = 0; may <= 1; may++) {
        struct admission_fixture fixture;

        fixture_with_plugins(&fixture);
        fixture.adm.no_low_ports = !may;
        for (size_t i = 0; i < countof(cases); i++) {
            const char *text = may ? NULL : cases[i].text;
            scoped(object) struct object *job = fixture_admit(&fixture, cases[i].yaml, NULL);

            check(cases[i].name, job != NULL);
            check(cases[i].name, has_finding(&fixture.warnings, "spec.plugins",
                                             text ? text : "cannot listen") == (text != NULL));
        }
        fixture_release(&fixture);
    }
}

struct implied_case {
    const char *name;
    const char *yaml;
    const char *plugins; /* plugins of the job after admission */
};

/* covers: job.md ADM-11 ADM-12 ADM-13; job-plugins.md PLG-067 PLG-120 PLG-121 PLG-122 PLG-123 */
static void what_a_plugin_needs_is_added(void **unused)
{
    /* clang-format off */
    static const struct implied_case cases[] = {
        {"tensorflow implies svc",
         JOB("plugins: {tensorflow: []}, " ONE), "{\"tensorflow\":[],\"svc\":[]}"},
        {"pytorch implies svc", JOB("plugins: {pytorch: []}, " ONE), "{\"pytorch\":[],\"svc\":[]}"},
        {"ray implies svc",
         JOB("plugins: {ray: [--head=t]}, " ONE), "{\"ray\":[\"--head=t\"],\"svc\":[]}"},
        {"mpi implies svc and ssh",
         JOB("plugins: {mpi: [--master=t, --port=2222]}, " ONE), "{\"mpi\":[\"--master=t\",\"--port=2222\"],\"svc\":[],\"ssh\":[]}"},
        {"implied plugins keep their arguments",
         JOB("plugins: {mpi: [--master=t], svc: [a], ssh: [b]}, " ONE), "{\"mpi\":[\"--master=t\"],\"svc\":[\"a\"],\"ssh\":[\"b\"]}"},
        {"hcclrank implies nothing", JOB("plugins: {hcclrank: []}, " ONE), "{\"hcclrank\":[]}"},
        {"an empty list of plugins stays empty", JOB("plugins: {}, " ONE), "{}"},
        {"a job without plugins gets none", JOB(ONE), NULL},
    };
    /* clang-format on */
    struct admission_fixture fixture;

    fixture_with_plugins(&fixture);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(object) struct object *job = fixture_admit(&fixture, cases[i].yaml, NULL);
        scoped(json) json_t *body = job ? object_body_json(job) : NULL;
        json_t *plugins = json_object_get(json_object_get(body, "spec"), "plugins");
        scoped_str text = plugins ? json_dumps(plugins, JSON_COMPACT) : NULL;

        check(cases[i].name, job != NULL);
        check_str(cases[i].name, text, cases[i].plugins);
    }
    fixture_release(&fixture);
}

struct update_case {
    const char *name;
    const char *pointer; /* pointer to the changed member below spec */
    const char *value;
    const char *field, *text; /* field and message of the expected finding; NULL: accepted */
};

static json_t *parent_of(json_t *doc, const char *pointer, const char **out_last)
{
    json_t *at = json_object_get(doc, "spec");

    for (const char *dot; (dot = strchr(pointer, '.')); pointer = dot + 1) {
        scoped_str part = mem_printf("%.*s", (int)(dot - pointer), pointer);

        at = json_is_array(at) ? json_array_get(at, strtoul(part, NULL, 10))
                               : json_object_get(at, part);
    }
    *out_last = pointer;
    return at;
}

/* covers: job-plugins.md PLG-125; see section 12 */
static void updates_change_neither_plugins_nor_what_ranks_depend_on(void **unused)
{
    static const struct update_case cases[] = {
        {"a plugin cannot be added", "plugins.env", "[]", "spec.plugins", "Forbidden"},
        {"an argument cannot be changed", "plugins.pytorch", "[\"--master=w\"]", "spec.plugins",
         "Forbidden"},
        {"workers can be added", "tasks.1.replicas", "4", NULL, NULL},
        {"masters cannot be added", "tasks.0.replicas", "2", "spec.tasks[0].replicas",
         "ranks of running pytorch workers"},
    };
    struct admission_fixture fixture;
    scoped(object) struct object *job = NULL;

    fixture_with_plugins(&fixture);
    job = fixture_admit(&fixture,
                        JOB("plugins: {pytorch: [--master=m, --worker=w]}, tasks: [" TASK(
                            "m", 1) "," TASK("w", 2) "]"),
                        NULL);
    assert_non_null(job);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(json) json_t *doc = object_to_json(job);
        scoped(json) json_t *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
        const char *last;
        json_t *parent = parent_of(doc, cases[i].pointer, &last);

        json_object_set(parent, last, value);
        error_list_release(&fixture.errors);
        scoped(object) struct object *after =
            admission_admit(&fixture.adm, doc, job, UNKNOWN_ERROR, &fixture.errors);
        if (!cases[i].text)
            print_findings(&fixture.errors);
        check(cases[i].name, (after != NULL) == !cases[i].text);
        check(cases[i].name,
              !cases[i].text || has_finding(&fixture.errors, cases[i].field, cases[i].text));
    }
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(what_would_be_ignored_is_a_warning),
        cmocka_unit_test(a_strict_server_refuses_what_would_be_ignored),
        cmocka_unit_test(a_server_takes_no_private_keys_unless_told_to),
        cmocka_unit_test(a_user_without_low_ports_is_warned_of_sshd),
        cmocka_unit_test(what_a_plugin_needs_is_added),
        cmocka_unit_test(updates_change_neither_plugins_nor_what_ranks_depend_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
