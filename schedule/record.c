/*
 * Finds, wakes and frees records, and writes statuses.
 */
#include "schedule/record.h"

#include <string.h>

#include "base/mem.h"

static void free_if_idle(struct schedule_records *records)
{
    if (records->closing && !records->calls)
        records->ops->closed(records);
}

static void free_record(struct schedule_record *record)
{
    if (record->calls)
        return;
    mem_free(record->namespace);
    mem_free(record->name);
    mem_free(record->uid);
    record->all->ops->free(record);
}

static void zones_changed(void *ctx)
{
    struct schedule_records *records = ctx;

    for (struct schedule_record *record = records->first; record; record = record->hh.next)
        schedule_record_sync_soon(record);
}

void schedule_records_open(struct schedule_records *records, const struct schedule_ops *ops,
                           struct cluster *cluster)
{
    records->ops = ops;
    records->cluster = cluster;
    records->timetable = timetable_new(cluster->loop, zones_changed, records);
}

void schedule_records_close(struct schedule_records *records)
{
    struct schedule_record *record, *next;

    HASH_ITER(hh, records->first, record, next)
    schedule_record_drop(record);
    timetable_free(records->timetable);
    records->closing = true;
    free_if_idle(records);
}

struct schedule_record *schedule_record_find(const struct schedule_records *records,
                                             const char *uid)
{
    struct schedule_record *record;

    HASH_FIND_STR(records->first, uid, record);
    return record;
}

static void on_task(struct task *task)
{
    struct schedule_record *record = container_of(task, struct schedule_record, task);

    record->all->ops->sync(record);
}

static void on_due(struct timetable_entry *entry)
{
    struct schedule_record *record = container_of(entry, struct schedule_record, entry);

    record->all->ops->due(record);
}

void schedule_record_add(struct schedule_records *records, struct schedule_record *record,
                         const struct object *object)
{
    record->all = records;
    record->namespace = mem_strdup(object_namespace(object));
    record->name = mem_strdup(object_name(object));
    record->uid = mem_strdup(object_uid(object));
    record->task.run = on_task;
    record->entry.due = on_due;
    record->entry.name = record->name;
    record->entry.created_ms = meta_created_ms(object->meta);
    HASH_ADD_KEYPTR(hh, records->first, record->uid, strlen(record->uid), record);
}

void schedule_record_drop(struct schedule_record *record)
{
    struct schedule_records *records = record->all;

    schedule_record_never_wake(record);
    loop_cancel(records->cluster->loop, &record->task);
    HASH_DEL(records->first, record);
    record->dropped = true;
    free_record(record);
}

void schedule_record_sync_soon(struct schedule_record *record)
{
    loop_post(record->all->cluster->loop, &record->task);
}

void schedule_record_wake(struct schedule_record *record, int64_t at_ms)
{
    timetable_set(record->all->timetable, &record->entry, at_ms);
}

void schedule_record_never_wake(struct schedule_record *record)
{
    timetable_clear(record->all->timetable, &record->entry);
}

int64_t schedule_record_now_ms(const struct schedule_record *record)
{
    return loop_wall_ms(record->all->cluster->loop);
}

const struct object *schedule_record_object(const struct schedule_record *record)
{
    const struct object *object =
        cluster_get(record->all->cluster, record->all->ops->kind, record->namespace, record->name);

    return object && strcmp(object_uid(object), record->uid) == 0 ? object : NULL;
}

void schedule_record_call_begun(struct schedule_record *record)
{
    record->calls++;
    record->all->calls++;
}

bool schedule_record_call_ended(struct schedule_record *record)
{
    struct schedule_records *records = record->all;
    bool alive = !record->dropped;

    record->calls--;
    records->calls--;
    if (!alive)
        free_record(record);
    free_if_idle(records);
    return alive;
}

struct status_call {
    struct cluster_call call;
    struct schedule_record *record;
};

static void on_status(struct cluster_call *call, const struct object *result,
                      const struct error *err)
{
    struct status_call *write = container_of(call, struct status_call, call);
    struct schedule_record *record = write->record;

    mem_free(write);
    if (schedule_record_call_ended(record) && err && err->code != ERR_NOT_FOUND)
        record->all->ops->failed(record);
}

bool schedule_has_status(const struct object *object, const struct blob *status)
{
    if (!object->status)
        return status->len == strlen("{}");
    return object->status->len == status->len &&
           memcmp(object->status->text, status->text, status->len) == 0;
}

void schedule_record_put_status(struct schedule_record *record, const struct object *object,
                                struct blob *status)
{
    struct status_call *write = mem_alloc(sizeof *write);

    write->call.done = on_status;
    write->record = record;
    schedule_record_call_begun(record);
    cluster_update_status(record->all->cluster, &write->call, object, status);
}
