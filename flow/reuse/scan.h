#pragma once
/*
 * A scan at the files of a step: what it reads, what it writes, what its commands name, and what its
 * targets wrote. The scan runs on the thread pool; it touches only its own struct.
 */
#include "api/types/schema/schema.h"
#include "base/collections/arena.h"
#include "base/digest/file_digest.h"

/* A directory of the machine, and how far paths may lead from it. */
struct reuse_base {
    const char *dir; /* absolute; NULL: relative paths have no meaning here */
    enum digest_bounds bounds;
};

/* One path or pattern, and what it was found to stand for. */
struct reuse_part {
    const char *name; /* as it is written */
    /* Where it is looked up. `path` NULL: nowhere, for the reason `problem`. */
    struct reuse_base base;
    const char *path;
    const char *problem;
    /* Found by the scan. */
    struct sha256 digest;
    size_t first, end; /* position of its first file in the scan's list, and behind its last */
    bool there;        /* it names at least one file */
};

struct reuse_parts {
    struct reuse_part *items;
    size_t count;
};

/* Declared writes of a target. */
struct reuse_target_files {
    const char *step;
    struct reuse_parts writes;
    struct sha256 digest; /* digest of all files that the target has written; set by the scan */
};

struct reuse_scan {
    struct arena *arena;
    struct file_memory *memory;
    struct reuse_base base; /* directory in which words of commands are looked up; dir NULL: none */
    struct reuse_parts reads, writes, words;
    struct reuse_target_files *targets;
    size_t n_targets;

    /* Found by the scan. A word that is among the files of `writes` counts as not there. */
    struct file_digests files;
    struct error inputs, outputs; /* why inputs, or writes, cannot be had; code 0: they can */
};

/** A scan without parts, with an arena for their texts. Owned. */
struct reuse_scan *reuse_scan_new(struct file_memory *memory);
void reuse_scan_free(struct reuse_scan *scan); /* NULL is ignored */
/** Runs the scan; on any thread. */
void reuse_scan_run(struct reuse_scan *scan);
/** Returns a path that is both read and written, or NULL. */
const char *reuse_scan_conflict(const struct reuse_scan *scan);
