#pragma once
/*
 * The store's directory: one daemon at a time (D-06), and bytes set aside for deletes on a full
 * disk (D-08, L-21).
 *
 *   lock     held for life; contains the pid of the holder
 *   reserve  space given up when the disk is full, taken again when there is room
 *   store.db store.db-wal     SQLite's
 */
#include "base/error.h"

struct place {
    char *database; /* path of store.db; owned */
    int directory;
    int lock;
    bool reserved; /* the reserve is whole */
};

/** Create the directory (0700) and take its lock. CONFLICT when another process holds it. */
bool place_open(struct place *place, const char *directory, struct error *err);
/** The paths alone: no lock, nothing created. */
void place_look(struct place *place, const char *directory);
void place_release(struct place *place);

/** CONFLICT's message: who holds the lock of `directory`. */
bool place_in_use(const char *directory, struct error *err);

void place_give_reserve(struct place *place);
bool place_take_reserve(struct place *place); /* true when it is whole */
