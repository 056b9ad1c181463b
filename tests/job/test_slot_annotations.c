/*
 * What is remembered of single slots: successes whose pods are gone, and restarts. Ref: spec/job.md
 * 17.1, 24 W14; O-61, O-77.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod.h"
#include "job/state/phase.h"
#include "tests/fake/faulty.h"
#include "tests/support/job_faults.h"
#include "tests/support/job_fixture.h"

#define JOB(annotations, policies, replicas)                                                       \
    "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"                                           \
    "metadata: {name: j, namespace: default, annotations: {" annotations "}}\n"                    \
    "spec:\n  policies: [" policies "]\n  minAvailable: 1\n"                                       \
    "  tasks:\n  - {name: t, replicas: " replicas ", template: {spec: {restartPolicy: Never, "     \
    "containers: [{name: main, image: x, command: [run]}]}}}\n"
#define KEEP "volcano.sh/keep-succeeded: \"true\""
#define SLOT "volcano.sh/restart-budget: slot"

static struct stage *running(const char *yaml)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});

    stage_apply(stage, yaml);
    check_str("runs", stage_phase(stage, "j"), "Running");
    return stage;
}

static const char *note_of(struct stage *stage, const char *key)
{
    const struct job_status *status = stage_job(stage, "j");

    for (size_t i = 0; i < status->controlled.count; i++)
        if (strcmp(status->controlled.items[i].key, key) == 0)
            return status->controlled.items[i].value;
    return "";
}

static void succeed_and_delete(struct stage *stage, int from, int to)
{
    for (int i = from; i <= to; i++) {
        scoped_str name = mem_printf("j-t-%d", i);

        stage_pod(stage, name, POD_SUCCEEDED);
        stage_delete(stage, &kind_pod, name);
    }
}

static void a_success_outlives_its_pod_where_the_job_says_so(void **unused)
{
    struct stage *stage = running(JOB(KEEP, "{event: PodEvicted, action: RestartJob}", "5"));

    succeed_and_delete(stage, 0, 1);
    succeed_and_delete(stage, 3, 3);
    stage_advance(stage, 1000);
    check_str("no eviction", stage_phase(stage, "j"), "Running");
    check_int("pods", (int)stage_count(stage, &kind_pod), 2);
    check_int("succeeded", stage_job(stage, "j")->succeeded, 3);
    check_str("told", note_of(stage, "succeeded-pods-t"), "0-1,3");
    for (int life = 0; life < 2; life++) {
        stage_restart(stage);
        stage_advance(stage, 1000);
        check_int("still two pods", (int)stage_count(stage, &kind_pod), 2);
        check_int("still succeeded", stage_job(stage, "j")->succeeded, 3);
    }
    stage_pods(stage, POD_SUCCEEDED);
    check_str("end", stage_phase(stage, "j"), "Completed");
    check_int("all", stage_job(stage, "j")->succeeded, 5);
    stage_free(stage);
}

static void without_the_annotation_the_index_runs_again(void **unused)
{
    struct stage *stage = running(JOB("", "", "2"));

    succeed_and_delete(stage, 0, 0);
    check_int("pods", (int)stage_count(stage, &kind_pod), 2);
    check_int("succeeded", stage_job(stage, "j")->succeeded, 0);
    stage_free(stage);
}

static void a_success_counts_for_its_version_only(void **unused)
{
    struct stage *stage = running(JOB(KEEP, "{event: PodFailed, action: RestartJob}", "3"));

    succeed_and_delete(stage, 0, 0);
    stage_pod_failed(stage, "j-t-1", 1);
    stage_advance(stage, 1000);
    check_str("again", stage_phase(stage, "j"), "Running");
    check_int("all three", stage_job(stage, "j")->running, 3);
    check_str("forgotten", note_of(stage, "succeeded-pods-t"), "");
    stage_free(stage);
}

/* The store refuses the restart at first: nothing is forgotten, nothing kept too long. */
static void a_refused_restart_forgets_nothing(void **unused)
{
    struct stage *stage = running(JOB(KEEP, "", "2"));

    succeed_and_delete(stage, 0, 0);
    faulty_expect(stage->cluster, .ops = FAULTY_ANY, .kind = &kind_job, .times = 2,
                  .way = FAULTY_REFUSE, .code = ERR_CONFLICT);
    stage_pod(stage, "j-t-1", POD_SUCCEEDED);
    stage_advance(stage, 1000);
    check_int("refused", (int)faulty_hits(stage->cluster), 2);
    check_str("end", stage_phase(stage, "j"), "Completed");
    check_int("both", stage_job(stage, "j")->succeeded, 2);
    stage_free(stage);
}

static void scaled_down_and_up_an_index_begins_anew(void **unused)
{
    struct stage *stage = running(JOB(KEEP, "", "3"));

    succeed_and_delete(stage, 2, 2);
    stage_patch(stage, &kind_job, "j",
                "{\"spec\":{\"tasks\":[{\"name\":\"t\",\"replicas\":2,\"minAvailable\":1,"
                "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":"
                "\"main\",\"image\":\"x\",\"command\":[\"run\"]}]}}}]}}");
    check_str("gone", note_of(stage, "succeeded-pods-t"), "");
    stage_patch(stage, &kind_job, "j",
                "{\"spec\":{\"tasks\":[{\"name\":\"t\",\"replicas\":3,\"minAvailable\":1,"
                "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":"
                "\"main\",\"image\":\"x\",\"command\":[\"run\"]}]}}}]}}");
    check_int("three run", stage_job(stage, "j")->running, 3);
    stage_free(stage);
}

static void a_restart_of_the_task_runs_what_was_kept_too(void **unused)
{
    struct stage *stage = running(JOB(KEEP, "{event: PodFailed, action: RestartTask}", "3"));

    succeed_and_delete(stage, 0, 0);
    stage_pod_failed(stage, "j-t-1", 1);
    stage_advance(stage, 1000);
    check_int("three run", stage_job(stage, "j")->running, 3);
    stage_free(stage);
}

/* Three failures of one pod end the job, three of three pods do not. */
static void each_slot_has_its_own_budget_where_the_job_says_so(void **unused)
{
    struct stage *stage = running(JOB(SLOT, "{event: PodFailed, action: RestartPod}", "4"));

    for (int i = 0; i < 4; i++) {
        scoped_str name = mem_printf("j-t-%d", i);

        stage_pod_failed(stage, name, 1);
        stage_advance(stage, 1000);
        check_str(name, stage_phase(stage, "j"), "Running");
    }
    check_int("all are counted", stage_job(stage, "j")->retry_count, 4);
    check_str("by slot", note_of(stage, "slot-restarts-t"), "0-3");
    stage_restart(stage);
    stage_pod_failed(stage, "j-t-2", 1);
    stage_advance(stage, 1000);
    check_str("second of one", stage_phase(stage, "j"), "Running");
    check_str("by slot", note_of(stage, "slot-restarts-t"), "0-1,2:2,3");
    stage_pod_failed(stage, "j-t-2", 1);
    stage_advance(stage, 1000);
    check_str("third of one", stage_phase(stage, "j"), "Failed");
    stage_free(stage);
}

static void a_slot_s_restart_is_counted_once_whatever_goes_wrong(void **unused)
{
    static const struct {
        enum faulty_way way;
        enum error_code code;
    } faults[] = {
        {FAULTY_REFUSE, ERR_CONFLICT}, {FAULTY_REFUSE, ERR_INTERNAL}, {FAULTY_LOSE, ERR_TIMEOUT}};

    for (size_t f = 0; f < countof(faults); f++)
        for (int n = 0; n < 8; n++) {
            struct stage *stage =
                running(JOB(SLOT, "{event: PodFailed, action: RestartTask}", "3"));
            scoped_str name = mem_printf("fault %zu, write %d", f, n);

            faulty_expect(stage->cluster, .ops = FAULTY_ANY, .skip = n, .times = 1,
                          .way = faults[f].way, .code = faults[f].code);
            stage_pod_failed(stage, "j-t-0", 1);
            stage_advance(stage, 2000);
            check_str(name, stage_phase(stage, "j"), "Running");
            check_int(name, stage_job(stage, "j")->retry_count, 1);
            check_str(name, note_of(stage, "slot-restarts-t"), "0-2");
            check_str(name, note_of(stage, "targeted-restarts"), "1");
            stage_free(stage);
        }
}

/* Damaged by hand, the notes count as far as they can be read. */
static void damaged_notes_do_no_harm(void **unused)
{
    static const char *const notes[] = {
        "x", "5-2", "0-2000000000", "1:", "-3", "0,,1", "99999999999"};

    for (size_t i = 0; i < countof(notes); i++) {
        struct stage *stage = running(JOB(SLOT ", " KEEP, "", "2"));
        const struct object *job = stage_get(stage, &kind_job, "j");
        struct job_status status = *job_status_of(job);
        struct str_pair pairs[] = {{"slot-restarts-t", notes[i]},
                                   {"succeeded-pods-t", notes[i]},
                                   {"targeted-restarts", notes[i]}};

        stage_stop_controller(stage);
        status.controlled = (struct str_map){pairs, countof(pairs)};
        cluster_update_status(stage->backend, NULL, job, job_status_blob(&status));
        stage_start_controller(stage);
        stage_advance(stage, 1000);
        stage_pods(stage, POD_SUCCEEDED);
        check_str(notes[i], stage_phase(stage, "j"), "Completed");
        stage_free(stage);
    }
}

static void aborted_jobs_are_collected_where_the_option_says_so(void **unused)
{
    for (int on = 0; on < 2; on++) {
        struct stage *stage =
            stage_new(&(struct stage_options){.run_pods = true, .gc_aborted = on});

        stage_job_simple(stage, "j", "t*1",
                         "ttlSecondsAfterFinished: 60;policies: [{event: PodFailed, action: "
                         "AbortJob}]");
        stage_pod_failed(stage, "j-t-0", 1);
        check_str("aborted", stage_phase(stage, "j"), "Aborted");
        stage_advance(stage, 50000);
        check_str("not yet", stage_phase(stage, "j"), "Aborted");
        stage_advance(stage, 20000);
        check_str("then", stage_phase(stage, "j"), on ? "" : "Aborted");
        stage_free(stage);
    }
}

/* Ref: spec/job.md 9.1 step 3, 3. */
static void a_queue_that_forwards_marks_its_jobs_and_they_run_here(void **unused)
{
    struct stage *stage = stage_new(&(struct stage_options){.run_pods = true});
    const struct object *pod;

    stage_apply(stage,
                "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
                "metadata: {name: far}\nspec: {extendClusters: [{name: mars, weight: 1}]}\n");
    stage_job_simple(stage, "j", "t*1", "queue: far");
    stage_advance(stage, 1000);
    check_str("runs", stage_phase(stage, "j"), "Running");
    check_str("job",
              meta_annotation(stage_get(stage, &kind_job, "j")->meta, "volcano.sh/job-forwarding"),
              "true");
    pod = stage_get(stage, &kind_pod, "j-t-0");
    check_str("label", meta_label(pod->meta, "volcano.sh/job-forwarding"), "true");
    check_str("annotation", meta_annotation(pod->meta, "volcano.sh/job-forwarding"), "true");
    check_int("told once", stage_count_events(stage, "JobForwarding"), 1);
    stage_free(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_success_outlives_its_pod_where_the_job_says_so),
        cmocka_unit_test(without_the_annotation_the_index_runs_again),
        cmocka_unit_test(a_success_counts_for_its_version_only),
        cmocka_unit_test(a_refused_restart_forgets_nothing),
        cmocka_unit_test(scaled_down_and_up_an_index_begins_anew),
        cmocka_unit_test(a_restart_of_the_task_runs_what_was_kept_too),
        cmocka_unit_test(each_slot_has_its_own_budget_where_the_job_says_so),
        cmocka_unit_test(a_slot_s_restart_is_counted_once_whatever_goes_wrong),
        cmocka_unit_test(damaged_notes_do_no_harm),
        cmocka_unit_test(aborted_jobs_are_collected_where_the_option_says_so),
        cmocka_unit_test(a_queue_that_forwards_marks_its_jobs_and_they_run_here),
    };
    static void (*const spared[])(void **state) = {
        a_refused_restart_forgets_nothing,                      /* plans its own */
        a_slot_s_restart_is_counted_once_whatever_goes_wrong,   /* likewise */
        a_queue_that_forwards_marks_its_jobs_and_they_run_here, /* counts events */
        NULL,
    };

    return job_tests_with_faults(tests, countof(tests), spared);
}
