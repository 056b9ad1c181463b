#pragma once
/*
 * Files: bounded reads, writes that are complete and durable when they return, and removal of trees
 * that cannot be led astray by links.
 */
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

/**
 * Append a whole regular file of at most `max_bytes` to `out`. TOO_LARGE beyond, NOT_FOUND, or
 * INTERNAL with the reason; `out` is then as before.
 */
bool file_read(const char *path, size_t max_bytes, struct buf *out, struct error *err);
bool file_read_fd(int fd, const char *shown_name, size_t max_bytes, struct buf *out,
                  struct error *err);
/** The same for what may be no regular file: a pipe, a terminal. Reads to its end. */
bool file_read_stream(int fd, const char *shown_name, size_t max_bytes, struct buf *out,
                      struct error *err);

/** Write it all, however often the system takes a part. False with errno. */
bool file_write_all(int fd, const void *bytes, size_t len);

/** Write a temporary file in the same directory, sync, rename over `path`, sync the directory. */
bool file_write_atomic(const char *path, const void *bytes, size_t len, mode_t mode,
                       struct error *err);

/** Create `path` and its missing parents with `mode`. An existing directory is fine. */
bool file_mkdirs(const char *path, mode_t mode, struct error *err);

/** Remove a tree (or file) by descriptors: never a link's target, never another mount (SEC-21).
 * `name` is below `dir_fd`, or a path as openat takes it. Absent is fine. */
bool file_remove_tree(int dir_fd, const char *name, struct error *err);
