#pragma once
/*
 * Digests of the files that a path or a pattern names.
 *
 * A path without wildcards names a file, a directory with all that is in it, or nothing. In a
 * pattern `*`, `?` and `[…]` stand for parts of one name, and `**` stands for directories at any
 * depth; at the end of a pattern it stands for a whole tree. As in a shell, wildcards match no name
 * that begins with a dot, and `**` enters no link and no such directory. What a pattern matches may
 * be a directory, which then stands for its tree.
 *
 * A path that is a link stands for what it leads to. A link inside a tree counts by its text. Paths
 * are opened beneath a base directory. Devices, sockets and FIFOs are never opened: they are an
 * error, as is a file system mounted inside a tree.
 */
#include "base/buf.h"
#include "base/digest/file_memory.h"
#include "base/error.h"

enum {
    DIGEST_FILES_MAX = 100000, /* files of one walk */
    DIGEST_DEPTH_MAX = 128,    /* directories inside each other */
};

enum digest_type {
    DIGEST_MISSING = 'm', /* a path without wildcards that names nothing */
    DIGEST_FILE = 'f',
    DIGEST_DIRECTORY = 'd',
    DIGEST_LINK = 'l', /* a symbolic link; the digest is that of its text */
};

struct file_digest {
    char *path; /* as seen from the base: any bytes but NUL */
    enum digest_type type;
    struct sha256 digest;    /* zero for a directory and for what is missing */
    struct file_stamp stamp; /* of a file */
    bool settled;            /* the stamp says whether the file has changed since */
};

struct file_digests {
    struct file_digest *items;
    size_t count, cap;
};

enum digest_bounds {
    DIGEST_ANYWHERE, /* links may lead out of the base */
    DIGEST_BENEATH,  /* links that lead out of the base are an error */
};

struct digest_walk {
    const char *base; /* absolute path of the directory */
    enum digest_bounds bounds;
    struct file_memory *memory;
    size_t files; /* files and directories found so far */
    /* Private to this module: */
    char *buffer;
    char *opened; /* the base that `base_fd` is open for; NULL: none */
    int base_fd;
};

void digest_walk_release(struct digest_walk *walk);

/**
 * Appends what the pattern names, sorted by path, each path once. Returns false with `err` if
 * something cannot be read, is no file, or exceeds a bound; the message begins with its path. `out`
 * may then have got a part.
 */
bool digest_pattern(struct digest_walk *walk, const char *pattern, struct file_digests *out,
                    struct error *err);

/** Appends the regular file that a word of a command names, beneath the base. `*out_named`: whether
 * there is one; anything else is no error. False with `err` if the file cannot be read. */
bool digest_word(struct digest_walk *walk, const char *word, struct file_digests *out,
                 bool *out_named, struct error *err);

/** Returns whether a path without wildcards is meant. */
bool digest_is_plain(const char *pattern);
/** Returns whether the relative path or pattern leads out of its directory by "..". */
bool digest_leads_out(const char *pattern);

/** The digest of the entries from `first` to the end: of paths, types and contents. */
void file_digests_sum(const struct file_digests *files, size_t first, struct sha256 *out);
void file_digests_release(struct file_digests *files);
