#pragma once
/*
 * The kind CacheEntry: what is remembered of the success of a step, so that the step can be reused
 * instead of run again (spec/everyday.md 4).
 *
 * An entry is created together with the job of the step, as Pending: it says what the step reads.
 * When the job has completed it becomes Recorded: it then also says what the step has written, and
 * what its results are. A Recorded entry outlives its job and its flow. Everything it says is in its
 * status; its body is the work that its key was made from: {"spec": {"job": …, "reads": […], "writes":
 * […]}}.
 */
#include <string.h>

#include "api/types/object.h"
#include "api/types/schema/schema.h"

/* States of an entry. */
#define CACHE_PENDING  "Pending"
#define CACHE_RECORDED "Recorded"

/* Files that one path, pattern or word stands for. */
struct cache_part {
    const char *name;   /* as written in reads or writes, or the word of a command */
    const char *digest; /* digest of names and contents, hexadecimal */
    int32_t files;      /* how many files and directories it stands for; 0: nothing is there */
};
struct cache_parts {
    struct cache_part *items;
    size_t count;
};

/* One file of the parts, for telling which one has changed and for not reading it again. */
struct cache_file {
    const char *path;   /* bytes that are not UTF-8 are written as \xNN */
    const char *digest; /* digest of the file, hexadecimal; NULL: the file is missing */
    const char *stamp;  /* state of its inode, as file_stamp_format writes it; NULL: it may change
                         * without that being seen */
};

struct cache_target {
    const char *step;   /* name of the target */
    const char *result; /* text that differs when the result of the target differs */
};

struct cache_code {
    const char *task;
    int32_t index, code;
};

struct cache_entry {
    const char *key;   /* the base key, hexadecimal */
    const char *state; /* CACHE_PENDING or CACHE_RECORDED */
    const char *flow, *step;
    const char *job, *job_uid; /* job that did the work; its uid is known once it has ended */
    int64_t made_ms;           /* time at which the job had completed */
    int64_t took_ms;           /* how long the job ran */
    int64_t used_ms;           /* time at which the entry was made or last reused, to the hour */
    int32_t used;              /* how often it was reused, at most once an hour */
    bool apart;                /* made with --no-cache: other steps do not wait for the job */
    struct cache_parts reads, mentions, writes, made;
    struct {
        struct cache_target *items;
        size_t count;
    } targets;
    struct {
        struct cache_file *items;
        size_t count;
    } files; /* empty when they are more than CACHE_FILES_LISTED */
    struct str_map outputs;
    struct {
        struct cache_code *items;
        size_t count;
    } codes; /* exit codes of the job's pods */
};

enum {
    CACHE_NAME_MAX = 64,        /* bytes of an entry's name */
    CACHE_FILES_LISTED = 20000, /* files that an entry lists */
};

/** Returns the decoded status, borrowed while the object exists. */
const struct cache_entry *cache_entry_of(const struct object *entry);
/** Writes a status. Owned. */
struct blob *cache_entry_blob(const struct cache_entry *entry);
static inline bool cache_entry_is_recorded(const struct cache_entry *entry)
{
    return entry->state && strcmp(entry->state, CACHE_RECORDED) == 0;
}
