#pragma once
/*
 * The directory of a store. A lock admits one daemon at a time (D-06), and a reserve of disk space
 * keeps deletes possible when the disk is full (D-08, L-21).
 *
 *   lock                   held while the store is open; has the pid of its holder
 *   reserve                deleted when the disk is full, created again when there is room
 *   store.db, store.db-wal     the files of SQLite
 */
#include "base/error.h"

struct store_dir {
    char *database; /* path of store.db; owned */
    int directory;
    int lock;
    bool reserved; /* the reserve file is complete */
};

/** Creates the directory (mode 0700) and takes its lock. CONFLICT when another process has it;
 * FORBIDDEN when it is not safe to use (place_check). */
bool store_dir_open(struct store_dir *dir, const char *directory, struct error *err);
/** Sets the paths only: takes no lock and creates nothing. */
void store_dir_look(struct store_dir *dir, const char *directory);
void store_dir_release(struct store_dir *dir);

void store_dir_give_reserve(struct store_dir *dir);
bool store_dir_take_reserve(struct store_dir *dir); /* true when it is complete */
