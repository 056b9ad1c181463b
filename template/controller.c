/*
 * Keeps one record per template that a job names, whether the template exists or not. A job that is
 * added or removed updates the record. The status is written after a delay that grows with the list
 * of jobs, so that n jobs of one template do not cause n writes of growing lists.
 */
#include "template/controller.h"

#include <string.h>

#include "base/collections/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "template/dependents.h"
#include "template/job_meta.h"

/* Delays of all records end on common ticks, so that the statuses of many templates share a
 * commit. */
enum { DELAY_PER_NAME_MS = 10, DELAY_MAX_MS = 60000, RETRY_MS = 1000, NS_PER_MS = 1000000 };
static const int64_t tick_ns = INT64_C(100) * NS_PER_MS;

struct record {
    struct template_controller *controller;
    struct template_dependents jobs;
    struct cluster_call call;
    struct timer delay;
    bool writing; /* a write of the status is in flight */
    bool dirty;   /* the list has changed since it was last written */
    char *namespace, *name;
    UT_hash_handle hh;
    char key[]; /* key <namespace>.<name>, as in the jobs' annotations */
};

struct template_controller {
    struct cluster *cluster;
    struct cluster_watcher templates, jobs;
    struct record *records;
    unsigned calls;
    bool stopped;
};

static void write_soon(struct record *record);

static void free_record(struct record *record)
{
    timer_stop(record->controller->cluster->loop, &record->delay);
    template_dependents_release(&record->jobs);
    mem_free(record->namespace);
    mem_free(record->name);
    mem_free(record);
}

/* After a stop, records stay until their write is answered; the last one frees the controller. */
static void free_controller(struct template_controller *controller)
{
    if (controller->stopped && !controller->calls)
        mem_free(controller);
}

static void on_written(struct cluster_call *call, const struct object *result,
                       const struct error *err)
{
    struct record *record = container_of(call, struct record, call);
    struct template_controller *controller = record->controller;

    record->writing = false;
    controller->calls--;
    if (controller->stopped) {
        free_record(record);
        free_controller(controller);
        return;
    }
    if (err && err->code != ERR_NOT_FOUND) {
        if (err->code != ERR_STORAGE) /* the store has logged that error itself */
            log_warn("job template status not written", kv_str("namespace", record->namespace),
                     kv_str("template", record->name), kv_str("reason", err->message));
        timer_start(controller->cluster->loop, &record->delay, RETRY_MS);
    } else if (record->dirty) {
        write_soon(record);
    }
}

static bool same_list(const struct blob *stored, const struct blob *status)
{
    if (!stored)
        return status->len == strlen("{}");
    return stored->len == status->len && memcmp(stored->text, status->text, status->len) == 0;
}

static void free_when_empty(struct record *record)
{
    if (template_dependents_count(&record->jobs))
        return;
    HASH_DEL(record->controller->records, record);
    free_record(record);
}

static void write_now(struct timer *timer)
{
    struct record *record = container_of(timer, struct record, delay);
    struct cluster *cluster = record->controller->cluster;
    const struct object *template =
        cluster_get(cluster, &kind_job_template, record->namespace, record->name);
    struct blob *status;

    record->dirty = false;
    status = template_dependents_status(&record->jobs);
    if (!template ||
        same_list(template->status, status)) { /* a template that is created later gets its list
                                                * then */
        blob_unref(status);
        free_when_empty(record);
        return;
    }
    record->writing = true;
    record->controller->calls++;
    record->call.done = on_written;
    cluster_update_status(cluster, &record->call, template, status);
}

static void write_soon(struct record *record)
{
    struct loop *loop = record->controller->cluster->loop;
    int64_t delay_ms = (int64_t)template_dependents_count(&record->jobs) * DELAY_PER_NAME_MS;
    int64_t now_ns = loop_mono_ns(loop), due_ns;

    record->dirty = true;
    if (record->writing || timer_armed(&record->delay))
        return;
    if (delay_ms > DELAY_MAX_MS)
        delay_ms = DELAY_MAX_MS;
    due_ns = ((now_ns + delay_ms * NS_PER_MS) / tick_ns + 1) * tick_ns;
    timer_start_ns(loop, &record->delay, due_ns - now_ns);
}

static struct record *find_record(struct template_controller *controller, const char *key)
{
    struct record *record;

    HASH_FIND_STR(controller->records, key, record);
    return record;
}

/* Returns a new record. `name` is the part of `key` behind its first dot. */
static struct record *make_record(struct template_controller *controller, const char *key,
                                  const char *ns, const char *name)
{
    size_t len = strlen(key);
    struct record *record = mem_alloc(sizeof *record + len + 1);

    memcpy(record->key, key, len + 1);
    record->controller = controller;
    record->namespace = mem_strdup(ns);
    record->name = mem_strdup(name);
    record->delay.fire = write_now;
    HASH_ADD_KEYPTR(hh, controller->records, record->key, len, record);
    return record;
}

static void on_job(struct cluster_watcher *watcher, enum cluster_change change,
                   const struct object *old, const struct object *job)
{
    struct template_controller *controller =
        container_of(watcher, struct template_controller, jobs);
    const char *name, *key;
    struct record *record;

    if (change == CHANGE_MODIFIED)
        return;
    key = template_of_job(job, &name);
    if (!key)
        return;
    record = find_record(controller, key);
    if (!record && change == CHANGE_ADDED)
        record = make_record(controller, key, object_namespace(job), name);
    if (!record)
        return;
    if (change == CHANGE_ADDED)
        template_dependents_add(&record->jobs, job->meta);
    else
        template_dependents_remove(&record->jobs, job->meta);
    write_soon(record);
}

static void on_template(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *object)
{
    struct template_controller *controller =
        container_of(watcher, struct template_controller, templates);
    scoped(buf) struct buf key = {0};
    struct record *record;

    if (change != CHANGE_ADDED)
        return;
    buf_printf(&key, "%s.%s", object_namespace(object), object_name(object));
    record = find_record(controller, key.data);
    if (!record && object->status) /* the stored list may name jobs that no longer exist */
        record = make_record(controller, key.data, object_namespace(object), object_name(object));
    if (record)
        write_soon(record);
}

struct template_controller *template_controller_start(struct cluster *cluster)
{
    struct template_controller *controller = mem_alloc(sizeof *controller);

    controller->cluster = cluster;
    controller->templates = (struct cluster_watcher){on_template, &kind_job_template};
    controller->jobs = (struct cluster_watcher){on_job, &kind_job};
    cluster_watch(cluster, &controller->templates);
    cluster_watch(cluster, &controller->jobs);
    return controller;
}

void template_controller_stop(struct template_controller *controller)
{
    struct record *record, *next;

    if (!controller)
        return;
    cluster_unwatch(controller->cluster, &controller->templates);
    cluster_unwatch(controller->cluster, &controller->jobs);
    HASH_ITER(hh, controller->records, record, next)
    {
        HASH_DEL(controller->records, record);
        timer_stop(controller->cluster->loop, &record->delay);
        if (!record->writing)
            free_record(record);
    }
    controller->stopped = true;
    free_controller(controller);
}
