/*
 * Keeps the record of a flow that is replaced by a new run (api/types/kinds/jobflow/record.h).
 *
 *   the flow, ended ─► its record, with a uid of its own ─► kept logs belong to the record
 *                                                        └► records beyond the limit are removed
 *
 * All of it happens in the turn in which the flow is removed, so it is one commit with the removal. The
 * flow's jobs are removed as usual; what their pods have written stays with the record.
 */
#include <stdlib.h>
#include <string.h>

#include "api/registry/internal.h"
#include "api/types/kinds/jobflow/record.h"
#include "api/types/kinds/pod/pod_log.h"
#include "base/mem.h"

/* A list of references to objects, collected before the store changes. */
struct collected {
    const char *series; /* only objects of this series are collected; NULL: all are */
    struct object **items;
    size_t count, cap;
};

static void collect(void *arg, const struct object *object)
{
    struct collected *list = arg;
    const char *series = meta_label(object->meta, LABEL_FLOW_SERIES);

    if (list->series && (!series || strcmp(series, list->series) != 0 ||
                         (object->kind == &kind_job_flow && !jobflow_is_record(object))))
        return;
    mem_grow(list->items, list->count, list->cap);
    list->items[list->count++] = object_ref(object);
}

static void release(struct collected *list)
{
    for (size_t i = 0; i < list->count; i++)
        object_unref(list->items[i]);
    mem_free(list->items);
}

/* Copies pairs except the one with `key`, then appends that one. Returns the new count. */
static uint32_t with_pair(const struct kv *from, uint32_t n, struct kv pair, struct kv *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++)
        if (strcmp(from[i].key, pair.key) != 0)
            out[count++] = from[i];
    out[count++] = pair;
    return count;
}

static struct object *record_of(struct registry *r, const struct object *flow)
{
    scoped_str name = jobflow_record_name(object_name(flow), object_uid(flow));
    struct kv *labels = mem_array(flow->meta->n_labels + 1, sizeof *labels);
    struct kv *annotations = mem_array(flow->meta->n_annotations + 1, sizeof *annotations);
    struct meta meta = *flow->meta;
    char uid[CLOCK_UUID_LEN + 1];
    struct object *record;

    clock_uuid(loop_clock(r->loop), uid);
    meta.name = name;
    meta.uid = uid;
    meta.generate_name = NULL;
    meta.n_owners = meta.n_finalizers = 0;
    meta.managed_fields = NULL;
    meta.n_labels = with_pair(flow->meta->labels, flow->meta->n_labels,
                              (struct kv){LABEL_FLOW_SERIES, object_name(flow)}, labels);
    meta.labels = labels;
    meta.n_annotations =
        with_pair(flow->meta->annotations, flow->meta->n_annotations,
                  (struct kv){ANNOTATION_RECORD_OF, object_uid(flow)}, annotations);
    meta.annotations = annotations;
    record =
        object_new(&kind_job_flow, meta_new(&meta), blob_ref(flow->body), blob_ref(flow->status));
    mem_free(labels);
    mem_free(annotations);
    return record;
}

/* Moves a kept log to the record: the record becomes its owner, and the log names the record as its
 * flow. */
static void hand_over(struct registry *r, const struct object *log, const struct object *flow,
                      const struct object *record)
{
    struct owner_ref *owners = mem_array(log->meta->n_owners + 1, sizeof *owners);
    struct meta meta = *log->meta;
    struct pod_log content = *pod_log_of(log);
    struct object *moved;

    for (uint32_t i = 0; i < meta.n_owners; i++) {
        owners[i] = log->meta->owners[i];
        if (strcmp(owners[i].uid, object_uid(flow)) != 0)
            continue;
        owners[i].name = object_name(record);
        owners[i].uid = object_uid(record);
    }
    meta.owners = owners;
    content.flow = object_name(record);
    moved = object_with_meta(log, meta_new(&meta));
    registry_put(r, object_with_status(moved, pod_log_blob(&content)), REGISTRY_APPLY);
    object_unref(moved);
    mem_free(owners);
}

static void hand_over_logs(struct registry *r, const struct object *flow,
                           const struct object *record)
{
    struct collected logs = {0};

    store_each_owned(r->store, &kind_pod_log, object_uid(flow), collect, &logs);
    for (size_t i = 0; i < logs.count; i++)
        hand_over(r, logs.items[i], flow, record);
    release(&logs);
}

/* Orders records by creation, the newest first, and records of one second by name. */
static int compare_age(const void *a, const void *b)
{
    const struct object *x = *(struct object *const *)a, *y = *(struct object *const *)b;

    if (x->meta->created_at_ms != y->meta->created_at_ms)
        return x->meta->created_at_ms < y->meta->created_at_ms ? 1 : -1;
    return strcmp(object_name(x), object_name(y));
}

static void prune(struct registry *r, const struct object *flow)
{
    const size_t limit = (size_t)jobflow_history_limit(flow);
    const int64_t max_age_ms = jobflow_history_max_age_ms(flow);
    const int64_t now_ms = loop_wall_ms(r->loop);
    struct collected records = {.series = object_name(flow)};

    store_each(r->store, &kind_job_flow, object_namespace(flow), collect, &records);
    if (records.count)
        qsort(records.items, records.count, sizeof *records.items, compare_age);
    for (size_t i = 0; i < records.count; i++)
        if (i >= limit ||
            (max_age_ms && now_ms - records.items[i]->meta->created_at_ms > max_age_ms))
            registry_remove(r, records.items[i]);
    release(&records);
}

void registry_keep_record(struct registry *r, const struct object *flow)
{
    struct object *record;

    if (flow->kind != &kind_job_flow || r->admission.upstream_compat || jobflow_is_record(flow) ||
        !flow_phase_finished(jobflow_phase_of(flow)))
        return;
    if (jobflow_history_limit(flow) > 0) {
        record = record_of(r, flow);
        hand_over_logs(r, flow, registry_put(r, record, REGISTRY_APPLY));
    }
    prune(r, flow);
}
