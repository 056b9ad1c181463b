#pragma once
/*
 * The cache entries of a data directory in memory: found by base key, and bounded. The entries
 * themselves are objects of the store; the index has their names.
 *
 * Of one key at most REUSE_CANDIDATES recorded entries are kept, and REUSE_ENTRIES_MAX in all. The
 * caller removes what the index names as surplus.
 */
#include "api/types/object.h"

enum {
    REUSE_CANDIDATES = 8,      /* recorded entries of one key */
    REUSE_ENTRIES_MAX = 100000 /* recorded entries in all */
};

struct reuse_index;

/* An entry as the index knows it. Texts are borrowed until the index changes. */
struct reuse_row {
    const char *ns, *name, *job;
    bool recorded, apart;
};

struct reuse_index *reuse_index_new(size_t most); /* `most`: REUSE_ENTRIES_MAX, or fewer in tests */
void reuse_index_free(struct reuse_index *index); /* NULL is ignored */

/** Adds an entry, or takes over its newer version. */
void reuse_index_put(struct reuse_index *index, const struct object *entry);
void reuse_index_remove(struct reuse_index *index, const char *ns, const char *name);
/** Puts the recorded entries of a key into `out`, newest first. Returns their number. */
size_t reuse_index_recorded(const struct reuse_index *index, const char *ns, const char *key,
                            struct reuse_row out[REUSE_CANDIDATES]);
/** Returns the name of the newest recorded entry of a step, whatever its key; borrowed. NULL when there
 * is none. */
const char *reuse_index_of_step(const struct reuse_index *index, const char *ns, const char *flow,
                                const char *step);
/** Visits the pending entries of a key until `visit` returns true; returns whether it did. */
bool reuse_index_pending(const struct reuse_index *index, const char *ns, const char *key,
                         bool (*visit)(void *arg, const struct reuse_row *row), void *arg);
/** Whether there is a pending entry of that name. */
bool reuse_index_is_pending(const struct reuse_index *index, const char *ns, const char *name);
/** Returns in `out` an entry that exceeds a bound: the oldest of a key that has too many, else the
 * one that was used longest ago. False when there is none. `ns`, `key`: the key that has grown. */
bool reuse_index_surplus(const struct reuse_index *index, const char *ns, const char *key,
                         struct reuse_row *out);
