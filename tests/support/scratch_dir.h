#pragma once
/*
 * A directory of this process, for fuzz targets that write files. It lies in memory where the
 * machine has a place for that, because inputs are tried thousands of times a second.
 */

/** Returns the path of the directory, which is made by the first call and removed when the process
 * exits. */
const char *scratch_dir(void);
/** Returns an open descriptor of it. */
int scratch_dir_fd(void);
