/*
 * Time, unique ids and random numbers. The times of the virtual clock are atomic, because workers
 * may read them while the loop moves time.
 */
#include "base/clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/mem.h"

enum { NS_PER_MS = 1000000 };

struct clock {
    bool is_virtual;
    _Atomic int64_t wall_ns, mono_ns; /* times of a virtual clock */
    _Atomic int64_t lead_ns;          /* real only: how far its wall time is ahead of the
                                       * kernel's */
    uint64_t random[4];               /* state of a virtual clock's random numbers: xoshiro256** */
};

static struct clock the_real_clock;

struct clock *clock_real(void)
{
    return &the_real_clock;
}

void clock_real_lead_ms(int64_t ms)
{
    atomic_store_explicit(&the_real_clock.lead_ns, ms * NS_PER_MS, memory_order_relaxed);
}

/* Spreads one seed over the generator's state. Ref: Vigna, splitmix64. */
static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

struct clock *clock_virtual_new(int64_t start_at_ms, uint64_t seed)
{
    struct clock *clock = mem_alloc(sizeof *clock);

    clock->is_virtual = true;
    clock->wall_ns = start_at_ms * NS_PER_MS;
    /* The monotonic time does not begin at 0, because zero often means "never". */
    clock->mono_ns = 1000 * (int64_t)NS_PER_MS;
    for (size_t i = 0; i < 4; i++)
        clock->random[i] = splitmix(&seed);
    return clock;
}

void clock_free(struct clock *clock)
{
    if (clock != &the_real_clock)
        mem_free(clock);
}

bool clock_is_virtual(const struct clock *clock)
{
    return clock->is_virtual;
}

static int64_t kernel_ns(clockid_t id)
{
    struct timespec now;

    if (clock_gettime(id, &now))
        mem_fatal("the kernel has no clock");
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

int64_t clock_wall_ns(const struct clock *clock)
{
    if (clock->is_virtual)
        return atomic_load_explicit(&clock->wall_ns, memory_order_relaxed);
    return kernel_ns(CLOCK_REALTIME) + atomic_load_explicit(&clock->lead_ns, memory_order_relaxed);
}

int64_t clock_wall_ms(const struct clock *clock)
{
    int64_t ns = clock_wall_ns(clock);
    int64_t ms = ns / NS_PER_MS;

    return ns % NS_PER_MS < 0 ? ms - 1 : ms;
}

int64_t clock_mono_ns(const struct clock *clock)
{
    if (clock->is_virtual)
        return atomic_load_explicit(&clock->mono_ns, memory_order_relaxed);
    return kernel_ns(CLOCK_MONOTONIC);
}

/* Random numbers of the kernel, read in blocks. Each word is wiped when it is handed out. A forked
 * child must call exec, or it would repeat them. */
static uint64_t kernel_random(void)
{
    static _Thread_local uint64_t words[32];
    static _Thread_local size_t left;

    if (!left) {
        size_t got = 0;

        while (got < sizeof words) {
            ssize_t n = getrandom((char *)words + got, sizeof words - got, 0);

            if (n < 0 && errno != EINTR)
                mem_fatal("the kernel has no random bytes");
            if (n > 0)
                got += (size_t)n;
        }
        left = countof(words);
    }

    uint64_t word = words[--left];

    words[left] = 0;
    return word;
}

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

/* Returns the next random number of a virtual clock. Ref: Blackman and Vigna, xoshiro256** 1.0. */
static uint64_t virtual_random(uint64_t s[4])
{
    uint64_t result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

uint64_t clock_random(struct clock *clock)
{
    return clock->is_virtual ? virtual_random(clock->random) : kernel_random();
}

void clock_uuid(struct clock *clock, char out[CLOCK_UUID_LEN + 1])
{
    static const char hex[] = "0123456789abcdef";
    uint64_t words[2] = {clock_random(clock), clock_random(clock)};
    unsigned char bytes[16];

    memcpy(bytes, words, sizeof bytes);
    bytes[6] = (unsigned char)((bytes[6] & 0x0F) | 0x40); /* a uuid of version 4 */
    bytes[8] = (unsigned char)((bytes[8] & 0x3F) | 0x80); /* a uuid of variant 1 */

    char *at = out;

    for (size_t i = 0; i < sizeof bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        *at++ = hex[bytes[i] >> 4];
        *at++ = hex[bytes[i] & 15];
    }
    *at = '\0';
}

void clock_advance_ns(struct clock *clock, int64_t ns)
{
    if (!clock->is_virtual || ns < 0)
        mem_fatal("only a virtual clock can be moved, and only forward");
    atomic_fetch_add_explicit(&clock->wall_ns, ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&clock->mono_ns, ns, memory_order_relaxed);
}

void clock_jump_ms(struct clock *clock, int64_t ms)
{
    atomic_fetch_add_explicit(&clock->wall_ns, ms * NS_PER_MS, memory_order_relaxed);
}

void clock_advance_ms(struct clock *clock, int64_t ms)
{
    clock_advance_ns(clock, ms * NS_PER_MS);
}
