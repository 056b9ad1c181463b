#pragma once
/*
 * Simulates the whole program: the engine with its store, registry, controllers, scheduler and
 * kubelet, a machine whose pods outlive the process, and clients. A seed decides what the clients
 * do, how pods end and which faults happen: the process is killed at any write to the disk or at
 * the end of any turn, the power fails, the disk is full, commits are slow, the wall clock jumps,
 * pods vanish. Ref: reliability.md section 7.
 *
 *   tests/support/sim.c          the scenario: events, faults, the calm at the end
 *   tests/support/sim_store.c    the disk, commits, and the history that is durable
 *   tests/support/sim_machine.c  pods, as a runtime
 *   tests/support/sim_client.c   what clients do
 *   tests/support/sim_check.c    what must hold of every durable change, and at the end
 *   tests/support/sim_model.c    how a flow must end, computed without the program
 *
 * A test that links it wraps the functions that tests/sim/test_walk.c names.
 */
#include <stdbool.h>
#include <stdint.h>

enum { SIM_TEXT = 1024, SIM_EVENTS_MAX = 64 };

/* What runs of the simulation have met. */
struct sim_counts {
    uint64_t lives, kills, cuts, full_disks, refused_starts;
    uint64_t changes, pods, answers, flows_ended, jobs_ended, flows_modelled;
};

struct sim_options {
    bool trace;                /* print each event, start and end */
    uint64_t skipped;          /* bits: events that are left out */
    uint64_t *hash;            /* receives a hash of all durable changes; or NULL */
    struct sim_counts *counts; /* is added to; or NULL */
};

/** Runs one seed. Returns true when nothing was violated; otherwise `violation` says what. */
bool sim_run(uint64_t seed, const struct sim_options *options, char violation[SIM_TEXT]);

/** Returns the events without which the seed's violation stays, as bits: tries to leave out one
 * after the other. 0 for a seed without violation. */
uint64_t sim_shrink(uint64_t seed);
