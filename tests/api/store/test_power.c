/*
 * Tests power cuts. The same small history runs with a power cut at its first disk operation, then
 * at its second, and so on, each with several possible states of the disk (tests/support/power).
 * The store must then read back the whole history up to some turn, and at least to the last turn
 * that was reported as durable.
 *
 *   JOBFLOW_SEEDS=100 test_store_power       number of disk states per operation; default 8
 */
#include "tests/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/store/store.h"
#include "base/log.h"
#include "tests/support/dice.h"
#include "tests/support/objects.h"
#include "tests/support/power.h"

enum { TURNS = 14, NAMES = 6, DISKS = 8, POINTS_MAX = 2000, CLOSED_AT = 7, AGAIN_EVERY = 9 };

struct life {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
};

/* The states that a run of the history should have. */
struct history {
    char *after[TURNS + 1]; /* text of the state after each turn */
    int reported;           /* number of turns reported as durable */
    int64_t newest;         /* newest revision that was assigned */
    enum store_sync sync;
};

static bool begin_life(struct life *life, const char *directory, enum store_sync sync)
{
    const struct store_options options = {.directory = directory, .sync = sync};

    *life = (struct life){.clock = clock_virtual_new(0, 1)};
    life->loop = loop_new(life->clock);
    life->store = store_open(life->loop, &options, NULL);
    return life->store != NULL;
}

static void end_life(struct life *life)
{
    store_close(take(life->store));
    loop_settle(life->loop);
    loop_free(life->loop);
    clock_free(life->clock);
}

static void write_one(void *arg, const struct object *object)
{
    struct buf *out = arg;

    buf_printf(out, "%s@%lld %s %s\n", object_name(object), (long long)object->revision,
               object->body ? object->body->text : "", object->status ? object->status->text : "");
}

/* Returns all objects as text, ordered by name. */
static char *state_of(const struct store *store)
{
    struct buf out = {0};

    for (int i = 0; i < NAMES; i++) {
        char name[8];
        const struct object *object;

        snprintf(name, sizeof name, "n%d", i);
        object = store_get(store, &kind_job, "default", name);
        if (object)
            write_one(&out, object);
    }
    buf_char(&out, '\n');
    return buf_take(&out);
}

/* Returns a status. A long one is not stored in the object's row (api/store/db/long_status). */
static char *status_text(int turn, int write, bool is_long)
{
    enum { ENTRIES = 1200 };
    scoped(buf) struct buf text = {0};

    buf_printf(&text, "{\"turn\":%d,\"entries\":[", turn);
    for (int i = 0; is_long && i < ENTRIES; i++)
        buf_printf(&text, "\"this is %d\",", i);
    buf_printf(&text, "0],\"write\":%d}", write);
    return buf_take(&text);
}

/* Takes one turn of the history: creates, changes and removes some objects. */
static void take_turn(struct life *life, int turn)
{
    struct dice dice = {(uint64_t)turn};

    for (int n = 1 + dice_roll(&dice, 3); n > 0; n--) {
        scoped_str status = NULL;
        char name[8];
        const struct object *object;
        int which = dice_roll(&dice, NAMES);

        snprintf(name, sizeof name, "n%d", which);
        status = status_text(turn, n, which == 0);
        object = store_get(life->store, &kind_job, "default", name);
        if (!object)
            store_put(life->store, sample_object(.name = name, .body = n % 2 ? status : "{}"));
        else if (dice_chance(&dice, 25))
            store_delete(life->store, object);
        else
            store_put(life->store, sample_with_status(object, status));
    }
}

struct flag {
    struct task task;
    bool up;
};

static void raise_flag(struct task *task)
{
    container_of(task, struct flag, task)->up = true;
}

static void ignore(void *ctx, const struct error *err)
{
}

static void live_on(struct life *life, struct history *history, int from, int to)
{
    store_on_failure(life->store, ignore, NULL);
    for (int turn = from; turn < to && !power_is_off(); turn++) {
        struct flag flag = {.task.run = raise_flag};

        take_turn(life, turn);
        if (!history->after[turn + 1])
            history->after[turn + 1] = state_of(life->store);
        history->newest = store_revision(life->store);
        store_when_durable(life->store, &flag.task);
        loop_settle(life->loop);
        store_forget(life->store, &flag.task);
        if (flag.up)
            history->reported = turn + 1;
    }
}

/* Runs the history with a close and an open in the middle. */
static void run_history(struct history *history, const char *directory)
{
    static const int ends[] = {0, CLOSED_AT, TURNS};

    history->reported = 0;
    history->newest = 0;
    for (int i = 0; i < 2 && !power_is_off(); i++) {
        struct life life;

        if (begin_life(&life, directory, history->sync))
            live_on(&life, history, ends[i], ends[i + 1]);
        end_life(&life);
    }
}

static void release(struct history *history)
{
    for (int i = 0; i <= TURNS; i++)
        mem_free(history->after[i]);
}

/* Returns the turn whose state the store has after the power cut, or -1. */
static int turns_kept(const struct history *history, const struct life *life)
{
    scoped_str state = state_of(life->store);

    for (int turn = TURNS; turn >= 0; turn--)
        if (history->after[turn] && strcmp(history->after[turn], state) == 0)
            return turn;
    return -1;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Checks that the store opens, has the state of a turn, and assigns new revisions. Returns the
 * turn. */
static int look(const struct history *history, const char *directory, const char *name)
{
    struct life life;
    int kept;

    check(name, begin_life(&life, directory, history->sync));
    kept = turns_kept(history, &life);
    if (kept < 0)
        check_fail("%s: no turn left this behind, %d were reported", name, history->reported);
    store_put(life.store, sample_object(.name = "later"));
    if (history->sync == STORE_SYNC_FULL && store_revision(life.store) <= history->newest)
        check_fail("%s: revision %lld is given again", name, (long long)store_revision(life.store));
    end_life(&life);
    return kept;
}

/* Checks the store after a second power cut, at the first operations of the next start. */
static void look_again(const struct history *history, const char *directory, const char *name,
                       uint64_t seed)
{
    for (int point = 1; point < POINTS_MAX; point++) {
        struct life life;
        bool was_off;

        power_on(seed);
        power_cut_after(point);
        begin_life(&life, directory, history->sync);
        end_life(&life);
        was_off = power_is_off();
        if (!was_off)
            return;
        power_keep();
        power_on(seed + (uint64_t)point);
        if (look(history, directory, name) < history->reported)
            check_fail("%s, and again at %d: what was reported is lost", name, point);
        power_return();
    }
}

struct sums {
    int states, lost, points;
};

static void cut_at(struct history *history, const char *directory, int point, struct sums *sums)
{
    uint64_t disks = number_from("JOBFLOW_SEEDS", DISKS);

    power_keep();
    for (uint64_t disk = 1; disk <= disks; disk++) {
        scoped_str name = mem_printf("power cut at %d, disk %llu", point, (unsigned long long)disk);

        power_on(disk * 7919 + (uint64_t)point);
        sums->lost += look(history, directory, name) < history->reported;
        sums->states++;
    }
    if (history->sync == STORE_SYNC_FULL && point % AGAIN_EVERY == 0)
        look_again(history, directory, "power cut", (uint64_t)point);
}

static struct sums cut_everywhere(const char *name, enum store_sync sync)
{
    scoped_str directory = test_path(name);
    struct history history = {.sync = sync};
    struct sums sums = {0};
    bool went = true;

    history.after[0] = mem_strdup("\n");
    /* Point 0 is a run without a power cut: everything is written. */
    for (int point = 0; went; point++) {
        power_release();
        power_cut_after(point);
        run_history(&history, directory);
        went = point == 0 || power_is_off();
        if (power_is_off()) {
            cut_at(&history, directory, point, &sums);
            sums.points++;
        }
    }
    power_release();
    release(&history);
    return sums;
}

/* covers: reliability.md FT-01 FT-35 SIM-02 SIM-06 D-02 D-03 P-01 P-02 P-03 INV-S1 INV-S2 INV-S3
 * INV-S7 */
static void what_was_reported_survives_every_power_cut(void **state)
{
    struct sums sums = cut_everywhere("full", STORE_SYNC_FULL);

    check_int("lost", sums.lost, 0);
    check("there were many points", sums.points > 50);
}

/* Proves that the test detects losses: a weaker sync must lose writes, and must do no other damage.
 */
static void weaker_sync_loses_and_says_so(void **state)
{
    struct sums sums = cut_everywhere("normal", STORE_SYNC_NORMAL);

    check("some were lost", sums.lost > 0);
}

static int set_up(void **state)
{
    int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);

    /* The damage is intended, so messages about it are not shown. */
    log_to(quiet, LOG_ERROR, LOG_TEXT);
    power_install();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_reported_survives_every_power_cut),
        cmocka_unit_test(weaker_sync_loses_and_says_so),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
