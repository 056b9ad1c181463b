/*
 * The controller keeps a record for each Service with a selector. Changed records are written
 * together, SETTLE_MS later.
 */
#include "node/proxy/endpoints_controller.h"

#include <stdio.h>
#include <string.h>

#include "base/collections/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/proxy/endpoint_subsets.h"
#include "node/proxy/selector_index.h"

enum { SETTLE_MS = 100, RETRY_MS = 1000, SUFFIX = 5 };

struct record {
    UT_hash_handle hh; /* links the records in a hash table by "namespace/name" */
    char *key;
    const struct object *service;
    struct service_spec spec; /* spec of the Service; with_unready is set, so that all pods are
                               * endpoints */
    bool all_ready;
    struct selector_entry entry;
    struct service_endpoints endpoints;
    bool dirty;
    struct record *next_dirty;
};

/* A write that is in flight. */
struct pending_write {
    struct cluster_call call;
    struct endpoints_controller *endpoints;
    char key[];
};

struct endpoints_controller {
    struct cluster *cluster;
    char *node_name;
    struct record *records;
    struct selector_index selector_index;
    struct record *dirty;
    struct timer settle;
    struct cluster_watcher services, pods;
    size_t calls; /* number of writes in flight; the last one frees a stopped controller */
    bool stopped;
};

static void mark(struct endpoints_controller *e, struct record *record, int64_t wait_ms)
{
    if (!timer_armed(&e->settle))
        timer_start(e->cluster->loop, &e->settle, wait_ms);
    if (record->dirty)
        return;
    record->dirty = true;
    record->next_dirty = e->dirty;
    e->dirty = record;
}

static void unmark(struct endpoints_controller *e, struct record *record)
{
    struct record **at = &e->dirty;

    if (!record->dirty)
        return;
    while (*at != record)
        at = &(*at)->next_dirty;
    *at = record->next_dirty;
    record->dirty = false;
}

static struct record *record_of(const struct endpoints_controller *e, const char *key)
{
    struct record *record;

    HASH_FIND(hh, e->records, key, strlen(key), record);
    return record;
}

/* Handles the end of a write. After a conflict with another writer it is tried again. Other
 * failures mean that the namespace or the Service is being deleted. */
static void written(struct cluster_call *call, const struct object *result, const struct error *err)
{
    struct pending_write *write = container_of(call, struct pending_write, call);
    struct endpoints_controller *e = write->endpoints;
    struct record *record = e->stopped ? NULL : record_of(e, write->key);

    if (err && record && (err->code == ERR_CONFLICT || err->code == ERR_EXISTS))
        mark(e, record, RETRY_MS);
    mem_free(write);
    if (!--e->calls && e->stopped)
        mem_free(e);
}

static struct cluster_call *call_for(struct endpoints_controller *e, const struct record *record)
{
    struct pending_write *write = mem_alloc(sizeof *write + strlen(record->key) + 1);

    write->endpoints = e;
    write->call.done = written;
    memcpy(write->key, record->key, strlen(record->key) + 1);
    e->calls++;
    return &write->call;
}

/* Returns the metadata of an object owned by the Service, with the Service's labels and `more`. */
static struct meta *meta_for(const struct record *record, const char *name, const struct kv *more,
                             size_t n_more)
{
    const struct meta *service = record->service->meta;
    const struct owner_ref owner = {"v1", "Service", service->name, service->uid, true, true};
    struct kv *labels = mem_array(service->n_labels + n_more + 1, sizeof *labels);
    struct meta draft = {
        .namespace = service->namespace,
        .name = name,
        .uid = "",
        .labels = labels,
        .owners = &owner,
        .n_owners = 1,
        .deletion_grace_s = -1,
    };
    struct meta *meta;

    for (size_t i = 0; i < service->n_labels; i++)
        labels[draft.n_labels++] = service->labels[i];
    for (size_t i = 0; i < n_more; i++)
        labels[draft.n_labels++] = more[i];
    meta = meta_new(&draft);
    mem_free(labels);
    return meta;
}

/* Creates or updates an object unless it has this body already. `body` is freed. */
static void write_one(struct endpoints_controller *e, const struct record *record,
                      const struct kind *kind, const char *name, json_t *body,
                      const struct kv *labels, size_t n_labels)
{
    scoped(json) json_t *wanted = body;
    const struct object *there =
        cluster_get(e->cluster, kind, object_namespace(record->service), name);
    scoped(json) json_t *is = there ? object_body_json(there) : NULL;

    if (is && json_equal(is, wanted))
        return;
    if (there)
        cluster_update(e->cluster, call_for(e, record),
                       object_with_body(there, object_body_from_json(wanted)));
    else
        cluster_create(e->cluster, call_for(e, record),
                       object_new(kind, meta_for(record, name, labels, n_labels),
                                  object_body_from_json(wanted), NULL));
}

static void write_record(struct endpoints_controller *e, const struct record *record)
{
    const struct endpoint_input endpoint_input = {
        record->service, &record->spec, &record->endpoints, record->all_ready, e->node_name};
    const char *name = object_name(record->service), *uid = object_uid(record->service);
    scoped_str slice = mem_printf("%s-%.*s", name, SUFFIX, uid);
    const struct kv labels[] = {
        {"endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io"},
        {"kubernetes.io/service-name", name},
    };
    const struct kv headless = {"service.kubernetes.io/headless", ""};
    bool is_headless = record->spec.cluster_ip && strcmp(record->spec.cluster_ip, "None") == 0;

    if (object_deleting(record->service))
        return;
    write_one(e, record, &kind_endpoints, name, endpoint_subsets_build(&endpoint_input), &headless,
              is_headless);
    write_one(e, record, &kind_endpoint_slice, slice, endpoint_slice_build(&endpoint_input), labels,
              countof(labels));
}

static void settled(struct timer *timer)
{
    struct endpoints_controller *e = container_of(timer, struct endpoints_controller, settle);

    while (e->dirty) {
        struct record *record = e->dirty;

        unmark(e, record);
        write_record(e, record);
    }
}

struct pod_change {
    struct endpoints_controller *endpoints;
    const struct object *pod;
    bool gone;
};

static bool update_record(void *arg, struct selector_entry *entry)
{
    const struct pod_change *change = arg;
    struct record *record = container_of(entry, struct record, entry);

    if (service_endpoints_update(&record->endpoints, &record->spec, change->pod, change->gone))
        mark(change->endpoints, record, SETTLE_MS);
    return true;
}

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *pod)
{
    struct endpoints_controller *e = container_of(watcher, struct endpoints_controller, pods);
    struct pod_change arg = {e, pod, change == CHANGE_DELETED};

    selector_index_each(&e->selector_index, pod->meta, update_record, &arg);
}

static void add_endpoint(void *arg, const struct object *pod)
{
    struct record *record = arg;

    service_endpoints_update(&record->endpoints, &record->spec, pod, false);
}

static void drop(struct endpoints_controller *e, struct record *record)
{
    unmark(e, record);
    selector_index_remove(&e->selector_index, &record->entry);
    service_endpoints_release(&record->endpoints);
    service_spec_release(&record->spec);
    HASH_DELETE(hh, e->records, record);
    object_unref((struct object *)record->service);
    mem_free(record->key);
    mem_free(record);
}

/* Finds the endpoints of a Service. If its selector names a job, only that job's pods are looked
 * at. */
static void find_endpoints(struct endpoints_controller *e, struct record *record)
{
    const char *ns = object_namespace(record->service);
    const struct object *job =
        record->spec.job ? cluster_get(e->cluster, &kind_job, ns, record->spec.job) : NULL;

    if (job)
        cluster_each_owned(e->cluster, &kind_pod, object_uid(job), add_endpoint, record);
    else
        cluster_each(e->cluster, &kind_pod, ns, add_endpoint, record);
}

static void add(struct endpoints_controller *e, const char *key, const struct object *service)
{
    struct record *record = mem_alloc(sizeof *record);

    service_spec_read(service, &record->spec);
    if (!json_object_size(record->spec.selector) || object_deleting(service)) {
        service_spec_release(&record->spec);
        mem_free(record);
        return;
    }
    record->all_ready = record->spec.with_unready;
    record->spec.with_unready = true;
    record->key = mem_strdup(key);
    record->service = object_ref(service);
    HASH_ADD_KEYPTR(hh, e->records, record->key, strlen(record->key), record);
    selector_index_add(&e->selector_index, &record->entry, object_namespace(service),
                       record->spec.job);
    find_endpoints(e, record);
    mark(e, record, SETTLE_MS);
}

static void service_changed(struct cluster_watcher *watcher, enum cluster_change change,
                            const struct object *old, const struct object *service)
{
    struct endpoints_controller *e = container_of(watcher, struct endpoints_controller, services);
    scoped_str key = mem_printf("%s/%s", object_namespace(service), object_name(service));
    struct record *record = record_of(e, key);

    if (record && change == CHANGE_MODIFIED && record->service->body == service->body &&
        !object_deleting(service))
        return;
    if (record)
        drop(e, record);
    if (change != CHANGE_DELETED)
        add(e, key, service);
}

static void watch(struct endpoints_controller *e, struct cluster_watcher *watcher,
                  const struct kind *kind,
                  void (*changed)(struct cluster_watcher *, enum cluster_change,
                                  const struct object *, const struct object *))
{
    watcher->kind = kind;
    watcher->changed = changed;
    cluster_watch(e->cluster, watcher);
}

struct endpoints_controller *endpoints_controller_start(struct cluster *cluster,
                                                        const char *node_name)
{
    struct endpoints_controller *e = mem_alloc(sizeof *e);

    e->cluster = cluster;
    e->node_name = mem_strdup(node_name);
    e->settle.fire = settled;
    watch(e, &e->services, &kind_service, service_changed);
    watch(e, &e->pods, &kind_pod, pod_changed);
    return e;
}

void endpoints_controller_stop(struct endpoints_controller *e)
{
    struct record *record, *next;

    if (!e)
        return;
    cluster_unwatch(e->cluster, &e->services);
    cluster_unwatch(e->cluster, &e->pods);
    timer_stop(e->cluster->loop, &e->settle);
    HASH_ITER(hh, e->records, record, next)
    drop(e, record);
    mem_free(take(e->node_name));
    e->stopped = true;
    if (!e->calls)
        mem_free(e);
}
