/*
 * Commands, config maps, secrets, and the table of kinds as a whole.
 * covers: job.md ADM-73 CMD-09; reliability.md L-16 SEC-19 SEC-30; see section 1 of jobflow.md and
 * job.md
 */
#include "api/types/kinds/command.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/scheduling/priority_class.h"
#include "tests/api/types/kinds/admission_fixture.h"

#define COMMAND(members)                                                                           \
    "apiVersion: bus.volcano.sh/v1alpha1\nkind: Command\nmetadata: {name: c, namespace: "          \
    "ns}\n" members
#define AIMED(annotation, members)                                                                 \
    "apiVersion: bus.volcano.sh/v1alpha1\nkind: Command\nmetadata: {name: c, namespace: "          \
    "ns, annotations: {" annotation "}}\n" members
#define TARGET(group, kind) "target: {apiVersion: " group ", kind: " kind ", name: j, uid: u}\n"
#define JOB_TARGET          TARGET("batch.volcano.sh/v1alpha1", "Job")
#define QUEUE_TARGET        TARGET("scheduling.volcano.sh/v1beta1", "Queue")
#define MAP(members)        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: ns}\n" members
#define SECRET(members)     "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns}\n" members

/* clang-format off */
static const struct verdict_case cases[] = {
    {"abort a job",             COMMAND("action: AbortJob\n" JOB_TARGET)},
    {"close a queue",           COMMAND("action: CloseQueue\n" QUEUE_TARGET)},
    {"73: unknown action",      COMMAND("action: Foo\n" JOB_TARGET), "action", "invalid action \"Foo\" for a Job: must be one of AbortJob"},
    {"73: no target",           COMMAND("action: AbortJob\n"), "target", "Required value"},
    {"73: half a target",       COMMAND("action: AbortJob\ntarget: {kind: Job}\n"), "target.name", "Required value"},
    {"no action",               COMMAND(JOB_TARGET), "action", "invalid action \"\""},
    {"another kind",            COMMAND("action: AbortJob\n" TARGET("v1", "Pod")), "target.kind", "must be Job or CronJob of batch.volcano.sh/v1alpha1, FlowTrigger"},
    {"a job of another group",  COMMAND("action: AbortJob\n" TARGET("batch/v1", "Job")), "target.kind", "must be Job or CronJob of"},
    {"an internal action",      COMMAND("action: SyncJob\n" JOB_TARGET), "action", "invalid action"},
    {"CMD-09: on no pod",       COMMAND("action: RestartPod\n" JOB_TARGET), "action", "name it in annotation volcano.sh/pod-name"},
    {"CMD-09: on no task",      COMMAND("action: RestartTask\n" JOB_TARGET), "action", "name it in annotation volcano.sh/task-spec"},
    {"on half a partition",     AIMED("volcano.sh/task-spec: t", "action: RestartPartition\n" JOB_TARGET), "action", "annotation volcano.sh/partition-id"},
    {"on a pod",                AIMED("volcano.sh/pod-name: j-t-0", "action: RestartPod\n" JOB_TARGET)},
    {"an action of a queue",    COMMAND("action: CloseQueue\n" JOB_TARGET), "action", "invalid action"},
    {"an action of a job",      COMMAND("action: AbortJob\n" QUEUE_TARGET), "action", "OpenQueue, CloseQueue"},
    {"keys",                    MAP("data: {a.b-c_D1: x, .hidden: x}\nbinaryData: {bin: AAEC}\n")},
    {"key with a slash",        MAP("data: {a/b: x}\n"), "data[a/b]", "a valid config key must consist of"},
    {"key ..",                  MAP("data: {\"..\": x}\n"), "data[..]", "must not be '..'"},
    {"key ..data",              MAP("data: {..data: x}\n"), "data[..data]", "must not start with '..'"},
    {"key in both",             MAP("data: {a: x}\nbinaryData: {a: AAEC}\n"), "data[a]", "duplicate of key"},
    {"no base64",               MAP("binaryData: {a: \"not base64\"}\n"), "binaryData[a]", "must be base64"},
    {"secret",                  SECRET("type: Opaque\ndata: {a: aGVsbG8=}\nstringData: {b: hello}\n")},
    {"secret of plain text",    SECRET("data: {a: canary!}\n"), "data[a]", "plain text goes to stringData"},
};
/* clang-format on */

static void objects_are_accepted_and_refused(void **state)
{
    check_verdicts(cases, countof(cases));
}

static void findings_never_show_a_secret(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    assert_null(fixture_admit(&fixture, SECRET("data: {a: canary!, ../b: canary!}\n"), NULL));
    check_int("findings", fixture.errors.count, 3);
    check("no value", !has_finding(&fixture.errors, NULL, "canary"));
    fixture_release(&fixture);
}

static void plain_text_becomes_base64_on_every_write(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);

    scoped(object) struct object *secret = fixture_admit(
        &fixture, SECRET("data: {a: AAEC}\nstringData: {b: h, c: he, d: hel, e: \"\"}\n"), NULL);

    check_str("body", secret->body->text,
              "{\"data\":{\"a\":\"AAEC\",\"b\":\"aA==\",\"c\":\"aGU=\",\"d\":\"aGVs\",\"e\":\"\"},"
              "\"type\":\"Opaque\"}");

    scoped(object) struct object *updated =
        fixture_admit(&fixture, SECRET("stringData: {a: x}\n"), secret);

    check_str("updated", updated ? updated->body->text : NULL,
              "{\"type\":\"Opaque\",\"data\":{\"a\":\"eA==\"}}");
    fixture_release(&fixture);
}

static void data_has_a_limit(void **state)
{
    struct admission_fixture fixture;
    struct limits limits = limits_default;
    static const struct verdict_case sizes[] = {
        {"at the limit", MAP("data: {a: \"0123456789\"}\n")},
        {"one more", MAP("data: {a: \"0123456789\", b: x}\n"), "data", "at most 10 bytes, has 11"},
        {"secrets count decoded", SECRET("data: {a: AAECAwQFBgcI}\n")},
    };

    check_int("L-16", limits.data_bytes, 1 << 20);
    limits.data_bytes = 10;
    fixture_init(&fixture);
    fixture.adm.limits = &limits;
    for (size_t i = 0; i < countof(sizes); i++)
        check_verdict(&fixture, &sizes[i], NULL);
    fixture_release(&fixture);
}

static void immutable_data_cannot_change(void **state)
{
    struct admission_fixture fixture;
    static const struct verdict_case map = {
        "data of an immutable map", MAP("data: {a: z}\nimmutable: true\n"), "data", "immutable"};
    static const struct verdict_case thawed = {"an immutable map thawed", MAP("data: {a: x}\n"),
                                               "immutable", "immutable"};
    static const struct verdict_case type = {"type of a secret", SECRET("type: other\n"), "type",
                                             "field is immutable"};

    fixture_init(&fixture);

    const struct object *old_map = fixture_add(&fixture, MAP("data: {a: x}\nimmutable: true\n"));
    const struct object *old_secret = fixture_add(&fixture, SECRET("type: Opaque\n"));

    check_verdict(&fixture, &map, old_map);
    check_verdict(&fixture, &thawed, old_map);
    check_verdict(&fixture, &type, old_secret);
    fixture_release(&fixture);
}

static void a_command_is_decoded(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);

    scoped(object) struct object *object =
        fixture_admit(&fixture, COMMAND("action: ResumeJob\nreason: r\n" JOB_TARGET), NULL);
    const struct command *command = command_of(object);

    check_str("action", command->action, "ResumeJob");
    check_str("name", command->target.name, "j");
    check_str("uid", command->target.uid, "u");
    check_str("reason", command->reason, "r");
    fixture_release(&fixture);
}

struct kind_case {
    const char *word, *api_version, *plural;
    bool namespaced, has_status;
    const char *titles; /* titles of the columns */
};

/* clang-format off */
static const struct kind_case kinds[] = {
    {"jf",               "flow.volcano.sh/v1alpha1",      "jobflows",               true,  true,  "Status Age"},
    {"jt",               "flow.volcano.sh/v1alpha1",      "jobtemplates",           true,  true,  ""},
    {"vcjob",            "batch.volcano.sh/v1alpha1",     "jobs",                   true,  true,  "STATUS minAvailable RUNNINGS AGE QUEUE"},
    {"vj",               "batch.volcano.sh/v1alpha1",     "jobs",                   true,  true,  "STATUS minAvailable RUNNINGS AGE QUEUE"},
    {"pg",               "scheduling.volcano.sh/v1beta1", "podgroups",              true,  false, "STATUS minMember RUNNINGS AGE QUEUE REASON"},
    {"podgroup-v1beta1", "scheduling.volcano.sh/v1beta1", "podgroups",              true,  false, "STATUS minMember RUNNINGS AGE QUEUE REASON"},
    {"q",                "scheduling.volcano.sh/v1beta1", "queues",                 false, true,  "PARENT"},
    {"queue-v1beta1",    "scheduling.volcano.sh/v1beta1", "queues",                 false, true,  "PARENT"},
    {"command",          "bus.volcano.sh/v1alpha1",       "commands",               true,  false, ""},
    {"po",               "v1",                            "pods",                   true,  true,  ""},
    {"cm",               "v1",                            "configmaps",             true,  false, ""},
    {"secret",           "v1",                            "secrets",                true,  false, ""},
    {"svc",              "v1",                            "services",               true,  true,  ""},
    {"pvc",              "v1",                            "persistentvolumeclaims", true,  true,  ""},
    {"ns",               "v1",                            "namespaces",             false, true,  ""},
    {"no",               "v1",                            "nodes",                  false, true,  ""},
    {"ev",               "v1",                            "events",                 true,  false, ""},
    {"pc",               "scheduling.k8s.io/v1",          "priorityclasses",        false, false, ""},
    {"netpol",           "networking.k8s.io/v1",          "networkpolicies",        true,  false, ""},
    {"lease",            "coordination.k8s.io/v1",        "leases",                 true,  false, ""},
};
/* clang-format on */

static void kinds_are_what_clients_expect(void **state)
{
    for (size_t i = 0; i < countof(kinds); i++) {
        const struct kind *kind = kind_by_word(kinds[i].word);
        scoped(buf) struct buf titles = {0};

        check(kinds[i].word, kind != NULL);
        check_str(kinds[i].word, kind_api_version(kind), kinds[i].api_version);
        check_str(kinds[i].word, kind->plural, kinds[i].plural);
        check_int(kinds[i].word, kind->namespaced, kinds[i].namespaced);
        check_int(kinds[i].word, kind->has_status, kinds[i].has_status);
        for (const struct column *column = kind->columns; column && column->title; column++)
            buf_printf(&titles, "%s%s", titles.len ? " " : "", column->title);
        check_str(kinds[i].word, titles.len ? titles.data : "", kinds[i].titles);
    }
}

static void check_documented(const struct schema *schema, int depth)
{
    if (depth > 12)
        return;
    check("schema", schema->name != NULL);
    for (const struct field *field = schema->fields; field->name; field++) {
        scoped_str where = mem_printf("%s.%s", schema->name, field->name);

        check(where, field->doc && *field->doc && field->doc[strlen(field->doc) - 1] == '.');
        check(where, field->type != FIELD_END);
        check(where,
              !field->of || field->offset == FIELD_PASS || field->as_json || field->of->size);
        if (field->default_json)
            json_decref(json_loads(field->default_json, JSON_DECODE_ANY, NULL));
        if (field->of)
            check_documented(field->of, depth + 1);
    }
}

static void every_field_has_a_sentence(void **state)
{
    for (int id = 0; id < KIND_N; id++)
        check_documented(kind_by_id((enum kind_id)id)->schema, 0);
}

static void a_priority_class_has_a_value(void **state)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);

    scoped(object) struct object *class =
        fixture_admit(&fixture,
                      "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: "
                      "high}\nvalue: 100\n",
                      NULL);

    check_int("value", priority_class_value_of(class), 100);
    fixture_release(&fixture);
}

static void core_objects_are_admitted(void **state)
{
    struct admission_fixture fixture;
    static const struct verdict_case objects[] = {
        {"service", "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: ns}\n"
                    "spec: {clusterIP: None, selector: {a: b}, ports: [{name: p, port: 80, "
                    "targetPort: web, protocol: TCP}]}\n"},
        {"claim",
         "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: p, namespace: ns}\n"
         "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, "
         "storageClassName: x}\n"},
        {"node",
         "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {}\n"
         "status: {capacity: {cpu: 4, memory: 8Gi, pods: 110}, conditions: [{type: Ready, status: "
         "\"True\"}], "
         "addresses: [{type: InternalIP, address: 127.0.0.1}], nodeInfo: {architecture: amd64}}\n"},
        {"policy", "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: p, "
                   "namespace: ns}\n"
                   "spec: {podSelector: {matchLabels: {a: b}}, policyTypes: [Ingress], ingress: "
                   "[{from: [{podSelector: {}}], ports: [{port: 80}]}]}\n"},
        {"lease",
         "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: l, namespace: ns}\n"
         "spec: {holderIdentity: me, leaseDurationSeconds: 15, renewTime: "
         "\"2026-01-02T03:04:05.000006Z\"}\n"},
        {"event", "apiVersion: v1\nkind: Event\nmetadata: {name: e, namespace: "
                  "ns}\ninvolvedObject: {kind: Job, name: j}\n"
                  "reason: R\nmessage: m\ntype: Normal\ncount: 1\neventTime: null\nfirstTimestamp: "
                  "\"2026-01-02T03:04:05Z\"\n"},
        {"namespace", "apiVersion: v1\nkind: Namespace\nmetadata: {name: n1}\n"},
        {"no port",
         "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: ns}\nspec: {ports: []}\n",
         "spec.ports", "Required value"},
        {"headless", "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: ns}\nspec: "
                     "{clusterIP: None}\n"},
        {"a name of elsewhere",
         "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: ns}\n"
         "spec: {type: ExternalName, externalName: x.example}\n"},
        {"lease of negative transitions",
         "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: l, namespace: ns}\n"
         "spec: {leaseTransitions: -1}\n",
         "spec.leaseTransitions", "greater than or equal to 0"},
        {"mistyped",
         "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: ns}\nspec: {port: []}\n",
         "spec.port", "did you mean \"ports\""},
        {"access mode",
         "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: p, namespace: ns}\nspec: "
         "{accessModes: [Often]}\n",
         "spec.accessModes[0]", "\"ReadWriteOnce\""},
    };

    fixture_init(&fixture);
    for (size_t i = 0; i < countof(objects); i++)
        check_verdict(&fixture, &objects[i], NULL);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_accepted_and_refused),
        cmocka_unit_test(findings_never_show_a_secret),
        cmocka_unit_test(plain_text_becomes_base64_on_every_write),
        cmocka_unit_test(data_has_a_limit),
        cmocka_unit_test(immutable_data_cannot_change),
        cmocka_unit_test(a_command_is_decoded),
        cmocka_unit_test(kinds_are_what_clients_expect),
        cmocka_unit_test(every_field_has_a_sentence),
        cmocka_unit_test(a_priority_class_has_a_value),
        cmocka_unit_test(core_objects_are_admitted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
