#pragma once
/*
 * The directory of a store. A lock admits one daemon at a time (D-06), and a reserve of disk space
 * keeps deletes possible when the disk is full (D-08, L-21).
 *
 *   lock                   held while the store is open; has the pid of its holder
 *   reserve                given to the log when the disk is full, created again when there is room
 *   store.db, store.db-wal     the files of SQLite
 */
#include "base/error.h"

struct store_dir {
    char *database; /* path of store.db; owned */
    int directory;
    int lock;
    bool reserved; /* there is a reserve file */
    bool full;     /* the disk had no room for it */
};

/** Creates the directory (mode 0700) and takes its lock. CONFLICT when another process has it;
 * FORBIDDEN when it is not safe to use (dir_owner_check). */
bool store_dir_open(struct store_dir *dir, const char *directory, struct error *err);
/** Sets the paths only: takes no lock and creates nothing. */
void store_dir_look(struct store_dir *dir, const char *directory);
void store_dir_release(struct store_dir *dir);

void store_dir_give_reserve(struct store_dir *dir);
/** Gives the space of the reserve to the write-ahead log, in which the deletes go: other programs
 * that fill the disk cannot take it. */
void store_dir_move_reserve(struct store_dir *dir);
/** Returns whether the write-ahead log has room for deletes. Takes the room if the disk has it. */
bool store_dir_has_room(const struct store_dir *dir);
/** Returns whether the log has space beyond its content, since the disk was full. */
bool store_dir_log_has_reserve(const struct store_dir *dir);
/** Creates the reserve: 16 MiB, less on a small disk. False when the disk is full. A file system
 * that cannot allocate space has no reserve. */
bool store_dir_take_reserve(struct store_dir *dir);
