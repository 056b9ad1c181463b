#pragma once
/*
 * The store's data, shared by store.c (reads and changes), commit.c (batches and durability),
 * load.c (opening and closing) and watch.c (watches).
 */
#include "api/store/bodies.h"
#include "api/store/changes.h"
#include "api/store/committer.h"
#include "api/store/dir/store_dir.h"
#include "api/store/index.h"
#include "api/store/store.h"

enum {
    REVISIONS_RESERVED = 1 << 20, /* revisions that a durable high-water mark reserves (P-03) */
    ROWS_PER_BLOCK = 8,           /* rows that objects which change together share */
    WINDOW_DEFAULT = 10000,       /* default number of changes kept for watches (L-28) */
    WINDOW_BYTES = 64 << 20,
    RETRY_MS = 1000, /* interval of retries while the disk is full */
};

enum store_state {
    STORE_OPEN,
    STORE_FULL,   /* the disk is full or the reserve is missing: deletes only (D-08) */
    STORE_FAILED, /* a commit failed for good (D-04) */
};

struct store {
    struct loop *loop;
    struct store_options options; /* `directory` is not kept; see `dir` */
    enum store_state state;

    /* The members from here on are the accepted state. */
    struct index index;
    struct bodies bodies;
    struct changes changes;
    int64_t revision, durable_revision;
    int64_t next_block; /* number of the next block of rows */
    int64_t next_few;   /* next row for kinds with few objects */
    uint64_t batches;   /* number of the last batch */
    uint64_t object_bytes_meta, object_bytes_status;

    /* Listeners. They have received the changes before `heard`. */
    struct store_listener *listeners, *next_listener;
    struct task listen;
    uint64_t heard;

    /* Durability. `gathering` takes the writes of each turn; `in_flight` is being committed. */
    struct batch gathering, in_flight;
    bool committing;        /* a batch is in flight */
    bool waiting_for_space; /* the commit is retried when the disk has room */
    bool no_room;           /* the disk has not even room for deletes */
    bool hurried, urgent;
    /* After a slow commit, the next one waits for further requests of the clients just answered
     * (store_hurry_together). */
    struct coalescing {
        size_t gathered, in_flight, wanted;
        int64_t sent_ns, until_ns;
    } coalescing;
    bool awaited;          /* the delay runs for a batch with waiting tasks */
    int64_t revision_mark; /* durable: revisions below it may be assigned */
    uint64_t durable;      /* changes before it are committed */
    struct turn_hook turn_end;
    struct timer delay, retry;
    struct task instant; /* of a store without a disk: ends the commit in the next turn */
    void (*failed)(void *ctx, const struct error *err);
    void *failed_ctx;

    /* The members from here on belong to watches. */
    int64_t window_revision; /* the window has every change after it */
    struct store_watch *watches[KIND_N];
    struct store_watch *starting; /* have not received the window yet */
    struct store_watch *telling, *next_watch;
    struct task start_watches;

    /* The data directory; all zero for a store in memory. */
    struct store_dir dir;
    struct db *db;
    struct committer *committer;

    uint64_t commits, rows_written, bytes_bound;
    uint64_t unreadable; /* stored objects that this program cannot use */
};

/* Defined in commit.c. */
void store_is_full(struct store *store, const struct error *err); /* deletes only, from now on */
void store_commit_start(struct store *store);
bool store_commit_stop(
    struct store *store); /* commits what is pending, blocking; false on failure */

/* Defined in watch.c. */
void store_watch_start(struct store *store);
void store_watch_deliver(struct store *store, uint64_t from); /* delivers the changes from there
                                                               * to the durable end */
void store_watch_stop(struct store *store);
void store_window_trim(struct store *store);
