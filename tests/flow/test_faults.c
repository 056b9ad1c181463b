/*
 * Tests writes that fail, and writes that succeed although their answer is an error.
 */
#include "tests/unit.h"

#include "tests/support/flow_fixture.h"

enum fault { FAULT_NONE, FAULT_REFUSED, FAULT_ANSWER_LOST, FAULT_CONFLICT, FAULT_FULL_DISK };

static const struct cluster_ops *real;
static struct cluster_ops faulty;
static enum fault on_create, on_status;
static int every; /* each write with a number divisible by this one fails */
static int writes;

enum { MANY = 1000 };

struct bad_answer {
    struct task task;
    struct cluster_call *call;
    enum error_code code;
};

static void give(struct task *task)
{
    struct bad_answer *answer = container_of(task, struct bad_answer, task);
    struct error err = {0};

    error_set(&err, answer->code, "", "made up by the test");
    answer->call->done(answer->call, NULL, &err);
    mem_free(answer);
}

static void answer_badly(struct cluster *c, struct cluster_call *call, enum error_code code)
{
    struct bad_answer *answer = mem_alloc(sizeof *answer);

    answer->task.run = give;
    answer->call = call;
    answer->code = code;
    loop_post(c->loop, &answer->task);
}

static bool strikes(enum fault fault)
{
    if (fault == FAULT_FULL_DISK) /* a controller that never waits would keep the test for ever */
        return writes < MANY && ++writes;
    return fault != FAULT_NONE && ++writes % every == 0;
}

static void create(struct cluster *c, struct cluster_call *call, struct object *draft)
{
    if (draft->kind != &kind_job || !strikes(on_create)) {
        real->create(c, call, draft);
    } else if (on_create == FAULT_ANSWER_LOST) {
        real->create(c, NULL, draft);
        answer_badly(c, call, ERR_TIMEOUT);
    } else {
        object_unref(draft);
        answer_badly(c, call, ERR_UNAVAILABLE);
    }
}

static void update_status(struct cluster *c, struct cluster_call *call, const struct object *object,
                          struct blob *status)
{
    if (object->kind != &kind_job_flow || !strikes(on_status)) {
        real->update_status(c, call, object, status);
    } else if (on_status == FAULT_ANSWER_LOST) {
        real->update_status(c, NULL, object, status);
        answer_badly(c, call, ERR_TIMEOUT);
    } else {
        blob_unref(status);
        answer_badly(c, call,
                     on_status == FAULT_CONFLICT    ? ERR_CONFLICT
                     : on_status == FAULT_FULL_DISK ? ERR_STORAGE
                                                    : ERR_UNAVAILABLE);
    }
}

static void break_cluster(struct flow_fixture *fixture)
{
    real = fixture->cluster->ops;
    faulty = *real;
    faulty.create = create;
    faulty.update_status = update_status;
    fixture->cluster->ops = &faulty;
    writes = 0;
}

/* covers: jobflow.md 110; reliability.md P-05 P-12 INV-F1; see jobflow.md section 11 row 23 */
static const struct {
    const char *name;
    enum fault create, status;
} cases[] = {
    {"creates fail", FAULT_REFUSED, FAULT_NONE},
    {"answers to creates are lost", FAULT_ANSWER_LOST, FAULT_NONE},
    {"statuses fail", FAULT_NONE, FAULT_REFUSED},
    {"statuses conflict", FAULT_NONE, FAULT_CONFLICT},
    {"answers to statuses are lost", FAULT_NONE, FAULT_ANSWER_LOST},
    {"everything fails now and then", FAULT_REFUSED, FAULT_REFUSED},
};

static void flow_gets_there_all_the_same(void **state)
{
    static const char *const order[] = {"f-a", "f-b", "f-c", "f-d"};

    for (size_t i = 0; i < countof(cases) * 3; i++) {
        const char *name = cases[i / 3].name;
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

        on_create = cases[i / 3].create;
        on_status = cases[i / 3].status;
        every = 1 + (int)(i % 3) + (cases[i / 3].create != FAULT_ANSWER_LOST);
        break_cluster(fixture);
        flow_fixture_run(fixture, "f", "a, b<-a, c<-a, d<-b+c");
        for (size_t j = 0; j < countof(order); j++) {
            flow_fixture_advance(fixture, 60000);
            flow_fixture_complete(fixture, order[j]);
        }
        flow_fixture_advance(fixture, 60000);
        check_str(name, flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
        check_int("each job once", fixture->created.len, strlen("f-a f-b f-c f-d"));
        check_str(name, fixture->phases.data, "f:Pending f:Running f:Succeed");
        check_str("no reason is left", flow_fixture_at(fixture, "f", "state/reason"), "");
        fixture->cluster->ops = real;
    }
}

static void failing_create_is_told_and_repeated_for_ever(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    on_create = FAULT_REFUSED;
    on_status = FAULT_NONE;
    every = 1;
    break_cluster(fixture);
    flow_fixture_run(fixture, "f", "a");
    flow_fixture_advance(fixture, INT64_C(10) * 60000);
    check_str("why", flow_fixture_at(fixture, "f", "nodes/0/reason"), "CreateFailed");
    check_has("in words", flow_fixture_at(fixture, "f", "nodes/0/message"), "made up by the test");
    check_int("one warning", flow_fixture_events(fixture, "CreateFailed"), 1);
    check("never in a hot loop", writes < 40);
    on_create = FAULT_NONE;
    flow_fixture_advance(fixture, 30000);
    check("in the end", flow_fixture_has_job(fixture, "f-a"));
    fixture->cluster->ops = real;
}

/* A step cannot be tried again before the result of its failed job is stored. On a full disk the
 * controller waits between two attempts to store it. covers: reliability.md LIV-3 */
static void a_retry_waits_for_a_full_disk(void **state)
{
    enum { FEW = 30, SECONDS = 60 };
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "a",
                      "flows: [{name: a, retry: {maxRetry: 1, backoffSeconds: 5}}]");
    on_create = FAULT_NONE;
    on_status = FAULT_FULL_DISK;
    break_cluster(fixture);
    flow_fixture_end(fixture, "f-a", 1, NULL);
    flow_fixture_advance(fixture, SECONDS * 1000);
    check("some", writes > 0);
    check("few", writes < FEW);
    on_status = FAULT_NONE;
    flow_fixture_advance(fixture, SECONDS * 1000);
    check_str("goes on", flow_fixture_created(fixture), "f-a f-a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flow_gets_there_all_the_same),
        cmocka_unit_test(a_retry_waits_for_a_full_disk),
        cmocka_unit_test(failing_create_is_told_and_repeated_for_ever),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
