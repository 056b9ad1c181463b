/*
 * Tests what targets make of jobs: the tables know every field and argument that the program has,
 * and each version of Volcano gets what it understands.
 *
 * covers: cluster.md CLU-277
 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/job/job.h"
#include "api/types/text/yaml.h"
#include "cli/target/job_check.h"
#include "cli/target/job_normalize.h"
#include "job/plugins/plugin.h"

static struct error_list check_text(const char *target, const char *text,
                                    struct error_list *warnings)
{
    struct error err = {0};
    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(text, strlen(text), &yaml_limits_body, &err);
    struct error_list errors = {0};

    check(text, stream && yaml_count(stream) == 1);
    target_check_job(target_find(target), yaml_document(stream, 0), &errors, warnings);
    return errors;
}

#define TASK(members)                                                                              \
    "tasks: [{name: t, template: {spec: {containers: [{name: c, image: i}]}}" members "}]"

/* clang-format off */
static const struct {
    const char *name, *target, *spec;
    const char *field, *text; /* field and message of the expected error; NULL: none */
} cases[] = {
    {"a plain job",            "volcano-1.10", TASK(""), NULL, NULL},
    {"no image",               "volcano-1.13", "tasks: [{template: {spec: {containers: [{name: c}]}}}]",
                               "spec.tasks[0].template.spec.containers[0].image", "Required value: a cluster runs images"},
    {"no image in a cluster",  "cluster=kube", "tasks: [{template: {spec: {containers: [{name: c}]}}}]",
                               "spec.tasks[0].template.spec.containers[0].image", "Required value: a cluster runs images"},
    {"no image of an init container", "cluster", "tasks: [{template: {spec: {initContainers: [{name: c, image: ''}]}}}]",
                               "spec.tasks[0].template.spec.initContainers[0].image", "Required value"},
    {"a topology, too early",  "volcano-1.11", "networkTopology: {mode: hard}, " TASK(""), "spec.networkTopology", "Volcano 1.11 has no such field, Volcano 1.12 has: leave it out"},
    {"a topology",             "volcano-1.12", "networkTopology: {mode: hard}, " TASK(""), NULL, NULL},
    {"a tier by name",         "volcano-1.13", "networkTopology: {highestTierName: x}, " TASK(""), "spec.networkTopology.highestTierName", "Volcano 1.14 has"},
    {"partitions, too early",  "volcano-1.13", TASK(", partitionPolicy: {partitionSize: 1}"), "spec.tasks[0].partitionPolicy", "Volcano 1.14 has"},
    {"partitions",             "volcano-1.14", TASK(", partitionPolicy: {partitionSize: 1}"), NULL, NULL},
    {"an unknown field",       "volcano-1.15", "suspend: true, " TASK(""), "spec.suspend", "Volcano has no such field: leave it out"},
    {"resources of a pod",     "volcano-1.11", "tasks: [{template: {spec: {resources: {}, containers: []}}}]", "spec.tasks[0].template.spec.resources", "write the resources of the containers"},
    {"resources of a pod, later", "volcano-1.12", "tasks: [{template: {spec: {resources: {}, containers: []}}}]", NULL, NULL},
    {"an action, too early",   "volcano-1.10", "policies: [{event: PodFailed, action: RestartPod}], " TASK(""), "spec.policies[0].action", "Volcano 1.11 has"},
    {"an event, too early",    "volcano-1.10", TASK(", policies: [{events: [PodFailed, PodPending], action: RestartJob}]"), "spec.tasks[0].policies[0].events[1]", "Volcano 1.11 has"},
    {"an event of ours",       "cluster=flows", "policies: [{event: JobUnknown, action: RestartJob}], " TASK(""), "spec.policies[0].event", "write Unknown"},
    {"an event of ours, run by us", "cluster=jobs", "policies: [{event: JobUnknown, action: RestartJob}], " TASK(""), NULL, NULL},
    {"a plugin, too early",    "volcano-1.12", "plugins: {ray: []}, " TASK(""), "spec.plugins[ray]", "Volcano 1.13 has"},
    {"a plugin",               "volcano-1.13", "plugins: {ray: [--port=1]}, " TASK(""), NULL, NULL},
    {"an argument of ours",    "volcano-1.15", "plugins: {mpi: [--master, t, --worker=t, -wait-workers]}, " TASK(""), "spec.plugins[mpi]", "no such argument wait-workers: leave it out"},
    {"an argument, too early", "volcano-1.13", "plugins: {pytorch: [--wait-master-enabled]}, " TASK(""), "spec.plugins[pytorch]", "Volcano 1.14 has"},
    {"an argument of ours, run by us", "cluster=kube", "plugins: {mpi: [--wait-workers]}, " TASK(""), NULL, NULL},
    {"env takes anything",     "volcano-1.13", "plugins: {env: [--any]}, " TASK(""), NULL, NULL},
    {"mpi without workers",    "volcano-1.13", "plugins: {mpi: [--master=t]}, " TASK(""), "spec.plugins[mpi]", "without the task \"worker\""},
    {"mpi's other workers",    "volcano-1.13", "plugins: {mpi: [--master=t, -worker, t]}, " TASK(""), NULL, NULL},
};
static const struct {
    const char *name, *target, *spec;
    const char *field, *text; /* field and message of the expected warning; NULL: none */
} warnings[] = {
    {"nothing",              "cluster", TASK(""), NULL, NULL},
    {"a newer field",        "cluster", "networkTopology: {mode: hard}, " TASK(""), "spec.networkTopology", "since 1.12"},
    {"a newer field, run by us", "cluster=jobs", "networkTopology: {mode: hard}, " TASK(""), NULL, NULL},
    {"a scheduler",          "cluster=kube", "schedulerName: volcano, " TASK(""), "spec.schedulerName", "SchedulerReplaced"},
    {"the scheduler there",  "cluster=kube", "schedulerName: default-scheduler, " TASK(""), NULL, NULL},
    {"a queue",              "cluster=kube", "queue: research, " TASK(""), "spec.queue", "QueueIgnored"},
    {"the default queue",    "cluster=kube", "queue: default, " TASK(""), NULL, NULL},
    {"a topology",           "cluster=kube", "networkTopology: {}, " TASK(""), "spec.networkTopology", "kube-scheduler ignores it"},
    {"a simulated duration", "volcano-1.13", "tasks: [{template: {metadata: {annotations: {sim.jobflow.dev/duration: 5s}}}}]",
                             "spec.tasks[0].template.metadata.annotations[sim.jobflow.dev/duration]", "a cluster ignores it"},
    {"a path of the host",   "cluster=jobs", "tasks: [{template: {spec: {volumes: [{name: v, hostPath: {path: /x}}]}}}]",
                             "spec.tasks[0].template.spec.volumes[0].hostPath", "whichever node"},
};
/* clang-format on */

static void check_findings(const char *name, const struct error_list *found, const char *field,
                           const char *text)
{
    if (!field) {
        check_str(name, found->count ? found->items[0].message : NULL, NULL);
        return;
    }
    check_int(name, found->count, 1);
    check_str(name, found->items[0].field, field);
    check_has(name, found->items[0].message, text);
}

static void each_version_gets_what_it_understands(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str text = mem_printf("{%s}", cases[i].spec);
        struct error_list found = {0}, errors = check_text(cases[i].target, text, &found);

        check_findings(cases[i].name, &errors, cases[i].field, cases[i].text);
        error_list_release(&errors);
        error_list_release(&found);
    }
}

static void what_a_cluster_has_otherwise_is_a_warning(void **state)
{
    for (size_t i = 0; i < countof(warnings); i++) {
        scoped_str text = mem_printf("{%s}", warnings[i].spec);
        struct error_list found = {0}, errors = check_text(warnings[i].target, text, &found);

        check_int(warnings[i].name, errors.count, 0);
        check_findings(warnings[i].name, &found, warnings[i].field, warnings[i].text);
        error_list_release(&errors);
        error_list_release(&found);
    }
}

/* Checks a spec with only one member against the newest version of Volcano. `lists` says which
 * members are lists. */
static void check_known(const char *path)
{
    scoped(json) json_t *spec = json_object();
    json_t *at = spec;
    struct error_list errors = {0}, found = {0};

    for (const char *word = path; *word;) {
        size_t len = strcspn(word, ".[");
        bool list = word[len] == '[';
        scoped_str name = mem_printf("%.*s", (int)len, word);
        json_t *below = json_object();

        json_object_set_new(at, name, list ? json_pack("[o]", below) : below);
        at = below;
        word += len + (list ? 2 : 0);
        word += *word == '.';
    }
    target_check_job(target_find("volcano-1.15"), spec, &errors, &found);
    for (size_t i = 0; i < errors.count; i++)
        if (strstr(errors.items[i].message, "field"))
            check_fail("%s: %s", path, errors.items[i].message);
    error_list_release(&errors);
    error_list_release(&found);
}

static bool is_opaque(const char *path)
{
    static const char *const opaque[] = {"tasks[].template", "volumes[].volumeClaim", "plugins"};

    for (size_t i = 0; i < countof(opaque); i++)
        if (strcmp(opaque[i], path) == 0)
            return true;
    return false;
}

static void check_schema(const struct schema *schema, const char *path)
{
    for (const struct field *field = schema->fields; field->name; field++) {
        scoped_str at = mem_printf("%s%s%s", path, *path ? "." : "", field->name);
        scoped_str below = mem_printf("%s%s", at, field->type == FIELD_LIST ? "[]" : "");

        check_known(below);
        if (field->of && !is_opaque(at))
            check_schema(field->of, below);
    }
}

static void every_field_of_a_job_is_in_the_table(void **state)
{
    check_schema(&job_spec_schema, "");
}

static const char *const own_arguments[] = {
    "svc.inject-hosts-env",
    "ssh.ssh-key-type",
    "mpi.wait-workers",
    "mpi.wait-workers-timeout",
    "mpi.wait-workers-image",
    "pytorch.torchrun-env",
    "tensorflow.evaluator-in-cluster",
    "ray.clientServerPort",
    "hcclrank.rank-table",
};

static bool is_own(const char *argument)
{
    for (size_t i = 0; i < countof(own_arguments); i++)
        if (strcmp(own_arguments[i], argument) == 0)
            return true;
    return false;
}

static void check_argument(const char *plugin, const char *argument)
{
    scoped_str name = mem_printf("%s.%s", plugin, argument);
    scoped_str spec = mem_printf("{plugins: {%s: [--%s=t]}, tasks: [{name: t}, {name: worker}]}",
                                 plugin, argument);
    struct error_list found = {0}, errors = check_text("volcano-1.15", spec, &found);

    check_int(name, errors.count > 0, is_own(name));
    error_list_release(&errors);
    error_list_release(&found);
}

/* The tables must know a new argument of a plugin, either as one of Volcano or as one of ours. */
static void every_argument_of_a_plugin_is_known_or_ours(void **state)
{
#define NAME(name) #name,
    static const char *const names[] = {JOB_PLUGINS(NAME)};
#undef NAME

    for (size_t i = 0; i < countof(names); i++) {
        const struct job_plugin *plugin = job_plugin_find(names[i], NULL);

        for (const struct job_arg *arg = plugin->flags; arg && arg->name; arg++)
            check_argument(names[i], arg->name);
    }
}

static void what_volcano_writes_otherwise_is_rewritten(void **state)
{
    scoped(json) json_t *spec = json_loads(
        "{\"policies\": [{\"event\": \"JobUnknown\"}], \"tasks\": [{\"topologyPolicy\": \"\","
        " \"policies\": [{\"events\": [\"PodFailed\", \"JobUnknown\"]}],"
        " \"template\": {\"metadata\": {\"creationTimestamp\": null, \"labels\": {\"a\": \"b\"}}}},"
        " {\"template\": {\"metadata\": {\"creationTimestamp\": null}}}]}",
        0, NULL);
    scoped(json) json_t *wanted = json_loads(
        "{\"policies\": [{\"event\": \"Unknown\"}], \"tasks\": [{"
        " \"policies\": [{\"events\": [\"PodFailed\", \"Unknown\"]}],"
        " \"template\": {\"metadata\": {\"labels\": {\"a\": \"b\"}}}}, {\"template\": {}}]}",
        0, NULL);

    target_normalize_job(spec);
    check("rewritten", json_equal(spec, wanted));
    target_normalize_job(spec);
    check("once is enough", json_equal(spec, wanted));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_version_gets_what_it_understands),
        cmocka_unit_test(what_a_cluster_has_otherwise_is_a_warning),
        cmocka_unit_test(every_field_of_a_job_is_in_the_table),
        cmocka_unit_test(every_argument_of_a_plugin_is_known_or_ours),
        cmocka_unit_test(what_volcano_writes_otherwise_is_rewritten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
