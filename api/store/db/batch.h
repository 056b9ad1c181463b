#pragma once
/*
 * The content of one commit: the last version of each changed row, new bodies, unused bodies to
 * delete, and the tasks that wait for the commit.
 *
 * The loop builds a batch, lends it to the store thread, which only reads it, and takes it back.
 * All references are released on the loop.
 */
#include "api/types/object.h"
#include "base/loop/loop.h"

struct batch_write {
    int64_t row;
    int64_t body_row;
    struct object *object; /* owned; NULL: delete the row */
    struct object *old; /* owned; the version that is on disk; NULL: the row is not on disk yet */
};

struct batch_body {
    int64_t row;
    struct blob *blob; /* owned */
    bool gone;         /* delete the row */
};

struct batch {
    uint64_t number; /* number of the batch, counted from 1 */

    struct batch_write *writes; /* rows to write, [n_writes], in the order first touched */
    size_t n_writes, cap_writes;
    struct batch_body *bodies; /* bodies to write, [n_bodies], in order */
    size_t n_bodies, cap_bodies;
    struct task **tasks; /* tasks that are posted once the batch is durable, [n_tasks] */
    size_t n_tasks, cap_tasks;

    uint64_t changes_end;  /* change position after its last change */
    int64_t revision;      /* revision of the last change in the batch; 0 = no change */
    int64_t revision_mark; /* new high-water mark of revisions; 0 = unchanged */
    bool trim_log; /* the log gives back the space beyond its content, soon after the commit */
};

/** Adds a write: `row` gets `object` (takes a reference; NULL deletes the row). `old` is the
 * version on disk (takes a reference; NULL: none). Returns the index of the write. */
size_t batch_add_write(struct batch *batch, int64_t row, const struct object *object,
                       int64_t body_row, const struct object *old);
/** Replaces the object of the write at `index`. */
void batch_set_write(struct batch *batch, size_t index, const struct object *object,
                     int64_t body_row);
void batch_add_body(struct batch *batch, int64_t row, const struct blob *blob);
void batch_drop_body(struct batch *batch, int64_t row, const struct blob *blob);
void batch_add_task(struct batch *batch, struct task *task);
/** Removes a task. True when it was in the batch. */
bool batch_drop_task(struct batch *batch, const struct task *task);

void batch_clear(struct batch *batch); /* releases the references, keeps the memory */
void batch_release(struct batch *batch);
