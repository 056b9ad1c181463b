/*
 * Tests what schedulers other than Volcano's get: the object of a gang, and the marks of its pods.
 */
#include "tests/unit.h"

#include "api/types/kinds/job/job.h"
#include "job/model/names.h"
#include "job/objects/gang.h"
#include "job/objects/pod.h"
#include "job/objects/podgroup.h"
#include "tests/support/manifest.h"

struct bench {
    struct job_spec_cache *cache;
    struct object *job;
    struct job_model model;
};

#define HEAD "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"
#define UID  "0a1b2c3d-0000-4000-8000-000000000000"
#define LONG "aa-name-of-a-job-that-is-as-long-as-the-names-of-jobs-may.be-here"

static struct bench set_up(const char *name, const char *labels, const char *tasks,
                           enum job_gang gang)
{
    const struct job_model_options options = {.gang = job_gang_form(gang)};
    scoped_str text =
        mem_printf(HEAD "metadata: {name: %s, namespace: test, uid: " UID ", labels: {%s}}\n"
                        "spec:\n  queue: research\n  minAvailable: 2\n  tasks:\n%s"
                        "status: {version: 3, state: {phase: Pending}}\n",
                   name, labels, tasks);
    struct bench bench = {job_spec_cache_new(NULL), manifest_raw(text)};

    job_model_init(&bench.model, bench.job, job_compiled_spec_get(bench.cache, bench.job),
                   &options);
    return bench;
}

static void tear_down(struct bench *bench)
{
    job_model_release(&bench->model);
    job_spec_cache_free(bench->cache);
    object_unref(bench->job);
}

#define TASK(name, rest)                                                                           \
    "  - {name: " name ", replicas: 3, " rest                                                      \
    "template: {spec: {containers: [{name: c, image: i, "                                          \
    "resources: {requests: {cpu: 500m}}}]}}}\n"

/* see CLU-015 and CLU-018, which cover real servers */
static void each_gang_has_its_own_object(void **unused)
{
    static const struct {
        enum job_gang gang;
        const struct kind *kind;
        const char *body, *in_pod;
    } rows[] = {
        {JOB_GANG_COSCHEDULING, &kind_coscheduling_group,
         "{\"spec\":{\"minMember\":2,\"minResources\":{\"cpu\":\"1\"},\"scheduleTimeoutSeconds\":"
         "60}}",
         NULL},
        {JOB_GANG_WORKLOAD, &kind_workload_group,
         "{\"spec\":{\"schedulingPolicy\":{\"gang\":{\"minCount\":2}}}}",
         "\"schedulingGroup\":{\"podGroupName\":\"j-0a1b2c3d\"}"},
        {JOB_GANG_WORKLOAD_135, &kind_workload,
         "{\"spec\":{\"podGroups\":[{\"name\":\"pods\",\"policy\":{\"gang\":{\"minCount\":2}}}]}}",
         "\"workloadRef\":{\"name\":\"j-0a1b2c3d\",\"podGroup\":\"pods\"}"},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        struct bench bench = set_up("j", "", TASK("t", ""), rows[i].gang);
        struct blob *body =
            job_podgroup_body(&bench.model, &(const struct job_podgroup_options){0});
        scoped(object) struct object *group = job_podgroup_build(&bench.model, body);
        scoped(object) struct object *pod = job_pod_build(&bench.model, (struct slot_id){0, 0});

        assert_ptr_equal(group->kind, rows[i].kind);
        assert_string_equal(object_name(group), "j-0a1b2c3d");
        assert_string_equal(meta_controller(group->meta)->uid, UID);
        check_str("version", meta_annotation(group->meta, ANNOTATION_JOB_VERSION), "3");
        check_str("followed", meta_label(group->meta, LABEL_MANAGED_BY), MANAGED_BY_US);
        check_str("body", group->body->text, rows[i].body);
        if (rows[i].in_pod)
            assert_non_null(strstr(pod->body->text, rows[i].in_pod));
        tear_down(&bench);
    }
}

static void pods_have_the_marks_of_their_gang(void **unused)
{
    struct bench plain = set_up("j", "", TASK("t", ""), JOB_GANG_COSCHEDULING);
    struct bench kueue = set_up("j", "", TASK("t", "") TASK("u", ""), JOB_GANG_KUEUE);
    struct bench labelled =
        set_up("j", "kueue.x-k8s.io/queue-name: mine", TASK("t", ""), JOB_GANG_KUEUE);
    scoped(object) struct object *a = job_pod_build(&plain.model, (struct slot_id){0, 0});
    scoped(object) struct object *b = job_pod_build(&kueue.model, (struct slot_id){1, 2});
    scoped(object) struct object *c = job_pod_build(&labelled.model, (struct slot_id){0, 0});

    check_str("group", meta_label(a->meta, LABEL_COSCHEDULING_GROUP), "j-0a1b2c3d");
    check_str("group of Kueue", meta_label(b->meta, LABEL_KUEUE_GROUP), "j-0a1b2c3d-3");
    check_str("queue of the spec", meta_label(b->meta, LABEL_KUEUE_QUEUE), "research");
    check_str("count", meta_annotation(b->meta, ANNOTATION_KUEUE_COUNT), "6");
    check_str("queue of the label", meta_label(c->meta, LABEL_KUEUE_QUEUE), "mine");
    tear_down(&plain);
    tear_down(&kueue);
    tear_down(&labelled);
}

static void long_names_are_cut_so_that_they_fit_a_label(void **unused)
{
    struct bench bench = set_up(LONG, "", TASK("t", ""), JOB_GANG_COSCHEDULING);
    struct bench kueue = set_up(LONG, "", TASK("t", ""), JOB_GANG_KUEUE);
    scoped(object) struct object *a = job_pod_build(&bench.model, (struct slot_id){0, 0});
    scoped(object) struct object *b = job_pod_build(&kueue.model, (struct slot_id){0, 0});

    check_str("a name", meta_label(a->meta, LABEL_COSCHEDULING_GROUP),
              "aa-name-of-a-job-that-is-as-long-as-the-names-of-jobs-0a1b2c3d");
    check_str("a name with a version", meta_label(b->meta, LABEL_KUEUE_GROUP),
              "aa-name-of-a-job-that-is-as-long-as-the-nam-0a1b2c3d-3");
    tear_down(&bench);
    tear_down(&kueue);
}

static void a_gang_that_is_made_at_once_refuses_tasks_that_wait(void **unused)
{
    struct bench bench =
        set_up("j", "", TASK("a", "") TASK("b", "dependsOn: {name: [a]}, "), JOB_GANG_KUEUE);
    struct bench other =
        set_up("j", "", TASK("a", "") TASK("b", "dependsOn: {name: [a]}, "), JOB_GANG_WORKLOAD);
    scoped_str refusal = job_gang_refusal(&bench.model);

    check_str("refusal", refusal,
              "Kueue needs all pods of a job at once, and task b waits for others");
    assert_null(job_gang_refusal(&other.model));
    tear_down(&bench);
    tear_down(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gang_has_its_own_object),
        cmocka_unit_test(pods_have_the_marks_of_their_gang),
        cmocka_unit_test(long_names_are_cut_so_that_they_fit_a_label),
        cmocka_unit_test(a_gang_that_is_made_at_once_refuses_tasks_that_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
