#pragma once
/*
 * A SQLite file system of the tests in front of the system's.
 */
#include <sqlite3.h>
#include <stddef.h>

/** Make `ours` a copy of the system's under another name, with room for `file_size` bytes a file,
 * and the one that is used from now on. Returns the system's; call it once, then set the functions
 * that differ. */
sqlite3_vfs *vfs_put_before(sqlite3_vfs *ours, const char *name, size_t file_size);
