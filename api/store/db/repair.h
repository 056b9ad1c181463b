#pragma once
/*
 * Repairs a damaged store: makes a new file of the rows that are whole, or of a backup, and keeps
 * the damaged files (D-07, DC-28).
 *
 *   store.db, its log and mark ──► damaged-TIME/          kept as they were
 *   whole rows, or the backup  ──► store.db.new ─rename─► store.db, with a new mark
 *
 * A crash in between leaves a store that is refused as before, and that can be repaired again.
 * Revisions go on above every revision that the file or its mark know of.
 */
#include "api/types/kind.h"
#include "base/buf.h"
#include "base/error.h"

struct store_repair {
    const char *directory;
    const char *from;  /* a backup to restore; NULL: what is whole in the store */
    const char *stamp; /* the damaged files go to `directory`/damaged-STAMP */
    /** Says whether to go on; called when the new file is complete and before anything is replaced.
     * `old` is the store, which may be damaged or absent, `new` the file that takes its place. False
     * with `err`: the store stays as it was. NULL: go on. */
    bool (*agree)(void *ctx, const char *old, const char *new, struct error *err);
    void *ctx;

    /* Results. */
    struct buf lost;  /* what is not in the new store, one finding a line */
    size_t n_lost;    /* number of these lines, or more when they are very many */
    int64_t kept;     /* objects in the new store */
    int64_t revision; /* revisions go on from here */
};

/** Repairs; blocks. False with CONFLICT while another process uses the store, NOT_FOUND when there
 * is no store, FORBIDDEN when another user can have written the backup, STORAGE when the backup is
 * damaged, INTERNAL, or what `agree` says. The store is then as before. The caller releases `lost`.
 */
bool store_repair(struct store_repair *repair, struct error *err);

/**
 * Calls `visit` for each readable object of `kind` in a store file that no process has open, which
 * may be damaged. `uid`, `ns` and `name` are borrowed during the call. False with `err` when the
 * file cannot be opened at all.
 */
bool store_each_in_file(const char *path, const struct kind *kind,
                        void (*visit)(void *ctx, const char *uid, const char *ns, const char *name),
                        void *ctx, struct error *err);

/** Reads a whole store file, such as a backup, and verifies every row. STORAGE when it is damaged.
 * Returns the number of its objects in `out_objects`. */
bool store_verify(const char *path, int64_t *out_objects, struct error *err);
