/*
 * The job and its PodGroup: why it waits, the legacy name, and whose Commands are whose.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

static const struct object *group_of(struct stage *stage, const char *job)
{
    scoped_str name = mem_printf("%s-%s", job, object_uid(stage_get(stage, &kind_job, job)));

    return stage_get(stage, &kind_pod_group, name);
}

static void set_group_status(struct stage *stage, const char *status)
{
    cluster_update_status(stage->backend, NULL, group_of(stage, "j"),
                          blob_new(status, strlen(status)));
    stage_settle(stage);
}

#define CONDITION(type, second, message)                                                           \
    "{\"type\":\"" type "\",\"status\":\"True\",\"reason\":\"r\",\"message\":\"" message           \
    "\",\"lastTransitionTime\":\"2023-11-14T22:13:" second "Z\"}"
#define PENDING(conditions) "{\"phase\":\"Pending\",\"conditions\":[" conditions "]}"

/* covers: job.md PG-08 */
static void a_job_says_what_its_podgroup_waits_for(void **unused)
{
    static const struct {
        const char *name, *status, *message; /* NULL = nothing is said */
    } cases[] = {
        {"no condition", PENDING(""), NULL},
        {"unschedulable", PENDING(CONDITION("Unschedulable", "20", "needs 2 cpu")), "needs 2 cpu"},
        {"newer than scheduled",
         PENDING(CONDITION("Scheduled", "20", "fine") "," CONDITION("Unschedulable", "30", "late")),
         "late"},
        {"older than scheduled",
         PENDING(CONDITION("Unschedulable", "20", "past") "," CONDITION("Scheduled", "30", "fine")),
         NULL},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct stage *stage = stage_new(&(struct stage_options){.hold_groups = true});
        const struct job_status *job;

        stage_job_simple(stage, "j", "t*1", "");
        set_group_status(stage, cases[i].status);
        job = stage_job(stage, "j");
        check_int(cases[i].name, stage_has_event(stage, "PodGroupPending"),
                  cases[i].message != NULL);
        check_str(cases[i].name, job->reason ? job->reason : "",
                  cases[i].message ? "PodGroupPending" : "");
        if (cases[i].message)
            check_str(cases[i].name, job->message, cases[i].message);
        stage_free(stage);
    }
}

static void what_a_job_waited_for_is_forgotten_when_it_goes_on(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.hold_groups = true});

    stage_job_simple(stage, "j", "t*1", "");
    set_group_status(stage, PENDING(CONDITION("Unschedulable", "20", "needs 2 cpu")));
    check_str("waits", stage_job(stage, "j")->reason, "PodGroupPending");
    stage_group_phase(stage, PODGROUP_INQUEUE);
    check_int("goes on", (int)stage_count(stage, &kind_pod), 1);
    check_str("no reason", stage_job(stage, "j")->reason ? stage_job(stage, "j")->reason : "", "");
    stage_free(stage);
}

/* covers: job.md PG-07 */
static void a_podgroup_of_the_legacy_name_goes_with_the_job(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});
    scoped_str yaml = NULL;

    stage_stop_controller(stage);
    stage_job_simple(stage, "j", "t*1", "policies: [{event: PodFailed, action: AbortJob}]");
    yaml = mem_printf("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: "
                      "{name: j, namespace: default, ownerReferences: [{apiVersion: "
                      "batch.volcano.sh/v1alpha1, kind: Job, name: j, uid: %s, controller: true}]}"
                      ", spec: {minMember: 1}}",
                      object_uid(stage_get(stage, &kind_job, "j")));
    stage_apply(stage, yaml);
    stage_start_controller(stage);
    stage_settle(stage);
    check_str("it is used", stage_phase(stage, "j"), "Running");
    check_int("and no second one made", (int)stage_count(stage, &kind_pod_group), 1);
    stage_pod_failed(stage, "j-t-0", 1);
    check_str("ended", stage_phase(stage, "j"), "Aborted");
    check_int("it is gone", (int)stage_count(stage, &kind_pod_group), 0);
    stage_free(stage);
}

/* covers: job.md CMD-01 CMD-10; see tests/node/scheduler/test_scheduler.c for the queue's half */
static void a_command_for_a_queue_is_not_the_jobs_business(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});

    stage_job_simple(stage, "default", "t*1", ""); /* as the queue is named */
    stage_apply(stage, "{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: c, "
                       "namespace: default}, action: CloseQueue, target: {apiVersion: "
                       "scheduling.volcano.sh/v1beta1, kind: Queue, name: default, uid: \"\"}}");
    assert_non_null(stage_get(stage, &kind_command, "c"));
    assert_false(stage_has_event(stage, "CommandIssued"));
    check_str("untouched", stage_phase(stage, "default"), "Running");
    stage_apply(stage, "{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: d, "
                       "namespace: default}, action: AbortJob, target: {apiVersion: "
                       "batch.volcano.sh/v1alpha1, kind: Job, name: default, uid: \"\"}}");
    assert_null(stage_get(stage, &kind_command, "d"));
    assert_true(stage_has_event(stage, "CommandIssued"));
    stage_free(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_says_what_its_podgroup_waits_for),
        cmocka_unit_test(what_a_job_waited_for_is_forgotten_when_it_goes_on),
        cmocka_unit_test(a_podgroup_of_the_legacy_name_goes_with_the_job),
        cmocka_unit_test(a_command_for_a_queue_is_not_the_jobs_business),
    };

    return job_tests_with_faults(tests, countof(tests), NULL);
}
