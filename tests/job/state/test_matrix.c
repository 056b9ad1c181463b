/*
 * Whole lives of jobs, again and again: each write of each life refused once, in conflict once,
 * carried out with its answer lost, and late. Whatever goes wrong, the end is the same. Ref:
 * spec/job.md 20.5; reliability.md P-12.
 *
 * A life is a job and a script: "run", "run POD", "succeed", "succeed POD", "fail POD CODE",
 * "restarts POD N", "delete POD", "command ACTION [KEY VALUE]", "scale N", "unknown", "wait MS",
 * "process" (a new one). A second passes after each, so that what was refused is tried again.
 */
#include "tests/unit.h"

#include <stdio.h>
#include <unistd.h>

#include "api/types/kinds/pod/pod.h"
#include "base/log.h"
#include "tests/fake/faulty.h"
#include "tests/support/job_fixture.h"

struct life {
    const char *name;
    const char *tasks; /* tasks in the form of job_fixture_job_simple, or a list in YAML */
    const char *extra;
    const char *script;
    const char *phase; /* phase in which the job ends */
};

#define TEMPLATE                                                                                   \
    "template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, command: "        \
    "[run]}]}}"

/* clang-format off */
/* covers: job.md ST-01 ST-02 ST-03 ST-04 ST-05 ST-10 ST-11 ST-12 ST-17 ST-21 ST-28 ST-29 ST-31
 * ST-32 ST-33 ST-34 ST-36 ST-37 ST-39 ST-40 ST-42; job.md POL-06 POL-07 POL-10 POL-11 POL-14 POL-15
 * POL-16 POL-17 POL-18 POL-21 POL-26 POL-28 DLY-01 DLY-02 DLY-05 DLY-06 DLY-08 DLY-17; job.md
 * POD-10 POD-26 POD-28 POD-31 DEP-04 DEP-10 DEP-13 PRT-07 SCL-01 SCL-02 SCL-03 SCL-05 CMD-02 CMD-03
 * CMD-05 CMD-06 */
static const struct life lives[] = {
    {"the job completes", "t*2", "plugins: {svc: []}", "run; succeed", "Completed"},
    {"the job fails", "t*2", "", "run; fail j-t-0 1; succeed j-t-1", "Failed"},
    {"enough pods succeed",
     "a*3", "minSuccess: 1;minAvailable: 1", "run; succeed j-a-1", "Completed"},
    {"the job restarts",
     "t*2", "plugins: {svc: [], env: []};policies: [{event: PodFailed, action: RestartJob}]", "run; fail j-t-0 1; run; succeed", "Completed"},
    {"the job uses up its restarts",
     "bad*1 good*1", "maxRetry: 2;policies: [{event: PodFailed, action: RestartJob}]", "run; fail j-bad-0 1; run; fail j-bad-0 1", "Failed"},
    {"a policy aborts the job",
     "t*3", "policies: [{event: PodFailed, action: AbortJob}]", "run; succeed j-t-0; fail j-t-1 1", "Aborted"},
    {"a policy terminates the job",
     "t*3", "plugins: {svc: []};policies: [{exitCode: 3, action: TerminateJob}]", "run; fail j-t-1 3", "Terminated"},
    {"the end of a task completes the job",
     "a*2 b*1", "maxRetry: 1;policies: [{event: TaskCompleted, action: CompleteJob}]", "run; succeed j-a-0; succeed j-a-1", "Completed"},
    {"an aborted job is resumed",
     "t*3", "policies: [{event: PodFailed, action: AbortJob}]", "run; succeed j-t-0; fail j-t-1 1; command ResumeJob; run; succeed", "Completed"},
    {"the job is suspended and resumed twice",
     "t*2", "maxRetry: 1", "run; command AbortJob; command ResumeJob; run; command AbortJob; command ResumeJob; run; succeed", "Completed"},
    {"an aborted job is terminated",
     "t*1", "", "run; command AbortJob; command TerminateJob", "Terminated"},
    {"the user restarts the job", "t*2", "", "run; command RestartJob; run; succeed", "Completed"},
    {"the user completes the job",
     "t*2", "", "run; succeed j-t-1; command CompleteJob", "Completed"},
    {"Commands do not change a completed job",
     "t*1", "", "run; succeed; command RestartJob; command ResumeJob", "Completed"},
    {"a lost pod restarts its task",
     "t*3", "policies: [{event: PodEvicted, action: RestartTask}]", "run; delete j-t-1; run; succeed", "Completed"},
    {"a lost pod restarts the job",
     "t*3", "policies: [{event: \"*\", action: RestartJob}]", "run; delete j-t-1; run", "Running"},
    {"a failed pod is restarted",
     "t*3", "plugins: {svc: []};policies: [{event: PodFailed, action: RestartPod}]", "run; fail j-t-1 1; run; succeed", "Completed"},
    {"the user restarts a pod",
     "a*2 b*1", "", "run; command RestartPod volcano.sh/pod-name j-a-1; run; succeed", "Completed"},
    {"containers restart too often",
     "t*1", "policies: [{event: TaskFailed, action: TerminateJob}]", "run; restarts j-t-0 4", "Terminated"},
    {"a gang that is Unknown restarts the job",
     "t*2", "policies: [{event: Unknown, action: RestartJob}]", "run; unknown; run; succeed", "Completed"},
    {"the policy of a task goes before that of the job",
     "[{name: a, replicas: 1, policies: [{event: PodFailed, action: RestartTask}], " TEMPLATE "}, {name: b, replicas: 1, " TEMPLATE "}]",
     "policies: [{event: PodFailed, action: AbortJob}]", "run; fail j-a-0 1; run; fail j-b-0 1", "Aborted"},
    {"a failed pod restarts its partition",
     "[{name: t, replicas: 4, partitionPolicy: {totalPartitions: 2, partitionSize: 2}, " TEMPLATE "}]",
     "policies: [{event: PodFailed, action: RestartPartition}]", "run; fail j-t-3 1; run; succeed", "Completed"},
    {"three tasks start one after the other",
     "[{name: c, replicas: 1, dependsOn: {name: [b]}, " TEMPLATE "}, {name: b, replicas: 1, dependsOn: {name: [a]}, " TEMPLATE "}, {name: a, replicas: 1, " TEMPLATE "}]",
     "", "run; run; run; succeed", "Completed"},
    {"the job has a volume claim of its own",
     "t*1", "volumes: [{mountPath: /d, volumeClaim: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]", "run; succeed", "Completed"},
    {"a pod waits too long",
     "t*2", "policies: [{event: PodPending, action: AbortJob, timeout: 5s}]", "run j-t-1; wait 6000", "Aborted"},
    {"no pod waits too long",
     "t*2", "policies: [{event: PodPending, action: AbortJob, timeout: 5s}]", "run; wait 9000", "Running"},
    {"an evicted pod is replaced in time",
     "t*2", "policies: [{event: PodEvicted, action: RestartJob, timeout: 10s}]", "run; delete j-t-0; run; wait 20000; succeed", "Completed"},
    {"an evicted pod is not replaced in time",
     "t*2", "policies: [{event: PodEvicted, action: RestartJob, timeout: 10s}]", "run; delete j-t-0; wait 12000; run; succeed", "Completed"},
    {"a restart of a pod is followed by one of the job",
     "t*1", "policies: [{event: PodFailed, action: RestartPod}, {event: PodEvicted, action: RestartJob, timeout: 10s}]", "run; fail j-t-0 1; wait 12000; run; succeed", "Completed"},
    {"a pod waits over a restart of the process",
     "t*1", "policies: [{event: PodPending, action: AbortJob, timeout: 5s}]", "wait 1; process; wait 5000", "Aborted"},
    {"a pod fails over a restart of the process",
     "t*2", "policies: [{event: PodFailed, action: RestartJob}]", "run; process; fail j-t-0 1; process; run; succeed", "Completed"},
    {"the job grows", "t*2", "plugins: {svc: []}", "run; scale 4; run; succeed", "Completed"},
    {"the job shrinks",
     "t*4", "minAvailable: 1;policies: [{event: PodEvicted, action: AbortJob}]", "run; scale 2; succeed", "Completed"},
    {"the job shrinks to no pod and grows again",
     "t*2", "", "run; scale 0; scale 2; run; succeed", "Completed"},
};

static const struct fault {
    const char *name;
    enum faulty_way way;
    enum error_code code;
    int64_t delay_ms;
} faults[] = {
    {"refused", FAULTY_REFUSE, ERR_INTERNAL},
    {"refused by a conflict", FAULTY_REFUSE, ERR_CONFLICT},
    {"its answer lost", FAULTY_LOSE, ERR_TIMEOUT},
    {"done and answered with a conflict", FAULTY_LOSE, ERR_CONFLICT},
    {"late", FAULTY_DELAY, ERR_NONE, 150},
};
/* clang-format on */

struct play {
    struct job_fixture *fixture;
    int commands;
};

static void make_job(struct job_fixture *fixture, const struct life *life)
{
    struct buf yaml = {0};

    if (life->tasks[0] != '[') {
        job_fixture_job_simple(fixture, "j", life->tasks, life->extra);
        return;
    }
    buf_printf(&yaml,
               "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j, namespace: "
               "default}\nspec:\n  %s\n  tasks: %s\n",
               life->extra, life->tasks);
    job_fixture_apply(fixture, yaml.data);
    buf_release(&yaml);
}

static void issue(struct play *play, const char *action, const char *key, const char *value)
{
    scoped_str yaml = mem_printf(
        "{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: c%d, namespace: "
        "default, annotations: {%s: %s}}, action: %s, target: {apiVersion: "
        "batch.volcano.sh/v1alpha1, kind: Job, name: j, uid: %s}}",
        play->commands++, *key ? key : "a", *value ? value : "b", action,
        object_uid(job_fixture_get(play->fixture, &kind_job, "j")));

    job_fixture_apply(play->fixture, yaml);
}

static void act(struct play *play, const char *verb, const char *object, const char *value,
                const char *more)
{
    struct job_fixture *fixture = play->fixture;
    int number = (int)strtol(value, NULL, 10);

    if (strcmp(verb, "run") == 0 && *object)
        job_fixture_pod(fixture, object, POD_RUNNING);
    else if (strcmp(verb, "run") == 0)
        job_fixture_pods(fixture, POD_RUNNING);
    else if (strcmp(verb, "succeed") == 0 && *object)
        job_fixture_pod(fixture, object, POD_SUCCEEDED);
    else if (strcmp(verb, "succeed") == 0)
        job_fixture_pods(fixture, POD_SUCCEEDED);
    else if (strcmp(verb, "fail") == 0)
        job_fixture_pod_failed(fixture, object, number);
    else if (strcmp(verb, "restarts") == 0)
        job_fixture_pod_restarts(fixture, object, number);
    else if (strcmp(verb, "delete") == 0)
        job_fixture_delete(fixture, &kind_pod, object);
    else if (strcmp(verb, "command") == 0)
        issue(play, object, value, more);
    else if (strcmp(verb, "scale") == 0)
        job_fixture_scale(fixture, "j", 0, (int)strtol(object, NULL, 10),
                          (int)strtol(object, NULL, 10));
    else if (strcmp(verb, "unknown") == 0)
        job_fixture_group_phase(fixture, PODGROUP_UNKNOWN);
    else if (strcmp(verb, "wait") == 0)
        job_fixture_advance(fixture, strtol(object, NULL, 10));
    else if (strcmp(verb, "process") == 0)
        job_fixture_restart(fixture);
    else
        check_fail("no such verb: %s", verb);
}

static void perform(struct play *play, const char *script)
{
    while (script) {
        char words[4][64] = {{0}};

        sscanf(script, " %63[^ ;] %63[^ ;] %63[^ ;] %63[^ ;]", words[0], words[1], words[2],
               words[3]);
        act(play, words[0], words[1], words[2], words[3]);
        job_fixture_advance(play->fixture, 1000);
        script = strchr(script, ';');
        script = script ? script + 1 : NULL;
    }
}

enum { PODS_MAX = 16 };

struct pods {
    char *items[PODS_MAX];
    size_t count;
};

static void add_pod(void *arg, const struct object *pod)
{
    struct pods *pods = arg;

    assert_true(pods->count < PODS_MAX);
    pods->items[pods->count++] =
        mem_printf("%s:%s%s", object_name(pod), pod_phase_text(pod_status_of(pod)->phase),
                   object_deleting(pod) ? ":deleting" : "");
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *end_of(struct job_fixture *fixture)
{
    const struct job_status *status = job_fixture_job(fixture, "j");
    struct pods pods = {0};
    struct buf out = {0};

    buf_printf(
        &out,
        "%s (%s) pending %d running %d succeeded %d failed %d terminating %d unknown %d "
        "retries %d version %d groups %zu services %zu maps %zu claims %zu commands %zu;",
        job_fixture_phase(fixture, "j"), status->reason ? status->reason : "", status->pending,
        status->running, status->succeeded, status->failed, status->terminating, status->unknown,
        status->retry_count, status->version, job_fixture_count(fixture, &kind_pod_group),
        job_fixture_count(fixture, &kind_service), job_fixture_count(fixture, &kind_config_map),
        job_fixture_count(fixture, &kind_pvc), job_fixture_count(fixture, &kind_command));
    cluster_each(fixture->backend, &kind_pod, "default", add_pod, &pods);
    qsort(pods.items, pods.count, sizeof *pods.items, compare_texts);
    for (size_t i = 0; i < pods.count; i++) {
        buf_printf(&out, " %s", pods.items[i]);
        mem_free(pods.items[i]);
    }
    return buf_take(&out);
}

/* Runs a life with the fault at its `n`-th write, or without a fault. Returns false if the life has
 * no n-th write. */
static bool live(const struct life *life, const struct fault *fault, int n, char **out_end)
{
    struct play play = {job_fixture_new(&(struct job_fixture_options){0})};
    bool hit;

    if (fault)
        faulty_expect(play.fixture->cluster, .ops = FAULTY_ANY, .skip = n, .times = 1,
                      .way = fault->way, .code = fault->code, .delay_ms = fault->delay_ms);
    make_job(play.fixture, life);
    job_fixture_advance(play.fixture, 1000);
    perform(&play, life->script);
    job_fixture_advance(play.fixture, 5000);
    hit = faulty_hits(play.fixture->cluster) > 0;
    *out_end = end_of(play.fixture);
    job_fixture_free(play.fixture);
    return hit;
}

static void one_life(const struct life *life)
{
    scoped_str wanted = NULL;

    live(life, NULL, 0, &wanted);
    if (strncmp(wanted, life->phase, strlen(life->phase)) != 0)
        check_fail("%s: ends as %s", life->name, wanted);
    for (size_t f = 0; f < countof(faults); f++)
        for (int n = 0;; n++) {
            scoped_str end = NULL;
            bool hit = live(life, &faults[f], n, &end);

            if (strcmp(end, wanted) != 0)
                check_fail("%s, write %d %s:\n  %s\nnot\n  %s", life->name, n, faults[f].name, end,
                           wanted);
            if (!hit)
                break;
        }
}

static void every_life_ends_the_same_whatever_goes_wrong_once(void **unused)
{
    /* Writes are refused on purpose, so warnings about them are not shown. */
    log_to(STDERR_FILENO, LOG_ERROR, LOG_TEXT);
    for (size_t i = 0; i < countof(lives); i++)
        one_life(&lives[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_life_ends_the_same_whatever_goes_wrong_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
