#pragma once
/*
 * Decides whether the earlier result of a step can be reused, and what a CacheEntry records of it.
 * Pure functions of a reuse_scan, which has the files as they are, and of CacheEntries.
 * Ref: spec/everyday.md 4.2, 4.4.
 */
#include <jansson.h>

#include "api/types/kinds/jobflow/cache_entry.h"
#include "flow/reuse/scan.h"

/* The result of a direct target (R5). */
struct reuse_target {
    const char *step;
    const char *result; /* NULL: it is the digest of its declared writes, which the scan finds */
    bool by_job;        /* the target declares no writes, so its job stands for its result */
};

/* What a step would work on. */
struct reuse_inputs {
    const struct reuse_scan *scan; /* a scan that reuse_scan_run has finished */
    const struct reuse_target *targets;
    size_t n_targets;
    int64_t now_ms;
    int64_t max_age_ns; /* -1: any age */
};

/** Returns whether what was recorded stands for the step as it is now: R1 to R5. Otherwise appends
 * what differs to `why` (may be NULL): "train.py changed". */
bool reuse_holds(const struct cache_entry *entry, const struct reuse_inputs *now, struct buf *why);

/** Returns whether a recorded target of the entry has the same result now; else `why` says what
 * differs. */
bool reuse_target_holds(const struct cache_entry *entry, const struct reuse_inputs *now,
                        const char *step, struct buf *why);
/** Returns all that is compared, also what is the same: [{name, role, same, text}]; owned. `role` is
 * reads, writes, mentions, made or target. `why` (may be NULL): how the work itself differs. */
json_t *reuse_report(const struct cache_entry *entry, const struct reuse_inputs *now,
                     const char *why);

/** Fills the inputs of an entry that becomes pending: reads, mentions, targets, files. Words that
 * `earlier` (may be NULL) has among `made` are no inputs. Texts are borrowed from `now` and `arena`. */
void reuse_pending(struct cache_entry *entry, const struct reuse_inputs *now,
                   const struct cache_entry *earlier, struct arena *arena);

/** Lists the files of a scan in an entry, unless there are very many. */
void reuse_list_files(struct cache_entry *entry, const struct reuse_scan *scan,
                      struct arena *arena);
/** Returns whether the entry has the stamps of all files of a scan, so that these need not be read
 * the next time. */
bool reuse_files_are_known(const struct cache_entry *entry, const struct reuse_scan *scan);
/** Puts what an entry knows of files into the memory. */
void reuse_recall(const struct cache_entry *entry, struct file_memory *memory);

/** Completes a pending entry when the job has completed: `pending` is what was stored at its
 * creation, `after` a scan at its end. Returns false with the reason in `why` if the result cannot
 * be recorded. Texts of `out` are borrowed from the other arguments. */
bool reuse_record(struct cache_entry *out, const struct cache_entry *pending,
                  const struct reuse_scan *after, struct arena *arena, struct buf *why);
