#pragma once
/*
 * The store: every object in memory, every change in SQLite, one commit per turn of the loop (or
 * for several turns).
 *
 *   loop thread                                   store thread
 *   store_put/store_delete ── change list ──┐
 *   end of turn: seal the batch ────────────┴──► BEGIN … last version of each object … COMMIT
 * (synchronous=FULL) durable: tasks, watch events, answers  ◄──── mail
 *
 * Memory is the head: reads and listeners see accepted changes at once. Durable lags behind by one
 * commit; whatever leaves the process waits for it (store_when_durable, store_watch). An object
 * changed several times within one batch is written once; watchers still see each version. Bodies
 * are stored once per distinct content.
 *
 * Batching: while a commit runs, later turns gather in the next batch. When nobody is in a hurry a
 * batch also waits up to `max_delay_ms` for company, or `idle_delay_ms` while no task waits for it:
 * a pod that runs for less is then one row written, not two. store_hurry commits at once. Rules
 * D-01…D-07; DC-11; DC-18.
 */
#include "api/types/object.h"
#include "base/loop.h"

struct store;

enum store_sync {
    STORE_SYNC_FULL,   /* default: what was acknowledged survives power loss */
    STORE_SYNC_NORMAL, /* loses acknowledged writes on power loss, never on a crash of the process
                        */
};

struct store_options {
    const char *directory; /* data directory; created 0700; NULL = memory only (tests): commits are
                              instant but still asynchronous */
    enum store_sync sync;
    int64_t
        max_delay_ms; /* longest wait of an unhurried batch; 0 = commit at the end of each turn */
    int64_t idle_delay_ms; /* the same of a batch that nobody asked to be told of; 0 = no longer */
    int64_t watch_window;  /* changes kept for resuming watches (L-28); 0 = 10,000 */
    bool read_only;        /* open for looking: takes no lock, writes nothing */
    bool few_only;         /* … at the kinds of which there are few (kind.few) */
    const char *name_only; /* … or at the others of this name, and of names that begin with it and
                              a dash; NULL. Used while opening only */
};

/**
 * Open or create the store and load every object. Takes the directory's lock (D-06). Errors:
 * CONFLICT when another process holds it (message: its pid), STORAGE when the files are damaged or
 * too new (message: file and way out), INTERNAL.
 */
struct store *store_open(struct loop *loop, const struct store_options *options, struct error *err);

/** Commit what is pending, close, release the lock, free. Blocks for the last commit. NULL is fine.
 */
void store_close(struct store *store);

/* ---- head: accepted state; borrowed until the caller returns to the loop ---- */
const struct object *store_get(const struct store *store, const struct kind *kind, const char *ns,
                               const char *name);
const struct object *store_get_uid(const struct store *store, const char *uid);
void store_each(const struct store *store, const struct kind *kind, const char *ns /* NULL = all */,
                void (*visit)(void *arg, const struct object *object), void *arg);
/** Objects of any kind (kind NULL) that name `owner_uid` in an owner reference; O(their number). */
void store_each_owned(const struct store *store, const struct kind *kind, const char *owner_uid,
                      void (*visit)(void *arg, const struct object *object), void *arg);
/** The first of them for which `matches` (NULL: any) holds, in the order they came; NULL = none. */
const struct object *store_find_owned(const struct store *store, const char *owner_uid,
                                      bool (*matches)(void *arg, const struct object *object),
                                      void *arg);
size_t store_count(const struct store *store, const struct kind *kind, const char *ns);
int64_t store_revision(const struct store *store); /* newest accepted */
int64_t store_durable_revision(const struct store *store);

/** Objects of a kind in namespace/name order, from after `after` ("ns/name" or NULL), at most
 * `limit`. Returns the count put into `out` (references). */
size_t store_page(struct store *store, const struct kind *kind, const char *ns, const char *after,
                  size_t limit, struct object **out);

/* ---- change ---- */
/** Put a new or changed object (consumed); gives it the next revision and, when new, a row. Returns
 * the stored object, borrowed. */
const struct object *store_put(struct store *store, struct object *object);
/** Remove; the deletion has its own revision. `object` may be any version of it. */
void store_delete(struct store *store, const struct object *object);

/* Accepted changes, delivered as a posted task in order. For controllers (through the cluster
 * interface). */
enum store_change { STORE_ADDED, STORE_MODIFIED, STORE_DELETED };
struct store_listener {
    void (*changed)(struct store_listener *listener, enum store_change change,
                    const struct object *old, const struct object *object);
    struct store_listener *next; /* private */
};
void store_listen(struct store *store, struct store_listener *listener);
void store_unlisten(struct store *store, struct store_listener *listener);

/* ---- durability ---- */
void store_when_durable(struct store *store,
                        struct task *task); /* posts it once all accepted so far is committed */
void store_forget(struct store *store, struct task *task); /* whoever asked goes away */
void store_hurry(struct store *store); /* somebody idle waits for the pending batch */
/**
 * One of many waits for it, and asks for more when he is answered. Behind a commit that took long,
 * the next one waits a part of that time for those whom it has answered: else they and those who
 * came meanwhile would take turns, half of them in each commit.
 */
void store_hurry_together(struct store *store);
/** Whether writes other than deletes are taken now. STORAGE while the disk is full (D-08), INTERNAL
 * after a commit failed (D-04), FORBIDDEN when opened for looking. The registry asks before it
 * changes anything. */
bool store_writable(const struct store *store, struct error *err);
/**
 * A consistent copy of the database in the file `path` (made anew, 0600), while writes go on
 * (D-05). It holds everything durable when this was called. `done` runs once on the loop, with what
 * went wrong or NULL. False with CONFLICT while another copy is made, NOT_IMPLEMENTED for a store
 * in memory.
 */
bool store_copy(struct store *store, const char *path,
                void (*done)(void *ctx, const struct error *err), void *ctx, struct error *err);
/** `done` will not be called; the file may be left. */
void store_copy_cancel(struct store *store);
/** A commit failed for good (D-04): called once, on the loop; the process must report and exit. */
void store_on_failure(struct store *store, void (*failed)(void *ctx, const struct error *err),
                      void *ctx);

struct store_stats {
    uint64_t commits, rows_written, changes, bytes_bound;           /* since open */
    uint64_t objects, bodies, body_bytes, meta_bytes, status_bytes; /* in memory now */
};
void store_stats(const struct store *store, struct store_stats *out);

/* ---- watch: durable changes only, in order, without gaps (INV-S5) ---- */
struct store_watch;
struct store_watch_options {
    const struct kind *kind;
    const char *ns;         /* NULL = all; copied */
    int64_t since_revision; /* deliver changes after it; -1 = from the durable head */
    /** old: the previous version when it is known (for selector transitions), else NULL. Return
     * false to end the watch. */
    bool (*changed)(void *ctx, enum store_change change, const struct object *old,
                    const struct object *object);
    void *ctx;
};
/** NULL with GONE when `since_revision` is older than the window. */
struct store_watch *store_watch_open(struct store *store, const struct store_watch_options *options,
                                     struct error *err);
void store_watch_close(struct store_watch *watch); /* no call after it */
