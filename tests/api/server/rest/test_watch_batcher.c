/* Tests the rounds of the watch batcher. Each send advances the virtual clock by its cost. */
#include "tests/unit.h"

#include "api/server/rest/watch_batcher.h"
#include "base/clock.h"
#include "base/loop/loop.h"

enum { MS = 1000 * 1000, WATCHERS = 40 };

struct setup;

struct watcher {
    struct watch_batch_entry entry;
    struct setup *setup;
    int64_t cost_ns;
    int sent, again; /* number of sends so far; how often the watcher adds itself again at once */
};

struct setup {
    struct clock *clock;
    struct loop *loop;
    struct watch_batcher *batcher;
    struct watcher watchers[WATCHERS];
    struct timer others; /* other work of the loop, which is repeated */
    int others_ran, sent, sent_at_first_of_others;
};

static void on_send(struct watch_batch_entry *entry)
{
    struct watcher *watcher = container_of(entry, struct watcher, entry);

    watcher->sent++;
    watcher->setup->sent++;
    clock_advance_ns(watcher->setup->clock, watcher->cost_ns);
    if (watcher->again-- > 0)
        watch_batcher_add(watcher->setup->batcher, entry);
}

static void on_others(struct timer *timer)
{
    struct setup *setup = container_of(timer, struct setup, others);

    if (setup->others_ran++ == 0)
        setup->sent_at_first_of_others = setup->sent;
}

static void set_up(struct setup *setup, int64_t cost_ns)
{
    *setup = (struct setup){.clock = clock_virtual_new(0, 1), .others.fire = on_others};
    setup->loop = loop_new(setup->clock);
    setup->batcher = watch_batcher_new(setup->loop);
    for (int i = 0; i < WATCHERS; i++)
        setup->watchers[i] =
            (struct watcher){.entry.send = on_send, .setup = setup, .cost_ns = cost_ns};
}

static void add_all(struct setup *setup)
{
    for (int i = 0; i < WATCHERS; i++)
        watch_batcher_add(setup->batcher, &setup->watchers[i].entry);
}

static void tear_down(struct setup *setup)
{
    timer_stop(setup->loop, &setup->others);
    watch_batcher_free(setup->batcher);
    loop_free(setup->loop);
    clock_free(setup->clock);
}

static void a_single_watch_never_waits(void **state)
{
    struct setup setup;

    set_up(&setup, MS / 100);
    for (int i = 1; i <= 3; i++) {
        watch_batcher_add(setup.batcher, &setup.watchers[0].entry);
        /* No effect, because the watcher waits already. */
        watch_batcher_add(setup.batcher, &setup.watchers[0].entry);
        loop_settle(setup.loop);
        assert_int_equal(setup.watchers[0].sent, i);
    }
    tear_down(&setup);
}

static void other_work_runs_between_the_slices_of_a_long_round(void **state)
{
    struct setup setup;

    set_up(&setup, MS);
    add_all(&setup);
    timer_start_ns(setup.loop, &setup.others, MS);
    loop_settle(setup.loop);
    assert_int_equal(setup.others_ran, 1);
    assert_true(setup.sent_at_first_of_others < WATCHERS);
    assert_int_equal(setup.sent, WATCHERS);
    tear_down(&setup);
}

static void a_pause_follows_a_long_round(void **state)
{
    struct setup setup;
    int64_t ended_ns;

    set_up(&setup, MS);
    add_all(&setup);
    loop_settle(setup.loop);
    ended_ns = loop_mono_ns(setup.loop);
    add_all(&setup);
    loop_settle(setup.loop);
    assert_int_equal(setup.sent, WATCHERS); /* the pause between rounds has not ended */
    loop_advance(setup.loop, 100);
    assert_int_equal(setup.sent, 2 * WATCHERS);
    assert_true(loop_mono_ns(setup.loop) > ended_ns);
    tear_down(&setup);
}

static void an_entry_added_during_a_round_waits_for_the_next(void **state)
{
    struct setup setup;

    set_up(&setup, MS);
    setup.watchers[WATCHERS - 1].again = 1; /* this watcher is the first to be sent */
    setup.watchers[0].again = 1;            /* this watcher is the last to be sent */
    add_all(&setup);
    loop_settle(setup.loop);
    assert_int_equal(setup.sent, WATCHERS);
    loop_advance(setup.loop, 100);
    assert_int_equal(setup.sent, WATCHERS + 2);
    assert_int_equal(setup.watchers[0].sent, 2);
    assert_int_equal(setup.watchers[WATCHERS - 1].sent, 2);
    tear_down(&setup);
}

/* Removes every watcher that has not been sent yet, between two slices. */
static void on_remove_unsent(struct timer *timer)
{
    struct setup *setup = container_of(timer, struct setup, others);

    on_others(timer);
    for (int i = 0; i < WATCHERS; i++)
        watch_batcher_remove(&setup->watchers[i].entry);
}

static void an_entry_removed_between_slices_is_not_sent(void **state)
{
    struct setup setup;

    set_up(&setup, INT64_C(3) * MS);
    setup.others.fire = on_remove_unsent;
    add_all(&setup);
    timer_start_ns(setup.loop, &setup.others, MS);
    loop_settle(setup.loop);
    assert_int_equal(setup.sent, setup.sent_at_first_of_others);
    assert_true(setup.sent < WATCHERS);
    add_all(&setup); /* the round without entries has ended */
    loop_advance(setup.loop, 100);
    assert_int_equal(setup.sent, setup.sent_at_first_of_others + WATCHERS);
    tear_down(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_watch_never_waits),
        cmocka_unit_test(other_work_runs_between_the_slices_of_a_long_round),
        cmocka_unit_test(a_pause_follows_a_long_round),
        cmocka_unit_test(an_entry_added_during_a_round_waits_for_the_next),
        cmocka_unit_test(an_entry_removed_between_slices_is_not_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
