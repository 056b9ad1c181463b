#pragma once
/*
 * The cluster as controllers see it: cached reads, asynchronous writes, change events. The only
 * thing flow, template, probes, job and node know about the world; whether it is the embedded
 * store, a real kube-apiserver or a test's faulty wrapper cannot be told from here.
 *
 * Reads come from a cache on the loop: free of I/O, borrowed until the caller returns to the loop.
 * A controller's own write may or may not be in the cache when the call returns; it is there at the
 * latest when the corresponding event is delivered. Each write names what it expects (uid,
 * revision), so that a stale decision fails with CONFLICT or NOT_FOUND instead of doing harm.
 *
 * Accepted and durable. A write is *accepted* when `done` runs without error: it is ordered,
 * visible to every controller, and everything decided from it is ordered behind it. It is *durable*
 * when cluster_when_durable says so. Controllers act on accepted state, for whatever they write
 * lands behind it in the same log; nothing may leave the process (a started program, an answer, a
 * line on the terminal) before it is durable.
 */
#include "api/types/object.h"
#include "base/loop.h"

struct cluster;
struct cluster_call;
struct cluster_watcher;

/** `result` (borrowed) is the object as stored; NULL for a removal, or with `err`. Runs once, on
 * the loop, never inside the submitting call. */
typedef void (*cluster_done_fn)(struct cluster_call *call, const struct object *result,
                                const struct error *err);

struct cluster_call {
    cluster_done_fn done;
    void *backend[4]; /* private to the backend */
};

enum cluster_propagation { PROPAGATE_BACKGROUND, PROPAGATE_FOREGROUND, PROPAGATE_ORPHAN };

struct cluster_removal {
    const char *uid;  /* precondition; NULL = any */
    int64_t revision; /* precondition; 0 = any */
    int64_t grace_s;  /* -1 = the object's own */
    enum cluster_propagation propagation;
};

enum cluster_change { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_DELETED };

/* Delivered on the loop in the order of the writes. `old` is NULL on ADDED; on DELETED `object` is
 * the last state. Both borrowed. */
struct cluster_watcher {
    void (*changed)(struct cluster_watcher *watcher, enum cluster_change change,
                    const struct object *old, const struct object *object);
    const struct kind *kind;
    struct cluster_watcher *next; /* private */
};

struct cluster_ops {
    const struct object *(*get)(struct cluster *c, const struct kind *kind, const char *ns,
                                const char *name);
    void (*each)(struct cluster *c, const struct kind *kind, const char *ns /* NULL = all */,
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
    void (*hurry)(struct cluster *c); /* may be NULL */
};

struct cluster {
    const struct cluster_ops *ops;
    struct loop *loop;
    struct event_recorder *events; /* private to api/events.c */
};

/* ---- reads: borrowed until the caller returns to the loop ---- */
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
/** Objects of `kind` that name `owner_uid` in any owner reference. Cost: the number of them. */
static inline void cluster_each_owned(struct cluster *c, const struct kind *kind,
                                      const char *owner_uid,
                                      void (*visit)(void *arg, const struct object *object),
                                      void *arg)
{
    c->ops->each_owned(c, kind, owner_uid, visit, arg);
}

/* ---- writes. `call` may be NULL: a failure is then logged and forgotten. Otherwise it stays alive
 * until `done`. ---- */

/** Create; `draft` is consumed. EXISTS, INVALID, FORBIDDEN, … . A draft may use generate_name. */
static inline void cluster_create(struct cluster *c, struct cluster_call *call,
                                  struct object *draft)
{
    c->ops->create(c, call, draft);
}
/** Replace metadata and body; consumed. object->revision is the precondition (0 = none); uid always
 * is. CONFLICT, NOT_FOUND, INVALID. */
static inline void cluster_update(struct cluster *c, struct cluster_call *call,
                                  struct object *object)
{
    c->ops->update(c, call, object);
}
/** Replace the status only (`status` consumed). Identity and precondition come from `object`
 * (borrowed): uid always, revision unless 0. */
static inline void cluster_update_status(struct cluster *c, struct cluster_call *call,
                                         const struct object *object, struct blob *status)
{
    c->ops->update_status(c, call, object, status);
}
/** Delete as the API does: finalizers and pod grace periods first set the deletion mark. NOT_FOUND,
 * CONFLICT. */
static inline void cluster_remove(struct cluster *c, struct cluster_call *call,
                                  const struct kind *kind, const char *ns, const char *name,
                                  const struct cluster_removal *how)
{
    c->ops->remove(c, call, kind, ns, name, how);
}

/* ---- changes ---- */

/** Every existing object is delivered as ADDED first (asynchronously), then every change. */
static inline void cluster_watch(struct cluster *c, struct cluster_watcher *watcher)
{
    c->ops->watch(c, watcher);
}
static inline void cluster_unwatch(struct cluster *c, struct cluster_watcher *watcher)
{
    c->ops->unwatch(c, watcher);
}
/** Run `task` on the loop once everything accepted so far is durable. */
static inline void cluster_when_durable(struct cluster *c, struct task *task)
{
    c->ops->when_durable(c, task);
}
/** Whoever asked goes away: `task` does not run any more. */
static inline void cluster_forget(struct cluster *c, struct task *task)
{
    c->ops->forget(c, task);
}
/** Somebody has nothing to do until what is pending is durable (a free slot waits for a start
 * intent): do not let it wait for company. */
static inline void cluster_hurry(struct cluster *c)
{
    if (c->ops->hurry)
        c->ops->hurry(c);
}

/* ---- api/events.c: Kubernetes Events, counted instead of repeated (L-40) ---- */
enum event_type { EVENT_NORMAL, EVENT_WARNING };
/** Tell people what happened to `about` (borrowed). Never fails and never waits: an event that says
 * nothing new raises the count of the one before; too many about one object are told as one. */
void cluster_event(struct cluster *c, const struct object *about, enum event_type type,
                   const char *reason, const char *component, const char *format, ...)
    PRINTF_LIKE(6, 7);
/** For backends: before the cluster goes. */
void cluster_events_release(struct cluster *c);
