#pragma once
/*
 * CPU time of the calling thread. Tests of cost use it, because other processes do not change it.
 */
#include <stdint.h>

int64_t cpu_us(void);
