/*
 * Admission of new Jobs: defaults and rules.
 * covers: job.md ADM-01 ADM-02 ADM-03 ADM-04 ADM-05 ADM-06 ADM-07 ADM-08 ADM-09 ADM-10
 * ADM-14 ADM-15 ADM-16 ADM-17 ADM-18 ADM-19 ADM-20 ADM-21 ADM-25
 * ADM-26 ADM-27 ADM-28 ADM-29 ADM-30 ADM-31 ADM-32 ADM-33 ADM-34 ADM-35 ADM-36 ADM-37 ADM-38 ADM-39
 * ADM-40 ADM-41 ADM-42 ADM-43 ADM-44 ADM-45 ADM-46 ADM-47 ADM-48 ADM-49 ADM-50 ADM-51 ADM-52 ADM-53
 * ADM-54 ADM-55; reliability.md L-18 L-19
 */
#include "api/types/kinds/job/job.h"
#include "tests/api/types/kinds/admission_fixture.h"

#define POD                                                                                        \
    "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, command: [run]}]}}"
#define TASK(name, members) "{name: " name ", " members ", " POD "}"
#define ONE                 TASK("t", "replicas: 1")
#define NAMED(name, annotations, members)                                                          \
    "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"                                           \
    "metadata: {name: " name ", namespace: ns, annotations: {" annotations "}}\n"                  \
    "spec: {" members "}\n"
#define GENERATED(prefix, members)                                                                 \
    "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"                                           \
    "metadata: {generateName: " prefix ", namespace: ns}\nspec: {" members "}\n"
#define JOB(members)        NAMED("j", "", members)
#define POLICIES(list)      JOB("tasks: [" ONE "], policies: [" list "]")
#define TASK_POLICIES(list) JOB("tasks: [" TASK("t", "replicas: 1, policies: [" list "]") "]")
#define VOLUMES(list)       JOB("tasks: [" ONE "], volumes: [" list "]")
#define CONTAINER(members)                                                                         \
    JOB("tasks: [{name: t, replicas: 1, template: {spec: {containers: [{name: c, " members "}]}}}" \
        "]")
#define PARTITIONED(replicas, members, policy)                                                     \
    JOB("tasks: [" TASK("t", "replicas: " replicas members ", partitionPolicy: {" policy "}") "]")

/* clang-format off */
static const struct verdict_case cases[] = {
    {"15: a valid job",                 JOB("tasks: [" ONE "]")},
    {"15: with policies",               JOB("tasks: [" TASK("t", "replicas: 1, policies: [{event: TaskCompleted, action: CompleteJob}]") "], "
                                            "policies: [{event: PodEvicted, action: RestartJob, timeout: 10s}, {exitCode: 3, action: AbortJob}]")},
    {"16: two tasks of one name",       JOB("tasks: [" ONE ", " ONE "]"), "spec.tasks[1].name", "duplicated task name t"},
    {"17: two policies on one event",   POLICIES("{event: PodFailed, action: AbortJob}, {event: PodFailed, action: RestartJob}"), "spec.policies[1]",
                                        "duplicate event PodFailed"},
    {"18: repetition in one policy",    POLICIES("{events: [PodEvicted, PodFailed, PodEvicted], action: AbortJob}")},
    {"19: minAvailable too high",       JOB("minAvailable: 2, tasks: [" ONE "]"), "spec.minAvailable",
                                        "job 'minAvailable' should not be greater than total replicas in tasks"},
    {"20: minAvailable -1",             JOB("minAvailable: -1, tasks: [" ONE "]"), "spec.minAvailable", "greater than or equal to 0"},
    {"20: maxRetry -1",                 JOB("maxRetry: -1, tasks: [" ONE "]"), "spec.maxRetry", "greater than or equal to 0"},
    {"20: ttl -1",                      JOB("ttlSecondsAfterFinished: -1, tasks: [" ONE "]"), "spec.ttlSecondsAfterFinished", "greater than or equal to 0"},
    {"20: replicas -1",                 JOB("tasks: [" TASK("t", "replicas: -1") "]"), "spec.tasks[0].replicas", "greater than or equal to 0"},
    {"20: task minimum -1",             JOB("tasks: [" TASK("t", "replicas: 1, minAvailable: -1") "]"), "spec.tasks[0].minAvailable", "greater than or equal to 0"},
    {"minSuccess 0",                    JOB("minSuccess: 0, tasks: [" ONE "]"), "spec.minSuccess", "greater than or equal to 1"},
    {"task without limit of retries",   JOB("tasks: [" TASK("t", "replicas: 1, maxRetry: -1") "]")},
    {"21: task minimum above replicas", JOB("tasks: [" TASK("t", "replicas: 3, minAvailable: 5") "]"), "spec.tasks[0].minAvailable", "greater than 'replicas' in task"},
    {"25: empty task list",             JOB("tasks: []"), "spec.tasks", "No task specified in job spec"},
    {"25: no task list",                JOB("queue: default"), "spec.tasks", "No task specified"},
    {"26: task name",                   JOB("tasks: [" TASK("Task-1", "replicas: 1") "]"), "spec.tasks[0].name", "Task-1"},
    {"27: event and exitCode",          POLICIES("{event: PodFailed, exitCode: 1, action: AbortJob}"), "spec.policies[0]", "simultaneously"},
    {"28: neither",                     POLICIES("{action: AbortJob}"), "spec.policies[0]", "either event and exitCode should be specified"},
    {"29: made-up event",               POLICIES("{event: PodSneezed, action: AbortJob}"), "spec.policies[0].event", "PodSneezed"},
    {"29: internal event PodRunning",   POLICIES("{event: PodRunning, action: AbortJob}"), "spec.policies[0]", "invalid policy event \"PodRunning\""},
    {"29: internal event OutOfSync",    POLICIES("{events: [OutOfSync], action: AbortJob}"), "spec.policies[0]", "invalid policy event \"OutOfSync\""},
    {"29: internal event CommandIssued", POLICIES("{event: CommandIssued, action: AbortJob}"), "spec.policies[0]", "invalid policy event \"CommandIssued\""},
    {"30: unknown action",              POLICIES("{event: PodFailed, action: Explode}"), "spec.policies[0].action", "invalid policy action \"Explode\""},
    {"30: internal action SyncJob",     POLICIES("{event: PodFailed, action: SyncJob}"), "spec.policies[0].action", "invalid policy action \"SyncJob\""},
    {"30: internal action EnqueueJob",  POLICIES("{event: PodFailed, action: EnqueueJob}"), "spec.policies[0].action", "invalid policy action"},
    {"30: internal action UpdateJob",   POLICIES("{event: PodFailed, action: UpdateJob}"), "spec.policies[0].action", "invalid policy action"},
    {"30: no action",                   POLICIES("{event: PodFailed}"), "spec.policies[0].action", "invalid policy action \"\""},
    {"all allowed events",              POLICIES("{events: [PodFailed, PodEvicted, PodPending, JobUnknown, TaskCompleted, TaskFailed, JobUpdated], action: RestartPartition}")},
    {"JobUnknown is Unknown",           POLICIES("{event: JobUnknown, action: AbortJob}, {event: Unknown, action: AbortJob}"), "spec.policies[1]", "duplicate event Unknown"},
    {"31: exitCode 0",                  POLICIES("{exitCode: 0, action: AbortJob}"), "spec.policies[0].exitCode", "0 is not a valid error code"},
    {"32: two on one exit code",        POLICIES("{exitCode: 1, action: AbortJob}, {exitCode: 1, action: RestartJob}"), "spec.policies[1].exitCode", "duplicate exitCode 1"},
    {"33: * with another event",        POLICIES("{event: \"*\", action: AbortJob}, {event: PodFailed, action: RestartJob}"), "spec.policies[1]",
                                        "if there's * here, no other policy should be here"},
    {"33: * in the same policy",        POLICIES("{events: [\"*\", PodFailed], action: AbortJob}"), "spec.policies[0]", "if there's * here"},
    {"33: at task level",               TASK_POLICIES("{event: PodFailed, action: AbortJob}, {event: \"*\", action: RestartJob}"), "spec.tasks[0].policies[1]", "if there's * here"},
    {"34: * beside an exit code",       POLICIES("{event: \"*\", action: AbortJob}, {exitCode: 2, action: RestartJob}")},
    {"35: action of an exit code",      POLICIES("{exitCode: 2, action: Explode}"), "spec.policies[0].action", "invalid policy action"},
    {"negative timeout",                POLICIES("{event: PodFailed, action: AbortJob, timeout: -1s}"), "spec.policies[0].timeout", "at least 0ns"},
    {"36: no mountPath",                VOLUMES("{volumeClaimName: a}"), "spec.volumes[0].mountPath", "Required value"},
    {"36: empty mountPath",             VOLUMES("{mountPath: \"\", volumeClaimName: a}"), "spec.volumes[0].mountPath", "at least 1 chars"},
    {"mountPath with a colon",          VOLUMES("{mountPath: \"/a:b\", volumeClaimName: a}"), "spec.volumes[0].mountPath", "':'"},
    {"37: one path twice",              VOLUMES("{mountPath: /var, volumeClaimName: a}, {mountPath: /var, volumeClaimName: b}"), "spec.volumes[1].mountPath", "duplicated mountPath: /var"},
    {"38: neither claim nor name",      VOLUMES("{mountPath: /var}"), "spec.volumes[0]", "either VolumeClaim or VolumeClaimName must be specified"},
    {"38: with the annotation",         NAMED("j", "volcano.sh/volume-fallback: emptyDir", "tasks: [" ONE "], volumes: [{mountPath: /var}]")},
    {"39: both",                        VOLUMES("{mountPath: /var, volumeClaimName: a, volumeClaim: {accessModes: [ReadWriteOnce]}}"), "spec.volumes[0]", "Conflict"},
    {"39: bad claim name",              VOLUMES("{mountPath: /var, volumeClaimName: Bad_Name}"), "spec.volumes[0].volumeClaimName", "Bad_Name"},
    {"40: no such queue",               JOB("queue: nowhere, tasks: [" ONE "]"), "spec.queue", "unable to find job queue: queue \"nowhere\""},
    {"41: closed queue",                JOB("queue: closed, tasks: [" ONE "]"), "spec.queue", "queue `closed` status is `Closed`"},
    {"41: closing queue",               JOB("queue: closing, tasks: [" ONE "]"), "spec.queue", "status is `Closing`"},
    {"41: unknown queue state",         JOB("queue: odd, tasks: [" ONE "]"), "spec.queue", "status is `Unknown`"},
    {"41: no queue state",              JOB("queue: fresh, tasks: [" ONE "]"), "spec.queue", "status is ``"},
    {"42: root",                        JOB("queue: root, tasks: [" ONE "]"), "spec.queue", "can not submit job to root queue"},
    {"42: queue with a child",          JOB("queue: above, tasks: [" ONE "]"), "spec.queue", "has child queues"},
    {"42: leaf queue",                  JOB("queue: below, tasks: [" ONE "]")},
    {"43: privileged",                  JOB("tasks: [{name: t, replicas: 1, template: {spec: {initContainers: [{name: a, command: [x], securityContext: {privileged: true}}], "
                                            "containers: [{name: c, command: [x], securityContext: {privileged: true}}]}}}]")},
    {"44: task order",                  JOB("tasks: [" TASK("t1", "replicas: 1, dependsOn: {name: [t2]}") "," TASK("t2", "replicas: 1") "]")},
    {"45: missing task",                JOB("tasks: [" TASK("t1", "replicas: 1, dependsOn: {name: [t3]}") "]"), "spec.tasks[0].dependsOn.name[0]", "directed acyclic graph(DAG): task \"t3\""},
    {"46: two wait for each other",     JOB("tasks: [" TASK("t1", "replicas: 1, dependsOn: {name: [t2]}") "," TASK("t2", "replicas: 1, dependsOn: {name: [t1]}") "]"),
                                        "spec.tasks[0].dependsOn", "t1 -> t2 -> t1"},
    {"46: one waits for itself",        JOB("tasks: [" TASK("t2", "replicas: 1, dependsOn: {name: [t2]}") "]"), "spec.tasks[0].dependsOn", "t2 -> t2"},
    {"46: chain",                       JOB("tasks: [" TASK("t1", "replicas: 1, dependsOn: {name: [t2, t3]}") "," TASK("t2", "replicas: 1") "," TASK("t3", "replicas: 1, dependsOn: {name: [t2]}") "]")},
    {"47: a task named twice",          JOB("tasks: [" TASK("t1", "replicas: 1, dependsOn: {name: [t2, t2]}") "," TASK("t2", "replicas: 1") "]")},
    {"an empty list of tasks",          JOB("tasks: [" TASK("t1", "replicas: 1, dependsOn: {name: [], iteration: any}") "]")},
    {"48: partitionSize 0",             PARTITIONED("8", "", "totalPartitions: 2, partitionSize: 0"), "spec.tasks[0].partitionPolicy.partitionSize", "'partitionSize' must be greater than 0"},
    {"48: totalPartitions 0",           PARTITIONED("8", "", "totalPartitions: 0, partitionSize: 4"), "spec.tasks[0].partitionPolicy.totalPartitions", "'totalPartitions' must be greater than 0"},
    {"48: 8 is not 2x3",                PARTITIONED("8", "", "totalPartitions: 2, partitionSize: 3"), "spec.tasks[0].replicas", "'totalPartitions' x 'partitionSize' = 6"},
    {"49: 2x4",                         PARTITIONED("8", "", "totalPartitions: 2, partitionSize: 4")},
    {"49: 2x4, one needed",             PARTITIONED("8", "", "totalPartitions: 2, partitionSize: 4, minPartitions: 1")},
    {"50: minimum of another size",     PARTITIONED("8", ", minAvailable: 4", "totalPartitions: 4, partitionSize: 2, minPartitions: 1"), "spec.tasks[0].minAvailable", "= 2 in task"},
    {"50: minimum of that size",        PARTITIONED("8", ", minAvailable: 4", "totalPartitions: 4, partitionSize: 2, minPartitions: 2")},
    {"51: minimum without partitions",  PARTITIONED("4", ", minAvailable: 4", "totalPartitions: 2, partitionSize: 2")},
    {"52: both tiers at the job",       JOB("tasks: [" ONE "], networkTopology: {highestTierAllowed: 1, highestTierName: a}"), "spec.networkTopology", "pick one"},
    {"52: both tiers at a partition",   PARTITIONED("4", "", "totalPartitions: 2, partitionSize: 2, networkTopology: {highestTierAllowed: 1, highestTierName: a}"),
                                        "spec.tasks[0].partitionPolicy.networkTopology", "pick one"},
    {"52: the name alone",              JOB("tasks: [" ONE "], networkTopology: {highestTierName: a}")},
    {"53: whole cpus by limits",        JOB("tasks: [{name: t, replicas: 1, topologyPolicy: restricted, template: {spec: {containers: [{name: c, command: [x], resources: {limits: {cpu: 1}}}]}}}]")},
    {"53: half a cpu",                  JOB("tasks: [{name: t, replicas: 1, topologyPolicy: restricted, template: {spec: {containers: [{name: c, command: [x], resources: {limits: {cpu: 500m}}}]}}}]"),
                                        "spec.tasks[0].template.spec.containers[0].resources.requests[cpu]", "isn't an integer"},
    {"54: pod-level resources",         JOB("tasks: [{name: t, replicas: 1, template: {spec: {resources: {requests: {cpu: 1}}, containers: [{name: c, command: [x], resources: {requests: {cpu: 2}}}]}}}]"),
                                        "spec.tasks[0].template.spec.resources.requests[cpu]", "aggregate container requests of 2"},
    {"55: cpu -1",                      CONTAINER("command: [x], resources: {requests: {cpu: -1}}"), "spec.tasks[0].template.spec.containers[0].resources.requests[cpu]",
                                        "greater than or equal to 0"},
    {"55: memory 1Zz",                  CONTAINER("command: [x], resources: {requests: {memory: 1Zz}}"), "spec.tasks[0].template.spec.containers[0].resources.requests[memory]", "1Zz"},
    {"no program",                      CONTAINER("image: busybox"), "spec.tasks[0].template.spec.containers[0].command", "neither command nor args"},
    {"args alone are a program",        CONTAINER("args: [run]")},
    {"no template",                     JOB("tasks: [{name: t, replicas: 1}]"), "spec.tasks[0].template.spec.containers", "a pod needs a container"},
    {"label of the template",           JOB("tasks: [{name: t, replicas: 1, template: {metadata: {labels: {a b: c}}, spec: {containers: [{name: c, command: [x]}]}}}]"),
                                        "spec.tasks[0].template.metadata.labels", "a b"},
    {"job name",                        NAMED("\"-j\"", "", "tasks: [" ONE "]"), "metadata.name", "-j"},
    {"pod name by the highest index",   NAMED("a2345678901234567890123456789012345678901234567890123456789", "", "tasks: [" TASK("t", "replicas: 11") "]"),
                                        "metadata.name", "a2345678901234567890123456789012345678901234567890123456789-t-10 (64 characters)"},
    {"generated name",                  GENERATED("j-", "tasks: [" ONE "]")},
    {"generated name too long",         GENERATED("a2345678901234567890123456789012345678901234567890123456", "tasks: [" ONE "]"),
                                        "metadata.name", "a2345678901234567890123456789012345678901234567890123456xxxxx-t-0"},
    {"pod name that fits",              NAMED("a2345678901234567890123456789012345678901234567890123456789", "", "tasks: [" TASK("t", "replicas: 10") "]")},
    {"too many replicas",               JOB("tasks: [" TASK("t", "replicas: 10001") "]"), "spec.tasks", "at most 10000"},
    {"too many retries",                JOB("maxRetry: 101, tasks: [" ONE "]"), "spec.maxRetry", "at most 100"},
    {"mistyped field",                  JOB("taks: []"), "spec.taks", "did you mean \"tasks\""},
};
/* clang-format on */

static void add_queues(struct admission_fixture *fixture)
{
    fixture_add(fixture, QUEUE_YAML("closed", "{}", "Closed"));
    fixture_add(fixture, QUEUE_YAML("closing", "{}", "Closing"));
    fixture_add(fixture, QUEUE_YAML("odd", "{}", "Unknown"));
    fixture_add(fixture, QUEUE_YAML("fresh", "{}", "\"\""));
    fixture_add(fixture, QUEUE_YAML("root", "{}", "Open"));
    fixture_add(fixture, QUEUE_YAML("above", "{}", "Open"));
    fixture_add(fixture, QUEUE_YAML("below", "{parent: above}", "Open"));
}

static void jobs_are_accepted_and_refused(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    add_queues(&fixture);
    for (size_t i = 0; i < countof(cases); i++)
        check_verdict(&fixture, &cases[i], NULL);
    fixture_release(&fixture);
}

struct default_case {
    const char *name, *yaml;
    const char *path; /* JSON pointer without the first slash */
    const char *want; /* expected value as JSON text; NULL: absent */
};

/* clang-format off */
static const struct default_case defaults[] = {
    {"01: queue",                    JOB("tasks: [" ONE "]"), "queue", "\"default\""},
    {"01: empty queue",              JOB("queue: \"\", tasks: [" ONE "]"), "queue", "\"default\""},
    {"02: scheduler",                JOB("tasks: [" ONE "]"), "schedulerName", "\"volcano\""},
    {"03: maxRetry absent",          JOB("tasks: [" ONE "]"), "maxRetry", "3"},
    {"03: maxRetry 0",               JOB("maxRetry: 0, tasks: [" ONE "]"), "maxRetry", "3"},
    {"04: first name",               JOB("tasks: [{replicas: 1, " POD "}, {replicas: 1, " POD "}]"), "tasks/0/name", "\"default0\""},
    {"04: second name",              JOB("tasks: [{replicas: 1, " POD "}, {replicas: 1, " POD "}]"), "tasks/1/name", "\"default1\""},
    {"05: sum of replicas",          JOB("tasks: [" TASK("a", "replicas: 2") "," TASK("b", "replicas: 3") "]"), "minAvailable", "5"},
    {"05: task minimum",             JOB("tasks: [" TASK("a", "replicas: 2") "," TASK("b", "replicas: 3") "]"), "tasks/1/minAvailable", "3"},
    {"06: sum of minimums",          JOB("tasks: [" TASK("a", "replicas: 3, minAvailable: 2") "," TASK("b", "replicas: 2") "]"), "minAvailable", "4"},
    {"07: task maxRetry 0",          JOB("tasks: [" TASK("a", "replicas: 1, maxRetry: 0") "]"), "tasks/0/maxRetry", "3"},
    {"08: minimum of partitions",    PARTITIONED("9", "", "totalPartitions: 3, partitionSize: 3, minPartitions: 2"), "tasks/0/minAvailable", "6"},
    {"09: without minPartitions",    PARTITIONED("4", "", "totalPartitions: 2, partitionSize: 2"), "tasks/0/minAvailable", "4"},
    {"09: job minimum",              PARTITIONED("4", "", "totalPartitions: 2, partitionSize: 2"), "minAvailable", "4"},
    {"O-07: number of partitions",   PARTITIONED("8", "", "partitionSize: 4"), "tasks/0/partitionPolicy/totalPartitions", "2"},
    {"10: host network",             JOB("tasks: [{name: t, replicas: 1, template: {spec: {hostNetwork: true, containers: [{name: c, command: [x]}]}}}]"),
                                     "tasks/0/template/spec/dnsPolicy", "\"ClusterFirstWithHostNet\""},
    {"10: its own policy",           JOB("tasks: [{name: t, replicas: 1, template: {spec: {hostNetwork: true, dnsPolicy: Default, containers: [{name: c, command: [x]}]}}}]"),
                                     "tasks/0/template/spec/dnsPolicy", "\"Default\""},
    {"10: no host network",          JOB("tasks: [" ONE "]"), "tasks/0/template/spec/dnsPolicy", NULL},
    {"a port has a protocol",        CONTAINER("command: [x], ports: [{containerPort: 80}]"), "tasks/0/template/spec/containers/0/ports/0/protocol", "\"TCP\""},
};
/* clang-format on */

static const json_t *at_path(const json_t *doc, const char *path)
{
    char *copy = mem_strdup(path), *save = NULL;

    for (char *part = strtok_r(copy, "/", &save); part && doc; part = strtok_r(NULL, "/", &save))
        doc = json_is_array(doc) ? json_array_get(doc, strtoul(part, NULL, 10))
                                 : json_object_get(doc, part);
    mem_free(copy);
    return doc;
}

static void defaults_are_filled_in(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    for (size_t i = 0; i < countof(defaults); i++) {
        const struct default_case *c = &defaults[i];
        scoped(object) struct object *job = fixture_admit(&fixture, c->yaml, NULL);

        if (!job)
            print_findings(&fixture.errors);
        check(c->name, job != NULL);

        scoped(json) json_t *body = object_body_json(job);
        const json_t *value = at_path(json_object_get(body, "spec"), c->path);
        char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

        check_str(c->name, text, c->want);
        free(text);
    }
    fixture_release(&fixture);
}

/* A job without missing fields stays as written (ADM-14). */
static void a_job_without_missing_fields_stays_as_written(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);

    scoped(object) struct object *job = fixture_admit(
        &fixture,
        JOB("schedulerName: s, minAvailable: 1, queue: default, maxRetry: 5, priorityClassName: p, "
            "plugins: {svc: [], ssh: [], env: []}, tasks: [" TASK(
                "t", "replicas: 2, minAvailable: 1, maxRetry: 4") "]"),
        NULL);

    check_str("body", job ? job->body->text : "refused",
              "{\"spec\":{\"schedulerName\":\"s\",\"minAvailable\":1,\"queue\":\"default\","
              "\"maxRetry\":5,"
              "\"priorityClassName\":\"p\",\"plugins\":{\"svc\":[],\"ssh\":[],\"env\":[]},"
              "\"tasks\":[{\"name\":\"t\","
              "\"replicas\":2,\"minAvailable\":1,\"maxRetry\":4,\"template\":{\"spec\":{"
              "\"restartPolicy\":\"Never\","
              "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"command\":[\"run\"]}]}}}]}}");
    fixture_release(&fixture);
}

static void a_job_is_decoded_once(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);

    scoped(object) struct object *job = fixture_admit(
        &fixture,
        JOB("tasks: [" TASK("a", "replicas: 2, dependsOn: {name: [b], iteration: any}, policies: "
                                 "[{events: [PodFailed, "
                                 "PodEvicted], event: TaskFailed, action: AbortJob, timeout: "
                                 "1m}]") ", {replicas: 4, name: b, partitionPolicy: "
                                         "{partitionSize: 2}, " POD
                                         "}], volumes: [{mountPath: /d, volumeClaim: "
                                         "{accessModes: [ReadWriteOnce]}}], runningEstimate: 1h, "
                                         "plugins: {svc: [--x=1]}, ttlSecondsAfterFinished: 0"),
        NULL);

    if (!job)
        print_findings(&fixture.errors);
    assert_non_null(job);

    const struct job_spec *spec = job_spec_of(job);

    assert_ptr_equal(job_spec_of(job), spec);
    check_int("min", spec->min_available, 6);
    check_int("ttl set", spec->ttl_s.set, 1);
    check_int("no minSuccess", spec->min_success.set, 0);
    check_int("estimate", spec->running_estimate_ns / 1000000000, 3600);
    check_str("depends", spec->tasks.items[0].depends_on.items[0], "b");
    check_str("iteration", spec->tasks.items[0].depends_iteration, "any");
    check_int("events", spec->tasks.items[0].policies.items[0].events.count, 2);
    check_int("timeout", spec->tasks.items[0].policies.items[0].timeout_ns / 1000000000, 60);
    check_int("partitions", spec->tasks.items[1].partition->total, 2);
    check("template", json_object_get(spec->tasks.items[0].template, "spec") != NULL);
    check_str("plugin", spec->plugins.items[0].key, "svc");
    check_str("argument", spec->plugins.items[0].value.items[0], "--x=1");
    check("claim", spec->volumes.items[0].claim != NULL);
    fixture_release(&fixture);
}

static void simulated_containers_need_no_program(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    fixture.adm.virtual_runtime = true;

    scoped(object) struct object *job = fixture_admit(&fixture, CONTAINER("image: busybox"), NULL);

    assert_non_null(job);
    fixture_release(&fixture);
}

static void policies_that_never_act_are_warned_about(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);

    scoped(object) struct object *pending =
        fixture_admit(&fixture, POLICIES("{event: PodPending, action: AbortJob}"), NULL);

    assert_non_null(pending);
    check("O-13",
          has_finding(&fixture.warnings, "spec.policies[0]", "without a timeout never acts"));

    scoped(object) struct object *always = fixture_admit(&fixture, CONTAINER("command: [x]"), NULL);

    assert_non_null(always);
    check("O-52", has_finding(&fixture.warnings, "spec.tasks[0].template.spec.restartPolicy",
                              "never succeed"));
    fixture_release(&fixture);
}

static void all_findings_are_reported_at_once(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    assert_null(fixture_admit(&fixture,
                              JOB("minAvailable: 9, policies: [{event: "
                                  "PodFailed, exitCode: 1, action: Explode}], tasks: [" ONE "," ONE
                                  ", {name: u, replicas: 1, template: {spec: {containers: [{name: "
                                  "c}, {name: c, command: [x]}]}}}]"),
                              NULL));
    static const char *const fields[] = {"spec.minAvailable",
                                         "spec.policies[0]",
                                         "spec.policies[0].action",
                                         "spec.tasks[1].name",
                                         "spec.tasks[2].template.spec.containers[0].command",
                                         "spec.tasks[2].template.spec.containers[1].name"};

    for (size_t i = 0; i < countof(fields); i++)
        check(fields[i], has_finding(&fixture.errors, fields[i], ""));
    check_int("findings", fixture.errors.count, countof(fields));
    fixture_release(&fixture);
}

/* Findings of the field table do not hide those of the rules, as long as the spec can be
 * decoded. */
static void findings_of_the_table_and_of_rules_are_reported_at_once(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    assert_null(fixture_admit(
        &fixture,
        JOB("maxRetrys: 3, ttlSecondsAfterFinished: -1, minAvailable: 9, tasks: [" ONE "," ONE "]"),
        NULL));
    check("unknown", has_finding(&fixture.errors, "spec.maxRetrys", "did you mean \"maxRetry\""));
    check("bound", has_finding(&fixture.errors, "spec.ttlSecondsAfterFinished", "-1"));
    check("rule", has_finding(&fixture.errors, "spec.minAvailable", ""));
    check("another", has_finding(&fixture.errors, "spec.tasks[1].name", ""));
    check_int("findings", fixture.errors.count, 4);
    assert_null(
        fixture_admit(&fixture, JOB("minAvailable: \"9\", tasks: [" ONE "," ONE "]"), NULL));
    check("type", has_finding(&fixture.errors, "spec.minAvailable", "must be of type integer"));
    check_int("nothing is guessed from it", fixture.errors.count, 1);
    fixture_release(&fixture);
}

static void enums_have_texts(void **state)
{
    enum job_event event;
    enum job_action action;
    enum job_phase phase;

    check("JobUnknown", job_event_parse("JobUnknown", &event) && event == EVENT_UNKNOWN);
    check("*", job_event_parse("*", &event) && event == EVENT_ANY);
    check("RestartPod", job_action_parse("RestartPod", &action) && action == ACT_RESTART_POD);
    check("NULL is none", job_phase_parse(NULL, &phase) && phase == JOB_NONE);
    check("made up", !job_phase_parse("Sleeping", &phase));
    check_str("text", job_phase_text(JOB_COMPLETING), "Completing");
    check("finished", job_phase_finished(JOB_TERMINATED) && !job_phase_finished(JOB_ABORTED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_accepted_and_refused),
        cmocka_unit_test(defaults_are_filled_in),
        cmocka_unit_test(a_job_without_missing_fields_stays_as_written),
        cmocka_unit_test(a_job_is_decoded_once),
        cmocka_unit_test(simulated_containers_need_no_program),
        cmocka_unit_test(policies_that_never_act_are_warned_about),
        cmocka_unit_test(all_findings_are_reported_at_once),
        cmocka_unit_test(findings_of_the_table_and_of_rules_are_reported_at_once),
        cmocka_unit_test(enums_have_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
