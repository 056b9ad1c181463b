#pragma once
/*
 * Time, unique ids and random numbers. This is the only source of all three: no other file calls
 * time(), rand() or a uuid library.
 *
 * The real clock reads the kernel. The virtual clock moves only when it is told to. Tests and
 * `--runtime sim` use it. It draws its random numbers from a seed, so that a run repeats exactly.
 */
#include <stdbool.h>
#include <stdint.h>

struct clock;

struct clock *clock_real(void); /* returns the shared real clock, which is never freed */
/** Sets the wall time of the real clock `ms` ahead in this process. A command that reads what a
 * simulation left behind uses it to see the objects as of the end of the simulation. */
void clock_real_lead_ms(int64_t ms);
/** Returns a virtual clock, owned by the caller. */
struct clock *clock_virtual_new(int64_t start_at_ms, uint64_t seed);
void clock_free(struct clock *clock); /* NULL and the real clock are ignored */

bool clock_is_virtual(const struct clock *clock);
int64_t clock_wall_ms(const struct clock *clock); /* time since the epoch; for stored times */
int64_t clock_wall_ns(const struct clock *clock);
/** Returns monotonic time, for durations and timers. */
int64_t clock_mono_ns(const struct clock *clock);
uint64_t clock_random(struct clock *clock);

enum { CLOCK_UUID_LEN = 36 };
/* Writes a random uuid (version 4) in lower case. */
void clock_uuid(struct clock *clock, char out[CLOCK_UUID_LEN + 1]);

void clock_jump_ms(struct clock *clock, int64_t ms);    /* virtual only: sets the wall time, as
                                                         * an administrator does; durations and
                                                         * timers are not affected */
void clock_advance_ms(struct clock *clock, int64_t ms); /* virtual only: moves wall and monotonic
                                                         * time. Code under a loop uses
                                                         * loop_advance, which fires the timers
                                                         * on the way. */
void clock_advance_ns(struct clock *clock, int64_t ns);
