/*
 * Random walks over jobs of different sizes on one node, from PodGroup to started pod. The rules of
 * spec/job.md 15.5 are written down here a second time:
 *
 *   O-80   what fits is not kept waiting by what does not
 *   O-81   what waits starts in the end, although smaller jobs never cease to come
 *   INV-J5 gangs start as a whole; the node is never overcommitted
 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/scheduling/podgroup.h"
#include "node/scheduler/internal.h"
#include "tests/support/dice.h"
#include "tests/support/kubelet_fixture.h"
#include "tests/support/planted.h"
#include "tests/support/seeds.h"

/* wraps: fit_queue_find group_refused_by */

/* Bugs planted from outside: the linker redirects the calls of the functions above to wrappers. */
enum bug { BUG_NONE, BUG_STRICT_ORDER, BUG_NO_RESERVATION, BUG_N };
static const char *const texts[BUG_N] = {"none", "a pod without room blocks those behind it",
                                         "no room is ever reserved for what waits"};
static enum bug planted;

struct fit_item *__real_fit_queue_find(const struct fit_queue *queue, const struct fit_item *after,
                                       struct amount room);
struct fit_item *__wrap_fit_queue_find(const struct fit_queue *queue, const struct fit_item *after,
                                       struct amount room);
struct fit_item *__wrap_fit_queue_find(const struct fit_queue *queue, const struct fit_item *after,
                                       struct amount room)
{
    return planted == BUG_STRICT_ORDER ? NULL : __real_fit_queue_find(queue, after, room);
}

void __real_group_refused_by(struct group *group, struct queue *limiter);
void __wrap_group_refused_by(struct group *group, struct queue *limiter);
void __wrap_group_refused_by(struct group *group, struct queue *limiter)
{
    if (planted != BUG_NO_RESERVATION)
        __real_group_refused_by(group, limiter);
}

enum {
    SEEDS = 60,
    STEPS = 60,
    JOBS_MAX = 300,
    FIRST_JOBS = 24, /* number of jobs made in the first part of a walk */
    CPU = 2000,
    SLOTS = 4,
    LIMIT = 1200, /* limit of the CPU of queue "limited", in thousandths */
    PASSING_MS = 10000,
    ROUNDS_MAX = 240,
};

struct job {
    char name[16];
    bool limited; /* the job is in queue "limited" */
    int min, pods, milli;
    bool made;
    int started, ended;
    int64_t since_ms; /* time at which the job was created */
};

struct walk {
    struct node_fixture *fixture;
    struct dice dice;
    struct job jobs[JOBS_MAX];
    int n_jobs, step;
    int64_t now_ms;
    bool trace;
    char *violation;
};

static void violated(struct walk *walk, const char *format, ...) PRINTF_LIKE(2, 3);
static void violated(struct walk *walk, const char *format, ...)
{
    va_list args;

    if (*walk->violation)
        return;
    va_start(args, format);
    vsnprintf(walk->violation, SEEDS_TEXT, format, args);
    va_end(args);
}

static void pod_name(char out[32], const struct job *job, int i)
{
    snprintf(out, 32, "%s-%d", job->name, i);
}

static void make_world(struct walk *walk)
{
    struct kubelet_options options = kubelet_fixture_options(SLOTS);

    options.capacity.cpu_milli = CPU;
    options.capacity.memory_bytes = 1LL << 40;
    options.volumes.sim = false;
    walk->fixture = node_fixture_new();
    node_fixture_start_kubelet(walk->fixture, &options);
    node_fixture_start_scheduler(walk->fixture, options.capacity);
    node_fixture_create(walk->fixture,
                        "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue','metadata':"
                        "{'name':'limited'},'spec':{'capability':{'cpu':'%dm'}}}",
                        LIMIT);
    node_fixture_settle(walk->fixture);
}

static bool is_admitted(struct walk *walk, const struct job *job)
{
    const char *phase = node_fixture_group_phase(walk->fixture, job->name);

    return *phase && strcmp(phase, "Pending") != 0;
}

/* Acts as the job controller: creates the pods of a job. */
static void make_pods(struct walk *walk, struct job *job)
{
    char spec[160];

    snprintf(spec, sizeof spec,
             ",'containers':[{'name':'c','image':'i','command':['true'],'resources':{'requests':{"
             "'cpu':'%dm'}}}]",
             job->milli);
    node_fixture_pods(walk->fixture, job->name, 0, job->pods, spec);
    job->made = true;
}

static void count_started(struct walk *walk, struct job *job)
{
    job->started = 0;
    for (int i = 0; i < job->pods; i++) {
        char name[32];

        pod_name(name, job, i);
        job->started += node_fixture_started(walk->fixture, name) != NULL;
    }
}

static void settle(struct walk *walk)
{
    bool made = true;

    while (made) {
        made = false;
        node_fixture_settle(walk->fixture);
        for (int i = 0; i < walk->n_jobs; i++)
            if (!walk->jobs[i].made && is_admitted(walk, &walk->jobs[i])) {
                make_pods(walk, &walk->jobs[i]);
                made = true;
            }
    }
    for (int i = 0; i < walk->n_jobs; i++)
        if (walk->jobs[i].made && walk->jobs[i].started < walk->jobs[i].pods)
            count_started(walk, &walk->jobs[i]);
}

static void add_job(struct walk *walk, int pods_max, int milli_max)
{
    struct job *job = &walk->jobs[walk->n_jobs];
    char spec[160];

    *job = (struct job){.min = dice_roll(&walk->dice, pods_max) + 1,
                        .milli = dice_roll(&walk->dice, milli_max / 100 + 1) * 100,
                        .limited = dice_chance(&walk->dice, 30),
                        .since_ms = walk->now_ms};
    if (job->min * job->milli > (job->limited ? LIMIT : CPU))
        return; /* the job could never run */
    job->pods = job->min + (dice_chance(&walk->dice, 30) ? dice_roll(&walk->dice, pods_max) : 0);
    snprintf(job->name, sizeof job->name, "j%d", walk->n_jobs++);
    snprintf(spec, sizeof spec, ",'queue':'%s','minResources':{'cpu':'%dm'}%s",
             job->limited ? "limited" : "default", job->min * job->milli, "");
    if (walk->trace)
        print_message("%s: %d of %d pods, %dm each, queue %s\n", job->name, job->min, job->pods,
                      job->milli, job->limited ? "limited" : "default");
    node_fixture_group(walk->fixture, job->name, job->min, spec);
}

/* Ends the pod that has run for the longest time, or any. */
static void end_pod(struct walk *walk, bool oldest)
{
    struct node_fixture *fixture = walk->fixture;
    int nth = fixture->running ? dice_roll(&walk->dice, (int)fixture->running) : 0;
    int number;

    for (size_t i = 0; i < fixture->n_pods; i++) {
        if (!fixture->pods[i].running || (!oldest && nth--))
            continue;
        if (walk->trace)
            print_message("%s ends\n", fixture->pods[i].name);
        number = (int)strtol(fixture->pods[i].name + 1, NULL, 10);
        walk->jobs[number].ended++;
        if (dice_chance(&walk->dice, 50))
            node_fixture_report_running(fixture, fixture->pods[i].name);
        node_fixture_report_ended(fixture, fixture->pods[i].name, 0);
        return;
    }
}

static void advance(struct walk *walk, int64_t ms)
{
    if (walk->trace)
        print_message("%lld ms pass\n", (long long)ms);
    node_fixture_advance(walk->fixture, ms);
    walk->now_ms += ms;
}

static int running_of(const struct job *job)
{
    return job->started - job->ended;
}

struct use {
    int cpu, slots, limited;
};

static struct use use_of(const struct walk *walk)
{
    struct use use = {0};

    for (int i = 0; i < walk->n_jobs; i++) {
        const struct job *job = &walk->jobs[i];

        use.cpu += running_of(job) * job->milli;
        use.slots += running_of(job);
        use.limited += job->limited ? running_of(job) * job->milli : 0;
    }
    return use;
}

static bool fits(const struct job *job, int pods, struct use use)
{
    int milli = pods * job->milli;

    return use.slots + pods <= SLOTS && (!milli || use.cpu + milli <= CPU) &&
           (!milli || !job->limited || use.limited + milli <= LIMIT);
}

/* Returns whether room may be kept for a job, because it has waited for so long. */
static bool room_may_be_kept(const struct walk *walk)
{
    for (int i = 0; i < walk->n_jobs; i++)
        if (walk->jobs[i].started < walk->jobs[i].pods &&
            walk->now_ms - walk->jobs[i].since_ms >= PASSING_MS)
            return true;
    return false;
}

static void check_job(struct walk *walk, const struct job *job, struct use use)
{
    int next = job->started < job->min ? job->min - job->started : 1;

    if (job->started && job->started < job->min)
        violated(walk, "step %d: %s has started %d pods of a gang of %d", walk->step, job->name,
                 job->started, job->min);
    if (job->started < job->pods && fits(job, next, use) && !room_may_be_kept(walk))
        violated(walk,
                 "step %d: %s waits with %d of %d pods of %dm, although %dm and %d slots are used",
                 walk->step, job->name, job->pods - job->started, job->pods, job->milli, use.cpu,
                 use.slots);
}

static void check_all(struct walk *walk)
{
    struct use use = use_of(walk);

    if (use.cpu > CPU || use.slots > SLOTS || use.limited > LIMIT)
        violated(walk, "step %d: overcommitted: %dm, %d slots, %dm of the limited queue",
                 walk->step, use.cpu, use.slots, use.limited);
    for (int i = 0; i < walk->n_jobs; i++)
        check_job(walk, &walk->jobs[i], use);
}

static void step(struct walk *walk)
{
    switch (dice_roll(&walk->dice, 5)) {
    case 0:
    case 1:
        if (walk->n_jobs < FIRST_JOBS)
            add_job(walk, 3, CPU);
        break;
    case 2:
    case 3:
        end_pod(walk, false);
        break;
    default:
        advance(walk, dice_chance(&walk->dice, 90) ? 200 : 12000);
    }
    settle(walk);
    check_all(walk);
}

/* Returns the first of `n` jobs whose gang, or (`all`) any pod of which, has not started. */
static const struct job *first_waiting(const struct walk *walk, int n, bool all)
{
    for (int i = 0; i < n; i++)
        if (walk->jobs[i].started < (all ? walk->jobs[i].pods : walk->jobs[i].min))
            return &walk->jobs[i];
    return NULL;
}

static void round_of(struct walk *walk, bool add)
{
    walk->step++;
    if (add && walk->n_jobs < JOBS_MAX)
        add_job(walk, 1, 600);
    settle(walk);
    end_pod(walk, true);
    settle(walk);
    advance(walk, 2000);
    settle(walk);
    check_all(walk);
}

/* Lets small jobs come, one for each pod that ends. Gangs that waited before must start. */
static void starve(struct walk *walk)
{
    int n = walk->n_jobs;
    const struct job *job;

    for (int round = 0; round < ROUNDS_MAX && first_waiting(walk, n, false); round++)
        round_of(walk, true);
    job = first_waiting(walk, n, false);
    if (job)
        violated(walk, "%s is starved: %s", job->name,
                 node_fixture_status(walk->fixture, &kind_pod_group, job->name));
}

/* Lets everything run to its end. No more jobs come, so pods beyond the gangs have their turn,
 * too. */
static void run_out(struct walk *walk)
{
    const struct job *job;

    for (int round = 0; round < ROUNDS_MAX && first_waiting(walk, walk->n_jobs, true); round++)
        round_of(walk, false);
    job = first_waiting(walk, walk->n_jobs, true);
    if (job)
        violated(walk, "%s never had its turn: %s", job->name,
                 node_fixture_status(walk->fixture, &kind_pod_group, job->name));
}

static bool walk_with(uint64_t seed, bool trace, char violation[SEEDS_TEXT])
{
    struct walk *walk = mem_alloc(sizeof *walk);
    bool fine;

    walk->dice.state = seed * 0x9E3779B97F4A7C15U;
    walk->trace = trace;
    walk->violation = violation;
    *violation = 0;
    make_world(walk);
    for (; walk->step < STEPS && !*violation; walk->step++)
        step(walk);
    if (!*violation)
        starve(walk);
    if (!*violation)
        run_out(walk);
    fine = !*violation;
    node_fixture_free(walk->fixture);
    mem_free(walk);
    return fine;
}

/* covers: reliability.md INV-J5 INV-N8 INV-N9; see O-80, O-81 */
static void what_fits_starts_and_what_waits_is_not_starved(void **state)
{
    seeds_run(&(struct seeds){.count = SEEDS, .walk = walk_with});
}

static bool find(size_t bug)
{
    char violation[SEEDS_TEXT];

    planted = (enum bug)bug;
    for (uint64_t seed = 1; seed <= (bug == BUG_NONE ? SEEDS / 10 : SEEDS); seed++)
        if (!walk_with(seed, false, violation))
            return true;
    return false;
}

/* covers: see reliability.md SIM-08 */
static void every_planted_bug_is_found(void **state)
{
    planted_bugs_are_found(&(struct planted_bugs){texts, BUG_N, find});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_starts_and_what_waits_is_not_starved),
        cmocka_unit_test(every_planted_bug_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
