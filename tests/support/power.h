#pragma once
/*
 * Simulates power failures: a SQLite VFS with its files in memory, which becomes the default VFS.
 *
 * A file has its synced content and the unsynced writes since, sector by sector. The power fails at
 * the n-th operation: that operation and all after it return errors. After the power returns, each
 * unsynced sector has either its old or its new bytes, and a file with an unsynced length has its
 * old or its new length, both determined by a seed. Ref: reliability.md SIM-02.
 */
#include <stdbool.h>
#include <stdint.h>

void power_install(void); /* Installs the VFS; call it once per process. */
void power_release(void); /* Deletes all files. */

/** Makes the n-th write, sync, truncation or deletion from now on fail, and all after it; 0: no
 * failure. */
void power_cut_after(int n);
bool power_is_off(void);
int power_operations(void); /* returns the number of operations since power_cut_after or power_on
                             * was called */

/** Saves the present state of the disk, including unsynced writes. power_return restores it any
 * number of times. After a second power_keep, for a second power failure, power_return restores the
 * first state. */
void power_keep(void);
void power_return(void);
void power_on(uint64_t seed);

/** Ends a failure that only the process felt, such as kill -9: all completed writes stay, synced or
 * not, because the system has them. Works without power_keep. */
void power_resume(void);
/** Makes the n-th write from now on fail because the disk is full, and all after it, until it is
 * called with 0. */
void power_fill_after(int n);
