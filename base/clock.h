#pragma once
/*
 * Time, identity and chance: the only source of all three (nothing else calls time(), rand() or
 * uuid code).
 *
 * The real clock reads the kernel. The virtual clock moves only when told (tests and `--runtime
 * sim`) and draws its random numbers from a seed, so that a run repeats exactly.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock;

struct clock *clock_real(void); /* shared, never freed */
/** Who looks at what a simulation has left sees it from its end on: the wall of the real clock
 * shows `ms` more in this process. */
void clock_real_lead_ms(int64_t ms);
struct clock *clock_virtual_new(int64_t start_at_ms, uint64_t seed); /* owned */
void clock_free(struct clock *clock); /* NULL and the real one are fine */

bool clock_is_virtual(const struct clock *clock);
int64_t clock_wall_ms(const struct clock *clock); /* since the epoch; for stored times */
int64_t clock_wall_ns(const struct clock *clock);
int64_t clock_mono_ns(const struct clock *clock); /* for durations and timers */
uint64_t clock_random(struct clock *clock);

enum { CLOCK_UUID_LEN = 36 };
/* random (version 4), lower case */
void clock_uuid(struct clock *clock, char out[CLOCK_UUID_LEN + 1]);

void clock_jump_ms(struct clock *clock, int64_t ms);    /* virtual only: the wall is set anew */
void clock_advance_ms(struct clock *clock, int64_t ms); /* virtual only; moves both times */
void clock_advance_ns(struct clock *clock, int64_t ns);
