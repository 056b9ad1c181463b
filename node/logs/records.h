#pragma once
/*
 * The records of kept logs: how much space each takes, in which state its PodLog is, and which logs
 * are dropped when there are too many.
 *
 * A record is in two lists in the order in which the pods went: that of its owner (a flow, or a job
 * without a flow) and that of the node.
 *
 *   CREATING ─► KEPT ─► LEAVING ─► GONE: files removed
 *      └─ disk full: created later
 */
#include <sys/queue.h>

#include "api/cluster.h"
#include "api/types/kinds/pod/pod_log.h"
#include "base/collections/hash.h"
#include "node/logs/keeper.h"

enum log_state {
    LOG_CREATING, /* the PodLog is to be created */
    LOG_KEPT,
    LOG_LEAVING, /* the PodLog is to be deleted, and the log counts no more */
    LOG_GONE,    /* the PodLog is deleted, and the record ends with the call in flight */
};

struct log_owner {
    UT_hash_handle hh; /* links the owners in a hash table by uid */
    TAILQ_HEAD(log_owner_records, log_record) records;
    size_t count;
    int64_t bytes;
    char uid[];
};

struct log_record {
    UT_hash_handle hh; /* links the records in a hash table by the uid of their pod */
    TAILQ_ENTRY(log_record) of_owner, of_all;
    struct log_records *all;
    struct log_owner *owner; /* owner of the log; NULL once the record is LEAVING or GONE */
    enum log_state state;
    bool in_flight; /* a call for this record is in flight; there is at most one */
    bool complete;
    int64_t bytes;
    struct object *draft;  /* the PodLog while the record is CREATING */
    struct blob *to_write; /* the status of a complete log that is not stored yet; or NULL */
    struct cluster_call call;
    char *ns, *name, *pod; /* namespace and name of the PodLog; name of the pod */
    char uid[37];
};

struct log_records {
    struct cluster *cluster;
    struct runtime *runtime;
    struct log_limits limits;
    struct log_record *by_uid;
    struct log_owner *owners;
    TAILQ_HEAD(all_log_records, log_record) oldest_first;
    size_t count;
    int64_t bytes;
    struct timer retry;
    struct buf doomed, removing; /* uids of pods whose files are to be removed, each ended by a
                                  * NUL */
    struct task remove;          /* runs when the deletions of `removing` are durable */
    size_t calls;                /* number of calls in flight; the last one frees stopped records */
    bool stopped;
};

struct log_records *log_records_new(struct cluster *cluster, struct runtime *runtime,
                                    const struct log_limits *limits);
/** Stops the records. They are freed once no call is in flight. */
void log_records_stop(struct log_records *records);

struct log_record *log_records_find(const struct log_records *records, const char *uid);
/** Adds a PodLog that is stored, and drops logs beyond the limits. */
void log_records_add(struct log_records *records, const struct object *log);
/** Creates a PodLog from `draft`, which is freed, and drops logs beyond the limits. */
void log_records_create(struct log_records *records, struct object *draft);
/** Stores the status of a log that has become complete, and drops logs beyond the limits. `status`
 * is freed. */
void log_record_complete(struct log_record *record, int64_t bytes, struct blob *status);
/** Returns what the PodLog says: the stored one, or the draft. Returns NULL when the log is
 * leaving. Borrowed. */
const struct pod_log *log_record_facts(const struct log_record *record);
/** Deletes the PodLog, and its files unless the pod still exists. */
void log_record_drop(struct log_record *record);
/** Handles the deletion of a PodLog: removes its files unless the pod still exists. */
void log_record_deleted(struct log_record *record);
