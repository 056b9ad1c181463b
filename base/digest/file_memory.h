#pragma once
/*
 * Remembers the digests of files, so that a file whose inode has not changed is not read again.
 *
 * An entry counts only for the same device, inode, size, time of modification and time of change. A
 * write within the clock tick of the hashing would not show in these times; so an entry is kept only
 * if both times lay FILE_SETTLED_MS before the hashing began. The time of change cannot be set back,
 * so a file whose time of modification was set by hand is read again.
 *
 * All functions may be called on any thread.
 */
#include <sys/stat.h>

#include "base/digest/sha256.h"

struct file_memory;

enum {
    FILE_SETTLED_MS = 2000,
    FILE_MEMORY_MAX = 500000,  /* entries; a memory that is full begins anew */
    FILE_STAMP_TEXT_MAX = 100, /* bytes of a stamp as text */
};

struct file_stamp {
    uint64_t device, inode;
    int64_t size, modified_ns, changed_ns;
};

struct file_memory *file_memory_new(void);
void file_memory_free(struct file_memory *memory); /* NULL is ignored */

void file_stamp_of(const struct stat *info, struct file_stamp *out);
bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);
/** Returns whether a file with this stamp has not changed for FILE_SETTLED_MS at `now_ns`, the time
 * since the epoch. */
bool file_stamp_settled(const struct file_stamp *stamp, int64_t now_ns);
/** Writes the stamp as text, and reads it back. */
void file_stamp_format(const struct file_stamp *stamp, char out[FILE_STAMP_TEXT_MAX]);
bool file_stamp_parse(const char *text, struct file_stamp *out);

/** Remembers the digest of the file with this stamp, which must be settled. */
void file_memory_put(struct file_memory *memory, const struct file_stamp *stamp,
                     const struct sha256 *digest);
/** Returns false if the digest is not known. */
bool file_memory_get(struct file_memory *memory, const struct file_stamp *stamp,
                     struct sha256 *out);
