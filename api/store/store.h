#pragma once
/*
 * The store: every object in memory, every change in SQLite, one commit for one or several turns of
 * the loop.
 *
 *   loop thread                                       store thread
 *   store_put, store_delete ──► list of changes
 *   end of turn: seal the batch ────────────────────► BEGIN
 *                                                     last version of each object
 *                                                     COMMIT (synchronous=FULL)
 *   tasks, watch events, answers ◄─── report ──────── durable
 *
 * Reads and listeners see accepted changes at once. Durability follows one commit later; everything
 * that leaves the process waits for it (store_when_durable, store_watch). An object changed several
 * times within one batch is written once, but watches receive each version. Bodies are stored once
 * per distinct content.
 *
 * While a commit runs, later turns add to the next batch. A batch without urgent writes also waits
 * up to `max_delay_ms` for more writes, or `idle_delay_ms` while no task waits for it. A pod that
 * runs for less time is then one row written, not two. store_hurry commits at once.
 *
 * Rules D-01…D-07; DC-11; DC-18.
 */
#include "api/types/object.h"
#include "base/loop/loop.h"

struct store;

enum store_sync {
    STORE_SYNC_FULL,   /* default: acknowledged writes survive a power loss */
    STORE_SYNC_NORMAL, /* a power loss may lose acknowledged writes; a crash of the process does
                        * not */
};

struct store_options {
    const char *directory; /* data directory, created with mode 0700; NULL = memory only, for
                            * tests: commits are immediate but still asynchronous */
    enum store_sync sync;
    int64_t max_delay_ms;  /* longest wait of a batch that is not urgent; 0 = commit at the end of
                            * each turn */
    int64_t idle_delay_ms; /* the same for a batch that no task waits for; 0 = no longer than
                            * max_delay_ms */
    int64_t watch_window;  /* changes kept for resuming watches (L-28); 0 = 10,000 */
    bool read_only;        /* takes no lock, writes nothing */
    bool stopped_holder;   /* with read_only: a process that is stopped holds the directory. Opening
                            * fails with CONFLICT when it goes on meanwhile */
    bool damaged;          /* reads what is whole of a damaged store and logs the damage; takes the
                            * lock, writes nothing */
    bool few_only;         /* load only kinds with few objects (kind.few) */
    const char *name_only; /* … and of the others those with this name, or a name that begins
                            * with it and a dash; NULL: none. Used during opening only */
};

/**
 * Opens or creates the store, takes the directory's lock (D-06) and loads every object. Errors:
 * CONFLICT when another process has the lock (the message has its pid), STORAGE when the files are
 * damaged or too new (the message has the file, the damage and a remedy), INTERNAL.
 */
struct store *store_open(struct loop *loop, const struct store_options *options, struct error *err);

/** Commits pending writes, closes the database, releases the lock and frees the store. Blocks until
 * the last commit ends. NULL is fine. */
void store_close(struct store *store);

/* The following functions read accepted state. Objects are borrowed until the caller returns to the
 * loop. */
const struct object *store_get(const struct store *store, const struct kind *kind, const char *ns,
                               const char *name);
const struct object *store_get_uid(const struct store *store, const char *uid);
/** Calls `visit` for each object of a kind in the namespace `ns`; NULL = all namespaces. */
void store_each(const struct store *store, const struct kind *kind, const char *ns,
                void (*visit)(void *arg, const struct object *object), void *arg);
/** Visits the objects of `kind` (NULL: any) that name `owner_uid` in an owner reference. O(their
 * number). */
void store_each_owned(const struct store *store, const struct kind *kind, const char *owner_uid,
                      void (*visit)(void *arg, const struct object *object), void *arg);
/** Returns the first of these objects for which `matches` is true (NULL: any), in order of
 * creation, or NULL. */
const struct object *store_find_owned(const struct store *store, const char *owner_uid,
                                      bool (*matches)(void *arg, const struct object *object),
                                      void *arg);
size_t store_count(const struct store *store, const struct kind *kind, const char *ns);
int64_t store_revision(const struct store *store); /* returns the newest accepted revision */
int64_t store_durable_revision(const struct store *store);

/** Puts up to `limit` objects of a kind, in order of namespace and name, after the key `after`
 * ("ns/name" or NULL), into `out` as references. Returns their number. */
size_t store_page(struct store *store, const struct kind *kind, const char *ns, const char *after,
                  size_t limit, struct object **out);

/** Stores a new or changed object (consumed). It gets the next revision and, when new, a row.
 * Returns the stored object, borrowed. */
const struct object *store_put(struct store *store, struct object *object);
/** Deletes an object; the deletion has a revision of its own. `object` may be any version of it. */
void store_delete(struct store *store, const struct object *object);

/* Accepted changes, delivered to listeners in order from a posted task. Controllers get them
 * through the cluster interface. */
enum store_change { STORE_ADDED, STORE_MODIFIED, STORE_DELETED };
struct store_listener {
    void (*changed)(struct store_listener *listener, enum store_change change,
                    const struct object *old, const struct object *object);
    struct store_listener *next; /* private to this module */
};
void store_listen(struct store *store, struct store_listener *listener);
void store_unlisten(struct store *store, struct store_listener *listener);
/** Visits the accepted changes that the listeners have not got yet, oldest first. Changes that
 * `visit` makes are not visited. */
void store_each_undelivered(struct store *store,
                            void (*visit)(void *arg, enum store_change change,
                                          const struct object *old, const struct object *object),
                            void *arg);

void store_when_durable(struct store *store,
                        struct task *task); /* posts it once every write accepted so far is
                                             * committed */
/** Cancels the task of store_when_durable. */
void store_forget(struct store *store, struct task *task);
void store_hurry(struct store *store); /* commits the pending batch at the end of the turn */
/**
 * As store_hurry, for one of many clients that send their next request when they are answered.
 * After a slow commit, the next one waits a fraction of its duration for the next requests of the
 * clients just answered. Without this wait the clients would split into two groups that alternate,
 * half of them in each commit.
 */
void store_hurry_together(struct store *store);
/** Returns whether writes other than deletes are accepted. Errors: STORAGE while the disk is full
 * (D-08), INTERNAL after a commit failed (D-04), FORBIDDEN for a read-only store. The registry
 * asks before it changes anything. */
bool store_writable(const struct store *store, struct error *err);
/** Returns whether the store was opened for reading. */
bool store_is_read_only(const struct store *store);
/** Returns whether deletes are accepted. As store_writable, but a full disk has room for deletes,
 * unless the reserve for them is used up as well. */
bool store_deletable(const struct store *store, struct error *err);
/**
 * Copies the database consistently into the file `path` (created anew, mode 0600) while writes
 * continue (D-05). The copy has everything durable at the time of the call. `done` runs once on the
 * loop, with the error or NULL. Returns false with CONFLICT while another copy runs, and with
 * NOT_IMPLEMENTED for a store in memory.
 */
bool store_copy(struct store *store, const char *path,
                void (*done)(void *ctx, const struct error *err), void *ctx, struct error *err);
/** Cancels the copy: `done` is not called. The file may remain. */
void store_copy_cancel(struct store *store);
/** Sets the handler of a permanent commit failure (D-04). It runs once, on the loop. The process
 * must report the error and exit. */
void store_on_failure(struct store *store, void (*failed)(void *ctx, const struct error *err),
                      void *ctx);

struct store_stats {
    /* These numbers count from the opening of the store. */
    uint64_t commits, rows_written, changes, bytes_bound;
    uint64_t objects, bodies, body_bytes, meta_bytes,
        status_bytes;    /* numbers and sizes in memory */
    uint64_t unreadable; /* stored objects that could not be read when the store was opened */
};
void store_stats(const struct store *store, struct store_stats *out);

/* Watches deliver durable changes only, in order and without gaps (INV-S5). */
struct store_watch;
struct store_watch_options {
    const struct kind *kind;
    const char *ns;         /* namespace that is watched, copied; NULL = all */
    int64_t since_revision; /* deliver changes after this revision; -1 = after the newest durable
                             * one */
    /** Receives a change. `old` is the previous version, for selector transitions, or NULL when it
     * is not known. Returns false to end the watch. */
    bool (*changed)(void *ctx, enum store_change change, const struct object *old,
                    const struct object *object);
    void *ctx;
};
/** Opens a watch. NULL with GONE when `since_revision` is older than the window. */
struct store_watch *store_watch_open(struct store *store, const struct store_watch_options *options,
                                     struct error *err);
void store_watch_close(struct store_watch *watch); /* the callback does not run after it */
