/*
 * Tests which logs of deleted pods are kept, for how long, and what their PodLogs say. A scripted
 * runtime stands for the log files: a purged pod has none any more.
 */
#include "tests/unit.h"

#include "api/types/kinds/pod/pod_log.h"
#include "tests/fake/faulty.h"
#include "tests/support/kubelet_fixture.h"

#define MANY ((int64_t)1 << 40)

static struct node_fixture *start(const struct log_limits *limits)
{
    struct node_fixture *fixture = node_fixture_new();
    struct kubelet_options options = kubelet_fixture_options(20);

    node_fixture_start_logs(fixture, &options, limits);
    return fixture;
}

static const struct log_limits plenty = {MANY, MANY};

static void make_flow(struct node_fixture *fixture, const char *name)
{
    node_fixture_create(fixture,
                        "{'apiVersion':'flow.volcano.sh/v1alpha1','kind':'JobFlow','metadata':"
                        "{'name':'%s','namespace':'default'},'spec':{'flows':[{'name':'a',"
                        "'jobTemplateName':'t'}]}}",
                        name);
}

/* Creates a job. It belongs to a flow when `flow` is not NULL. */
static void make_job(struct node_fixture *fixture, const char *name, const char *flow,
                     const char *attempt)
{
    const struct object *owner = flow ? node_fixture_get(fixture, &kind_job_flow, flow) : NULL;
    scoped_str of_flow =
        owner ? mem_printf(",'ownerReferences':[{'apiVersion':'flow.volcano.sh/v1alpha1','kind':"
                           "'JobFlow','name':'%s','uid':'%s','controller':true}],'annotations':"
                           "{'volcano.sh/jobFlowNode':'a','volcano.sh/jobFlowAttempt':'%s'}",
                           flow, object_uid(owner), attempt)
              : NULL;

    node_fixture_create(
        fixture,
        "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':'%s',"
        "'namespace':'default'%s},'spec':{'minAvailable':1,'tasks':[{'name':'t','replicas':1,"
        "'template':{'spec':{'containers':[{'name':'c','image':'i','command':['true']}]}}}]}}",
        name, of_flow ? of_flow : "");
}

/* Creates a pod. It belongs to a job when `job` is not NULL. */
static void make_pod(struct node_fixture *fixture, const char *name, const char *job)
{
    const struct object *owner = job ? node_fixture_get(fixture, &kind_job, job) : NULL;
    scoped_str of_job =
        owner ? mem_printf(",'ownerReferences':[{'apiVersion':'batch.volcano.sh/v1alpha1','kind':"
                           "'Job','name':'%s','uid':'%s','controller':true}],'labels':"
                           "{'volcano.sh/job-name':'%s','volcano.sh/task-spec':'t',"
                           "'volcano.sh/task-index':'3'}",
                           job, object_uid(owner), job)
              : NULL;

    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':"
                        "'default'%s},'spec':{'nodeName':'here','restartPolicy':'Never',"
                        "'containers':[{'name':'c','image':'i'," KUBELET_FIXTURE_COMMAND "}]}}",
                        name, of_job ? of_job : "");
    node_fixture_settle(fixture);
}

static void count(void *arg, const struct object *log)
{
    ++*(size_t *)arg;
}

static size_t kept(struct node_fixture *fixture)
{
    size_t n = 0;

    cluster_each(fixture->cluster, &kind_pod_log, NULL, count, &n);
    return n;
}

static const struct pod_log *log_of(struct node_fixture *fixture, const char *pod)
{
    scoped_str name = pod_log_name(pod, node_fixture_started(fixture, pod)->uid);
    const struct object *log = node_fixture_get(fixture, &kind_pod_log, name);

    return log ? pod_log_of(log) : NULL;
}

static bool has_files(struct node_fixture *fixture, const char *pod)
{
    return !node_fixture_started(fixture, pod)->purged;
}

static void end_pod(struct node_fixture *fixture, const char *pod, int64_t bytes)
{
    node_fixture_started(fixture, pod)->log_bytes = bytes;
    node_fixture_report_running(fixture, pod);
    node_fixture_report_ended(fixture, pod, 7);
}

/* Creates a pod, ends its program and deletes it. */
static void lose_pod(struct node_fixture *fixture, const char *pod, const char *job, int64_t bytes)
{
    make_pod(fixture, pod, job);
    end_pod(fixture, pod, bytes);
    node_fixture_delete(fixture, &kind_pod, pod, -1);
    node_fixture_settle(fixture);
}

static void delete_foreground(struct node_fixture *fixture, const struct kind *kind,
                              const char *name)
{
    const struct cluster_removal how = {.grace_s = -1, .propagation = PROPAGATE_FOREGROUND};

    cluster_remove(fixture->cluster, NULL, kind, "default", name, &how);
    node_fixture_settle(fixture);
}

static void delete_background(struct node_fixture *fixture, const struct kind *kind,
                              const char *name)
{
    node_fixture_delete(fixture, kind, name, -1);
    node_fixture_settle(fixture);
}

enum owner { NO_OWNER, BARE_JOB, JOB_OF_FLOW };
enum loss { POD_DELETED, JOB_DELETED, JOB_FOREGROUND, FLOW_DELETED, FLOW_FOREGROUND };

/* clang-format off */
static const struct {
    const char *name;
    enum owner owner;
    bool runs; /* the program of the pod has run */
    enum loss loss;
    bool kept;
} losses[] = {
    {"a pod without a job",                      NO_OWNER,    true,  POD_DELETED,     false},
    {"a pod of a job",                           BARE_JOB,    true,  POD_DELETED,     true},
    {"a pod of a job of a flow",                 JOB_OF_FLOW, true,  POD_DELETED,     true},
    {"a pod that never ran",                     JOB_OF_FLOW, false, POD_DELETED,     false},
    {"a job is deleted",                         BARE_JOB,    true,  JOB_DELETED,     false},
    {"a job is deleted after its pods",          BARE_JOB,    true,  JOB_FOREGROUND,  false},
    {"a job of a flow is deleted",               JOB_OF_FLOW, true,  JOB_DELETED,     true},
    {"a job of a flow is deleted after its pod", JOB_OF_FLOW, true,  JOB_FOREGROUND,  true},
    {"the flow is deleted",                      JOB_OF_FLOW, true,  FLOW_DELETED,    false},
    {"the flow is deleted after its jobs",       JOB_OF_FLOW, true,  FLOW_FOREGROUND, false},
};
/* clang-format on */

static void lose(struct node_fixture *fixture, enum loss loss)
{
    if (loss == POD_DELETED)
        delete_background(fixture, &kind_pod, "p");
    else if (loss == JOB_DELETED)
        delete_background(fixture, &kind_job, "j");
    else if (loss == JOB_FOREGROUND)
        delete_foreground(fixture, &kind_job, "j");
    else if (loss == FLOW_DELETED)
        delete_background(fixture, &kind_job_flow, "f");
    else
        delete_foreground(fixture, &kind_job_flow, "f");
    node_fixture_settle(fixture);
}

static void logs_stay_while_the_flow_or_job_of_a_deleted_pod_stays(void **state)
{
    for (size_t i = 0; i < countof(losses); i++) {
        struct node_fixture *fixture = start(&plenty);

        if (losses[i].owner == JOB_OF_FLOW)
            make_flow(fixture, "f");
        if (losses[i].owner != NO_OWNER)
            make_job(fixture, "j", losses[i].owner == JOB_OF_FLOW ? "f" : NULL, "1");
        make_pod(fixture, "p", losses[i].owner != NO_OWNER ? "j" : NULL);
        if (losses[i].runs)
            end_pod(fixture, "p", 10);
        else
            node_fixture_set_status(fixture, &kind_pod, "p", "{'phase':'Failed'}");
        lose(fixture, losses[i].loss);
        check(losses[i].name, !node_fixture_get(fixture, &kind_pod, "p"));
        check_int(losses[i].name, (int)kept(fixture), losses[i].kept);
        if (losses[i].runs)
            check_int(losses[i].name, has_files(fixture, "p"), losses[i].kept);
        node_fixture_free(fixture);
    }
}

static void logs_go_with_the_last_of_their_owners(void **state)
{
    struct node_fixture *fixture = start(&plenty);

    make_flow(fixture, "f");
    make_job(fixture, "j", "f", "1");
    lose_pod(fixture, "p", "j", 10);
    delete_background(fixture, &kind_job, "j");
    check("stays with the flow", kept(fixture) == 1 && has_files(fixture, "p"));
    delete_background(fixture, &kind_job_flow, "f");
    check("gone with the flow", kept(fixture) == 0 && !has_files(fixture, "p"));
    node_fixture_free(fixture);
}

static void a_pod_log_says_which_pod_attempt_and_end_it_is_of(void **state)
{
    struct node_fixture *fixture = start(&plenty);
    const struct pod_log *log;

    make_flow(fixture, "f");
    make_job(fixture, "f-a", "f", "2");
    lose_pod(fixture, "f-a-t-3", "f-a", 123);
    log = log_of(fixture, "f-a-t-3");
    check_str("pod", log->pod, "f-a-t-3");
    check_str("uid", log->uid, node_fixture_started(fixture, "f-a-t-3")->uid);
    check_str("node", log->node, "here");
    check_str("phase", log->phase, "Failed");
    check_str("job", log->job, "f-a");
    check_str("job uid", log->job_uid, object_uid(node_fixture_get(fixture, &kind_job, "f-a")));
    check_str("flow", log->flow, "f");
    check_str("step", log->step, "a");
    check_int("attempt", log->attempt, 2);
    check_str("task", log->task, "t");
    check_int("index", log->index, 3);
    check_int("bytes", log->bytes, 123);
    check("complete", log->complete && log->end_ms >= log->start_ms && log->start_ms > 0);
    check_int("containers", (int)log->containers.count, 1);
    check_str("container", log->containers.items[0].name, "c");
    check_int("exit code", log->containers.items[0].exit_code, 7);
    node_fixture_free(fixture);
}

/* The job is deleted while its pods use their grace period, as after an interrupt. */
static void a_pod_that_outlives_its_job_completes_its_log_when_it_goes(void **state)
{
    struct node_fixture *fixture = start(&plenty);

    make_flow(fixture, "f");
    make_job(fixture, "f-a", "f", "1");
    make_pod(fixture, "p", "f-a");
    node_fixture_report_running(fixture, "p");
    delete_background(fixture, &kind_job, "f-a");
    check("kept at once", log_of(fixture, "p") && !log_of(fixture, "p")->complete);
    check_int("asked to end", node_fixture_started(fixture, "p")->stops, 1);
    end_pod(fixture, "p", 55);
    check("gone", !node_fixture_get(fixture, &kind_pod, "p"));
    check("complete", log_of(fixture, "p")->complete && has_files(fixture, "p"));
    check_int("bytes", log_of(fixture, "p")->bytes, 55);
    check_str("its step is still known", log_of(fixture, "p")->step, "a");
    node_fixture_free(fixture);
}

struct limited {
    const char *name;
    struct log_limits limits;
    const char *left; /* expected pods whose logs stay, of p0 to p5, which have 10 bytes each */
};

/* Cases of limits. p0, p2, p4 belong to flow f; p1, p3, p5 belong to job b. */
static const struct limited limited[] = {
    {"plenty", {MANY, MANY}, "p0 p1 p2 p3 p4 p5 "},
    {"two for each owner", {20, MANY}, "p2 p3 p4 p5 "},
    {"five in all", {MANY, 50}, "p1 p2 p3 p4 p5 "},
    {"one for each, one in all", {10, 10}, "p5 "},
    {"less than a log", {9, MANY}, ""},
    {"none", {0, MANY}, ""},
};

static void check_left(struct node_fixture *fixture, const struct limited *row)
{
    scoped(buf) struct buf left = {0};

    for (int i = 0; i < 6; i++) {
        scoped_str pod = mem_printf("p%d", i);
        bool is_kept = log_of(fixture, pod) != NULL;

        check_int(pod, has_files(fixture, pod), is_kept);
        if (is_kept)
            buf_printf(&left, "%s ", pod);
    }
    check_str(row->name, left.data ? left.data : "", row->left);
}

static void lose_six(struct node_fixture *fixture)
{
    make_flow(fixture, "f");
    make_job(fixture, "f-a", "f", "1");
    make_job(fixture, "b", NULL, NULL);
    for (int i = 0; i < 6; i++) {
        scoped_str pod = mem_printf("p%d", i);

        lose_pod(fixture, pod, i % 2 ? "b" : "f-a", 10);
        node_fixture_advance(fixture, 1000);
    }
}

static void the_oldest_logs_go_first_when_there_are_too_many(void **state)
{
    for (size_t i = 0; i < countof(limited); i++) {
        struct node_fixture *fixture = start(&limited[i].limits);

        lose_six(fixture);
        check_left(fixture, &limited[i]);
        node_fixture_free(fixture);
    }
}

static void lower_limits_apply_at_the_next_start(void **state)
{
    for (size_t i = 0; i + 1 < countof(limited); i++) {
        struct node_fixture *fixture = start(&plenty);
        struct kubelet_options options = kubelet_fixture_options(20);

        lose_six(fixture);
        node_fixture_stop(fixture);
        node_fixture_start_logs(fixture, &options, &limited[i].limits);
        node_fixture_settle(fixture);
        check_left(fixture, &limited[i]);
        node_fixture_free(fixture);
    }
}

static const struct {
    const char *name;
    unsigned op;
    enum faulty_way way;
    enum error_code code;
    bool kept;
} faults[] = {
    {"full disk", FAULTY_CREATE, FAULTY_REFUSE, ERR_STORAGE, true},
    {"answer lost", FAULTY_CREATE, FAULTY_LOSE, ERR_TIMEOUT, true},
    {"namespace goes", FAULTY_CREATE, FAULTY_REFUSE, ERR_FORBIDDEN, false},
    {"full disk at completion", FAULTY_STATUS, FAULTY_REFUSE, ERR_STORAGE, true},
    {"conflict at completion", FAULTY_STATUS, FAULTY_REFUSE, ERR_CONFLICT, true},
};

static void a_log_is_not_lost_when_its_record_cannot_be_written_at_once(void **state)
{
    for (size_t i = 0; i < countof(faults); i++) {
        struct node_fixture *fixture = node_fixture_new();
        struct kubelet_options options = kubelet_fixture_options(20);
        struct cluster *inner = fixture->cluster;

        fixture->cluster = faulty_new(inner);
        node_fixture_start_logs(fixture, &options, &plenty);
        make_flow(fixture, "f");
        make_job(fixture, "f-a", "f", "1");
        make_pod(fixture, "p", "f-a");
        node_fixture_report_running(fixture, "p");
        faulty_expect(fixture->cluster, .ops = faults[i].op, .kind = &kind_pod_log, .times = 1,
                      .way = faults[i].way, .code = faults[i].code);
        delete_background(fixture, &kind_job, "f-a");
        end_pod(fixture, "p", 10);
        check_int(faults[i].name, has_files(fixture, "p"), faults[i].kept);
        node_fixture_advance(fixture, 5000);
        check_int(faults[i].name, has_files(fixture, "p"), faults[i].kept);
        check(faults[i].name, !faults[i].kept || log_of(fixture, "p")->complete);
        check_int("faults", faulty_hits(fixture->cluster), 1);
        node_fixture_stop(fixture);
        faulty_free(fixture->cluster);
        fixture->cluster = inner;
        node_fixture_free(fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_stay_while_the_flow_or_job_of_a_deleted_pod_stays),
        cmocka_unit_test(logs_go_with_the_last_of_their_owners),
        cmocka_unit_test(a_pod_log_says_which_pod_attempt_and_end_it_is_of),
        cmocka_unit_test(a_pod_that_outlives_its_job_completes_its_log_when_it_goes),
        cmocka_unit_test(the_oldest_logs_go_first_when_there_are_too_many),
        cmocka_unit_test(lower_limits_apply_at_the_next_start),
        cmocka_unit_test(a_log_is_not_lost_when_its_record_cannot_be_written_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
