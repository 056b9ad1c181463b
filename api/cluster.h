#pragma once
/*
 * The cluster as controllers see it: cached reads, asynchronous writes and change events. The
 * packages flow, template, probes, job and node use no other access to the cluster. The
 * implementation may be the embedded store, a kube-apiserver or a wrapper that injects faults in
 * tests; a controller cannot tell them apart.
 *
 * Reads come from a cache on the loop. They do no I/O, and their results are borrowed until the
 * caller returns to the loop. A controller's own write is in the cache at the latest when its event
 * is delivered; it may be there when the call returns. Each write names the uid and the revision it
 * expects, so that a stale decision fails with CONFLICT or NOT_FOUND instead of doing harm.
 *
 * A write is *accepted* when `done` runs without error: it has its place in the order of writes and
 * every controller sees it. It is *durable* when cluster_when_durable reports it, after the commit
 * to disk. Controllers act on accepted state, because their later writes are ordered behind it in
 * the same log. Effects outside the process (starting a program, answering a request, printing a
 * line) must wait until the state behind them is durable.
 */
#include "api/types/object.h"
#include "base/loop/loop.h"

struct cluster;
struct cluster_call;
struct cluster_watcher;

/** Reports the end of a write, once, on the loop, never inside the submitting call. `result`
 * (borrowed) is the object as stored; it is NULL after a removal and when `err` is set. */
typedef void (*cluster_done_fn)(struct cluster_call *call, const struct object *result,
                                const struct error *err);

struct cluster_call {
    cluster_done_fn done;
    void *backend[4]; /* private to the implementation of the cluster */
};

enum cluster_propagation { PROPAGATE_BACKGROUND, PROPAGATE_FOREGROUND, PROPAGATE_ORPHAN };

struct cluster_removal {
    const char *uid;  /* precondition; NULL = any */
    int64_t revision; /* precondition; 0 = any */
    int64_t grace_s;  /* grace period of the deletion; -1 = the object's own */
    enum cluster_propagation propagation;
};

/* A request to read all objects of a kind with a label from the server once more. The struct is a
 * member of a struct of the caller, which finds its own by container_of. */
struct cluster_refresh {
    const struct kind *kind;
    const char *ns;            /* namespace of the objects */
    const char *label, *value; /* label that the objects have, and its value */
    /** The objects are in the cache as they are stored now. Runs on the loop, never inside
     * cluster_refresh_start. */
    void (*done)(struct cluster_refresh *refresh);
    void *backend; /* private to the implementation of the cluster */
};

enum cluster_change { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_DELETED };

/* Receives changes on the loop in the order of the writes. `old` is NULL on ADDED; on DELETED
 * `object` is the last state. Both are borrowed. */
struct cluster_watcher {
    void (*changed)(struct cluster_watcher *watcher, enum cluster_change change,
                    const struct object *old, const struct object *object);
    const struct kind *kind;
    struct cluster_watcher *next; /* private to this module */
};

struct cluster_ops {
    const struct object *(*get)(struct cluster *c, const struct kind *kind, const char *ns,
                                const char *name);
    /* `ns` NULL: all namespaces. */
    void (*each)(struct cluster *c, const struct kind *kind, const char *ns,
                 void (*visit)(void *arg, const struct object *object), void *arg);
    void (*each_owned)(struct cluster *c, const struct kind *kind, const char *owner_uid,
                       void (*visit)(void *arg, const struct object *object), void *arg);

    void (*create)(struct cluster *c, struct cluster_call *call, struct object *draft);
    void (*update)(struct cluster *c, struct cluster_call *call, struct object *object);
    void (*update_status)(struct cluster *c, struct cluster_call *call, const struct object *object,
                          struct blob *status);
    void (*remove)(struct cluster *c, struct cluster_call *call, const struct kind *kind,
                   const char *ns, const char *name, const struct cluster_removal *how);

    void (*watch)(struct cluster *c, struct cluster_watcher *watcher);
    void (*unwatch)(struct cluster *c, struct cluster_watcher *watcher);
    void (*when_durable)(struct cluster *c, struct task *task);
    void (*forget)(struct cluster *c, struct task *task);
    /* Both NULL: the cache shows what is stored, and one kind is never behind another. */
    void (*refresh)(struct cluster *c, struct cluster_refresh *refresh);
    void (*refresh_cancel)(struct cluster *c, struct cluster_refresh *refresh);
    void (*hurry)(struct cluster *c); /* asks for an early commit; may be NULL */
};

struct cluster {
    const struct cluster_ops *ops;
    struct loop *loop;
    struct event_recorder *events; /* private to api/events.c */
    const char *event_component;   /* component that all Events name; NULL: the component
                                    * that cluster_event is given */
    bool
        events_unseen; /* Events are not in the cache: their counts are kept in memory and patched */
};

/* The objects that the following functions return are borrowed until the caller returns to the
 * loop. */
static inline const struct object *cluster_get(struct cluster *c, const struct kind *kind,
                                               const char *ns, const char *name)
{
    return c->ops->get(c, kind, ns, name);
}
static inline void cluster_each(struct cluster *c, const struct kind *kind, const char *ns,
                                void (*visit)(void *arg, const struct object *object), void *arg)
{
    c->ops->each(c, kind, ns, visit, arg);
}
/** Visits the objects of `kind` that name `owner_uid` in any owner reference. O(their number). */
static inline void cluster_each_owned(struct cluster *c, const struct kind *kind,
                                      const char *owner_uid,
                                      void (*visit)(void *arg, const struct object *object),
                                      void *arg)
{
    c->ops->each_owned(c, kind, owner_uid, visit, arg);
}

/* Writes. `call` stays alive until `done`. It may be NULL: a failure is then only logged. */

/** Creates an object; `draft` is consumed and may use generate_name. Errors: EXISTS, INVALID,
 * FORBIDDEN and others of the API. */
static inline void cluster_create(struct cluster *c, struct cluster_call *call,
                                  struct object *draft)
{
    c->ops->create(c, call, draft);
}
/** Replaces metadata and body with those of `object` (consumed). Its uid is always a precondition,
 * its revision unless 0. Errors: CONFLICT, NOT_FOUND, INVALID. */
static inline void cluster_update(struct cluster *c, struct cluster_call *call,
                                  struct object *object)
{
    c->ops->update(c, call, object);
}
/** Replaces the status only; `status` is consumed. `object` (borrowed) gives the identity and the
 * preconditions: its uid always, its revision unless 0. */
static inline void cluster_update_status(struct cluster *c, struct cluster_call *call,
                                         const struct object *object, struct blob *status)
{
    c->ops->update_status(c, call, object, status);
}
/** Deletes with the semantics of the API: an object with finalizers or a pod grace period first
 * only gets a deletion timestamp. Errors: NOT_FOUND, CONFLICT. */
static inline void cluster_remove(struct cluster *c, struct cluster_call *call,
                                  const struct kind *kind, const char *ns, const char *name,
                                  const struct cluster_removal *how)
{
    c->ops->remove(c, call, kind, ns, name, how);
}

/** Starts a watch. It delivers every existing object as ADDED, asynchronously, and then every
 * change. An object that is deleted before that is delivered as ADDED and then as DELETED, so a
 * watcher that has read existing objects with cluster_each misses no deletion. */
static inline void cluster_watch(struct cluster *c, struct cluster_watcher *watcher)
{
    c->ops->watch(c, watcher);
}
static inline void cluster_unwatch(struct cluster *c, struct cluster_watcher *watcher)
{
    c->ops->unwatch(c, watcher);
}
/** Posts `task` to the loop once every write accepted so far is durable. */
static inline void cluster_when_durable(struct cluster *c, struct task *task)
{
    c->ops->when_durable(c, task);
}
/** Cancels cluster_when_durable for `task`: it does not run any more. */
static inline void cluster_forget(struct cluster *c, struct task *task)
{
    c->ops->forget(c, task);
}
/** Returns whether objects of one kind may be seen later than those of another that were stored after
 * them. */
static inline bool cluster_may_lag(const struct cluster *c)
{
    return c->ops->refresh;
}
/** Reads a collection anew, of a cluster that may lag. `refresh` stays alive until `done` or
 * cluster_refresh_cancel; its strings are borrowed as long. */
static inline void cluster_refresh_start(struct cluster *c, struct cluster_refresh *refresh)
{
    c->ops->refresh(c, refresh);
}
/** Cancels a refresh that has been started and has not ended. */
static inline void cluster_refresh_cancel(struct cluster *c, struct cluster_refresh *refresh)
{
    c->ops->refresh_cancel(c, refresh);
}
/** Requests an immediate commit of the pending writes. For callers that are idle until the writes
 * are durable, such as a free slot that waits for a start intent. */
static inline void cluster_hurry(struct cluster *c)
{
    if (c->ops->hurry)
        c->ops->hurry(c);
}

/* Kubernetes Events (api/events.c). Repeated events raise a count instead of adding objects (L-40).
 */
enum event_type { EVENT_NORMAL, EVENT_WARNING };
/** Records an Event about `about` (borrowed). It never fails and never blocks. An event equal to an
 * earlier one raises the count of that one; above the rate limit, events about one object are
 * combined. */
void cluster_event(struct cluster *c, const struct object *about, enum event_type type,
                   const char *reason, const char *component, const char *format, ...)
    PRINTF_LIKE(6, 7);
/** Frees the event recorder. A backend calls it before it frees the cluster. */
void cluster_events_release(struct cluster *c);
