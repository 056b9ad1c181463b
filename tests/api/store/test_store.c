/* The store in memory: revisions, listeners, durability and watches.
 * covers: reliability.md INV-S3 INV-S5 L-28 P-04; kube-api.md 82 */
#include "tests/unit.h"

#include "api/store/store.h"
#include "tests/support/objects.h"

struct world {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
};

static struct world world_new(int64_t window, int64_t max_delay_ms)
{
    const struct store_options options = {.watch_window = window, .max_delay_ms = max_delay_ms};
    struct world world = {.clock = clock_virtual_new(0, 1)};

    world.loop = loop_new(world.clock);
    world.store = store_open(world.loop, &options, NULL);
    assert_non_null(world.store);
    return world;
}

static void world_free(struct world *world)
{
    store_close(world->store);
    loop_free(world->loop);
    clock_free(world->clock);
}

/* Writes down what it is told: "+name@revision" for added, "~" modified, "-" deleted. */
struct diary {
    struct store_listener listener;
    struct store *store;
    char text[4096];
    int end_after; /* a watch ends itself after that many; 0 = never */
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

static struct store_watch *watch(struct world *world, struct diary *diary, int64_t since)
{
    const struct store_watch_options options = {
        .kind = &kind_job, .since_revision = since, .changed = watched, .ctx = diary};
    struct error err;
    struct store_watch *opened = store_watch_open(world->store, &options, &err);

    check_ok("watch", opened, err);
    return opened;
}

static const struct object *put(struct world *world, const char *name)
{
    return store_put(world->store, sample_object(.name = name));
}

static const struct object *put_status(struct world *world, const char *name, const char *status)
{
    const struct object *object = store_get(world->store, &kind_job, "default", name);

    return store_put(world->store, sample_with_status(object, status));
}

static void drop(struct world *world, const char *name)
{
    store_delete(world->store, store_get(world->store, &kind_job, "default", name));
}

static void every_change_has_the_next_revision(void **state)
{
    struct world world = world_new(0, 0);
    const struct object *a, *changed;

    a = put(&world, "a");
    check_int("first", a->revision, 1);
    check_int("b", put(&world, "b")->revision, 2);
    changed = put_status(&world, "a", "{}");
    check_int("changed", changed->revision, 3);
    check_int("same row", changed->row, a->row);
    check("the old version can still be read", a->status == NULL);
    drop(&world, "b");
    check_int("the deletion counts", store_revision(world.store), 4);
    assert_null(store_get(world.store, &kind_job, "default", "b"));
    check_int("durable is behind", store_durable_revision(world.store), 0);
    loop_settle(world.loop);
    check_int("and catches up", store_durable_revision(world.store), 4);
    world_free(&world);
}

static void listeners_hear_accepted_changes_in_order(void **state)
{
    struct world world = world_new(0, 0);
    struct diary first = {.listener.changed = heard}, second = {.listener.changed = heard};

    first.store = world.store;
    first.write_back = true;
    store_listen(world.store, &first.listener);
    store_listen(world.store, &second.listener);
    put(&world, "a");
    put(&world, "b");
    check_str("not inside the call", first.text, "");
    loop_settle(world.loop);
    check_str("first", first.text, "+a@1 +b@2 ~a@3 ~b@4 ");
    check_str("second", second.text, first.text);
    store_unlisten(world.store, &first.listener);
    drop(&world, "a");
    loop_settle(world.loop);
    check_str("second goes on", second.text, "+a@1 +b@2 ~a@3 ~b@4 -a@5 ");
    check_str("first does not", first.text, "+a@1 +b@2 ~a@3 ~b@4 ");
    store_unlisten(world.store, &second.listener);
    world_free(&world);
}

struct flag {
    struct task task;
    int64_t durable; /* when it ran */
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
    struct world world = world_new(0, 0);
    struct flag flag = {.task.run = raise_flag, .store = world.store};
    struct flag gone = flag;

    put(&world, "a");
    store_when_durable(world.store, &flag.task);
    store_when_durable(world.store, &gone.task);
    store_forget(world.store, &gone.task);
    check_int("not inside the call", flag.runs, 0);
    loop_settle(world.loop);
    check_int("runs", flag.runs, 1);
    check_int("durable", flag.durable, 1);
    check_int("forgotten", gone.runs, 0);
    store_when_durable(world.store, &flag.task);
    loop_settle(world.loop);
    check_int("at once when nothing is pending", flag.runs, 2);
    world_free(&world);
}

static void an_unhurried_batch_waits_for_company(void **state)
{
    struct world world = world_new(0, 5);
    struct store_stats stats;

    put(&world, "a");
    loop_advance(world.loop, 4);
    put(&world, "b");
    loop_settle(world.loop);
    check_int("waits", store_durable_revision(world.store), 0);
    loop_advance(world.loop, 1);
    check_int("both", store_durable_revision(world.store), 2);
    store_stats(world.store, &stats);
    check_int("one commit", stats.commits, 1);
    put(&world, "c");
    store_hurry(world.store);
    loop_settle(world.loop);
    check_int("hurried", store_durable_revision(world.store), 3);
    world_free(&world);
}

static void a_batch_nobody_waits_for_may_wait_longer(void **state)
{
    const struct store_options options = {.max_delay_ms = 5, .idle_delay_ms = 20};
    struct world world = {.clock = clock_virtual_new(0, 1)};
    struct flag flag = {.task.run = raise_flag};

    world.loop = loop_new(world.clock);
    world.store = flag.store = store_open(world.loop, &options, NULL);
    put(&world, "a");
    loop_advance(world.loop, 19);
    check_int("waits", store_durable_revision(world.store), 0);
    loop_advance(world.loop, 1);
    check_int("on its own", store_durable_revision(world.store), 1);
    put(&world, "b");
    loop_advance(world.loop, 10);
    store_when_durable(world.store, &flag.task);
    loop_advance(world.loop, 4);
    check_int("somebody waits", store_durable_revision(world.store), 1);
    loop_advance(world.loop, 1);
    check_int("no longer than for others", store_durable_revision(world.store), 2);
    check_int("told", flag.runs, 1);
    world_free(&world);
}

static void a_watch_sees_each_durable_change_once(void **state)
{
    struct world world = world_new(0, 0);
    struct diary early = {0}, late = {0}, future = {0};
    struct store_watch *watches[3];

    put(&world, "a");
    watches[0] = watch(&world, &early, 0);
    loop_settle(world.loop);
    check_str("early", early.text, "+a@1 ");
    put_status(&world, "a", "{}");
    put(&world, "b");
    drop(&world, "b");
    check_str("nothing before it is durable", early.text, "+a@1 ");
    loop_settle(world.loop);
    check_str("each version", early.text, "+a@1 ~a@2 +b@3 -b@4 ");
    watches[1] = watch(&world, &late, 2);
    watches[2] = watch(&world, &future, 5);
    put(&world, "c");
    put(&world, "d");
    loop_settle(world.loop);
    check_str("late", late.text, "+b@3 -b@4 +c@5 +d@6 ");
    check_str("future", future.text, "+d@6 ");
    for (size_t i = 0; i < 3; i++)
        store_watch_close(watches[i]);
    put(&world, "e");
    loop_settle(world.loop);
    check_str("closed", late.text, "+b@3 -b@4 +c@5 +d@6 ");
    world_free(&world);
}

static void a_watch_may_end_itself(void **state)
{
    struct world world = world_new(0, 0);
    struct diary diary = {.end_after = 2}, other = {0};

    put(&world, "a");
    put(&world, "b");
    put(&world, "c");
    loop_settle(world.loop);
    watch(&world, &diary, 0);
    watch(&world, &other, -1);
    loop_settle(world.loop);
    check_str("in the past", diary.text, "+a@1 +b@2 ");
    diary = (struct diary){.end_after = 1};
    watch(&world, &diary, -1);
    put(&world, "d");
    put(&world, "e");
    loop_settle(world.loop);
    check_str("live", diary.text, "+d@4 ");
    check_str("others go on", other.text, "+d@4 +e@5 ");
    world_free(&world);
}

static void what_fell_out_of_the_window_is_gone(void **state)
{
    struct world world = world_new(3, 0);
    struct diary diary = {0};
    struct store_watch_options options = {.kind = &kind_job, .changed = watched, .ctx = &diary};
    struct error err;

    for (int i = 0; i < 5; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%d", i);
        put(&world, name);
        loop_settle(world.loop);
    }
    options.since_revision = 1;
    check_error("too old", store_watch_open(world.store, &options, &err), err, ERR_GONE);
    check_str("message", err.message, "too old resource version: 1 (2)");
    watch(&world, &diary, 2);
    loop_settle(world.loop);
    check_str("the window", diary.text, "+n2@3 +n3@4 +n4@5 ");
    world_free(&world);
}

static void a_watch_that_starts_late_in_a_long_turn_misses_nothing(void **state)
{
    struct world world = world_new(2, 0);
    struct diary diary = {0};

    put(&world, "a");
    loop_settle(world.loop);
    watch(&world, &diary, 0);
    for (int i = 0; i < 5; i++)
        put_status(&world, "a", i % 2 ? "{\"i\":1}" : "{\"i\":0}");
    loop_settle(world.loop);
    check_str("all", diary.text, "+a@1 ~a@2 ~a@3 ~a@4 ~a@5 ~a@6 ");
    world_free(&world);
}

static void equal_bodies_are_kept_once(void **state)
{
    struct world world = world_new(1, 0);
    struct store_stats stats;

    for (int i = 0; i < 10; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%d", i);
        store_put(world.store, sample_object(.name = name, .body = "{\"spec\":{\"x\":1}}"));
    }
    store_stats(world.store, &stats);
    check_int("objects", stats.objects, 10);
    check_int("bodies", stats.bodies, 1);
    check_int("bytes", stats.body_bytes, strlen("{\"spec\":{\"x\":1}}"));
    for (int i = 0; i < 10; i++) {
        char name[16], body[32];

        snprintf(name, sizeof name, "n%d", i);
        snprintf(body, sizeof body, "{\"spec\":%d}", i);
        store_put(world.store, sample_object(.name = name, .body = body));
    }
    store_stats(world.store, &stats);
    check_int("an unused body stays for a while", stats.bodies, 11);
    world_free(&world);
}

static void pods_lie_beside_their_job(void **state)
{
    struct world world = world_new(0, 0);
    const struct object *flow, *job, *pod, *other;

    flow = store_put(world.store, sample_object(.name = "flow", .kind = &kind_job_flow));
    other = store_put(world.store, sample_object(.name = "a", .owner_uid = "uid-flow"));
    job = store_put(world.store, sample_object(.name = "b", .owner_uid = "uid-flow"));
    pod =
        store_put(world.store, sample_object(.name = "p", .kind = &kind_pod, .owner_uid = "uid-b"));
    check("jobs of a flow keep apart", job->row - other->row >= 8);
    check("the flow itself lies with others", flow->row < 0);
    check_int("pod", pod->row, job->row + 1);
    world_free(&world);
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
        cmocka_unit_test(equal_bodies_are_kept_once),
        cmocka_unit_test(pods_lie_beside_their_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
