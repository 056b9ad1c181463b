#pragma once
/*
 * One write on its way to the server. The functions of writes.h make it, request.h turns it into a
 * request, and outcome.h interprets the answer.
 */
#include <sys/queue.h>

#include "api/client/remote.h"
#include "api/cluster.h"

enum write_verb { WRITE_CREATE, WRITE_UPDATE, WRITE_STATUS, WRITE_REMOVE };

/* Writes of one turn leave in this order. */
enum write_class { CLASS_FIRST, CLASS_CREATE, CLASS_UPDATE, CLASS_EVENT, WRITE_CLASS_N };

enum write_step {
    STEP_QUEUED,   /* waits for its turn */
    STEP_SENT,     /* the request is under way */
    STEP_READING,  /* the object is read, to find out what has happened */
    STEP_REMOVING, /* an earlier incarnation of the object is removed */
    STEP_PAUSED,   /* waits before it is tried again */
    STEP_ENDED,    /* waits until its end is reported */
};

struct write_chains;
struct write_chain;
struct write_root;

struct write {
    struct write_chains *writes;
    struct cluster_call *call; /* NULL when no caller waits for the end */
    enum write_verb verb;
    enum write_class class;
    enum write_step step;
    const struct kind *kind;
    char *ns, *name;
    char *uid;             /* precondition; NULL: none */
    int64_t revision;      /* precondition; 0: none */
    struct object *object; /* the object to create or the updated version; for a status write, the
                            * version it was decided on; NULL: the write is a removal */
    struct object *base;   /* the version that an update was decided on; NULL: unknown */
    struct blob *status;
    int64_t grace_s;
    enum cluster_propagation propagation;
    /* The request. */
    struct remote_call http;
    struct buf path, body;
    json_t *patch; /* the merge patch of an update; NULL: not made yet */
    struct timer pause;
    int64_t began_ns;      /* when the write was first sent; 0: it was not sent */
    int64_t sent_ns;       /* when the current request was sent */
    unsigned failures;     /* transient failures in a row */
    bool resent;           /* the write was sent again after its outcome was unknown */
    bool lost;             /* the read finds out what a request without an answer has done */
    bool clearing;         /* waits for the end of an earlier incarnation */
    struct error refusal;  /* what is reported when the read has ended */
    struct error *err;     /* error to report once the write has ended; NULL: none */
    struct object *result; /* object to report once the write has ended */
    struct write_chain *chain;
    struct write_root *root;
    STAILQ_ENTRY(write) in_chain; /* element of the writes to one object, in order */
    TAILQ_ENTRY(write) ready;     /* element of the writes of one root and class that may be sent */
    STAILQ_ENTRY(write) ended;
};
