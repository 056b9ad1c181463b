#pragma once
/*
 * The table of stored bodies: how many objects use each one, and the row it is stored in.
 *
 * A body without users is kept for a while, because the next object made from the same template
 * needs it again. bodies_sweep deletes unused bodies when they are many or large.
 */
#include "api/store/db/batch.h"

struct body {
    struct blob *blob; /* body in the slot, owned; NULL: the slot is free */
    int64_t row;
    uint32_t uses;
    bool orphaned; /* is in the list of orphans; it may be in use again */
};

struct bodies {
    struct body *slots; /* the slots, [count]; slot 0 is never used */
    size_t count, cap;
    uint32_t *free_slots;
    size_t n_free, cap_free;
    uint32_t *orphans;
    size_t n_orphans, cap_orphans;
    size_t orphan_bytes;
    int64_t next_row;
    size_t live;  /* number of slots in use */
    size_t bytes; /* size of all bodies held */
};

void bodies_init(struct bodies *bodies);
void bodies_release(struct bodies *bodies);

/** Adds a body read from disk (`blob` is consumed), with no users yet. Returns its slot. */
uint32_t bodies_load(struct bodies *bodies, int64_t row, struct blob *blob);
/** Ends loading: every loaded body without a user becomes an orphan. */
void bodies_loaded(struct bodies *bodies);

/** Adds a user to `blob` and returns its slot. A new body gets a row and is added to `batch`. */
uint32_t bodies_use(struct bodies *bodies, struct blob *blob, struct batch *batch);
void bodies_use_slot(struct bodies *bodies, uint32_t slot);
void bodies_drop(struct bodies *bodies, uint32_t slot);
/** Deletes the bodies that no object uses any more, once they are many or large: adds their
 * deletion to `batch`, which the caller commits. */
void bodies_sweep(struct bodies *bodies, struct batch *batch);
