/* Rounds of watchers: what each send costs is told by a clock that the send itself moves. */
#include "tests/unit.h"

#include "api/server/rest/watch_batcher.h"
#include "base/clock.h"
#include "base/loop.h"

enum { MS = 1000 * 1000, CROWD = 40 };

struct setup;

struct watcher {
    struct watch_batch_entry entry;
    struct setup *setup;
    int64_t cost_ns;
    int sent, again; /* how often it comes back at once */
};

struct setup {
    struct clock *clock;
    struct loop *loop;
    struct watch_batcher *batcher;
    struct watcher crowd[CROWD];
    struct timer others; /* whoever else has something to do, over and over */
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
    for (int i = 0; i < CROWD; i++)
        setup->crowd[i] =
            (struct watcher){.entry.send = on_send, .setup = setup, .cost_ns = cost_ns};
}

static void add_crowd(struct setup *setup)
{
    for (int i = 0; i < CROWD; i++)
        watch_batcher_add(setup->batcher, &setup->crowd[i].entry);
}

static void tear_down(struct setup *setup)
{
    timer_stop(setup->loop, &setup->others);
    watch_batcher_free(setup->batcher);
    loop_free(setup->loop);
    clock_free(setup->clock);
}

static void a_lone_watcher_never_waits(void **state)
{
    struct setup setup;

    set_up(&setup, MS / 100);
    for (int i = 1; i <= 3; i++) {
        watch_batcher_add(setup.batcher, &setup.crowd[0].entry);
        watch_batcher_add(setup.batcher, &setup.crowd[0].entry); /* it waits already */
        loop_settle(setup.loop);
        assert_int_equal(setup.crowd[0].sent, i);
    }
    tear_down(&setup);
}

static void others_have_their_turn_within_a_long_round(void **state)
{
    struct setup setup;

    set_up(&setup, MS);
    add_crowd(&setup);
    timer_start_ns(setup.loop, &setup.others, MS);
    loop_settle(setup.loop);
    assert_int_equal(setup.others_ran, 1);
    assert_true(setup.sent_at_first_of_others < CROWD);
    assert_int_equal(setup.sent, CROWD);
    tear_down(&setup);
}

static void after_a_long_round_there_is_a_rest(void **state)
{
    struct setup setup;
    int64_t ended_ns;

    set_up(&setup, MS);
    add_crowd(&setup);
    loop_settle(setup.loop);
    ended_ns = loop_mono_ns(setup.loop);
    add_crowd(&setup);
    loop_settle(setup.loop);
    assert_int_equal(setup.sent, CROWD); /* it lasts */
    loop_advance(setup.loop, 100);
    assert_int_equal(setup.sent, 2 * CROWD);
    assert_true(loop_mono_ns(setup.loop) > ended_ns);
    tear_down(&setup);
}

static void who_comes_back_belongs_to_the_next_round(void **state)
{
    struct setup setup;

    set_up(&setup, MS);
    setup.crowd[CROWD - 1].again = 1; /* the first to be sent, */
    setup.crowd[0].again = 1;         /* and the last */
    add_crowd(&setup);
    loop_settle(setup.loop);
    assert_int_equal(setup.sent, CROWD);
    loop_advance(setup.loop, 100);
    assert_int_equal(setup.sent, CROWD + 2);
    assert_int_equal(setup.crowd[0].sent, 2);
    assert_int_equal(setup.crowd[CROWD - 1].sent, 2);
    tear_down(&setup);
}

/* The timer of the others takes everybody out who has not been sent yet. */
static void on_others_leave(struct timer *timer)
{
    struct setup *setup = container_of(timer, struct setup, others);

    on_others(timer);
    for (int i = 0; i < CROWD; i++)
        watch_batcher_remove(&setup->crowd[i].entry);
}

static void who_leaves_between_slices_is_not_sent(void **state)
{
    struct setup setup;

    set_up(&setup, INT64_C(3) * MS);
    setup.others.fire = on_others_leave;
    add_crowd(&setup);
    timer_start_ns(setup.loop, &setup.others, MS);
    loop_settle(setup.loop);
    assert_int_equal(setup.sent, setup.sent_at_first_of_others);
    assert_true(setup.sent < CROWD);
    add_crowd(&setup); /* the round that was left by all is over */
    loop_advance(setup.loop, 100);
    assert_int_equal(setup.sent, setup.sent_at_first_of_others + CROWD);
    tear_down(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_watcher_never_waits),
        cmocka_unit_test(others_have_their_turn_within_a_long_round),
        cmocka_unit_test(after_a_long_round_there_is_a_rest),
        cmocka_unit_test(who_comes_back_belongs_to_the_next_round),
        cmocka_unit_test(who_leaves_between_slices_is_not_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
