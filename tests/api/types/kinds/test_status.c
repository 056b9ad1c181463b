/* The status writers of jobs and pods: their text is read back as what was written, and the copy
 * left with the text is the same. Also decoded forms, name indexes and equality by meaning.
 * covers: see 2.1 JobStatus; see 8.7 */
#include "tests/unit.h"

#include "api/types/decoded.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/semantic.h"
#include "base/collections/name_index.h"

static struct object *with_status(const struct kind *kind, struct blob *status)
{
    struct meta draft = {.namespace = "ns", .name = "x", .deletion_grace_s = -1};

    return object_new(kind, meta_new(&draft), blob_intern("{}", 2), status);
}

/* Two objects with the same status: one with the writer's struct attached, and one that must parse
 * the text. */
struct pair {
    struct object *left, *read;
};

static struct pair pair_of(const struct kind *kind, struct blob *status)
{
    struct blob *text = blob_new(status->text, status->len);

    return (struct pair){with_status(kind, status), with_status(kind, text)};
}

static void pair_release(struct pair *pair)
{
    object_unref(pair->left);
    object_unref(pair->read);
}

static void a_job_status_reads_back(void **state)
{
    struct job_task_count counts[] = {{"a", {[POD_RUNNING] = 2, [POD_FAILED] = 1}}, {"b", {0}}};
    struct job_condition conditions[] = {{JOB_PENDING, 1000000000000},
                                         {JOB_RUNNING, 1000000001000}};
    struct str_pair controlled[] = {{"plugin-svc", "svc"}};
    struct job_status status = {
        .phase = JOB_RUNNING,
        .reason = "PodFailed",
        .message = "task a, \"quoted\"",
        .transition_ms = 1000000001000,
        .min_available = 3,
        .running = 2,
        .failed = 1,
        .version = 1,
        .retry_count = 2,
        .running_duration_ns = 90000000000,
        .controlled = {controlled, 1},
    };
    struct pair pair;

    status.task_counts.items = counts;
    status.task_counts.count = countof(counts);
    status.conditions.items = conditions;
    status.conditions.count = countof(conditions);
    pair = pair_of(&kind_job, job_status_blob(&status));
    check_str("text", pair.left->status->text,
              "{\"state\":{\"phase\":\"Running\",\"reason\":\"PodFailed\",\"message\":\"task a, "
              "\\\"quoted\\\"\",\"lastTransitionTime\":"
              "\"2001-09-09T01:46:41Z\"},\"minAvailable\":3,\"taskStatusCount\":{\"a\":{\"phase\":{"
              "\"Running\":2,\"Failed\":1}},"
              "\"b\":{\"phase\":{}}},\"running\":2,\"failed\":1,\"version\":1,\"retryCount\":2,"
              "\"runningDuration\":\"1m30s\","
              "\"controlledResources\":{\"plugin-svc\":\"svc\"},\"conditions\":[{\"status\":"
              "\"Pending\",\"lastTransitionTime\":"
              "\"2001-09-09T01:46:40Z\"},{\"status\":\"Running\",\"lastTransitionTime\":\"2001-09-"
              "09T01:46:41Z\"}]}");
    /* The copy is deep, so it does not change with the original. */
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < 2; i++) {
        const struct job_status *got = job_status_of(i ? pair.left : pair.read);

        check_int("phase", got->phase, JOB_RUNNING);
        check_str("reason", got->reason, "PodFailed");
        check_int("since", got->transition_ms, 1000000001000);
        check_int("tasks", got->task_counts.count, 2);
        check_str("task", got->task_counts.items[0].key, "a");
        check_int("running of a", got->task_counts.items[0].by_phase[POD_RUNNING], 2);
        check_int("failed of a", got->task_counts.items[0].by_phase[POD_FAILED], 1);
        check_int("retries", got->retry_count, 2);
        check_int("duration", got->running_duration_ns, 90000000000);
        check_str("controlled", got->controlled.items[0].value, "svc");
        check_int("conditions", got->conditions.count, 2);
        check_int("condition", got->conditions.items[0].phase, JOB_PENDING);
        check_int("since", got->conditions.items[1].at_ms, 1000000001000);
        assert_ptr_equal(got, job_status_of(i ? pair.left : pair.read));
    }
    pair_release(&pair);
}

static void the_phase_of_a_pod_is_read_alone(void **state)
{
    static const struct {
        const char *text;
        enum pod_phase phase;
    } cases[] = {
        {"{\"phase\":\"Succeeded\",\"reason\":\"x\"}", POD_SUCCEEDED},
        {"{\"reason\":\"x\",\"phase\":\"Failed\"}", POD_FAILED},
        {"{\"phase\":\"Ended\"}", POD_PENDING},
        {"{}", POD_PENDING},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(object) struct object *pod =
            with_status(&kind_pod, blob_new(cases[i].text, strlen(cases[i].text)));

        check_int(cases[i].text, pod_status_phase(pod), cases[i].phase);
        check_int(cases[i].text, pod_status_of(pod)->phase, cases[i].phase);
    }
    scoped(object) struct object *bare = with_status(&kind_pod, NULL);

    check_int("no status", pod_status_phase(bare), POD_PENDING);
    check("ended", pod_phase_ended(POD_FAILED) && pod_phase_ended(POD_SUCCEEDED));
    check("not ended", !pod_phase_ended(POD_RUNNING) && !pod_phase_ended(POD_UNKNOWN));
}

static void an_empty_job_status_writes_no_members(void **state)
{
    struct job_status status = {.running_duration_ns = -1};
    struct pair pair = pair_of(&kind_job, job_status_blob(&status));
    scoped(object) struct object *bare = with_status(&kind_job, NULL);

    check_str("text", pair.left->status->text, "{\"state\":{}}");
    check_int("phase", job_status_of(pair.read)->phase, JOB_NONE);
    check_int("duration", job_status_of(pair.read)->running_duration_ns, -1);
    check_int("without", job_status_of(bare)->phase, JOB_NONE);
    check_int("without", job_status_of(bare)->running_duration_ns, -1);
    pair_release(&pair);
}

static void a_pod_status_reads_back(void **state)
{
    struct container_status init = {.name = "i",
                                    .state = CONTAINER_TERMINATED,
                                    .reason = "Completed",
                                    .finished_ms = 1000000000000};
    struct container_status containers[] = {
        {.name = "c",
         .image = "im",
         .state = CONTAINER_RUNNING,
         .started_ms = 1000000001000,
         .restart_count = 1,
         .ready = true,
         .has_last = true,
         .last_exit_code = 137,
         .last_signal = 9,
         .last_reason = "Error"},
        {.name = "d",
         .state = CONTAINER_WAITING,
         .reason = "CrashLoopBackOff",
         .message = "back-off 10s"},
    };
    struct pod_status status = {
        .phase = POD_RUNNING,
        .pod_ip = "127.1.2.3",
        .host_ip = "127.0.0.1",
        .start_ms = 1000000000000,
        .scheduled = true,
        .scheduled_ms = 1000000000000,
        .initialized = true,
        .qos_class = "BestEffort",
    };
    struct pair pair;

    status.init_containers.items = &init;
    status.init_containers.count = 1;
    status.containers.items = containers;
    status.containers.count = countof(containers);
    pair = pair_of(&kind_pod, pod_status_blob(&status));
    check_str("text", pair.left->status->text,
              "{\"phase\":\"Running\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"
              "\"True\",\"lastTransitionTime\":"
              "\"2001-09-09T01:46:40Z\"},{\"type\":\"Initialized\",\"status\":\"True\","
              "\"lastTransitionTime\":\"2001-09-09T01:46:40Z\"},"
              "{\"type\":\"Ready\",\"status\":\"False\",\"lastTransitionTime\":\"2001-09-09T01:46:"
              "40Z\",\"reason\":\"ContainersNotReady\"},"
              "{\"type\":\"ContainersReady\",\"status\":\"False\",\"lastTransitionTime\":\"2001-09-"
              "09T01:46:40Z\",\"reason\":"
              "\"ContainersNotReady\"}],\"hostIP\":\"127.0.0.1\",\"hostIPs\":[{\"ip\":\"127.0.0."
              "1\"}],\"podIP\":\"127.1.2.3\",\"podIPs\":"
              "[{\"ip\":\"127.1.2.3\"}],\"startTime\":\"2001-09-09T01:46:40Z\","
              "\"initContainerStatuses\":[{\"name\":\"i\",\"state\":"
              "{\"terminated\":{\"exitCode\":0,\"reason\":\"Completed\",\"finishedAt\":\"2001-09-"
              "09T01:46:40Z\"}},\"lastState\":{},\"ready\":"
              "false,\"restartCount\":0,\"image\":\"\",\"imageID\":\"\",\"started\":false}],"
              "\"containerStatuses\":[{\"name\":\"c\",\"state\":"
              "{\"running\":{\"startedAt\":\"2001-09-09T01:46:41Z\"}},\"lastState\":{"
              "\"terminated\":{\"exitCode\":137,\"signal\":9,\"reason\":"
              "\"Error\"}},\"ready\":true,\"restartCount\":1,\"image\":\"im\",\"imageID\":\"\","
              "\"started\":true},{\"name\":\"d\",\"state\":"
              "{\"waiting\":{\"reason\":\"CrashLoopBackOff\",\"message\":\"back-off "
              "10s\"}},\"lastState\":{},\"ready\":false,\"restartCount\":0,"
              "\"image\":\"\",\"imageID\":\"\",\"started\":false}],\"qosClass\":\"BestEffort\"}");
    for (int i = 0; i < 2; i++) {
        const struct pod_status *got = pod_status_of(i ? pair.left : pair.read);

        check_int("phase", got->phase, POD_RUNNING);
        check_str("ip", got->pod_ip, "127.1.2.3");
        check_int("scheduled", got->scheduled, true);
        check_int("initialized", got->initialized, true);
        check_int("ready", got->ready, false);
        check_int("start", got->start_ms, 1000000000000);
        check_int("init", got->init_containers.items[0].state, CONTAINER_TERMINATED);
        check_int("containers", got->containers.count, 2);
        check_int("state", got->containers.items[0].state, CONTAINER_RUNNING);
        check_int("restarts", got->containers.items[0].restart_count, 1);
        check_int("last", got->containers.items[0].last_exit_code, 137);
        check_str("last", got->containers.items[0].last_reason, "Error");
        check_str("reason", got->containers.items[1].reason, "CrashLoopBackOff");
        check_str("qos", got->qos_class, "BestEffort");
    }
    pair_release(&pair);
}

static void unscheduled_pods_show_the_reason(void **state)
{
    struct pod_status fresh = {.phase = POD_PENDING};
    struct pod_status stuck = {.phase = POD_PENDING, .unschedulable = "0/1 nodes have room"};
    struct pair one = pair_of(&kind_pod, pod_status_blob(&fresh)),
                two = pair_of(&kind_pod, pod_status_blob(&stuck));
    scoped(object) struct object *bare = with_status(&kind_pod, NULL);

    check_str("fresh", one.left->status->text, "{\"phase\":\"Pending\"}");
    check_str("stuck", two.left->status->text,
              "{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"
              "\"False\",\"reason\":\"Unschedulable\","
              "\"message\":\"0/1 nodes have room\"}]}");
    check_str("read", pod_status_of(two.read)->unschedulable, "0/1 nodes have room");
    check_int("without", pod_status_of(bare)->phase, POD_PENDING);
    pair_release(&one);
    pair_release(&two);
}

static void written_statuses_pass_the_schema(void **state)
{
    struct container_status container = {
        .name = "c", .state = CONTAINER_TERMINATED, .exit_code = 3};
    struct pod_status status = {
        .phase = POD_FAILED, .scheduled = true, .start_ms = 1, .reason = "Evicted"};
    struct schema_options strict = {UNKNOWN_ERROR};
    struct error_list errors = {0};

    status.containers.items = &container;
    status.containers.count = 1;

    scoped(blob) struct blob *blob = pod_status_blob(&status);
    scoped(json) json_t *doc = json_loadb(blob->text, blob->len, 0, NULL);

    schema_check(schema_find(kind_pod.schema, "status")->of, doc, "status", &strict, &errors);
    check_str("findings", errors.count ? errors.items[0].message : "", "");
}

/* A number, decoded as two types, and from a text that cannot be decoded. */
struct one_number {
    int32_t n;
};
static const struct field n_fields[] = {{"n", FIELD_I32, offsetof(struct one_number, n)}, {0}};
static const struct schema n_schema = {"N", n_fields, sizeof(struct one_number)};
static const struct decoded_type whole = {.schema = &n_schema};
static const struct decoded_type inner = {
    .member = "spec", .schema = &n_schema, .keep_document = true};

static void a_text_has_one_decoded_form_for_each_type(void **state)
{
    static const char text[] = "{\"n\":1,\"spec\":{\"n\":2}}",
                      broken[] = "{\"n\":", wrong[] = "{\"n\":\"x\"}";
    scoped(blob) struct blob *blob = blob_new(text, strlen(text));
    scoped(blob) struct blob *no_json = blob_new(broken, strlen(broken));
    scoped(blob) struct blob *no_number = blob_new(wrong, strlen(wrong));
    const struct one_number *a = decoded_of(blob, &whole), *b = decoded_of(blob, &inner);

    check_int("whole", a->n, 1);
    check_int("inner", b->n, 2);
    assert_ptr_equal(decoded_of(blob, &whole), a);
    assert_ptr_equal(decoded_of(blob, &inner), b);
    check_int("document", json_integer_value(json_object_get(decoded_document(blob, &inner), "n")),
              2);
    check_int("broken", ((const struct one_number *)decoded_of(no_json, &whole))->n, 0);
    check_int("wrong", ((const struct one_number *)decoded_of(no_number, &whole))->n, 0);
}

static void a_name_stands_for_its_last_position(void **state)
{
    scoped(name_index) struct name_index index = {0};

    name_index_init(&index, 3);
    check_int("new", name_index_put(&index, "a", 1), NAME_NONE);
    check_int("new", name_index_put(&index, "b", 2), NAME_NONE);
    check_int("before", name_index_put(&index, "a", 3), 1);
    check_int("now", name_index_get(&index, "a"), 3);
    check_int("unknown", name_index_get(&index, "c"), NAME_NONE);
}

struct equal_case {
    const char *name, *a, *b;
    bool equal;
};

/* clang-format off */
static const struct equal_case equals[] = {
    {"absent and empty text",    "{}", "{\"queue\":\"\"}", true},
    {"absent and 0",             "{}", "{\"maxRetry\":0}", true},
    {"absent and 0 of optional", "{}", "{\"ttlSecondsAfterFinished\":0}", false},
    {"absent and empty list",    "{}", "{\"policies\":[]}", true},
    {"absent and empty map",     "{\"plugins\":{}}", "{}", true},
    {"null is absent",           "{\"queue\":null}", "{}", true},
    {"durations by value",       "{\"runningEstimate\":\"1h\"}", "{\"runningEstimate\":\"60m\"}", true},
    {"other durations",          "{\"runningEstimate\":\"1h\"}", "{\"runningEstimate\":\"61m\"}", false},
    {"quantities by value",      "{\"tasks\":[{\"template\":{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":1}}}]}}}]}",
                                 "{\"tasks\":[{\"template\":{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"1000m\"}}}]}}}]}", true},
    {"lists by order",           "{\"plugins\":{\"svc\":[\"a\",\"b\"]}}", "{\"plugins\":{\"svc\":[\"b\",\"a\"]}}", false},
    {"other tasks",              "{\"tasks\":[{\"name\":\"a\"}]}", "{\"tasks\":[{\"name\":\"a\"},{\"name\":\"b\"}]}", false},
};
/* clang-format on */

static void equality_is_by_meaning(void **state)
{
    for (size_t i = 0; i < countof(equals); i++) {
        scoped(json) json_t *a = json_loads(equals[i].a, 0, NULL),
                            *b = json_loads(equals[i].b, 0, NULL);

        check_int(equals[i].name, schema_equal(&job_spec_schema, a, b), equals[i].equal);
        check_int(equals[i].name, schema_equal(&job_spec_schema, b, a), equals[i].equal);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_phase_of_a_pod_is_read_alone),
        cmocka_unit_test(a_job_status_reads_back),
        cmocka_unit_test(an_empty_job_status_writes_no_members),
        cmocka_unit_test(a_pod_status_reads_back),
        cmocka_unit_test(unscheduled_pods_show_the_reason),
        cmocka_unit_test(written_statuses_pass_the_schema),
        cmocka_unit_test(a_text_has_one_decoded_form_for_each_type),
        cmocka_unit_test(a_name_stands_for_its_last_position),
        cmocka_unit_test(equality_is_by_meaning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
