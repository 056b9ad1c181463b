#pragma once
/*
 * The store's parts, shared by store.c (head and changes), commit.c (batches and durability),
 * load.c (opening and closing) and watch.c.
 */
#include "api/store/bodies.h"
#include "api/store/changes.h"
#include "api/store/committer.h"
#include "api/store/index.h"
#include "api/store/store.h"
#include "api/store/store_dir.h"

enum {
    REVISIONS_RESERVED = 1 << 20, /* a durable high-water mark allows for as many (P-03) */
    ROWS_PER_BLOCK = 8,           /* rows of objects that change together */
    WINDOW_DEFAULT = 10000,       /* L-28 */
    WINDOW_BYTES = 64 << 20,
    RETRY_MS = 1000, /* full disk */
};

enum store_state {
    STORE_OPEN,
    STORE_FULL,   /* the disk is full or the reserve is gone: deletes only (D-08) */
    STORE_FAILED, /* a commit failed for good (D-04) */
};

struct store {
    struct loop *loop;
    struct store_options options; /* directory is place's */
    enum store_state state;

    /* head */
    struct index index;
    struct bodies bodies;
    struct changes changes;
    int64_t revision, durable_revision;
    int64_t next_block; /* of rows */
    int64_t next_few;   /* row, of kinds of which there are few */
    uint64_t batches;   /* numbers given */
    uint64_t object_bytes_meta, object_bytes_status;

    /* listeners: have seen the changes before `heard` */
    struct store_listener *listeners, *next_listener;
    struct task listen;
    uint64_t heard;

    /* durability: `gathering` takes what the turns write, `flying` is being committed */
    struct batch gathering, in_flight;
    bool committing, waiting_for_space; /* grounded: flies again when there is room on the disk */
    bool hurried, urgent;
    struct coalescing { /* of those who hurry together */
        size_t gathered, in_flight, wanted;
        int64_t sent_ns, until_ns;
    } coalescing;
    bool awaited;          /* the delay is that of a batch somebody waits for */
    int64_t revision_mark; /* durable: revisions below it may be given out */
    uint64_t durable;      /* changes before it are committed */
    struct turn_hook turn_end;
    struct timer delay, retry;
    struct task instant; /* memory only: ends the commit in the next turn */
    void (*failed)(void *ctx, const struct error *err);
    void *failed_ctx;

    /* watches */
    int64_t window_revision; /* changes after it are all in the window */
    struct store_watch *watches[KIND_N];
    struct store_watch *starting; /* have not seen the window yet */
    struct store_watch *telling, *next_watch;
    struct task start_watches;

    /* disk; all zero for memory only */
    struct store_dir dir;
    struct db *db;
    struct committer *committer;

    uint64_t commits, rows_written, bytes_bound;
};

/* commit.c */
void store_commit_start(struct store *store);
bool store_commit_stop(
    struct store *store); /* commits what is pending, blocking; false: could not */

/* watch.c */
void store_watch_start(struct store *store);
void store_watch_deliver(struct store *store, uint64_t from); /* from there on it became durable */
void store_watch_stop(struct store *store);
void store_window_trim(struct store *store);
