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

struct store_dir {
    char *database; /* path of store.db; owned */
    int directory;
    int lock;
    bool reserved; /* the reserve is whole */
};

/** Create the directory (0700) and take its lock. CONFLICT when another process holds it. */
bool store_dir_open(struct store_dir *dir, const char *directory, struct error *err);
/** The paths alone: no lock, nothing created. */
void store_dir_look(struct store_dir *dir, const char *directory);
void store_dir_release(struct store_dir *dir);

/** CONFLICT's message: who holds the lock of `directory`. */
bool store_dir_in_use(const char *directory, struct error *err);

void store_dir_give_reserve(struct store_dir *dir);
bool store_dir_take_reserve(struct store_dir *dir); /* true when it is whole */
