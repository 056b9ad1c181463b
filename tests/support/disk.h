#pragma once
/*
 * A disk that misbehaves when told: a layer over SQLite's own VFS, which becomes the default.
 * Set before a store opens; the switches may be thrown at any time, from any thread.
 */
#include <stdbool.h>

enum disk_fault {
    DISK_WELL,
    DISK_NO_SPACE,  /* writes fail with ENOSPC */
    DISK_NO_WRITES, /* writes fail with EIO */
    DISK_NO_SYNC,   /* syncs fail with EIO */
};

void disk_install(void); /* once per process */
void disk_set(enum disk_fault fault);
/** The n-th write or sync from now on fails (1 = the next), and all after it; 0 = off. */
void disk_fail_after(int n, enum disk_fault fault);
int disk_operations(void); /* writes and syncs so far */
