/*
 * Builds a batch: arrays of references that the loop takes and releases.
 */
#include "api/store/db/batch.h"

#include "base/mem.h"

size_t batch_add_write(struct batch *batch, int64_t row, const struct object *object,
                       int64_t body_row, const struct object *old)
{
    mem_grow(batch->writes, batch->n_writes, batch->cap_writes);
    batch->writes[batch->n_writes] = (struct batch_write){
        .row = row, .body_row = body_row, .object = object_ref(object), .old = object_ref(old)};
    return batch->n_writes++;
}

void batch_set_write(struct batch *batch, size_t index, const struct object *object,
                     int64_t body_row)
{
    struct batch_write *write = &batch->writes[index];
    struct object *before = write->object;

    write->object = object_ref(object);
    write->body_row = body_row;
    object_unref(before);
}

static void add_body(struct batch *batch, int64_t row, const struct blob *blob, bool gone)
{
    mem_grow(batch->bodies, batch->n_bodies, batch->cap_bodies);
    batch->bodies[batch->n_bodies++] = (struct batch_body){row, blob_ref(blob), gone};
}

void batch_add_body(struct batch *batch, int64_t row, const struct blob *blob)
{
    add_body(batch, row, blob, false);
}

void batch_drop_body(struct batch *batch, int64_t row, const struct blob *blob)
{
    add_body(batch, row, blob, true);
}

void batch_add_task(struct batch *batch, struct task *task)
{
    mem_grow(batch->tasks, batch->n_tasks, batch->cap_tasks);
    batch->tasks[batch->n_tasks++] = task;
}

bool batch_drop_task(struct batch *batch, const struct task *task)
{
    size_t kept = 0;

    for (size_t i = 0; i < batch->n_tasks; i++)
        if (batch->tasks[i] != task)
            batch->tasks[kept++] = batch->tasks[i];
    if (kept == batch->n_tasks)
        return false;
    batch->n_tasks = kept;
    return true;
}

void batch_clear(struct batch *batch)
{
    for (size_t i = 0; i < batch->n_writes; i++) {
        object_unref(batch->writes[i].object);
        object_unref(batch->writes[i].old);
    }
    for (size_t i = 0; i < batch->n_bodies; i++)
        blob_unref(batch->bodies[i].blob);
    batch->n_writes = batch->n_bodies = batch->n_tasks = 0;
    batch->changes_end = 0;
    batch->revision = batch->revision_mark = 0;
    batch->trim_log = false;
}

void batch_release(struct batch *batch)
{
    batch_clear(batch);
    mem_free(batch->writes);
    mem_free(batch->bodies);
    mem_free(batch->tasks);
    *batch = (struct batch){0};
}
