#pragma once
/*
 * The store thread: commits one batch at a time, in order, and reports each to the loop. Between
 * batches it copies the database when asked.
 *
 * The thread owns the database while it runs. It borrows a batch from committer_send until the
 * report.
 */
#include "api/store/db/db.h"
#include "base/loop/loop.h"

struct committer;

struct committer_report {
    enum db_outcome outcome;
    struct error err; /* set unless the result is DB_OK */
    struct db_counts counts;
};

/** Starts the thread and lends `db` to it until committer_stop. `done` runs on the loop after each
 * batch. */
struct committer *committer_start(struct loop *loop, struct db *db,
                                  void (*done)(void *ctx, const struct committer_report *report),
                                  void *ctx);
/** Commits `batch` (borrowed until the report). Must not be called while a batch is in flight. */
void committer_send(struct committer *committer, const struct batch *batch);
/**
 * Copies the database into the file `path`, between batches. `done` runs on the loop with the
 * error, or NULL. One copy runs at a time: returns false with CONFLICT while there is one. Must not
 * be called after committer_stop.
 */
bool committer_copy(struct committer *committer, const char *path,
                    void (*done)(void *ctx, const struct error *err), void *ctx, struct error *err);
/** Cancels the copy: `done` is not called and the file is removed. */
void committer_copy_cancel(struct committer *committer);
/** Waits for the batch in flight without running the loop, and returns its report in `out`. False
 * when none is in flight. `done` is not called for it. */
bool committer_wait(struct committer *committer, struct committer_report *out);
/** Joins the idle thread and frees the committer. NULL is fine. */
void committer_stop(struct committer *committer);
