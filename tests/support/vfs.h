#pragma once
/*
 * Installs a SQLite VFS of a test, which wraps the system's VFS.
 */
#include <sqlite3.h>
#include <stddef.h>

/** Initializes `ours` as a copy of the system's VFS under another name, with `file_size` bytes per
 * open file, and makes it the default. Returns the system's VFS. Call it once, then set the
 * functions that differ. */
sqlite3_vfs *vfs_install(sqlite3_vfs *ours, const char *name, size_t file_size);
