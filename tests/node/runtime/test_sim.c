/*
 * Tests the simulated runtime on the virtual clock.
 */
#include "tests/unit.h"

#include "node/runtime/runtime.h"

enum { REPORTS_MAX = 64, CONTAINERS_MAX = 4 };

struct told {
    char uid[64];
    bool final;
    enum pod_phase phase;
    char reason[64];
    int64_t at_ms; /* time of the report since the start */
    size_t n;
    struct container_status containers[CONTAINERS_MAX];
    size_t n_init;
    struct container_status init[CONTAINERS_MAX];
};

struct bench {
    struct clock *clock;
    struct loop *loop;
    struct runtime *rt;
    struct told told[REPORTS_MAX];
    size_t n;
    bool in_call, release_final;
};

enum { START_MS = 1000000 };

static void on_report(void *ctx, const struct runtime_report *report)
{
    struct bench *b = ctx;
    struct told *t = &b->told[b->n++ % REPORTS_MAX];

    check("never inside a call", !b->in_call);
    *t = (struct told){.final = report->final,
                       .phase = report->status.phase,
                       .at_ms = loop_wall_ms(b->loop) - START_MS,
                       .n = report->status.containers.count,
                       .n_init = report->status.init_containers.count};
    snprintf(t->uid, sizeof t->uid, "%s", report->uid);
    snprintf(t->reason, sizeof t->reason, "%s", report->status.reason ? report->status.reason : "");
    for (size_t i = 0; i < t->n && i < CONTAINERS_MAX; i++)
        t->containers[i] = report->status.containers.items[i];
    for (size_t i = 0; i < t->n_init && i < CONTAINERS_MAX; i++)
        t->init[i] = report->status.init_containers.items[i];
    if (report->final && b->release_final)
        b->rt->ops->release(b->rt, report->uid);
}

static struct bench *set_up(void)
{
    struct bench *b = mem_alloc(sizeof *b);

    b->clock = clock_virtual_new(START_MS, 1);
    b->loop = loop_new(b->clock);
    b->rt = runtime_sim_new(b->loop, on_report, b);
    b->release_final = true;
    return b;
}

static void tear_down(struct bench *b)
{
    b->rt->ops->free(b->rt);
    loop_free(b->loop);
    clock_free(b->clock);
    mem_free(b);
}

static struct object *pod(const char *name, const char *spec, const char *duration,
                          const char *codes)
{
    struct kv annotations[2];
    uint32_t n = 0;
    scoped_str body = mem_printf("{\"spec\":%s}", spec);

    if (duration)
        annotations[n++] = (struct kv){ANNOTATION_SIM_DURATION, duration};
    if (codes)
        annotations[n++] = (struct kv){ANNOTATION_SIM_EXIT_CODE, codes};
    return object_new(&kind_pod,
                      meta_new(&(struct meta){.namespace = "default",
                                              .name = name,
                                              .uid = name,
                                              .annotations = annotations,
                                              .n_annotations = n,
                                              .deletion_grace_s = -1}),
                      blob_new(body, strlen(body)), NULL);
}

#define ONE(policy)                                                                                \
    "{\"restartPolicy\":\"" policy "\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}"

static void start(struct bench *b, struct object *object, const char *uid)
{
    const struct runtime_pod started = {.uid = uid,
                                        .ns = "default",
                                        .name = object_name(object),
                                        .object = object,
                                        .spec = pod_spec_of(object)};

    b->in_call = true;
    b->rt->ops->start(b->rt, &started);
    b->in_call = false;
    object_unref(object);
}

static const struct told *last(const struct bench *b)
{
    return b->n ? &b->told[b->n - 1] : NULL;
}

static const struct {
    const char *name, *spec, *duration, *codes;
    enum pod_phase phase;
    int exit_code, restarts;
    int64_t ends_ms;
} ends[] = {
    {"at once", ONE("Never"), NULL, NULL, POD_SUCCEEDED, 0, 0, 0},
    {"takes its time", ONE("Never"), "90m", NULL, POD_SUCCEEDED, 0, 0, 5400000},
    {"of this container", ONE("Never"), "b=1h,c=2s", NULL, POD_SUCCEEDED, 0, 0, 2000},
    {"of another container", ONE("Never"), "b=1h", NULL, POD_SUCCEEDED, 0, 0, 0},
    {"not a duration", ONE("Never"), "soon", NULL, POD_SUCCEEDED, 0, 0, 0},
    {"fails", ONE("Never"), "1s", "3", POD_FAILED, 3, 0, 1000},
    {"first of a list", ONE("Never"), NULL, "7,0", POD_FAILED, 7, 0, 0},
    {"restarted on failure, 10 s and 20 s later", ONE("OnFailure"), "1s", "1,1,0", POD_SUCCEEDED, 0,
     2, 33000},
    {"done is not restarted", ONE("OnFailure"), "1s", "0", POD_SUCCEEDED, 0, 0, 1000},
    {"deadline",
     "{\"restartPolicy\":\"Never\",\"activeDeadlineSeconds\":3,\"containers\":[{\"name\":\"c\"}]}",
     "1h", NULL, POD_FAILED, 143, 0, 3000},
};

static void ends_as_the_annotations_say(void **state)
{
    for (size_t i = 0; i < countof(ends); i++) {
        struct bench *b = set_up();
        const struct told *t;

        start(b, pod("p", ends[i].spec, ends[i].duration, ends[i].codes), "u");
        check(ends[i].name, loop_drain(b->loop, 100000000));
        t = last(b);
        check(ends[i].name, t && t->final);
        check_int(ends[i].name, t->phase, ends[i].phase);
        check_int(ends[i].name, t->containers[0].exit_code, ends[i].exit_code);
        check_int(ends[i].name, t->containers[0].restart_count, ends[i].restarts);
        check_int(ends[i].name, t->at_ms, ends[i].ends_ms);
        check_int(ends[i].name, t->containers[0].finished_ms - START_MS, ends[i].ends_ms);
        tear_down(b);
    }
}

static void a_deadline_counts_from_the_start_whenever_it_comes(void **state)
{
    struct bench *b = set_up();

    start(b, pod("p", ONE("Never"), "1h", NULL), "u");
    loop_advance(b->loop, 1000);
    b->rt->ops->set_deadline(b->rt, "u", 5000);
    b->rt->ops->set_deadline(b->rt, "u", 3000);
    b->rt->ops->set_deadline(b->rt, "nobody", 1);
    loop_advance(b->loop, 1999);
    check("not yet", !last(b)->final);
    loop_advance(b->loop, 1);
    check("over", last(b)->final);
    check_int("three seconds after its start", last(b)->at_ms, 3000);
    tear_down(b);
}

static void running_is_reported_only_when_it_lasts(void **state)
{
    struct bench *b = set_up();

    start(b, pod("p", ONE("Never"), NULL, NULL), "u1");
    loop_settle(b->loop);
    check_int("one report", b->n, 1);
    start(b, pod("q", ONE("Never"), "1s", NULL), "u2");
    loop_settle(b->loop);
    check_int("and one more", b->n, 2);
    check_int("running", last(b)->phase, POD_RUNNING);
    check("ready", last(b)->containers[0].ready);
    loop_advance(b->loop, 1000);
    check_int("and its end", b->n, 3);
    tear_down(b);
}

static void codes_count_the_attempts_of_a_pod_name(void **state)
{
    struct bench *b = set_up();
    const int want[] = {1, 2, 0, 0};

    for (size_t i = 0; i < countof(want); i++) {
        char uid[8];

        snprintf(uid, sizeof uid, "u%zu", i);
        start(b, pod("p", ONE("Never"), NULL, "1,2,0"), uid);
        loop_settle(b->loop);
        check_int("attempt", last(b)->containers[0].exit_code, want[i]);
    }
    tear_down(b);
}

static void init_containers_run_first_and_one_by_one(void **state)
{
    static const char spec[] = "{\"restartPolicy\":\"Never\",\"initContainers\":[{\"name\":\"a\"},"
                               "{\"name\":\"s\",\"restartPolicy\":\"Always\"},{\"name\":\"b\"}],"
                               "\"containers\":[{\"name\":\"c\"}]}";
    struct bench *b = set_up();

    start(b, pod("p", spec, "a=1s,s=1h,b=2s,c=3s", NULL), "u");
    loop_settle(b->loop);
    check_int("pending while init runs", last(b)->phase, POD_PENDING);
    check_int("a runs", last(b)->init[0].state, CONTAINER_RUNNING);
    check_int("b waits", last(b)->init[2].state, CONTAINER_WAITING);
    loop_advance(b->loop, 1000);
    check_int("the sidecar runs", last(b)->init[1].state, CONTAINER_RUNNING);
    check_int("b runs", last(b)->init[2].state, CONTAINER_RUNNING);
    loop_advance(b->loop, 2000);
    check_int("running", last(b)->phase, POD_RUNNING);
    loop_advance(b->loop, 3000);
    check("over, sidecar or not", last(b)->final);
    check_int("succeeded", last(b)->phase, POD_SUCCEEDED);
    tear_down(b);
}

static void a_failed_init_container_fails_the_pod(void **state)
{
    static const char spec[] = "{\"restartPolicy\":\"Never\",\"initContainers\":[{\"name\":\"a\"}],"
                               "\"containers\":[{\"name\":\"c\"}]}";
    struct bench *b = set_up();

    start(b, pod("p", spec, NULL, "4"), "u");
    loop_settle(b->loop);
    check("final", last(b)->final);
    check_int("failed", last(b)->phase, POD_FAILED);
    check_int("c never ran", last(b)->containers[0].state, CONTAINER_WAITING);
    tear_down(b);
}

static void stopping_ends_a_pod_with_the_signal(void **state)
{
    struct bench *b = set_up();

    start(b, pod("p", ONE("Always"), "1h", NULL), "u");
    loop_settle(b->loop);
    b->in_call = true;
    b->rt->ops->stop(b->rt, "u", 30000);
    b->rt->ops->stop(b->rt, "nobody", 0);
    b->in_call = false;
    loop_settle(b->loop);
    check_int("two ends", b->n, 3);
    check_int("of the pod", b->told[1].containers[0].exit_code, 143);
    check_int("failed", b->told[1].phase, POD_FAILED);
    check("final", b->told[1].final);
    check_str("a pod it does not know", b->told[2].uid, "nobody");
    check("final too", b->told[2].final);
    check_int("is lost", b->told[2].phase, POD_FAILED);
    tear_down(b);
}

static void a_pod_stopped_before_it_began_is_not_a_success(void **state)
{
    struct bench *b = set_up();

    start(b, pod("p", ONE("Never"), NULL, NULL), "u");
    b->rt->ops->stop(b->rt, "u", 0);
    loop_settle(b->loop);
    check_int("one report", b->n, 1);
    check_int("failed", last(b)->phase, POD_FAILED);
    tear_down(b);
}

static void a_uid_is_started_once(void **state)
{
    struct bench *b = set_up();

    b->release_final = false;
    start(b, pod("p", ONE("Never"), NULL, NULL), "u");
    start(b, pod("p", ONE("Never"), NULL, NULL), "u");
    loop_settle(b->loop);
    start(b, pod("p", ONE("Never"), NULL, NULL), "u");
    loop_settle(b->loop);
    check_int("one report", b->n, 1);
    tear_down(b);
}

static void a_hundred_thousand_pods_leave_nothing(void **state)
{
    struct bench *b = set_up();

    for (int i = 0; i < 100000; i++) {
        char uid[16];

        snprintf(uid, sizeof uid, "u%d", i);
        start(b, pod("p", ONE("Never"), NULL, NULL), uid);
        if (i % 1000 == 999)
            loop_settle(b->loop);
    }
    check_int("all told", b->n, 100000);
    tear_down(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_as_the_annotations_say),
        cmocka_unit_test(a_deadline_counts_from_the_start_whenever_it_comes),
        cmocka_unit_test(running_is_reported_only_when_it_lasts),
        cmocka_unit_test(codes_count_the_attempts_of_a_pod_name),
        cmocka_unit_test(init_containers_run_first_and_one_by_one),
        cmocka_unit_test(a_failed_init_container_fails_the_pod),
        cmocka_unit_test(stopping_ends_a_pod_with_the_signal),
        cmocka_unit_test(a_pod_stopped_before_it_began_is_not_a_success),
        cmocka_unit_test(a_uid_is_started_once),
        cmocka_unit_test(a_hundred_thousand_pods_leave_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
