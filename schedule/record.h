#pragma once
/*
 * What the controllers of CronJobs and of FlowTriggers keep for each of their objects.
 *
 * A record is found by the uid of its object. When the object is gone, the record stays until its
 * last write in flight has been answered, because the answer refers to it. The structs are members
 * of those of a controller.
 */
#include "api/cluster.h"
#include "base/collections/hash.h"
#include "schedule/timetable.h"

struct schedule_record {
    struct schedule_records *all;
    struct timetable_entry entry; /* the time at which the object is looked at next */
    struct task task;             /* the sync that was asked for */
    char *namespace, *name, *uid;
    unsigned calls; /* writes in flight */
    bool dropped;   /* the object is gone */
    UT_hash_handle hh;
};

struct schedule_ops {
    const struct kind *kind;
    /** Looks at the object: a sync was asked for, or its time has come. */
    void (*sync)(struct schedule_record *record);
    void (*due)(struct schedule_record *record);
    /** A write of the status has failed, and the object still exists. */
    void (*failed)(struct schedule_record *record);
    /** Frees the struct of which the record is a member. */
    void (*free)(struct schedule_record *record);
    /** The records are closed, and no write is in flight: frees the controller. */
    void (*closed)(struct schedule_records *records);
};

struct schedule_records {
    const struct schedule_ops *ops;
    struct cluster *cluster;
    struct timetable *timetable;
    struct schedule_record *first; /* hash table by uid */
    unsigned calls;
    bool closing;
};

void schedule_records_open(struct schedule_records *records, const struct schedule_ops *ops,
                           struct cluster *cluster);
/** Drops all records. ops->closed is called when the last write in flight has been answered. */
void schedule_records_close(struct schedule_records *records);

/** Returns the record of the object with this uid, NULL when there is none. */
struct schedule_record *schedule_record_find(const struct schedule_records *records,
                                             const char *uid);
/** Adds a zeroed record for an object that has none. */
void schedule_record_add(struct schedule_records *records, struct schedule_record *record,
                         const struct object *object);
/** Forgets a record. ops->free is called when its last write in flight has been answered. */
void schedule_record_drop(struct schedule_record *record);

/** Asks for one sync, later in this turn. */
void schedule_record_sync_soon(struct schedule_record *record);
/** Wakes the record at a time of the wall clock, instead of the time set before. */
void schedule_record_wake(struct schedule_record *record, int64_t at_ms);
void schedule_record_never_wake(struct schedule_record *record);
int64_t schedule_record_now_ms(const struct schedule_record *record);
/** Returns the object as it is stored, borrowed; NULL when it is gone. */
const struct object *schedule_record_object(const struct schedule_record *record);

/** Keeps the record until schedule_record_call_ended. It is called with each write. */
void schedule_record_call_begun(struct schedule_record *record);
/** Is called with the answer to the write. Returns whether the object still exists; otherwise the
 * record may have been freed. */
bool schedule_record_call_ended(struct schedule_record *record);

/** Returns whether an object has this status already. An absent status equals an empty one. */
bool schedule_has_status(const struct object *object, const struct blob *status);
/** Writes a status (consumed). */
void schedule_record_put_status(struct schedule_record *record, const struct object *object,
                                struct blob *status);
