/*
 * Tests what is remembered of single slots: successes whose pods are gone, and restarts. Ref:
 * spec/job.md 17.1, 24 W14; O-61, O-77.
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

static struct job_fixture *running(const char *yaml)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});

    job_fixture_apply(fixture, yaml);
    check_str("runs", job_fixture_phase(fixture, "j"), "Running");
    return fixture;
}

static const char *note_of(struct job_fixture *fixture, const char *key)
{
    const struct job_status *status = job_fixture_job(fixture, "j");

    for (size_t i = 0; i < status->controlled.count; i++)
        if (strcmp(status->controlled.items[i].key, key) == 0)
            return status->controlled.items[i].value;
    return "";
}

static void succeed_and_delete(struct job_fixture *fixture, int from, int to)
{
    for (int i = from; i <= to; i++) {
        scoped_str name = mem_printf("j-t-%d", i);

        job_fixture_pod(fixture, name, POD_SUCCEEDED);
        job_fixture_delete(fixture, &kind_pod, name);
    }
}

static void a_success_outlives_its_pod_where_the_job_says_so(void **unused)
{
    struct job_fixture *fixture =
        running(JOB(KEEP, "{event: PodEvicted, action: RestartJob}", "5"));

    succeed_and_delete(fixture, 0, 1);
    succeed_and_delete(fixture, 3, 3);
    job_fixture_advance(fixture, 1000);
    check_str("no eviction", job_fixture_phase(fixture, "j"), "Running");
    check_int("pods", (int)job_fixture_count(fixture, &kind_pod), 2);
    check_int("succeeded", job_fixture_job(fixture, "j")->succeeded, 3);
    check_str("told", note_of(fixture, "succeeded-pods-t"), "0-1,3");
    for (int life = 0; life < 2; life++) {
        job_fixture_restart(fixture);
        job_fixture_advance(fixture, 1000);
        check_int("still two pods", (int)job_fixture_count(fixture, &kind_pod), 2);
        check_int("still succeeded", job_fixture_job(fixture, "j")->succeeded, 3);
    }
    job_fixture_pods(fixture, POD_SUCCEEDED);
    check_str("end", job_fixture_phase(fixture, "j"), "Completed");
    check_int("all", job_fixture_job(fixture, "j")->succeeded, 5);
    job_fixture_free(fixture);
}

static void without_the_annotation_the_index_runs_again(void **unused)
{
    struct job_fixture *fixture = running(JOB("", "", "2"));

    succeed_and_delete(fixture, 0, 0);
    check_int("pods", (int)job_fixture_count(fixture, &kind_pod), 2);
    check_int("succeeded", job_fixture_job(fixture, "j")->succeeded, 0);
    job_fixture_free(fixture);
}

/* Which pods have succeeded is stored before they vanish, so that it does not matter whether others
 * have succeeded meanwhile. */
static void a_pod_that_was_collected_without_a_controller_is_not_made_again(void **unused)
{
    struct job_fixture *fixture =
        job_fixture_new(&(struct job_fixture_options){.run_pods = true, .collects_pods = true});

    job_fixture_apply(fixture, JOB("", "", "5"));
    for (int i = 1; i <= 3; i++) {
        scoped_str name = mem_printf("j-t-%d", i);

        job_fixture_pod(fixture, name, POD_SUCCEEDED);
    }
    job_fixture_advance(fixture, 1000);
    check_str("told", note_of(fixture, "succeeded-pods-t"), "1-3");
    job_fixture_stop_controller(fixture);
    succeed_and_delete(fixture, 0, 0);
    job_fixture_delete(fixture, &kind_pod, "j-t-2");
    job_fixture_delete(fixture, &kind_pod, "j-t-3");
    job_fixture_pod(fixture, "j-t-4", POD_SUCCEEDED);
    job_fixture_start_controller(fixture);
    job_fixture_advance(fixture, 1000);
    check("no controller has seen the first succeed",
          job_fixture_get(fixture, &kind_pod, "j-t-0") != NULL);
    check("the third is not made again", !job_fixture_get(fixture, &kind_pod, "j-t-2"));
    job_fixture_pod(fixture, "j-t-0", POD_SUCCEEDED);
    check_str("end", job_fixture_phase(fixture, "j"), "Completed");
    check_int("all", job_fixture_job(fixture, "j")->succeeded, 5);
    job_fixture_free(fixture);
}

static void a_success_counts_for_its_version_only(void **unused)
{
    struct job_fixture *fixture = running(JOB(KEEP, "{event: PodFailed, action: RestartJob}", "3"));

    succeed_and_delete(fixture, 0, 0);
    job_fixture_pod_failed(fixture, "j-t-1", 1);
    job_fixture_advance(fixture, 1000);
    check_str("again", job_fixture_phase(fixture, "j"), "Running");
    check_int("all three", job_fixture_job(fixture, "j")->running, 3);
    check_str("forgotten", note_of(fixture, "succeeded-pods-t"), "");
    job_fixture_free(fixture);
}

/* The store refuses the restart at first. Nothing is forgotten, and nothing is kept too long. */
static void a_refused_restart_forgets_nothing(void **unused)
{
    struct job_fixture *fixture = running(JOB(KEEP, "", "2"));

    succeed_and_delete(fixture, 0, 0);
    faulty_expect(fixture->cluster, .ops = FAULTY_ANY, .kind = &kind_job, .times = 2,
                  .way = FAULTY_REFUSE, .code = ERR_CONFLICT);
    job_fixture_pod(fixture, "j-t-1", POD_SUCCEEDED);
    job_fixture_advance(fixture, 1000);
    check_int("refused", (int)faulty_hits(fixture->cluster), 2);
    check_str("end", job_fixture_phase(fixture, "j"), "Completed");
    check_int("both", job_fixture_job(fixture, "j")->succeeded, 2);
    job_fixture_free(fixture);
}

static void scaled_down_and_up_an_index_begins_anew(void **unused)
{
    struct job_fixture *fixture = running(JOB(KEEP, "", "3"));

    succeed_and_delete(fixture, 2, 2);
    job_fixture_patch(
        fixture, &kind_job, "j",
        "{\"spec\":{\"tasks\":[{\"name\":\"t\",\"replicas\":2,\"minAvailable\":1,"
        "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":"
        "\"main\",\"image\":\"x\",\"command\":[\"run\"]}]}}}]}}");
    check_str("gone", note_of(fixture, "succeeded-pods-t"), "");
    job_fixture_patch(
        fixture, &kind_job, "j",
        "{\"spec\":{\"tasks\":[{\"name\":\"t\",\"replicas\":3,\"minAvailable\":1,"
        "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":"
        "\"main\",\"image\":\"x\",\"command\":[\"run\"]}]}}}]}}");
    check_int("three run", job_fixture_job(fixture, "j")->running, 3);
    job_fixture_free(fixture);
}

static void a_restart_of_the_task_runs_what_was_kept_too(void **unused)
{
    struct job_fixture *fixture =
        running(JOB(KEEP, "{event: PodFailed, action: RestartTask}", "3"));

    succeed_and_delete(fixture, 0, 0);
    job_fixture_pod_failed(fixture, "j-t-1", 1);
    job_fixture_advance(fixture, 1000);
    check_int("three run", job_fixture_job(fixture, "j")->running, 3);
    job_fixture_free(fixture);
}

/* Three failures of one pod end the job, three of three pods do not. */
static void each_slot_has_its_own_budget_where_the_job_says_so(void **unused)
{
    struct job_fixture *fixture = running(JOB(SLOT, "{event: PodFailed, action: RestartPod}", "4"));

    for (int i = 0; i < 4; i++) {
        scoped_str name = mem_printf("j-t-%d", i);

        job_fixture_pod_failed(fixture, name, 1);
        job_fixture_advance(fixture, 1000);
        check_str(name, job_fixture_phase(fixture, "j"), "Running");
    }
    check_int("all are counted", job_fixture_job(fixture, "j")->retry_count, 4);
    check_str("by slot", note_of(fixture, "slot-restarts-t"), "0-3");
    job_fixture_restart(fixture);
    job_fixture_pod_failed(fixture, "j-t-2", 1);
    job_fixture_advance(fixture, 1000);
    check_str("second of one", job_fixture_phase(fixture, "j"), "Running");
    check_str("by slot", note_of(fixture, "slot-restarts-t"), "0-1,2:2,3");
    job_fixture_pod_failed(fixture, "j-t-2", 1);
    job_fixture_advance(fixture, 1000);
    check_str("third of one", job_fixture_phase(fixture, "j"), "Failed");
    job_fixture_free(fixture);
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
            struct job_fixture *fixture =
                running(JOB(SLOT, "{event: PodFailed, action: RestartTask}", "3"));
            scoped_str name = mem_printf("fault %zu, write %d", f, n);

            faulty_expect(fixture->cluster, .ops = FAULTY_ANY, .skip = n, .times = 1,
                          .way = faults[f].way, .code = faults[f].code);
            job_fixture_pod_failed(fixture, "j-t-0", 1);
            job_fixture_advance(fixture, 2000);
            check_str(name, job_fixture_phase(fixture, "j"), "Running");
            check_int(name, job_fixture_job(fixture, "j")->retry_count, 1);
            check_str(name, note_of(fixture, "slot-restarts-t"), "0-2");
            check_str(name, note_of(fixture, "targeted-restarts"), "1");
            job_fixture_free(fixture);
        }
}

/* A user has damaged the annotations. They count as far as they can be read. */
static void damaged_notes_do_no_harm(void **unused)
{
    static const char *const notes[] = {
        "x", "5-2", "0-2000000000", "1:", "-3", "0,,1", "99999999999"};

    for (size_t i = 0; i < countof(notes); i++) {
        struct job_fixture *fixture = running(JOB(SLOT ", " KEEP, "", "2"));
        const struct object *job = job_fixture_get(fixture, &kind_job, "j");
        struct job_status status = *job_status_of(job);
        struct str_pair pairs[] = {{"slot-restarts-t", notes[i]},
                                   {"succeeded-pods-t", notes[i]},
                                   {"targeted-restarts", notes[i]}};

        job_fixture_stop_controller(fixture);
        status.controlled = (struct str_map){pairs, countof(pairs)};
        cluster_update_status(fixture->backend, NULL, job, job_status_blob(&status));
        job_fixture_start_controller(fixture);
        job_fixture_advance(fixture, 1000);
        job_fixture_pods(fixture, POD_SUCCEEDED);
        check_str(notes[i], job_fixture_phase(fixture, "j"), "Completed");
        job_fixture_free(fixture);
    }
}

static void aborted_jobs_are_collected_where_the_option_says_so(void **unused)
{
    for (int on = 0; on < 2; on++) {
        struct job_fixture *fixture =
            job_fixture_new(&(struct job_fixture_options){.run_pods = true, .gc_aborted = on});

        job_fixture_job_simple(fixture, "j", "t*1",
                               "ttlSecondsAfterFinished: 60;policies: [{event: PodFailed, action: "
                               "AbortJob}]");
        job_fixture_pod_failed(fixture, "j-t-0", 1);
        check_str("aborted", job_fixture_phase(fixture, "j"), "Aborted");
        job_fixture_advance(fixture, 50000);
        check_str("not yet", job_fixture_phase(fixture, "j"), "Aborted");
        job_fixture_advance(fixture, 20000);
        check_str("then", job_fixture_phase(fixture, "j"), on ? "" : "Aborted");
        job_fixture_free(fixture);
    }
}

/* Volcano's annotation that forwards a queue to another cluster has no effect but a mark. Ref:
 * spec/job.md 9.1 step 3. */
static void a_queue_that_forwards_marks_its_jobs_and_they_run_here(void **unused)
{
    struct job_fixture *fixture = job_fixture_new(&(struct job_fixture_options){.run_pods = true});
    const struct object *pod;

    job_fixture_apply(fixture,
                      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
                      "metadata: {name: far}\nspec: {extendClusters: [{name: mars, weight: 1}]}\n");
    job_fixture_job_simple(fixture, "j", "t*1", "queue: far");
    job_fixture_advance(fixture, 1000);
    check_str("runs", job_fixture_phase(fixture, "j"), "Running");
    check_str("job",
              meta_annotation(job_fixture_get(fixture, &kind_job, "j")->meta,
                              "volcano.sh/job-forwarding"),
              "true");
    pod = job_fixture_get(fixture, &kind_pod, "j-t-0");
    check_str("label", meta_label(pod->meta, "volcano.sh/job-forwarding"), "true");
    check_str("annotation", meta_annotation(pod->meta, "volcano.sh/job-forwarding"), "true");
    check_int("told once", job_fixture_count_events(fixture, "JobForwarding"), 1);
    job_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_success_outlives_its_pod_where_the_job_says_so),
        cmocka_unit_test(a_pod_that_was_collected_without_a_controller_is_not_made_again),
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
        a_refused_restart_forgets_nothing,                    /* plans faults of its own */
        a_slot_s_restart_is_counted_once_whatever_goes_wrong, /* plans faults of its own */
        /* Counts events, which faults would repeat. */
        a_queue_that_forwards_marks_its_jobs_and_they_run_here,
        NULL,
    };

    return job_tests_with_faults(tests, countof(tests), spared);
}
