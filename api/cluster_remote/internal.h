#pragma once
/*
 * The parts of the write pipeline: writes.c takes and ends writes, write_queue.c decides which is
 * sent next, write_answer.c sends them and interprets the answers.
 */
#include "api/cluster_remote/in_flight_limit.h"
#include "api/cluster_remote/terminating_namespaces.h"
#include "api/cluster_remote/write_chains.h"
#include "base/collections/hash.h"

/* The writes to one object. The first is at work or ready. */
struct write_chain {
    UT_hash_handle hh; /* hash table by kind and name */
    STAILQ_HEAD(, write) writes;
    int64_t answered; /* revision of the object in the last answer; 0 = none */
    char key[];
};

/* The ready writes of one root. */
struct write_root {
    UT_hash_handle hh; /* hash table by key */
    TAILQ_HEAD(ready_list, write) ready[WRITE_CLASS_N];
    size_t count;
    unsigned credit; /* requests left in the present turn */
    TAILQ_ENTRY(write_root) turn;
    char key[];
};

struct write_chains {
    struct write_chains_options options;
    struct write_chain *chains;
    struct write_root *roots;
    TAILQ_HEAD(, write_root) turns; /* roots with ready writes, in the order of their turns */
    struct ready_list events;       /* ready writes of Events, of all roots */
    struct in_flight_limit in_flight_limit;
    struct terminating_namespaces terminating;
    unsigned in_flight, events_in_flight;
    struct task pump;   /* sends the writes that may be sent */
    struct task report; /* reports writes that ended without an answer */
    STAILQ_HEAD(, write) ended;
    const char *fenced;    /* reason why no write leaves; NULL when writes may leave */
    bool seen[KIND_ALL_N]; /* an object of the kind was created by this process */
    struct write_chains_stats stats;
};

/* Defined in writes.c. */

/** Ends a write whose answer has come: reports it and lets the next write of its object go on.
 * `err` and `result` are borrowed; one of them may be NULL. */
void write_end(struct write *write, const struct object *result, const struct error *err);
/** Ends a write from a task, so that it is safe inside a call of a controller. */
void write_end_soon(struct write *write, const struct object *result, const struct error *err);

/* Defined in write_queue.c. */

/** Puts the write into the queue of its root. */
void write_queue_add(struct write *write);
void write_queue_remove(struct write *write); /* no-op for a write that is not in a queue */
/** Notes that a request of the write has ended. */
void write_queue_answered(struct write *write);
/** Runs the queue from a task. */
void write_queue_run(struct task *task);

/* Defined in write_answer.c. */

/** Sends the write's request; called by the queue. */
void write_send(struct write *write);
/** Stops what is under way for the write, without a report. */
void write_cancel(struct write *write);
