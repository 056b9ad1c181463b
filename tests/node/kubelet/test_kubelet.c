/*
 * Tests pods from their binding to their end, with a scripted runtime on the embedded cluster.
 */
/* wraps: store_when_durable */
#include "tests/unit.h"

#include "tests/support/kubelet_fixture.h"

void __real_store_when_durable(struct store *store, struct task *task);
void __wrap_store_when_durable(struct store *store, struct task *task);

/* A disk that is slow: tasks that wait for it, until it is done. */
static struct {
    bool slow;
    struct task *tasks[8];
    size_t n;
} disk;

void __wrap_store_when_durable(struct store *store, struct task *task)
{
    if (disk.slow && disk.n < countof(disk.tasks))
        disk.tasks[disk.n++] = task;
    else
        __real_store_when_durable(store, task);
}

static void disk_is_done(struct node_fixture *fixture)
{
    for (size_t i = 0; i < disk.n; i++)
        __real_store_when_durable(fixture->store, disk.tasks[i]);
    disk.n = 0;
    node_fixture_settle(fixture);
}

static int64_t start_ms(struct node_fixture *fixture, const char *name)
{
    return pod_status_of(node_fixture_get(fixture, &kind_pod, name))->start_ms;
}

static void a_pod_goes_from_bound_to_succeeded(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(2);
    struct scripted_pod *pod;

    kubelet_fixture_pod(fixture, "p", NULL, NULL);
    pod = node_fixture_started(fixture, "p");
    assert_non_null(pod);
    check("its intent is in the status", start_ms(fixture, "p") != 0);
    check_has("placed", node_fixture_status(fixture, &kind_pod, "p"),
              "\"type\":\"PodScheduled\",\"status\":\"True\"");
    check_str("needs no address", pod->ip, "");
    check_str("nor a hosts file", pod->hosts, "");
    node_fixture_report_running(fixture, "p");
    check_int("running", node_fixture_pod_phase(fixture, "p"), POD_RUNNING);
    check_has("ready", node_fixture_status(fixture, &kind_pod, "p"),
              "\"type\":\"Ready\",\"status\":\"True\"");
    check_has("its image", node_fixture_status(fixture, &kind_pod, "p"), "\"image\":\"i\"");
    node_fixture_report_ended(fixture, "p", 0);
    check_int("succeeded", node_fixture_pod_phase(fixture, "p"), POD_SUCCEEDED);
    check("released", pod->released);
    check("logs stay", !pod->purged);
    node_fixture_delete(fixture, &kind_pod, "p", -1);
    node_fixture_settle(fixture);
    check("purged with its object", pod->purged);
    node_fixture_free(fixture);
}

/* covers: reliability.md D-09 D-10 */
static void a_pod_starts_and_is_released_when_that_is_durable(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(2);
    struct scripted_pod *pod;

    disk.slow = true;
    kubelet_fixture_pod(fixture, "p", NULL, NULL);
    check("its intent is in the status", start_ms(fixture, "p") != 0);
    check("it waits for the disk", disk.n > 0);
    check("not started", !node_fixture_started(fixture, "p"));
    disk_is_done(fixture);
    pod = node_fixture_started(fixture, "p");
    check("started", pod != NULL);
    node_fixture_report_running(fixture, "p");
    node_fixture_report_ended(fixture, "p", 3);
    check_int("its end is in the status", node_fixture_pod_phase(fixture, "p"), POD_FAILED);
    check("not released", !pod->released);
    while (disk.n)
        disk_is_done(fixture);
    check("released", pod->released);
    check_int("started once", pod->starts, 1);
    disk.slow = false;
    node_fixture_free(fixture);
}

static void a_pod_of_a_previous_run_is_purged_with_its_object(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(2);
    struct kubelet_options options = kubelet_fixture_options(2);

    kubelet_fixture_pod(fixture, "p", NULL, NULL);
    node_fixture_report_ended(fixture, "p", 0);
    node_fixture_stop(fixture);
    node_fixture_start_kubelet(fixture, &options);
    check("its logs are still there", !node_fixture_started(fixture, "p")->purged);
    node_fixture_delete(fixture, &kind_pod, "p", -1);
    node_fixture_settle(fixture);
    check("purged", node_fixture_started(fixture, "p")->purged);
    node_fixture_free(fixture);
}

/* covers: reliability.md L-37 */
static void at_most_max_pods_run_at_once_and_all_run_in_the_end(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(3);

    for (int i = 0; i < 20; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        kubelet_fixture_pod(fixture, name, NULL, NULL);
    }
    check_int("three", fixture->running, 3);
    node_fixture_run_all(fixture);
    check_int("all", fixture->n_pods, 20);
    check_int("never more than three", fixture->peak, 3);
    for (size_t i = 0; i < fixture->n_pods; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", (int)(i % 100));
        check_str("in order", fixture->pods[i].name, name);
    }
    node_fixture_free(fixture);
}

/* covers: reliability.md D-09; see DC-18 */
static void intents_are_written_ahead_of_free_slots(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(1);
    int with_intent = 0;

    for (int i = 0; i < 20; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        kubelet_fixture_pod(fixture, name, NULL, NULL);
    }
    for (int i = 0; i < 20; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        with_intent += start_ms(fixture, name) != 0;
    }
    check_int("the running one and 2 * 1 + 8", with_intent, 11);
    node_fixture_free(fixture);
}

static void pods_wait_for_free_processors(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(8);

    for (int i = 0; i < 4; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        kubelet_fixture_pod(fixture, name,
                            "," KUBELET_FIXTURE_COMMAND ",'resources':{'requests':{'cpu':'1500m'}}",
                            NULL);
    }
    check_int("two times 1.5 of 4", fixture->running, 2);
    node_fixture_report_ended(fixture, "p0", 0);
    check("the next one", node_fixture_started(fixture, "p2") != NULL);
    node_fixture_free(fixture);
}

static void pod_of_cpu(struct node_fixture *fixture, const char *name, int milli)
{
    char container[160];

    snprintf(container, sizeof container,
             "," KUBELET_FIXTURE_COMMAND ",'resources':{'requests':{'cpu':'%dm'}}", milli);
    kubelet_fixture_pod(fixture, name, container, NULL);
}

static bool has_started(struct node_fixture *fixture, const char *name)
{
    return node_fixture_started(fixture, name) != NULL;
}

/* covers: see O-83 */
static void a_pod_without_room_lets_smaller_ones_pass(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(8);

    pod_of_cpu(fixture, "a", 3000);
    pod_of_cpu(fixture, "large", 3000);
    pod_of_cpu(fixture, "small", 500);
    pod_of_cpu(fixture, "none", 0);
    check("it waits", !has_started(fixture, "large"));
    check("a smaller one does not", has_started(fixture, "small"));
    check("nor one that needs nothing", has_started(fixture, "none"));
    node_fixture_report_ended(fixture, "a", 0);
    check("it has room now", has_started(fixture, "large"));
    node_fixture_free(fixture);
}

static void a_pod_behind_many_large_ones_gets_its_intent_and_starts(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(2);

    pod_of_cpu(fixture, "a", 3000);
    for (int i = 0; i < 30; i++) {
        char name[16];

        snprintf(name, sizeof name, "large%d", i);
        pod_of_cpu(fixture, name, 2000);
    }
    pod_of_cpu(fixture, "small", 1000);
    check("it passes them all", has_started(fixture, "small"));
    node_fixture_run_all(fixture);
    check_int("all have run", fixture->n_pods, 32);
    node_fixture_free(fixture);
}

static void room_is_kept_for_a_pod_that_was_passed_for_ten_seconds(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(8);

    pod_of_cpu(fixture, "a", 2000);
    pod_of_cpu(fixture, "large", 3000);
    pod_of_cpu(fixture, "early", 2000);
    check("for a while whatever fits may pass", has_started(fixture, "early"));
    node_fixture_advance(fixture, 11000);
    node_fixture_report_ended(fixture, "a", 0);
    pod_of_cpu(fixture, "late", 1000);
    check("what the large one leaves is used", has_started(fixture, "late"));
    pod_of_cpu(fixture, "more", 500);
    check("what it needs is not", !has_started(fixture, "more"));
    node_fixture_report_ended(fixture, "early", 0);
    check("so it starts when the earlier pods have ended", has_started(fixture, "large"));
    check("the node is full", !has_started(fixture, "more"));
    node_fixture_report_ended(fixture, "late", 0);
    check("the reservation has ended", has_started(fixture, "more"));
    node_fixture_free(fixture);
}

static void a_pod_larger_than_the_node_starts_when_no_other_runs(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(8);

    pod_of_cpu(fixture, "a", 100);
    pod_of_cpu(fixture, "huge", 5000);
    node_fixture_advance(fixture, 11000);
    pod_of_cpu(fixture, "none", 0);
    check("nothing passes any more", !has_started(fixture, "none"));
    node_fixture_report_ended(fixture, "a", 0);
    check("its turn", has_started(fixture, "huge"));
    check("the reservation has ended", has_started(fixture, "none"));
    node_fixture_free(fixture);
}

/* covers: reliability.md INV-N2 INV-N5 P-09 */
static void phases_only_move_forward(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(1);

    kubelet_fixture_pod(fixture, "p", NULL, NULL);
    node_fixture_report_ended(fixture, "p", 3);
    check_int("failed", node_fixture_pod_phase(fixture, "p"), POD_FAILED);
    check_has("real code", node_fixture_status(fixture, &kind_pod, "p"), "\"exitCode\":3");
    node_fixture_report_running(fixture, "p");
    check_int("stays failed", node_fixture_pod_phase(fixture, "p"), POD_FAILED);
    node_fixture_free(fixture);
}

static void reports_of_one_turn_are_written_once(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(1);
    struct runtime_report report = {.uid = NULL};
    int64_t before;

    kubelet_fixture_pod(fixture, "p", NULL, NULL);
    before = node_fixture_get(fixture, &kind_pod, "p")->revision;
    report.uid = node_fixture_started(fixture, "p")->uid;
    report.status.phase = POD_RUNNING;
    fixture->runtime->report(fixture->runtime->ctx, &report);
    report.status.phase = POD_SUCCEEDED;
    report.final = true;
    fixture->runtime->report(fixture->runtime->ctx, &report);
    node_fixture_settle(fixture);
    check_int("one write", node_fixture_get(fixture, &kind_pod, "p")->revision, before + 1);
    check_int("the last", node_fixture_pod_phase(fixture, "p"), POD_SUCCEEDED);
    node_fixture_free(fixture);
}

/* Pods that this node refuses to run, and what they are told (DC-10). */
static const struct {
    const char *name, *container, *spec, *says;
} never[] = {
    {"no command", ",'args':[]", NULL, "\"reason\":\"NoCommand\""},
    {"what to do about it", "", NULL, "set command"},
    {"field path",
     "," KUBELET_FIXTURE_COMMAND
     ",'env':[{'name':'A','valueFrom':{'resourceFieldRef':{'resource':'limits.cpu','"
     "containerName':'nobody'}}}]",
     NULL, "InvalidResourceField"},
    {"sub path of a variable that climbs",
     "," KUBELET_FIXTURE_COMMAND
     ",'env':[{'name':'A','value':'../x'}],'volumeMounts':[{'name':'v','mountPath':'/a',"
     "'subPathExpr':'a/$(A)/$(A)'}]",
     ",'volumes':[{'name':'v','emptyDir':{}}]", "InvalidSubPath"},
    {"sub path of no variable",
     "," KUBELET_FIXTURE_COMMAND
     ",'volumeMounts':[{'name':'v','mountPath':'/a','subPathExpr':'$(NO)'}]",
     ",'volumes':[{'name':'v','emptyDir':{}}]", "InvalidSubPath"},
};

static void a_pod_that_cannot_run_fails_with_a_reason(void **state)
{
    for (size_t i = 0; i < countof(never); i++) {
        struct node_fixture *fixture = kubelet_fixture_new(1);

        kubelet_fixture_pod(fixture, "p", never[i].container, never[i].spec);
        check_int(never[i].name, node_fixture_pod_phase(fixture, "p"), POD_FAILED);
        check_has(never[i].name, node_fixture_status(fixture, &kind_pod, "p"), never[i].says);
        check_int(never[i].name, fixture->n_pods, 0);
        kubelet_fixture_pod(fixture, "q", NULL, NULL);
        check(never[i].name, node_fixture_started(fixture, "q") != NULL);
        node_fixture_free(fixture);
    }
}

static void a_running_pod_is_stopped_then_removed(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(1);
    struct scripted_pod *pod;

    kubelet_fixture_pod(fixture, "p", NULL, ",'terminationGracePeriodSeconds':7");
    node_fixture_report_running(fixture, "p");
    node_fixture_delete(fixture, &kind_pod, "p", -1);
    node_fixture_settle(fixture);
    pod = node_fixture_started(fixture, "p");
    check_int("asked once", pod->stops, 1);
    check_int("with its own grace", pod->grace_ms, 7000);
    check("still there", node_fixture_get(fixture, &kind_pod, "p") != NULL);
    node_fixture_delete(fixture, &kind_pod, "p", 2);
    node_fixture_settle(fixture);
    check_int("asked again with less", pod->grace_ms, 2000);
    node_fixture_report_ended(fixture, "p", 143);
    check("gone", !node_fixture_get(fixture, &kind_pod, "p"));
    check("released", pod->released);
    check("purged", pod->purged);
    node_fixture_free(fixture);
}

static void a_pod_that_was_never_started_is_removed_at_once(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(1);

    kubelet_fixture_pod(fixture, "a", NULL, NULL);
    kubelet_fixture_pod(fixture, "b", NULL, NULL);
    node_fixture_delete(fixture, &kind_pod, "b", -1);
    node_fixture_settle(fixture);
    check("gone", !node_fixture_get(fixture, &kind_pod, "b"));
    node_fixture_run_all(fixture);
    check("never started", !node_fixture_started(fixture, "b"));
    node_fixture_free(fixture);
}

static void a_pod_deleted_by_force_keeps_its_slot_until_it_has_ended(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(1);
    struct scripted_pod *pod;

    kubelet_fixture_pod(fixture, "a", NULL, NULL);
    kubelet_fixture_pod(fixture, "b", NULL, NULL);
    node_fixture_delete(fixture, &kind_pod, "a", 0);
    node_fixture_settle(fixture);
    pod = node_fixture_started(fixture, "a");
    check("no object", !node_fixture_get(fixture, &kind_pod, "a"));
    check_int("killed", pod->grace_ms, 0);
    check("the slot is taken", !node_fixture_started(fixture, "b"));
    node_fixture_report_ended(fixture, "a", 137);
    check("the slot is free", node_fixture_started(fixture, "b") != NULL);
    check("nothing is left", pod->released && pod->purged);
    node_fixture_free(fixture);
}

static void a_blocked_pod_can_be_deleted(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(1);

    kubelet_fixture_pod(fixture, "p",
                        "," KUBELET_FIXTURE_COMMAND ",'envFrom':[{'configMapRef':{'name':'m'}}]",
                        NULL);
    node_fixture_delete(fixture, &kind_pod, "p", -1);
    node_fixture_settle(fixture);
    check("gone", !node_fixture_get(fixture, &kind_pod, "p"));
    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                        "'default'}}");
    node_fixture_settle(fixture);
    check_int("never started", fixture->n_pods, 0);
    node_fixture_free(fixture);
}

/* Cases for a new run of the daemon: the pod's stored state, what the runtime found of it, and what
 * must become of it. covers: reliability.md D-09 D-10 INV-N1 P-08 P-09; local-runtime.md LRT-33
 * LRT-34 */
#define INTENT  "{'phase':'Pending','startTime':'2023-11-14T22:13:20Z'}"
#define RUNNING "{'phase':'Running','startTime':'2023-11-14T22:13:20Z'}"

static const struct {
    const char *name, *status;
    bool found, restarted;
    enum pod_phase phase;
    const char *reason;
    int starts;
} previous_runs[] = {
    {"no intent: starts", NULL, false, false, POD_PENDING, NULL, 1},
    {"no intent, machine restarted: starts", NULL, false, true, POD_PENDING, NULL, 1},
    {"intent, not found: was never started, starts", INTENT, false, false, POD_PENDING, NULL, 1},
    {"intent, machine restarted: lost", INTENT, false, true, POD_FAILED, "NodeRestarted", 0},
    {"intent, found: goes on", INTENT, true, false, POD_PENDING, NULL, 0},
    {"intent, found after a restart: the runtime tells", INTENT, true, true, POD_PENDING, NULL, 0},
    {"running, found: goes on", RUNNING, true, false, POD_RUNNING, NULL, 0},
    {"running, not found: lost", RUNNING, false, false, POD_FAILED, "SupervisorLost", 0},
    {"running, machine restarted: lost", RUNNING, false, true, POD_FAILED, "NodeRestarted", 0},
    {"final stays final", "{'phase':'Succeeded','startTime':'2023-11-14T22:13:20Z'}", false, true,
     POD_SUCCEEDED, NULL, 0},
    {"final and found is released when it has been told",
     "{'phase':'Succeeded','startTime':'2023-11-14T22:13:20Z'}", true, false, POD_SUCCEEDED, NULL,
     0},
};

/* Cases in which a previous run asked the pod to stop, and the decision to do so was never
 * committed. */
static const struct {
    const char *name, *status;
    bool of_job, ends_later;
} lost_stops[] = {
    {"it has ended", RUNNING, true, false},
    {"it ends while the next run watches", RUNNING, true, true},
    {"only its intent is stored", INTENT, true, false},
    {"it has no job", RUNNING, false, false},
};

struct seen_pods {
    struct cluster_watcher watcher;
    bool failed, marked, gone;
};

static void see_pod(struct cluster_watcher *watcher, enum cluster_change change,
                    const struct object *old, const struct object *pod)
{
    struct seen_pods *seen = container_of(watcher, struct seen_pods, watcher);
    const char *mark = meta_annotation(pod->meta, ANNOTATION_OUT_OF_SYNC);

    seen->failed = seen->failed || pod_status_phase(pod) == POD_FAILED;
    seen->marked = mark && strcmp(mark, "true") == 0;
    seen->gone = change == CHANGE_DELETED;
}

static void a_pod_whose_stop_was_never_stored_is_run_again(void **state)
{
    for (size_t i = 0; i < countof(lost_stops); i++) {
        struct node_fixture *fixture = node_fixture_new();
        struct kubelet_options options = kubelet_fixture_options(4);
        struct scripted_pod *pod = &fixture->pods[0];
        struct seen_pods seen = {.watcher = {see_pod, &kind_pod}};

        kubelet_fixture_pod(fixture, "p", NULL, NULL);
        if (lost_stops[i].of_job)
            node_fixture_patch(fixture, &kind_pod, "p",
                               "{'metadata':{'annotations':{'volcano.sh/job-version':'0'}}}");
        node_fixture_set_status(fixture, &kind_pod, "p", "%s", lost_stops[i].status);
        *pod = (struct scripted_pod){.name = "p", .running = true, .stopped = true};
        snprintf(pod->uid, sizeof pod->uid, "%s",
                 object_uid(node_fixture_get(fixture, &kind_pod, "p")));
        fixture->n_pods = fixture->running = 1;
        fixture->found[fixture->n_found++] = pod->uid;
        cluster_watch(fixture->cluster, &seen.watcher);
        node_fixture_start_kubelet(fixture, &options);
        if (lost_stops[i].ends_later)
            node_fixture_report_running(fixture, "p");
        node_fixture_report_ended(fixture, "p", 143);
        check(lost_stops[i].name, seen.gone && !seen.failed);
        check_int(lost_stops[i].name, seen.marked, lost_stops[i].of_job);
        check(lost_stops[i].name, pod->released && pod->starts == 0);
        cluster_unwatch(fixture->cluster, &seen.watcher);
        node_fixture_free(fixture);
    }
}

static void pods_of_a_previous_run_are_reconciled(void **state)
{
    for (size_t i = 0; i < countof(previous_runs); i++) {
        struct node_fixture *fixture = node_fixture_new();
        struct kubelet_options options = kubelet_fixture_options(4);
        struct scripted_pod *pod = &fixture->pods[0];
        bool final =
            previous_runs[i].phase == POD_FAILED || previous_runs[i].phase == POD_SUCCEEDED;

        kubelet_fixture_pod(fixture, "p", NULL, NULL);
        if (previous_runs[i].status)
            node_fixture_set_status(fixture, &kind_pod, "p", "%s", previous_runs[i].status);
        if (previous_runs[i].found) {
            snprintf(pod->uid, sizeof pod->uid, "%s",
                     object_uid(node_fixture_get(fixture, &kind_pod, "p")));
            strcpy(pod->name, "p");
            pod->running = true;
            fixture->n_pods = fixture->running = 1;
            fixture->found[fixture->n_found++] = pod->uid;
        }
        options.machine_restarted = previous_runs[i].restarted;
        node_fixture_start_kubelet(fixture, &options);
        check_int(previous_runs[i].name, node_fixture_pod_phase(fixture, "p"),
                  previous_runs[i].phase);
        if (previous_runs[i].reason)
            check_has(previous_runs[i].name, node_fixture_status(fixture, &kind_pod, "p"),
                      previous_runs[i].reason);
        check_int(previous_runs[i].name, fixture->n_pods ? pod->starts : 0,
                  previous_runs[i].starts);
        if (final && previous_runs[i].found) {
            /* The last report of the pod is still to come. */
            check(previous_runs[i].name, !pod->released);
            node_fixture_report_ended(fixture, "p", 0);
            check(previous_runs[i].name, pod->released);
            check("its logs stay", !pod->purged);
        }
        if (!final) {
            node_fixture_report_ended(fixture, "p", 5);
            check_has(previous_runs[i].name, node_fixture_status(fixture, &kind_pod, "p"),
                      "\"exitCode\":5");
            check(previous_runs[i].name, pod->released);
        }
        node_fixture_free(fixture);
    }
}

static void an_unobserved_end_is_a_failure(void **state)
{
    struct node_fixture *fixture = node_fixture_new();
    struct kubelet_options options = kubelet_fixture_options(4);

    kubelet_fixture_pod(fixture, "p", NULL, NULL);
    node_fixture_set_status(fixture, &kind_pod, "p", "%s", RUNNING);
    node_fixture_start_kubelet(fixture, &options);
    check_has("137", node_fixture_status(fixture, &kind_pod, "p"), "\"exitCode\":137");
    check_has("its reason", node_fixture_status(fixture, &kind_pod, "p"), "ContainerStatusUnknown");
    node_fixture_free(fixture);
}

/* A job waits for pods that it deleted. Nothing is left of these to end, so the kubelet deletes
 * them at once. */
static void a_lost_pod_that_was_being_deleted_goes(void **state)
{
    for (int restarted = 0; restarted <= 1; restarted++) {
        struct node_fixture *fixture = node_fixture_new();
        struct kubelet_options options = kubelet_fixture_options(4);

        options.machine_restarted = restarted;
        kubelet_fixture_pod(fixture, "p", NULL, NULL);
        node_fixture_set_status(fixture, &kind_pod, "p", "%s", RUNNING);
        node_fixture_delete(fixture, &kind_pod, "p", 30);
        check("still there", node_fixture_get(fixture, &kind_pod, "p") != NULL);
        node_fixture_start_kubelet(fixture, &options);
        check(restarted ? "machine restarted" : "supervisor lost",
              !node_fixture_get(fixture, &kind_pod, "p"));
        node_fixture_free(fixture);
    }
}

static void a_process_without_an_object_is_stopped(void **state)
{
    struct node_fixture *fixture = node_fixture_new();
    struct kubelet_options options = kubelet_fixture_options(1);
    struct scripted_pod *orphan = &fixture->pods[0];

    strcpy(orphan->uid, "orphan");
    strcpy(orphan->name, "orphan");
    orphan->running = true;
    fixture->n_pods = fixture->running = 1;
    fixture->found[fixture->n_found++] = orphan->uid;
    node_fixture_start_kubelet(fixture, &options);
    check_int("stopped", orphan->stops, 1);
    kubelet_fixture_pod(fixture, "p", NULL, NULL);
    check("it holds a slot until it ends", !node_fixture_started(fixture, "p"));
    node_fixture_report_ended(fixture, "orphan", 137);
    check("forgotten", orphan->released && orphan->purged);
    check("the slot is free", node_fixture_started(fixture, "p") != NULL);
    node_fixture_free(fixture);
}

/* covers: reliability.md INV-N1 P-08 */
static void restarts_of_the_daemon_start_nothing_twice(void **state)
{
    struct node_fixture *fixture = node_fixture_new();
    struct kubelet_options options = kubelet_fixture_options(3);

    node_fixture_start_kubelet(fixture, &options);
    for (int i = 0; i < 10; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        kubelet_fixture_pod(fixture, name, NULL, NULL);
    }
    for (int life = 0; life < 5; life++) {
        for (size_t i = 0; i < fixture->n_pods; i++)
            if (fixture->pods[i].running) {
                node_fixture_report_ended(fixture, fixture->pods[i].name, 0);
                break;
            }
        node_fixture_stop(fixture);
        fixture->n_found = 0;
        for (size_t i = 0; i < fixture->n_pods; i++)
            if (!fixture->pods[i].released)
                fixture->found[fixture->n_found++] = fixture->pods[i].uid;
        node_fixture_start_kubelet(fixture, &options);
        check_int("three run", fixture->running, 3);
    }
    node_fixture_run_all(fixture);
    check_int("all ran", fixture->n_pods, 10);
    check_int("never more than three", fixture->peak, 3);
    node_fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_goes_from_bound_to_succeeded),
        cmocka_unit_test(a_pod_starts_and_is_released_when_that_is_durable),
        cmocka_unit_test(a_pod_of_a_previous_run_is_purged_with_its_object),
        cmocka_unit_test(at_most_max_pods_run_at_once_and_all_run_in_the_end),
        cmocka_unit_test(intents_are_written_ahead_of_free_slots),
        cmocka_unit_test(pods_wait_for_free_processors),
        cmocka_unit_test(a_pod_without_room_lets_smaller_ones_pass),
        cmocka_unit_test(a_pod_behind_many_large_ones_gets_its_intent_and_starts),
        cmocka_unit_test(room_is_kept_for_a_pod_that_was_passed_for_ten_seconds),
        cmocka_unit_test(a_pod_larger_than_the_node_starts_when_no_other_runs),
        cmocka_unit_test(phases_only_move_forward),
        cmocka_unit_test(reports_of_one_turn_are_written_once),
        cmocka_unit_test(a_pod_that_cannot_run_fails_with_a_reason),
        cmocka_unit_test(a_running_pod_is_stopped_then_removed),
        cmocka_unit_test(a_pod_that_was_never_started_is_removed_at_once),
        cmocka_unit_test(a_pod_deleted_by_force_keeps_its_slot_until_it_has_ended),
        cmocka_unit_test(a_blocked_pod_can_be_deleted),
        cmocka_unit_test(pods_of_a_previous_run_are_reconciled),
        cmocka_unit_test(a_pod_whose_stop_was_never_stored_is_run_again),
        cmocka_unit_test(an_unobserved_end_is_a_failure),
        cmocka_unit_test(a_lost_pod_that_was_being_deleted_goes),
        cmocka_unit_test(a_process_without_an_object_is_stopped),
        cmocka_unit_test(restarts_of_the_daemon_start_nothing_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
