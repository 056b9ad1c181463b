/*
 * Simulations of the whole program (tests/support/sim), as many as JOBFLOW_SEEDS says
 * (tests/support/seeds). JOBFLOW_SEED repeats one and prints each event; with JOBFLOW_SHRINK=1 it
 * first leaves out every event that the violation does not need.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "tests/support/seeds.h"
#include "tests/support/sim.h"

/* wraps: clock_virtual_new clock_free runtime_sim_new machine_read kubelet_start */
/* wraps: store_open store_put store_delete store_commit_stop */
/* wraps: store_dir_open store_dir_take_reserve store_dir_give_reserve */
/* wraps: store_dir_move_reserve store_dir_has_room */
/* wraps: committer_start committer_send committer_wait committer_stop */

enum { SEEDS = 300 };

static struct sim_counts counts;

static bool walk(uint64_t seed, bool trace, char violation[SEEDS_TEXT])
{
    struct sim_options options = {.trace = trace, .counts = &counts};

    if (trace && getenv("JOBFLOW_SHRINK"))
        options.skipped = sim_shrink(seed);
    return sim_run(seed, &options, violation);
}

/* covers: reliability.md SIM-01 SIM-02 SIM-04; see INV-S1 to INV-S9, INV-F1, INV-F4, INV-F11,
 * INV-J1 to INV-J4, INV-J8 to INV-J10, INV-N1, INV-N2, INV-N5, LIV-1, LIV-2, P-01, P-12, SIM-05,
 * SIM-07, FT-35 */
static void no_simulation_violates_anything(void **unused)
{
    static const uint64_t finders[] = {10164, 20094};
    const struct seeds seeds = {
        .count = SEEDS, .finders = finders, .n_finders = countof(finders), .walk = walk};

    seeds_run(&seeds);
    printf("%llu lives, %llu kills, %llu power cuts, %llu full disks, %llu starts cut short, %llu "
           "changes, %llu pods, %llu answers, %llu flows ended, %llu of them modelled, %llu jobs "
           "ended\n",
           (unsigned long long)counts.lives, (unsigned long long)counts.kills,
           (unsigned long long)counts.cuts, (unsigned long long)counts.full_disks,
           (unsigned long long)counts.refused_starts, (unsigned long long)counts.changes,
           (unsigned long long)counts.pods, (unsigned long long)counts.answers,
           (unsigned long long)counts.flows_ended, (unsigned long long)counts.flows_modelled,
           (unsigned long long)counts.jobs_ended);
}

/* covers: see INV-R2 */
static void a_simulation_is_the_same_each_time(void **unused)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t hashes[2] = {0};
        char violation[SIM_TEXT];

        for (int i = 0; i < 2; i++)
            sim_run(seed, &(const struct sim_options){.hash = &hashes[i]}, violation);
        check("something was done", hashes[0] != 0);
        check("the same again", hashes[0] == hashes[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_simulation_violates_anything),
        cmocka_unit_test(a_simulation_is_the_same_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
