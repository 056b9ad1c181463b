#pragma once
/*
 * Reads files up to a bound, writes them so that they are complete and durable on return, and
 * removes trees without following symbolic links.
 */
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

/**
 * Appends a whole regular file of at most `max_bytes` to `out`. Returns false, and leaves `out` as
 * it was, with TOO_LARGE for a larger file, NOT_FOUND for a missing one, or INTERNAL with another
 * reason.
 */
bool file_read(const char *path, size_t max_bytes, struct buf *out, struct error *err);
/** Appends an open regular file as file_read does. `shown_name` names it in errors. */
bool file_read_fd(int fd, const char *shown_name, size_t max_bytes, struct buf *out,
                  struct error *err);
/** Appends what can be read from a descriptor until its end, as file_read does. The file may be a
 * pipe or a terminal. `shown_name` names it in errors. */
bool file_read_stream(int fd, const char *shown_name, size_t max_bytes, struct buf *out,
                      struct error *err);

/** Writes all bytes with as many calls as the system needs. Returns false with errno set. */
bool file_write_all(int fd, const void *bytes, size_t len);

/** Makes the content of a file, or the entries of a directory, survive a loss of power. Refuses a
 * `path` that is a symbolic link. */
bool file_sync(const char *path, struct error *err);
/** Creates an empty file that only its owner may read and write. An existing file stays as it is,
 * and the function succeeds. */
bool file_create_private(const char *path, struct error *err);

/** Replaces the file at `path` in one step: writes a temporary file in the same directory, syncs
 * it, renames it to `path`, and syncs the directory. */
bool file_write_atomic(const char *path, const void *bytes, size_t len, mode_t mode,
                       struct error *err);

/** Replaces the file at `path` as file_write_atomic does, unless it already has these bytes and
 * this mode. The function therefore succeeds on a full disk when nothing has changed. */
bool file_write_changed(const char *path, const void *bytes, size_t len, mode_t mode,
                        struct error *err);

/** Creates the directory `path` and its missing parents with `mode`. An existing directory is no
 * error. */
bool file_mkdirs(const char *path, mode_t mode, struct error *err);

/** Removes a file or a tree. It works with descriptors, never follows a symbolic link and never
 * crosses into another mount (SEC-21). `name` is relative to `dir_fd`, or any path that openat
 * accepts. A missing name is no error. */
bool file_remove_tree(int dir_fd, const char *name, struct error *err);
