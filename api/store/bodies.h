#pragma once
/*
 * Which bodies the stored objects use, how many use each, and the row each is stored in.
 *
 * A body nobody uses any more stays for a while, for the next object made from the same template
 * wants it again; bodies_sweep deletes them when there are many or much.
 */
#include "api/store/batch.h"

struct body {
    struct blob *blob; /* owned; NULL: the slot is free */
    int64_t row;
    uint32_t uses;
    bool orphaned; /* in the list of orphans, perhaps in use again */
};

struct bodies {
    struct body *slots; /* [count]; slot 0 is never used */
    size_t count, cap;
    uint32_t *free_slots;
    size_t n_free, cap_free;
    uint32_t *orphans;
    size_t n_orphans, cap_orphans;
    size_t orphan_bytes;
    int64_t next_row;
    size_t live;  /* slots in use */
    size_t bytes; /* of all bodies held */
};

void bodies_init(struct bodies *bodies);
void bodies_release(struct bodies *bodies);

/** A body read from the disk (consumed), not used by anybody yet. */
uint32_t bodies_load(struct bodies *bodies, int64_t row, struct blob *blob);
/** Every loaded body without a user becomes an orphan. */
void bodies_loaded(struct bodies *bodies);

/** One more user of `blob`; a body not seen before gets a row and is noted in `batch`. */
uint32_t bodies_use(struct bodies *bodies, struct blob *blob, struct batch *batch);
void bodies_use_slot(struct bodies *bodies, uint32_t slot);
void bodies_drop(struct bodies *bodies, uint32_t slot);
/** Note the deletion of unused bodies in `batch`, if it is worth it. */
void bodies_sweep(struct bodies *bodies, struct batch *batch);
