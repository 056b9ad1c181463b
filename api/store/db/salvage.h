#pragma once
/*
 * Copies the whole rows of a store file, which may be damaged, into a new file.
 */
#include "api/store/db/internal.h"

/* Zeroed but for the mark. */
struct salvage {
    enum mark_found mark_found; /* the mark of the store that is repaired */
    struct mark_content marked;

    /* Results. */
    struct buf lost;       /* what is not in the new file, one finding a line; owned */
    size_t n_lost;         /* number of findings, of which a thousand are listed */
    struct db_state found; /* the state of the damaged file */
    struct db_state made;  /* the state of the new file */
    bool has_state;        /* `found` is readable */
    bool is_all;      /* every row of the damaged file was copied, and none is of another time */
    int64_t missing;  /* number of objects that were not copied */
    int64_t kept;     /* number of objects in the new file */
    int64_t revision; /* the repaired store gives revisions above this one */
};

/** Copies the rows of `from` into the new file `to`. False only when the new file cannot be
 * written. The caller releases the result with salvage_reset. */
bool salvage_rows(const char *from, const char *to, struct salvage *out, struct error *err);
/** Empties the results, and keeps the mark. */
void salvage_reset(struct salvage *salvage);

/** Reads the state of a file. False when it is missing or damaged. */
bool salvage_state(const char *path, struct db_state *out);
/** Whether a file is one of an older program, whose rows have no checksums. */
bool salvage_is_older(const char *path);
