/*
 * Tests store_hurry_together of api/store/commit.
 */
#include "tests/unit.h"

#include "api/store/store.h"
#include "tests/support/objects.h"

/* Clients that write at once. A commit in memory lasts as long as the test advances the clock while
 * it is in flight. */
struct crowd {
    struct turn_hook hook;
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    int64_t took_ns;
    int n, come_back; /* number of clients; number of them that send another request when
                       * answered */
    bool urgent;      /* one of the requests that follow is urgent */
};

struct asker {
    struct task task;
    struct crowd *crowd;
};

static void ask(struct asker *asker)
{
    struct crowd *crowd = asker->crowd;
    scoped_str name = mem_printf("o%d", crowd->n++);

    store_put(crowd->store, sample_object(.name = name));
    store_when_durable(crowd->store, &asker->task);
    store_hurry_together(crowd->store);
}

static void on_answered(struct task *task)
{
    struct asker *asker = container_of(task, struct asker, task);

    if (asker->crowd->come_back-- <= 0)
        return;
    ask(asker);
    if (asker->crowd->urgent)
        store_hurry(asker->crowd->store);
}

static void time_passes(struct turn_hook *hook)
{
    struct crowd *crowd = container_of(hook, struct crowd, hook);
    int64_t ns = crowd->took_ns;

    crowd->took_ns = 0;
    clock_advance_ns(crowd->clock, ns);
}

static void crowd_start(struct crowd *crowd)
{
    const struct store_options options = {.max_delay_ms = 2};

    crowd->hook.end = time_passes;
    crowd->clock = clock_virtual_new(0, 1);
    crowd->loop = loop_new(crowd->clock);
    crowd->store = store_open(crowd->loop, &options, NULL);
    loop_on_turn_end(crowd->loop, &crowd->hook);
}

static void crowd_stop(struct crowd *crowd)
{
    loop_off_turn_end(crowd->loop, &crowd->hook);
    store_close(crowd->store);
    loop_free(crowd->loop);
    clock_free(crowd->clock);
}

static int64_t commits(const struct crowd *crowd)
{
    struct store_stats stats;

    store_stats(crowd->store, &stats);
    return (int64_t)stats.commits;
}

/* covers: reliability.md D-03 */
static void those_who_were_answered_are_waited_for_behind_a_slow_commit(void **state)
{
    static const struct {
        const char *name;
        int64_t took_ns;
        int come_back;
        bool urgent;
        int64_t at_once, later; /* expected number of commits at once, and after that */
    } rows[] = {
        {"a quick commit: no waiting", 100000, 1, false, 2, 2},
        {"both come back", 6000000, 2, false, 2, 2},
        {"one of two comes back", 6000000, 1, false, 1, 2},
        {"no client comes back", 6000000, 0, false, 1, 1},
        {"one of two, who cannot wait", 6000000, 1, true, 2, 2},
        {"no longer than a few milliseconds", 600000000, 1, false, 1, 2},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        struct crowd crowd = {
            .took_ns = rows[i].took_ns, .come_back = rows[i].come_back, .urgent = rows[i].urgent};
        struct asker askers[] = {{{.run = on_answered}, &crowd}, {{.run = on_answered}, &crowd}};

        crowd_start(&crowd);
        ask(&askers[0]);
        ask(&askers[1]);
        loop_settle(crowd.loop);
        check_int(rows[i].name, commits(&crowd), rows[i].at_once);
        loop_advance(crowd.loop, 6);
        check_int(rows[i].name, commits(&crowd), rows[i].later);
        crowd_stop(&crowd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_who_were_answered_are_waited_for_behind_a_slow_commit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
