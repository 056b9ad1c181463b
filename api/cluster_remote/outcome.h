#pragma once
/*
 * Decides what the answer to a write means, and what is to be done when there was no answer.
 *
 * The functions are pure: they get the answer, or the object that was found, and return the
 * outcome. Ref: spec/cluster.md 2.8.
 */
#include "api/cluster_remote/write.h"
#include "base/buf.h"

enum outcome {
    OUTCOME_DONE,
    OUTCOME_EXISTS,    /* an object of this name exists */
    OUTCOME_CONFLICT,  /* the object has changed since the decision */
    OUTCOME_NOT_FOUND, /* the object does not exist, or the namespace of a new one */
    OUTCOME_REFUSED,   /* the same request would be refused again */
    OUTCOME_TRANSIENT, /* nothing has changed; the request can be sent again */
    OUTCOME_UNKNOWN,   /* the write may or may not have happened */
};

/* The answer to a write. */
struct outcome_answer {
    int status;             /* HTTP status; 0 when there was no answer */
    bool sent;              /* the server may have received the request */
    const struct buf *text; /* the body; a Status when the server has refused the request */
};

/** Returns the outcome of a write. When it is not OUTCOME_DONE, `err` gets the code and the text
 * for the controller. `why_none` says why there was no answer; NULL when there was one. */
enum outcome outcome_of(enum write_verb verb, const struct outcome_answer *answer,
                        const struct error *why_none, struct error *err);

enum resolution {
    RESOLVED_DONE,     /* the write has happened */
    RESOLVED_AGAIN,    /* the write has not happened and is to be sent again */
    RESOLVED_EXISTS,   /* the name is taken by an object of another owner */
    RESOLVED_CONFLICT, /* another write came first */
    RESOLVED_OLDER,    /* the name is taken by an earlier incarnation of what is to be created */
};

/** Compares what a write wanted with the object that a read has found, or with NULL when it has
 * found none. */
enum resolution outcome_resolve(const struct write *write, const struct object *found);

/** Returns RESOLVED_DONE when `found` is what the create of `draft` makes: both have the same
 * controller and the same mark of their incarnation, which is the attempt of a Job or the version
 * of a pod. Returns RESOLVED_OLDER for an earlier incarnation of the same controller, and
 * RESOLVED_EXISTS for any other object. */
enum resolution outcome_adopt(const struct object *draft, const struct object *found);
