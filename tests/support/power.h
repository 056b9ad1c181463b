#pragma once
/*
 * A disk that loses its power: files in memory, under SQLite as its default VFS.
 *
 * A file is what was synced and, sector by sector, what was written since. At the n-th operation
 * the power goes: that operation and all after it fail. When it comes back, each sector that was
 * not synced has its old bytes or its new ones, as a seed says, and a file whose length was not
 * synced has the old length or the new one. Ref: reliability.md SIM-02.
 */
#include <stdbool.h>
#include <stdint.h>

void power_install(void); /* once per process */
void power_release(void); /* every file goes */

/** Everything from the n-th write, sync, truncation or deletion from now on fails; 0: nothing. */
void power_cut_after(int n);
bool power_is_off(void);
int power_operations(void); /* since the last of these calls with power */

/** Keep what the disk may look like now; then any number of times: it looks so. Kept twice, for
 * power that goes again: power_return goes back to the first. */
void power_keep(void);
void power_return(void);
void power_on(uint64_t seed);
