#pragma once
/*
 * The store thread: commits one batch at a time, in order, and reports each to the loop; copies the
 * database while it has nothing to commit.
 *
 * It owns the database while it runs. A batch belongs to it from committer_send until the report.
 */
#include "api/store/db.h"
#include "base/loop.h"

struct committer;

struct committer_report {
    enum db_outcome outcome;
    struct error err; /* unless DB_OK */
    struct db_counts counts;
};

/** Start the thread. `db` is lent to it until committer_stop. `done` runs on the loop after each
 * batch. */
struct committer *committer_start(struct loop *loop, struct db *db,
                                  void (*done)(void *ctx, const struct committer_report *report),
                                  void *ctx);
/** Commit `batch` (borrowed until the report). Not while another one is on its way. */
void committer_send(struct committer *committer, const struct batch *batch);
/**
 * Copy the database into the file `path`, between batches. `done` runs on the loop, with what went
 * wrong or NULL. One copy at a time: false, with CONFLICT, while there is one. Not called after
 * committer_stop.
 */
bool committer_copy(struct committer *committer, const char *path,
                    void (*done)(void *ctx, const struct error *err), void *ctx, struct error *err);
/** Whoever asked for the copy has gone: `done` is not called, nothing is left. */
void committer_copy_cancel(struct committer *committer);
/** Wait, without the loop, for the batch on its way, and take its report. False when there is none
 * on its way. `done` is not called for it. */
bool committer_wait(struct committer *committer, struct committer_report *out);
/** Join the idle thread and free. NULL is fine. */
void committer_stop(struct committer *committer);
