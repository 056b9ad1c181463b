#pragma once
/*
 * Files: bounded reads, writes that are complete and durable when they return, and removal of trees
 * that follows no symbolic link.
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
/** Reads a file as file_read does, but one that may not be regular, such as a pipe or a terminal.
 * Reads to its end. */
bool file_read_stream(int fd, const char *shown_name, size_t max_bytes, struct buf *out,
                      struct error *err);

/** Writes all bytes, in as many calls as the system needs. False with errno set. */
bool file_write_all(int fd, const void *bytes, size_t len);

/** Makes the content of a file, or the entries of a directory, survive a loss of power. A link at
 * `path` is refused. */
bool file_sync(const char *path, struct error *err);
/** Creates an empty file that only its owner may read and write. An existing file is fine, and stays
 * as it is. */
bool file_create_private(const char *path, struct error *err);

/** Write a temporary file in the same directory, sync, rename over `path`, sync the directory. */
bool file_write_atomic(const char *path, const void *bytes, size_t len, mode_t mode,
                       struct error *err);

/** Create `path` and its missing parents with `mode`. An existing directory is fine. */
bool file_mkdirs(const char *path, mode_t mode, struct error *err);

/** Removes a tree or a file by descriptors. It never follows a link and never crosses into another
 * mount (SEC-21). `name` is relative to `dir_fd`, or any path that openat accepts. A missing name
 * is no error. */
bool file_remove_tree(int dir_fd, const char *name, struct error *err);
