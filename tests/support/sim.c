/*
 * The scenario of a simulation: up to SIM_EVENTS_MAX events, each with its own dice, so that events
 * can be left out one by one; then a calm in which everything must come to an end.
 *
 *   life    engine_start ─► events, time passes ─► killed, cut off, or stopped ─┐
 *              ▲────────────── the pods run on; time passes ────────────────────┘
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/store/dir/store_dir.h"
#include "base/log.h"
#include "node/kubelet/kubelet.h"
#include "tests/support/power.h"
#include "tests/support/sim_impl.h"

#define WRAPPED(result, name, ...)                                                                 \
    result __real_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__)

enum {
    EVENTS_LEAST = 12,
    CALM_MS = 30 * 60 * 1000,
    QUIET_MS = 10 * 60 * 1000,
    PODS_LEAST = 12, /* no gang of tests/support/job_gen is larger */
    STARTS_MAX = 20,
    TURNS_MAX = 100, /* at one moment; a turn has 10,000 tasks at most */
    SAME = 8         /* violations that begin alike, by the rule that they name, are of one kind */
};

struct sim *sim_now;

bool sim_is_over(const struct sim *sim)
{
    return *sim->violation;
}

static double seconds(const struct sim *sim)
{
    return (double)clock_mono_ns(sim->clock) / 1e9;
}

void sim_tell(struct sim *sim, const char *format, ...)
{
    va_list args;

    if (!sim->options->trace)
        return;
    fprintf(stderr, "%10.3f  ", seconds(sim));
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void sim_violated(struct sim *sim, const char *format, ...)
{
    va_list args;

    if (sim_is_over(sim))
        return;
    va_start(args, format);
    vsnprintf(sim->violation, SIM_TEXT, format, args);
    va_end(args);
    sim_tell(sim, "VIOLATED: %s", sim->violation);
}

/* One clock for all lives. */

struct clock *__real_clock_virtual_new(int64_t start_at_ms, uint64_t seed);

WRAPPED(struct clock *, clock_virtual_new, int64_t start_at_ms, uint64_t seed)
{
    return sim_now ? sim_now->clock : __real_clock_virtual_new(start_at_ms, seed);
}

WRAPPED(void, clock_free, struct clock *clock)
{
    if (!sim_now || clock != sim_now->clock)
        __real_clock_free(clock);
}

/* The kubelet of a simulation runs ahead of the disk, which it must not do here. */
WRAPPED(struct kubelet *, kubelet_start, struct cluster *cluster, struct runtime *runtime,
        const struct kubelet_options *options)
{
    struct kubelet_options real = *options;

    real.volumes.sim = false;
    return __real_kubelet_start(cluster, runtime, &real);
}

/* The lock and the reserve are files of the real disk. */
WRAPPED(bool, store_dir_open, struct store_dir *dir, const char *directory, struct error *err)
{
    store_dir_look(dir, directory);
    dir->reserved = true;
    return true;
}

WRAPPED(bool, store_dir_take_reserve, struct store_dir *dir)
{
    dir->reserved = true;
    return true;
}

WRAPPED(void, store_dir_move_reserve, struct store_dir *dir)
{
    dir->reserved = false;
}

WRAPPED(bool, store_dir_has_room, const struct store_dir *dir)
{
    return true;
}

WRAPPED(void, store_dir_give_reserve, struct store_dir *dir)
{
    dir->reserved = false;
}

/* The end of a life. */

void sim_kill(struct sim *sim)
{
    if (sim->dead)
        return;
    sim->dead = true;
    if (!power_is_off())
        power_cut_after(1);
    sim_tell(sim, sim->power ? "the power fails" : "the process is killed");
}

/* LIV-3: a loop that never rests cannot be left in order. */
static void check_rest(struct sim *sim)
{
    int64_t now_ns = clock_mono_ns(sim->clock);

    sim->turns_now = now_ns == sim->turn_ns ? sim->turns_now + 1 : 0;
    sim->turn_ns = now_ns;
    if (sim->turns_now < TURNS_MAX)
        return;
    sim_violated(sim, "LIV-3: the program never rests at %.3f s", seconds(sim));
    fprintf(stderr, "seed %llu: %s\n", (unsigned long long)sim->seed, sim->violation);
    abort();
}

static void end_of_turn(struct turn_hook *hook)
{
    struct sim *sim = container_of(hook, struct sim, turn_end);

    check_rest(sim);

    if (sim->turns_left && --sim->turns_left == 0)
        sim_kill(sim);
}

/* What the disk holds after the process has gone. */
static void recover_disk(struct sim *sim)
{
    if (sim->power) {
        power_keep();
        power_on(dice_next(&sim->dice));
        power_return();
        sim_machine_cut(sim);
        sim->counts.cuts++;
    } else {
        power_resume();
        sim->counts.kills++;
    }
    sim->power = false;
}

static void stop_life(struct sim *sim)
{
    bool killed;

    sim_store_unwatch(sim, false);
    sim_client_left(sim);
    loop_off_turn_end(sim->loop, &sim->turn_end);
    if (!sim->dead)
        sim_tell(sim, "the process ends");
    engine_stop(take(sim->engine));
    killed = sim->dead;
    sim->loop = NULL;
    sim->turns_left = 0;
    sim->dead = false;
    power_fill_after(0);
    if (killed)
        recover_disk(sim);
    power_resume();
}

/* The files of SQLite are in memory. The engine wants a directory that exists, and creates an empty
 * file in it. */
static const char *directory(void)
{
    const char *dir = getenv("TMPDIR");

    return dir ? dir : ".";
}

static bool try_start(struct sim *sim)
{
    const struct engine_options options = {.data_dir = directory(),
                                           .sim = true,
                                           .controllers = true,
                                           .allow_flow_updates = true,
                                           .no_deletion_protection = true,
                                           .max_pods = sim->pods_max};
    struct error err = {0};

    sim->opened = false;
    if (sim->cut_at_start)
        power_cut_after(sim->cut_at_start);
    sim->cut_at_start = 0;
    sim->engine = engine_start(&options, &err);
    if (sim->engine) {
        sim->turn_end.end = end_of_turn;
        loop_on_turn_end(sim->loop, &sim->turn_end);
        sim->counts.lives++;
        sim_tell(sim, "the process starts");
        sim_store_watch(sim);
        return true;
    }
    sim->counts.refused_starts++;
    if (!power_is_off())
        sim_violated(sim, "the store is refused: %s", err.message);
    sim->dead = false;
    recover_disk(sim);
    return false;
}

static void live(struct sim *sim)
{
    for (int i = 0; !sim->engine && !sim_is_over(sim); i++) {
        if (i == STARTS_MAX)
            sim_violated(sim, "the process does not start");
        else
            try_start(sim);
    }
}

/* Events. */

static void pass(struct sim *sim, int64_t ms)
{
    if (sim->loop)
        loop_advance(sim->loop, ms);
    else
        clock_advance_ms(sim->clock, ms);
    if (sim->loop && sim->dead)
        stop_life(sim);
}

static bool roll_power(struct sim *sim)
{
    return dice_chance(&sim->dice, 15) && !sim->keeps_pods;
}

static void kill_soon(struct sim *sim)
{
    sim->power = roll_power(sim);
    if (dice_chance(&sim->dice, 60))
        power_cut_after(1 + dice_roll(&sim->dice, 60));
    else
        sim->turns_left = 1 + dice_roll(&sim->dice, 30);
}

static void kill_now(struct sim *sim)
{
    sim->power = roll_power(sim);
    sim_kill(sim);
    stop_life(sim);
    pass(sim, dice_chance(&sim->dice, 50) ? 0 : dice_roll(&sim->dice, 40000));
    if (dice_chance(&sim->dice, 20))
        sim->cut_at_start = 1 + dice_roll(&sim->dice, 60);
}

static void stop_in_order(struct sim *sim)
{
    stop_life(sim);
    pass(sim, dice_roll(&sim->dice, 20000));
}

static void disk_is_full(struct sim *sim)
{
    sim_tell(sim, "the disk is full");
    sim->counts.full_disks++;
    power_fill_after(1 + dice_roll(&sim->dice, 20));
    pass(sim, dice_roll(&sim->dice, 10000));
    power_fill_after(0);
}

static void clock_jumps(struct sim *sim)
{
    static const int most_s[] = {2, 60, 3600, 86400};
    int most = most_s[dice_roll(&sim->dice, 4)];
    int64_t ms = (dice_roll(&sim->dice, 2 * most) - most) * INT64_C(1000);

    sim_tell(sim, "the wall clock is set by %lld ms", (long long)ms);
    sim->jumped = true;
    clock_jump_ms(sim->clock, ms);
}

static void commits_are_slow(struct sim *sim)
{
    static const int most_ms[] = {0, 3, 100, 2000};

    sim->slow_ms = most_ms[dice_roll(&sim->dice, 4)];
}

static void pod_is_lost(struct sim *sim)
{
    if (!sim->keeps_pods)
        sim_machine_lose(sim);
}

static void time_passes(struct sim *sim)
{
    pass(sim, 1 + dice_roll(&sim->dice, dice_chance(&sim->dice, 20) ? 60000 : 3000));
}

static const struct {
    int weight;
    void (*happens)(struct sim *sim);
} happenings[] = {
    {36, sim_client_event}, {30, time_passes},     {10, kill_soon},
    {8, kill_now},          {4, stop_in_order},    {4, disk_is_full},
    {2, clock_jumps},       {3, commits_are_slow}, {2, pod_is_lost},
};

static void run_event(struct sim *sim)
{
    int total = 0, at;

    for (size_t i = 0; i < countof(happenings); i++)
        total += happenings[i].weight;
    at = dice_roll(&sim->dice, total);
    for (size_t i = 0; i < countof(happenings); i++) {
        at -= happenings[i].weight;
        if (at < 0) {
            happenings[i].happens(sim);
            break;
        }
    }
    pass(sim, dice_roll(&sim->dice, 200));
}

static void run_events(struct sim *sim)
{
    struct dice dice = {sim->seed};
    int count = EVENTS_LEAST + dice_roll(&dice, SIM_EVENTS_MAX - EVENTS_LEAST);

    for (int i = 0; i < count && !sim_is_over(sim); i++) {
        sim->dice.state = dice_next(&dice);
        if (sim->options->skipped >> i & 1)
            continue;
        live(sim);
        if (!sim_is_over(sim)) {
            sim_tell(sim, "event %d", i);
            run_event(sim);
        }
    }
}

/* Faults end; what is stored must come to its end, and then nothing happens any more (LIV-1,
 * INV-F11). */
static void calm_down(struct sim *sim)
{
    uint64_t changes;

    power_cut_after(0);
    sim->turns_left = sim->cut_at_start = sim->slow_ms = 0;
    sim->power = false;
    live(sim);
    for (int i = 0; i < 3 && !sim_is_over(sim); i++) {
        sim_tell(sim, "calm");
        sim_client_calm(sim);
        pass(sim, CALM_MS);
        live(sim);
    }
    if (!sim_is_over(sim))
        sim_check_calm(sim);
    changes = sim->counts.changes;
    pass(sim, QUIET_MS);
    if (sim->counts.changes != changes && !sim_is_over(sim))
        sim_violated(sim, "INV-F11: %llu changes although everything had ended",
                     (unsigned long long)(sim->counts.changes - changes));
    if (!sim_is_over(sim))
        sim_store_unwatch(sim, true);
}

static void begin(struct sim *sim)
{
    static bool installed;

    if (!installed) {
        power_install();
        log_to(open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_ERROR, LOG_TEXT);
        installed = true;
    }
    sim->dice.state = ~sim->seed;
    sim->clock = __real_clock_virtual_new(SIM_START_MS, sim->seed);
    sim->began_ns = clock_mono_ns(sim->clock);
    sim->boots = 1;
    sim->keeps_pods = dice_chance(&sim->dice, 50);
    sim->gentle = dice_chance(&sim->dice, 40);
    sim->pods_max = PODS_LEAST + dice_roll(&sim->dice, 8);
    sim_now = sim;
    live(sim);
    if (!sim_is_over(sim)) {
        sim_client_begin(sim);
        pass(sim, 1);
    }
}

static void add_counts(struct sim_counts *to, const struct sim_counts *from)
{
    uint64_t *sums = (uint64_t *)to;
    const uint64_t *more = (const uint64_t *)from;

    for (size_t i = 0; i < sizeof *to / sizeof *sums; i++)
        sums[i] += more[i];
}

bool sim_run(uint64_t seed, const struct sim_options *options, char violation[SIM_TEXT])
{
    static const struct sim_options none;
    struct sim *sim = mem_alloc(sizeof *sim);

    *sim = (struct sim){.seed = seed, .options = options ? options : &none};
    sim->violation = violation;
    *violation = '\0';
    begin(sim);
    run_events(sim);
    calm_down(sim);
    if (sim->engine)
        stop_life(sim);
    sim_now = NULL;
    clock_free(sim->clock);
    sim_store_end(sim);
    sim_machine_end(sim);
    power_release();
    if (sim->options->hash)
        *sim->options->hash = sim->hash;
    if (sim->options->counts)
        add_counts(sim->options->counts, &sim->counts);
    mem_free(sim);
    return !*violation;
}

uint64_t sim_shrink(uint64_t seed)
{
    struct sim_options options = {0};
    char first[SIM_TEXT], violation[SIM_TEXT];

    if (sim_run(seed, &options, first))
        return 0;
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < SIM_EVENTS_MAX; i++) {
            const uint64_t before = options.skipped;

            options.skipped |= UINT64_C(1) << i;
            if (options.skipped == before)
                continue;
            if (sim_run(seed, &options, violation) || strncmp(first, violation, SAME) != 0)
                options.skipped = before;
            else
                any = true;
        }
    }
    return options.skipped;
}
