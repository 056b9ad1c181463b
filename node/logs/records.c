/*
 * Counts the records of kept logs, and makes the calls that their PodLogs need. push() makes the
 * next call when the last one is answered.
 */
#include "node/logs/records.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/log.h"
#include "base/mem.h"

enum { RETRY_MS = 1000 };

struct log_record *log_records_find(const struct log_records *records, const char *uid)
{
    struct log_record *record;

    HASH_FIND_STR(records->by_uid, uid, record);
    return record;
}

static struct log_owner *owner_by_uid(struct log_records *records, const char *uid)
{
    size_t len = strlen(uid);
    struct log_owner *owner;

    HASH_FIND_STR(records->owners, uid, owner);
    if (owner)
        return owner;
    owner = mem_alloc(sizeof *owner + len + 1);
    memcpy(owner->uid, uid, len + 1);
    TAILQ_INIT(&owner->records);
    HASH_ADD_KEYPTR(hh, records->owners, owner->uid, len, owner);
    return owner;
}

static void count_in(struct log_record *record, const char *owner_uid)
{
    struct log_records *all = record->all;
    struct log_owner *owner = owner_by_uid(all, owner_uid);

    record->owner = owner;
    TAILQ_INSERT_TAIL(&owner->records, record, of_owner);
    TAILQ_INSERT_TAIL(&all->oldest_first, record, of_all);
    owner->count++;
    all->count++;
    owner->bytes += record->bytes;
    all->bytes += record->bytes;
}

static void count_out(struct log_record *record)
{
    struct log_records *all = record->all;
    struct log_owner *owner = take(record->owner);

    if (!owner)
        return;
    TAILQ_REMOVE(&owner->records, record, of_owner);
    TAILQ_REMOVE(&all->oldest_first, record, of_all);
    owner->bytes -= record->bytes;
    all->bytes -= record->bytes;
    all->count--;
    if (--owner->count)
        return;
    HASH_DEL(all->owners, owner);
    mem_free(owner);
}

static struct log_record *record_new(struct log_records *records, const struct object *log)
{
    const struct pod_log *facts = pod_log_of(log);
    struct log_record *record = mem_alloc(sizeof *record);

    record->all = records;
    record->state = LOG_KEPT;
    record->complete = facts->complete;
    record->bytes = facts->bytes;
    record->ns = mem_strdup(object_namespace(log));
    record->name = mem_strdup(object_name(log));
    record->pod = mem_strdup(facts->pod ? facts->pod : "");
    strncpy(record->uid, facts->uid, sizeof record->uid - 1);
    HASH_ADD_STR(records->by_uid, uid, record);
    count_in(record, log->meta->n_owners ? log->meta->owners[0].uid : "");
    return record;
}

static void record_free(struct log_record *record)
{
    count_out(record);
    HASH_DEL(record->all->by_uid, record);
    object_unref(record->draft);
    blob_unref(record->to_write);
    mem_free(record->ns);
    mem_free(record->name);
    mem_free(record->pod);
    mem_free(record);
}

static void remove_doomed(struct log_records *records)
{
    if (records->removing.len || !records->doomed.len)
        return;
    records->removing = records->doomed;
    records->doomed = (struct buf){0};
    cluster_when_durable(records->cluster, &records->remove);
}

static void on_durable(struct task *task)
{
    struct log_records *records = container_of(task, struct log_records, remove);
    const char *uid = records->removing.data, *end = uid + records->removing.len;

    for (; uid < end; uid += strlen(uid) + 1)
        records->runtime->ops->purge(records->runtime, uid);
    buf_release(&records->removing);
    remove_doomed(records);
}

/* Marks the files of a log for removal once the deletion is durable. The files of a pod that still
 * exists are left to the kubelet. */
static void doom_files(const struct log_record *record)
{
    struct log_records *all = record->all;
    const struct object *pod = cluster_get(all->cluster, &kind_pod, record->ns, record->pod);

    if (pod && strcmp(object_uid(pod), record->uid) == 0)
        return;
    buf_add(&all->doomed, record->uid, strlen(record->uid) + 1);
    remove_doomed(all);
}

static void set_gone(struct log_record *record)
{
    if (record->state == LOG_GONE)
        return;
    count_out(record);
    record->state = LOG_GONE;
    doom_files(record);
}

static void records_free(struct log_records *records)
{
    struct log_record *record, *next;

    HASH_ITER(hh, records->by_uid, record, next)
    record_free(record);
    buf_release(&records->doomed);
    buf_release(&records->removing);
    mem_free(records);
}

static void push(struct log_record *record);

/* Returns whether the same call may succeed later: after a full disk, a conflict or a lost
 * answer. */
static bool may_succeed_later(const struct error *err)
{
    static const enum error_code final[] = {ERR_NONE,        ERR_EXISTS,    ERR_NOT_FOUND,
                                            ERR_BAD_REQUEST, ERR_FORBIDDEN, ERR_INVALID,
                                            ERR_TOO_LARGE};

    for (size_t i = 0; err && i < countof(final); i++)
        if (err->code == final[i])
            return false;
    return err != NULL;
}

/* Handles the answer to a call: makes the same call later, or the next one. */
static void answered(struct log_record *record, const struct error *err)
{
    struct log_records *all = record->all;

    record->in_flight = false;
    all->calls--;
    if (all->stopped) {
        if (!all->calls)
            records_free(all);
    } else if (may_succeed_later(err) && record->state != LOG_GONE) {
        if (!timer_armed(&all->retry))
            timer_start(all->cluster->loop, &all->retry, RETRY_MS);
    } else {
        push(record);
    }
}

static void on_created(struct cluster_call *call, const struct object *result,
                       const struct error *err)
{
    struct log_record *record = container_of(call, struct log_record, call);

    if (!err || err->code == ERR_EXISTS) {
        object_unref(take(record->draft));
        if (record->state == LOG_CREATING)
            record->state = LOG_KEPT;
        /* The call will never succeed: its namespace is being deleted, for example. */
    } else if (!may_succeed_later(err)) {
        log_info("log not kept", kv_str("pod", record->pod), kv_str("error", err->message));
        set_gone(record);
    }
    answered(record, err);
}

static void on_completed(struct cluster_call *call, const struct object *result,
                         const struct error *err)
{
    struct log_record *record = container_of(call, struct log_record, call);

    if (!may_succeed_later(err))
        blob_unref(take(record->to_write));
    answered(record, err);
}

static void on_removed(struct cluster_call *call, const struct object *result,
                       const struct error *err)
{
    struct log_record *record = container_of(call, struct log_record, call);

    if (!may_succeed_later(err))
        set_gone(record);
    answered(record, err);
}

static void call_begun(struct log_record *record, cluster_done_fn done)
{
    record->in_flight = true;
    record->all->calls++;
    record->call.done = done;
}

static void write_complete(struct log_record *record)
{
    struct cluster *cluster = record->all->cluster;
    const struct object *log = cluster_get(cluster, &kind_pod_log, record->ns, record->name);

    if (!log)
        return; /* the event of the deletion is on the way to the watcher */
    call_begun(record, on_completed);
    cluster_update_status(cluster, &record->call, log, blob_ref(record->to_write));
}

static void remove_log(struct log_record *record)
{
    const struct cluster_removal how = {.grace_s = -1, .propagation = PROPAGATE_BACKGROUND};

    call_begun(record, on_removed);
    cluster_remove(record->all->cluster, &record->call, &kind_pod_log, record->ns, record->name,
                   &how);
}

/* Makes the next call for the record, or frees it. */
static void push(struct log_record *record)
{
    if (record->in_flight)
        return;
    if (record->draft && record->state == LOG_LEAVING)
        set_gone(record); /* the PodLog was never created */
    if (record->state == LOG_GONE) {
        record_free(record);
    } else if (record->draft) {
        call_begun(record, on_created);
        cluster_create(record->all->cluster, &record->call, object_ref(record->draft));
    } else if (record->state == LOG_LEAVING) {
        remove_log(record);
    } else if (record->to_write) {
        write_complete(record);
    }
}

static void retry(struct timer *timer)
{
    struct log_records *records = container_of(timer, struct log_records, retry);
    struct log_record *record, *next;

    HASH_ITER(hh, records->by_uid, record, next)
    {
        if (record->draft || record->to_write || record->state == LOG_LEAVING)
            push(record);
    }
}

void log_record_drop(struct log_record *record)
{
    count_out(record);
    record->state = LOG_LEAVING;
    push(record);
}

void log_record_deleted(struct log_record *record)
{
    set_gone(record);
    push(record);
}

static void drop_surplus(struct log_records *records, const char *owner_uid)
{
    const struct log_limits *limits = &records->limits;
    struct log_owner *owner;

    HASH_FIND_STR(records->owners, owner_uid, owner);
    /* The last record to go frees its owner. */
    for (size_t left = owner ? owner->count : 0; left; left--) {
        if (owner->count <= LOGS_KEPT_OF_FLOW && owner->bytes <= limits->flow_bytes)
            break;
        log_record_drop(TAILQ_FIRST(&owner->records));
    }
    while (records->count > LOGS_KEPT || records->bytes > limits->total_bytes)
        log_record_drop(TAILQ_FIRST(&records->oldest_first));
}

void log_records_add(struct log_records *records, const struct object *log)
{
    scoped_str owner = mem_strdup(record_new(records, log)->owner->uid);

    drop_surplus(records, owner);
}

void log_records_create(struct log_records *records, struct object *draft)
{
    struct log_record *record = record_new(records, draft);
    scoped_str owner = mem_strdup(record->owner->uid);

    record->state = LOG_CREATING;
    record->draft = draft;
    push(record);
    drop_surplus(records, owner);
}

void log_record_complete(struct log_record *record, int64_t bytes, struct blob *status)
{
    struct log_records *all = record->all;
    scoped_str owner = mem_strdup(record->owner->uid);

    record->complete = true;
    record->to_write = status;
    record->owner->bytes += bytes - record->bytes;
    all->bytes += bytes - record->bytes;
    record->bytes = bytes;
    push(record);
    drop_surplus(all, owner);
}

const struct pod_log *log_record_facts(const struct log_record *record)
{
    const struct object *log = record->draft;

    if (!record->owner)
        return NULL;
    if (!log)
        log = cluster_get(record->all->cluster, &kind_pod_log, record->ns, record->name);
    return log ? pod_log_of(log) : NULL;
}

struct log_records *log_records_new(struct cluster *cluster, struct runtime *runtime,
                                    const struct log_limits *limits)
{
    struct log_records *records = mem_alloc(sizeof *records);

    records->cluster = cluster;
    records->runtime = runtime;
    records->limits = *limits;
    records->retry.fire = retry;
    records->remove.run = on_durable;
    TAILQ_INIT(&records->oldest_first);
    return records;
}

void log_records_stop(struct log_records *records)
{
    cluster_forget(records->cluster, &records->remove);
    timer_stop(records->cluster->loop, &records->retry);
    records->stopped = true;
    if (!records->calls)
        records_free(records);
}
