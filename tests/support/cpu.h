#pragma once
/*
 * What something costs: the time of this thread on a processor, for others may be at work, too.
 */
#include <stdint.h>

int64_t cpu_us(void);
