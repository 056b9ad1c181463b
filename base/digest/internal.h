#pragma once
/*
 * What tree.c offers to pattern.c: opening names, and adding what they stand for.
 */
#include "base/digest/file_digest.h"

/** Opens a name in a directory, within the bounds of the walk. Returns -1 with errno. */
int digest_open(const struct digest_walk *walk, int dir_fd, const char *name, int flags);
/** Fills `out` with what the name stands for; follows a link. Returns 0, or -1 with errno. */
int digest_stat(const struct digest_walk *walk, int dir_fd, const char *name, struct stat *out);
/** Adds a file, or a directory with all that is in it. `shown` is its path as seen from the base.
 * False with `err` as digest_pattern. */
bool digest_add(struct digest_walk *walk, int dir_fd, const char *name, const struct stat *info,
                const char *shown, struct file_digests *out, struct error *err);
void digest_add_missing(const char *shown, struct file_digests *out);

/* The sorted names in a directory without "." and "..". */
struct dir_names {
    char **items;
    size_t count, cap;
};
/** Reads the names. `fd` is consumed. False with errno, or with EOVERFLOW beyond DIGEST_FILES_MAX. */
bool dir_names_read(int fd, struct dir_names *out);
void dir_names_release(struct dir_names *names);
/** Returns `dir`/`name`, or `name` alone for an empty directory; owned. */
char *digest_join(const char *dir, const char *name);
