#pragma once
/*
 * What one commit writes: the last version of each changed row, new bodies, bodies nobody uses any
 * more, and who waits for it.
 *
 * Gathered on the loop, then lent to the store thread, which only reads it, then taken back: all
 * references are dropped on the loop.
 */
#include "api/types/object.h"
#include "base/loop.h"

struct batch_write {
    int64_t row;
    int64_t body_row;
    struct object *object; /* owned; NULL: delete the row */
    bool fresh;            /* the row is not on disk yet */
};

struct batch_body {
    int64_t row;
    struct blob *blob; /* owned; NULL: delete the row */
};

struct batch {
    uint64_t number; /* counts from 1 */

    struct batch_write *writes; /* [n_writes], in the order first touched */
    size_t n_writes, cap_writes;
    struct batch_body *bodies; /* [n_bodies], in order */
    size_t n_bodies, cap_bodies;
    struct task **tasks; /* [n_tasks]: posted once durable */
    size_t n_tasks, cap_tasks;

    uint64_t changes_end;  /* position behind its last change */
    int64_t revision;      /* of its last change; 0 = no change */
    int64_t revision_mark; /* new high-water mark of revisions; 0 = as it is */
};

/** Note that `row` shall hold `object` (reference taken; NULL deletes it). Returns its place. */
size_t batch_add_write(struct batch *batch, int64_t row, const struct object *object,
                       int64_t body_row, bool fresh);
/** Replace what was noted at `place`. */
void batch_set_write(struct batch *batch, size_t index, const struct object *object,
                     int64_t body_row);
void batch_add_body(struct batch *batch, int64_t row, const struct blob *blob);
void batch_add_task(struct batch *batch, struct task *task);
/** Forget a task; true when it was there. */
bool batch_drop_task(struct batch *batch, const struct task *task);

void batch_clear(struct batch *batch); /* drops the references, keeps the memory */
void batch_release(struct batch *batch);
