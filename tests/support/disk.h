#pragma once
/*
 * Injects disk faults: a layer over SQLite's own VFS, which becomes the default VFS. Install it
 * before a store is opened. Faults can be switched at any time, from any thread.
 */

enum disk_fault {
    DISK_WELL,
    DISK_NO_SPACE,  /* writes fail with ENOSPC */
    DISK_NO_WRITES, /* writes fail with EIO */
    DISK_NO_SYNC,   /* syncs fail with EIO */
};

void disk_install(void); /* Installs the layer; call it once per process. */
void disk_set(enum disk_fault fault);
/** Makes the n-th write or sync from now on fail (1 = the next), and all after it; 0 = no fault. */
void disk_fail_after(int n, enum disk_fault fault);
int disk_operations(void); /* Returns the number of writes and syncs so far. */
