/*
 * Tests the store in memory: revisions, listeners, durability and watches. covers: reliability.md
 * INV-S3 INV-S5 L-28 P-04; kube-api.md 82
 */
#include "tests/unit.h"

#include "api/store/store.h"
#include "tests/support/objects.h"

struct fixture {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
};

static struct fixture fixture_new(int64_t window, int64_t max_delay_ms)
{
    const struct store_options options = {.watch_window = window, .max_delay_ms = max_delay_ms};
    struct fixture fixture = {.clock = clock_virtual_new(0, 1)};

    fixture.loop = loop_new(fixture.clock);
    fixture.store = store_open(fixture.loop, &options, NULL);
    assert_non_null(fixture.store);
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    store_close(fixture->store);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
}

/* Records changes: "+name@revision" for added, "~" modified, "-" deleted. */
struct diary {
    struct store_listener listener;
    struct store *store;
    char text[4096];
    int end_after; /* the watch ends itself after this number of changes; 0 = never */
    bool write_back;
};

static void note(struct diary *diary, enum store_change change, const struct object *old,
                 const struct object *object)
{
    size_t used = strlen(diary->text);

    assert_int_equal(change == STORE_ADDED, old == NULL);
    snprintf(diary->text + used, sizeof diary->text - used, "%c%s@%d ", "+~-"[change],
             object_name(object), (int)object -> revision);
}

static void heard(struct store_listener *listener, enum store_change change,
                  const struct object *old, const struct object *object)
{
    struct diary *diary = container_of(listener, struct diary, listener);

    note(diary, change, old, object);
    if (diary->write_back && change == STORE_ADDED)
        store_put(diary->store, sample_with_status(object, "{\"seen\":1}"));
}

static bool watched(void *ctx, enum store_change change, const struct object *old,
                    const struct object *object)
{
    struct diary *diary = ctx;

    note(diary, change, old, object);
    return diary->end_after == 0 || --diary->end_after > 0;
}

static struct store_watch *watch(struct fixture *fixture, struct diary *diary, int64_t since)
{
    const struct store_watch_options options = {
        .kind = &kind_job, .since_revision = since, .changed = watched, .ctx = diary};
    struct error err;
    struct store_watch *opened = store_watch_open(fixture->store, &options, &err);

    check_ok("watch", opened, err);
    return opened;
}

static const struct object *put(struct fixture *fixture, const char *name)
{
    return store_put(fixture->store, sample_object(.name = name));
}

static const struct object *put_status(struct fixture *fixture, const char *name,
                                       const char *status)
{
    const struct object *object = store_get(fixture->store, &kind_job, "default", name);

    return store_put(fixture->store, sample_with_status(object, status));
}

static void drop(struct fixture *fixture, const char *name)
{
    store_delete(fixture->store, store_get(fixture->store, &kind_job, "default", name));
}

static void every_change_has_the_next_revision(void **state)
{
    struct fixture fixture = fixture_new(0, 0);
    const struct object *a, *changed;

    a = put(&fixture, "a");
    check_int("first", a->revision, 1);
    check_int("b", put(&fixture, "b")->revision, 2);
    changed = put_status(&fixture, "a", "{}");
    check_int("changed", changed->revision, 3);
    check_int("same row", changed->row, a->row);
    check("the old version can still be read", a->status == NULL);
    drop(&fixture, "b");
    check_int("the deletion counts", store_revision(fixture.store), 4);
    assert_null(store_get(fixture.store, &kind_job, "default", "b"));
    check_int("durable is behind", store_durable_revision(fixture.store), 0);
    loop_settle(fixture.loop);
    check_int("and catches up", store_durable_revision(fixture.store), 4);
    fixture_free(&fixture);
}

static void listeners_hear_accepted_changes_in_order(void **state)
{
    struct fixture fixture = fixture_new(0, 0);
    struct diary first = {.listener.changed = heard}, second = {.listener.changed = heard};

    first.store = fixture.store;
    first.write_back = true;
    store_listen(fixture.store, &first.listener);
    store_listen(fixture.store, &second.listener);
    put(&fixture, "a");
    put(&fixture, "b");
    check_str("not inside the call", first.text, "");
    loop_settle(fixture.loop);
    check_str("first", first.text, "+a@1 +b@2 ~a@3 ~b@4 ");
    check_str("second", second.text, first.text);
    store_unlisten(fixture.store, &first.listener);
    drop(&fixture, "a");
    loop_settle(fixture.loop);
    check_str("second goes on", second.text, "+a@1 +b@2 ~a@3 ~b@4 -a@5 ");
    check_str("first does not", first.text, "+a@1 +b@2 ~a@3 ~b@4 ");
    store_unlisten(fixture.store, &second.listener);
    fixture_free(&fixture);
}

struct flag {
    struct task task;
    int64_t durable; /* newest durable revision at the time at which the call ran */
    struct store *store;
    int runs;
};

static void raise_flag(struct task *task)
{
    struct flag *flag = container_of(task, struct flag, task);

    flag->durable = store_durable_revision(flag->store);
    flag->runs++;
}

static void a_waiter_runs_when_all_before_it_is_durable(void **state)
{
    struct fixture fixture = fixture_new(0, 0);
    struct flag flag = {.task.run = raise_flag, .store = fixture.store};
    struct flag gone = flag;

    put(&fixture, "a");
    store_when_durable(fixture.store, &flag.task);
    store_when_durable(fixture.store, &gone.task);
    store_forget(fixture.store, &gone.task);
    check_int("not inside the call", flag.runs, 0);
    loop_settle(fixture.loop);
    check_int("runs", flag.runs, 1);
    check_int("durable", flag.durable, 1);
    check_int("forgotten", gone.runs, 0);
    store_when_durable(fixture.store, &flag.task);
    loop_settle(fixture.loop);
    check_int("at once when nothing is pending", flag.runs, 2);
    fixture_free(&fixture);
}

static void an_unhurried_batch_waits_for_company(void **state)
{
    struct fixture fixture = fixture_new(0, 5);
    struct store_stats stats;

    put(&fixture, "a");
    loop_advance(fixture.loop, 4);
    put(&fixture, "b");
    loop_settle(fixture.loop);
    check_int("waits", store_durable_revision(fixture.store), 0);
    loop_advance(fixture.loop, 1);
    check_int("both", store_durable_revision(fixture.store), 2);
    store_stats(fixture.store, &stats);
    check_int("one commit", stats.commits, 1);
    put(&fixture, "c");
    store_hurry(fixture.store);
    loop_settle(fixture.loop);
    check_int("hurried", store_durable_revision(fixture.store), 3);
    fixture_free(&fixture);
}

static void a_batch_nobody_waits_for_may_wait_longer(void **state)
{
    const struct store_options options = {.max_delay_ms = 5, .idle_delay_ms = 20};
    struct fixture fixture = {.clock = clock_virtual_new(0, 1)};
    struct flag flag = {.task.run = raise_flag};

    fixture.loop = loop_new(fixture.clock);
    fixture.store = flag.store = store_open(fixture.loop, &options, NULL);
    put(&fixture, "a");
    loop_advance(fixture.loop, 19);
    check_int("waits", store_durable_revision(fixture.store), 0);
    loop_advance(fixture.loop, 1);
    check_int("on its own", store_durable_revision(fixture.store), 1);
    put(&fixture, "b");
    loop_advance(fixture.loop, 10);
    store_when_durable(fixture.store, &flag.task);
    loop_advance(fixture.loop, 4);
    check_int("a waiter", store_durable_revision(fixture.store), 1);
    loop_advance(fixture.loop, 1);
    check_int("no longer than for others", store_durable_revision(fixture.store), 2);
    check_int("told", flag.runs, 1);
    fixture_free(&fixture);
}

static void a_watch_sees_each_durable_change_once(void **state)
{
    struct fixture fixture = fixture_new(0, 0);
    struct diary early = {0}, late = {0}, future = {0};
    struct store_watch *watches[3];

    put(&fixture, "a");
    watches[0] = watch(&fixture, &early, 0);
    loop_settle(fixture.loop);
    check_str("early", early.text, "+a@1 ");
    put_status(&fixture, "a", "{}");
    put(&fixture, "b");
    drop(&fixture, "b");
    check_str("nothing before it is durable", early.text, "+a@1 ");
    loop_settle(fixture.loop);
    check_str("each version", early.text, "+a@1 ~a@2 +b@3 -b@4 ");
    watches[1] = watch(&fixture, &late, 2);
    watches[2] = watch(&fixture, &future, 5);
    put(&fixture, "c");
    put(&fixture, "d");
    loop_settle(fixture.loop);
    check_str("late", late.text, "+b@3 -b@4 +c@5 +d@6 ");
    check_str("future", future.text, "+d@6 ");
    for (size_t i = 0; i < 3; i++)
        store_watch_close(watches[i]);
    put(&fixture, "e");
    loop_settle(fixture.loop);
    check_str("closed", late.text, "+b@3 -b@4 +c@5 +d@6 ");
    fixture_free(&fixture);
}

static void a_watch_may_end_itself(void **state)
{
    struct fixture fixture = fixture_new(0, 0);
    struct diary diary = {.end_after = 2}, other = {0};

    put(&fixture, "a");
    put(&fixture, "b");
    put(&fixture, "c");
    loop_settle(fixture.loop);
    watch(&fixture, &diary, 0);
    watch(&fixture, &other, -1);
    loop_settle(fixture.loop);
    check_str("in the past", diary.text, "+a@1 +b@2 ");
    diary = (struct diary){.end_after = 1};
    watch(&fixture, &diary, -1);
    put(&fixture, "d");
    put(&fixture, "e");
    loop_settle(fixture.loop);
    check_str("live", diary.text, "+d@4 ");
    check_str("others go on", other.text, "+d@4 +e@5 ");
    fixture_free(&fixture);
}

static void what_fell_out_of_the_window_is_gone(void **state)
{
    struct fixture fixture = fixture_new(3, 0);
    struct diary diary = {0};
    struct store_watch_options options = {.kind = &kind_job, .changed = watched, .ctx = &diary};
    struct error err;

    for (int i = 0; i < 5; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%d", i);
        put(&fixture, name);
        loop_settle(fixture.loop);
    }
    options.since_revision = 1;
    check_error("too old", store_watch_open(fixture.store, &options, &err), err, ERR_GONE);
    check_str("message", err.message, "too old resource version: 1 (2)");
    watch(&fixture, &diary, 2);
    loop_settle(fixture.loop);
    check_str("the window", diary.text, "+n2@3 +n3@4 +n4@5 ");
    fixture_free(&fixture);
}

static void a_watch_that_starts_late_in_a_long_turn_misses_nothing(void **state)
{
    struct fixture fixture = fixture_new(2, 0);
    struct diary diary = {0};

    put(&fixture, "a");
    loop_settle(fixture.loop);
    watch(&fixture, &diary, 0);
    for (int i = 0; i < 5; i++)
        put_status(&fixture, "a", i % 2 ? "{\"i\":1}" : "{\"i\":0}");
    loop_settle(fixture.loop);
    check_str("all", diary.text, "+a@1 ~a@2 ~a@3 ~a@4 ~a@5 ~a@6 ");
    fixture_free(&fixture);
}

/* Opens a watch at the beginning of the turn after the next: while the batch of the next turn is in
 * flight, and before the task that ends its flight. */
struct opener {
    struct task task;
    struct timer timer;
    struct fixture *fixture;
    struct diary *diary;
};

static void open_watch(struct timer *timer)
{
    struct opener *opener = container_of(timer, struct opener, timer);

    watch(opener->fixture, opener->diary, 0);
}

static void start_timer(struct task *task)
{
    struct opener *opener = container_of(task, struct opener, task);

    timer_start(opener->fixture->loop, &opener->timer, 0);
}

static void a_watch_opened_while_a_batch_is_in_flight_sees_it_once(void **state)
{
    struct fixture fixture = fixture_new(0, 0);
    struct diary diary = {0};
    struct opener opener = {{.run = start_timer}, {.fire = open_watch}, &fixture, &diary};

    put(&fixture, "a");
    loop_settle(fixture.loop);
    put(&fixture, "b");
    put(&fixture, "c");
    loop_post(fixture.loop, &opener.task);
    loop_settle(fixture.loop);
    check_str("once", diary.text, "+a@1 +b@2 +c@3 ");
    fixture_free(&fixture);
}

/* A watch that opens another one when it sees a change. */
struct chain {
    struct fixture *fixture;
    struct diary *next;
    bool opened;
};

static bool watched_chain(void *ctx, enum store_change change, const struct object *old,
                          const struct object *object)
{
    struct chain *chain = ctx;

    if (!chain->opened)
        watch(chain->fixture, chain->next, 0);
    chain->opened = true;
    return true;
}

static void a_watch_opened_while_another_is_told_misses_nothing(void **state)
{
    struct fixture fixture = fixture_new(1, 0);
    struct diary diary = {0};
    struct chain chain = {&fixture, &diary, false};
    const struct store_watch_options options = {
        .kind = &kind_job, .since_revision = -1, .changed = watched_chain, .ctx = &chain};
    struct error err;

    check_ok("watch", store_watch_open(fixture.store, &options, &err) != NULL, err);
    loop_settle(fixture.loop);
    for (int i = 0; i < 4; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%d", i);
        put(&fixture, name);
    }
    loop_settle(fixture.loop);
    check_str("all of the batch", diary.text, "+n0@1 +n1@2 +n2@3 +n3@4 ");
    fixture_free(&fixture);
}

static void a_watch_of_a_namespace_sees_no_other(void **state)
{
    struct fixture fixture = fixture_new(0, 0);
    struct diary past = {0}, live = {0};
    struct store_watch_options options = {.kind = &kind_job, .ns = "a", .changed = watched};
    struct error err;

    for (int i = 0; i < 2; i++) {
        store_put(fixture.store, sample_object(.name = i ? "two" : "one", .ns = "a",
                                               .uid = i ? "u-two" : "u-one"));
        store_put(fixture.store, sample_object(.name = i ? "two" : "one", .ns = "b",
                                               .uid = i ? "v-two" : "v-one"));
        options.ctx = i ? &live : &past;
        options.since_revision = i ? -1 : 0;
        check_ok("watch", store_watch_open(fixture.store, &options, &err) != NULL, err);
        loop_settle(fixture.loop);
    }
    store_put(fixture.store, sample_object(.name = "three", .ns = "b"));
    store_put(fixture.store, sample_object(.name = "three", .ns = "a", .uid = "u-three"));
    loop_settle(fixture.loop);
    check_str("from the start", past.text, "+one@1 +two@3 +three@6 ");
    check_str("from now on", live.text, "+two@3 +three@6 ");
    fixture_free(&fixture);
}

/* covers: reliability.md L-28 P-13 */
static void the_window_is_bounded_in_bytes(void **state)
{
    enum { STATUS_BYTES = 4 << 20, CHANGES = 20 };
    struct fixture fixture = fixture_new(0, 0);
    struct diary diary = {0};
    const struct store_watch_options options = {
        .kind = &kind_job, .since_revision = 1, .changed = watched, .ctx = &diary};
    scoped_str status = mem_alloc(STATUS_BYTES + 1);
    struct error err;

    put(&fixture, "a");
    memset(status, ' ', STATUS_BYTES);
    memcpy(status, "{}", 2);
    for (int i = 0; i < CHANGES; i++) {
        status[2] = (char)('\t' + i % 2); /* another text each time */
        put_status(&fixture, "a", status);
        loop_settle(fixture.loop);
    }
    check_error("80 MiB are not kept", store_watch_open(fixture.store, &options, &err), err,
                ERR_GONE);
    watch(&fixture, &diary, CHANGES);
    loop_settle(fixture.loop);
    check_str("the newest are", diary.text, "~a@21 ");
    fixture_free(&fixture);
}

static void equal_bodies_are_kept_once(void **state)
{
    struct fixture fixture = fixture_new(1, 0);
    struct store_stats stats;

    for (int i = 0; i < 10; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%d", i);
        store_put(fixture.store, sample_object(.name = name, .body = "{\"spec\":{\"x\":1}}"));
    }
    store_stats(fixture.store, &stats);
    check_int("objects", stats.objects, 10);
    check_int("bodies", stats.bodies, 1);
    check_int("bytes", stats.body_bytes, strlen("{\"spec\":{\"x\":1}}"));
    for (int i = 0; i < 10; i++) {
        char name[16], body[32];

        snprintf(name, sizeof name, "n%d", i);
        snprintf(body, sizeof body, "{\"spec\":%d}", i);
        store_put(fixture.store, sample_object(.name = name, .body = body));
    }
    store_stats(fixture.store, &stats);
    check_int("an unused body stays for a while", stats.bodies, 11);
    fixture_free(&fixture);
}

static void pods_lie_beside_their_job(void **state)
{
    struct fixture fixture = fixture_new(0, 0);
    const struct object *flow, *job, *pod, *other;

    flow = store_put(fixture.store, sample_object(.name = "flow", .kind = &kind_job_flow));
    other = store_put(fixture.store, sample_object(.name = "a", .owner_uid = "uid-flow"));
    job = store_put(fixture.store, sample_object(.name = "b", .owner_uid = "uid-flow"));
    pod = store_put(fixture.store,
                    sample_object(.name = "p", .kind = &kind_pod, .owner_uid = "uid-b"));
    check("jobs of a flow keep apart", job->row - other->row >= 8);
    check("the flow itself lies with others", flow->row < 0);
    check_int("pod", pod->row, job->row + 1);
    fixture_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_change_has_the_next_revision),
        cmocka_unit_test(listeners_hear_accepted_changes_in_order),
        cmocka_unit_test(a_waiter_runs_when_all_before_it_is_durable),
        cmocka_unit_test(an_unhurried_batch_waits_for_company),
        cmocka_unit_test(a_batch_nobody_waits_for_may_wait_longer),
        cmocka_unit_test(a_watch_sees_each_durable_change_once),
        cmocka_unit_test(a_watch_may_end_itself),
        cmocka_unit_test(what_fell_out_of_the_window_is_gone),
        cmocka_unit_test(a_watch_that_starts_late_in_a_long_turn_misses_nothing),
        cmocka_unit_test(a_watch_opened_while_a_batch_is_in_flight_sees_it_once),
        cmocka_unit_test(a_watch_opened_while_another_is_told_misses_nothing),
        cmocka_unit_test(a_watch_of_a_namespace_sees_no_other),
        cmocka_unit_test(the_window_is_bounded_in_bytes),
        cmocka_unit_test(equal_bodies_are_kept_once),
        cmocka_unit_test(pods_lie_beside_their_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
