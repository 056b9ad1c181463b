#include "tests/support/cpu.h"

#include <time.h>

int64_t cpu_us(void)
{
    struct timespec at;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (int64_t)at.tv_sec * 1000000 + at.tv_nsec / 1000;
}
