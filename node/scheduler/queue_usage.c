/*
 * Counts PodGroups per queue and writes the counts to queue statuses. One record is kept per queue
 * name; changed records are listed until the timer writes them.
 */
#include "node/scheduler/queue_usage.h"

#include <string.h>

#include "api/types/kinds/scheduling/podgroup.h"
#include "api/types/kinds/scheduling/queue.h"
#include "api/types/text/quantity.h"
#include "base/collections/hash.h"
#include "base/mem.h"

enum { USAGE_DELAY_MS = 1000, DEPTH_MAX = 16 };

struct usage_record {
    UT_hash_handle hh; /* links the records in a hash table by name of the queue */
    char *name;
    int32_t counts[PODGROUP_PHASE_N];
    bool dirty;
    struct usage_record *next_dirty;
};

struct queue_usage {
    struct cluster *cluster;
    struct scheduler *scheduler;
    struct usage_record *records, *dirty;
    struct usage_record *last; /* record found last: groups of one queue often arrive together */
    struct timer timer;
    struct cluster_watcher group_watcher;
};

static struct usage_record *record_named(struct queue_usage *usage, const char *name)
{
    struct usage_record *record;

    if (!name || !*name)
        name = "default";
    if (usage->last && strcmp(usage->last->name, name) == 0)
        return usage->last;
    HASH_FIND(hh, usage->records, name, strlen(name), record);
    if (record)
        return usage->last = record;
    record = mem_alloc(sizeof *record);
    record->name = mem_strdup(name);
    HASH_ADD_KEYPTR(hh, usage->records, record->name, strlen(record->name), record);
    return record;
}

static void make_dirty(struct queue_usage *usage, struct usage_record *record)
{
    if (record->dirty)
        return;
    record->dirty = true;
    record->next_dirty = usage->dirty;
    usage->dirty = record;
    if (!timer_armed(&usage->timer))
        timer_start(usage->cluster->loop, &usage->timer, USAGE_DELAY_MS);
}

static void count(struct queue_usage *usage, const struct object *group, int by)
{
    struct usage_record *record = record_named(usage, podgroup_spec_of(group)->queue);
    enum podgroup_phase phase = podgroup_status_of(group)->phase;

    record->counts[phase == PODGROUP_NONE ? PODGROUP_PENDING : phase] += by;
    make_dirty(usage, record);
}

static void group_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *object)
{
    struct queue_usage *usage = container_of(watcher, struct queue_usage, group_watcher);

    if (change != CHANGE_ADDED)
        count(usage, change == CHANGE_MODIFIED ? old : object, -1);
    if (change != CHANGE_DELETED)
        count(usage, object, 1);
}

static void set_quantity(json_t *object, const char *name, quantity_nano value,
                         enum quantity_format format)
{
    char text[QUANTITY_TEXT_MAX];

    quantity_print(value, format, text);
    json_object_set_new(object, name, json_string(text));
}

static json_t *allocated_json(const struct amount *used, const struct resource_names *extras)
{
    json_t *allocated = json_object();

    set_quantity(allocated, "cpu", (quantity_nano)used->cpu_milli * 1000000, QUANTITY_DECIMAL);
    set_quantity(allocated, "memory", (quantity_nano)used->memory_bytes * 1000000000,
                 QUANTITY_BINARY);
    set_quantity(allocated, "pods", (quantity_nano)used->pods * 1000000000, QUANTITY_DECIMAL);
    for (size_t i = 0; i < extras->count; i++)
        set_quantity(allocated, extras->names[i], (quantity_nano)used->extra[i] * 1000000000,
                     QUANTITY_DECIMAL);
    return allocated;
}

static void write_usage(struct queue_usage *usage, const struct usage_record *record)
{
    static const struct {
        const char *member;
        enum podgroup_phase phase;
    } members[] = {{"pending", PODGROUP_PENDING},
                   {"inqueue", PODGROUP_INQUEUE},
                   {"running", PODGROUP_RUNNING},
                   {"unknown", PODGROUP_UNKNOWN},
                   {"completed", PODGROUP_COMPLETED}};
    const struct object *queue = cluster_get(usage->cluster, &kind_queue, "", record->name);
    const struct amount used = scheduler_queue_used(usage->scheduler, record->name);
    scoped(json) json_t *before = queue ? object_status_json(queue) : NULL;
    scoped(json) json_t *status = before ? json_copy(before) : json_object();
    char *text;

    if (!queue)
        return;
    for (size_t i = 0; i < countof(members); i++)
        if (record->counts[members[i].phase] || json_object_get(status, members[i].member))
            json_object_set_new(status, members[i].member,
                                json_integer(record->counts[members[i].phase]));
    json_object_set_new(status, "allocated",
                        allocated_json(&used, scheduler_resources(usage->scheduler)));
    if (before && json_equal(before, status))
        return;
    text = json_dumps(status, JSON_COMPACT);
    cluster_update_status(usage->cluster, NULL, queue, blob_new(text, strlen(text)));
    mem_free(text);
}

/* Marks the ancestors of changed queues as changed: their usage includes their descendants. */
static void make_parents_dirty(struct queue_usage *usage)
{
    for (struct usage_record *record = usage->dirty; record; record = record->next_dirty) {
        const char *name = record->name;

        for (int depth = 0; depth < DEPTH_MAX && strcmp(name, "root") != 0; depth++) {
            const struct object *queue = cluster_get(usage->cluster, &kind_queue, "", name);
            const char *parent = queue ? queue_spec_of(queue)->parent : NULL;

            if (!queue)
                break;
            name = parent && *parent ? parent : "root";
            make_dirty(usage, record_named(usage, name));
        }
    }
}

static void usage_due(struct timer *timer)
{
    struct queue_usage *usage = container_of(timer, struct queue_usage, timer);

    make_parents_dirty(usage);
    while (usage->dirty) {
        struct usage_record *record = usage->dirty;

        usage->dirty = record->next_dirty;
        record->dirty = false;
        write_usage(usage, record);
    }
    timer_stop(usage->cluster->loop, &usage->timer);
}

struct queue_usage *queue_usage_start(struct cluster *cluster, struct scheduler *scheduler)
{
    struct queue_usage *usage = mem_alloc(sizeof *usage);

    usage->cluster = cluster;
    usage->scheduler = scheduler;
    usage->timer.fire = usage_due;
    usage->group_watcher.kind = &kind_pod_group;
    usage->group_watcher.changed = group_changed;
    cluster_watch(cluster, &usage->group_watcher);
    return usage;
}

void queue_usage_stop(struct queue_usage *usage)
{
    struct usage_record *record, *next;

    if (!usage)
        return;
    cluster_unwatch(usage->cluster, &usage->group_watcher);
    timer_stop(usage->cluster->loop, &usage->timer);
    HASH_ITER(hh, usage->records, record, next)
    {
        HASH_DELETE(hh, usage->records, record);
        mem_free(record->name);
        mem_free(record);
    }
    mem_free(usage);
}
