#pragma once
/*
 * Counters of covered lines, which exist in the preset cov only (cmake/coverage.c).
 */

/** Writes the counters to their files. A process calls it before it changes its root directory,
 * because it cannot open the files afterwards. */
#ifdef JOBFLOW_COVERAGE
void coverage_write(void);
#else
static inline void coverage_write(void)
{
}
#endif
