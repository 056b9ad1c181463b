/*
 * The backend with the engine in a daemon.
 *
 *   mirrors, one for each kind ─► store      what the run shows
 *     run's manifests ─► requests            what it asks for
 *
 * The store is in memory and gets every version that the daemon announces; it numbers revisions by
 * itself. The client has a loop of its own, which a timer of the run's loop drives.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/client/mirror.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/mem.h"
#include "cli/client/client.h"
#include "cli/client/resource.h"
#include "cli/manifest/apply.h"
#include "cli/run/backend.h"

enum {
    PUMP_MS = 10,
    LATE_PUMPS_MAX = 100 /* for which an end waits for the ends of the parts */
};
static const size_t event_bytes_max = (size_t)1 << 30; /* a large flow with its status (DC-05) */

static const struct kind *const mirrored[] = {
    &kind_namespace, &kind_priority_class, &kind_queue, &kind_job_template, &kind_job_flow,
    &kind_job,       &kind_pod_group,      &kind_pod,
};
enum { MIRRORED_N = countof(mirrored) };

struct mirrored {
    struct mirror mirror;
    struct remote_run *run;
};

/* A change announced by the daemon that is not in the store yet. */
struct change {
    int64_t revision;
    enum mirror_change change;
    struct object *object; /* reference to the changed object */
};

struct remote_run {
    struct backend base;
    struct client *client;
    struct runtime logs;
    struct mirrored mirrors[MIRRORED_N];
    struct timer pump;
    struct change *changes; /* changes not handled yet, [n_changes] */
    size_t n_changes, changes_cap;
    int64_t complete; /* every watch has delivered changes up to this revision */
    int late_pumps;   /* for which a change has waited; LATE_PUMPS_MAX: none waits any more */
    void (*lost)(void *ctx, const struct error *err);
    void *ctx;
    struct error why; /* why a mirror ended */
};

static struct remote_run *of(struct backend *backend)
{
    return container_of(backend, struct remote_run, base);
}

static const char *metadata_text(const json_t *doc, const char *key)
{
    return json_string_value(json_object_get(json_object_get(doc, "metadata"), key));
}

static const struct object *store_answer(struct remote_run *remote, json_t *doc)
{
    struct error_list errors = {0};
    struct object *object = object_from_json(doc, &errors);

    error_list_release(&errors); /* what the daemon has stored can be read */
    return object && *object_uid(object) ? store_put(remote->base.store, object)
                                         : (object_unref(object), NULL);
}

static void apply_change(struct remote_run *remote, struct change *change)
{
    const struct object *held;

    if (change->change != MIRROR_DELETED) {
        store_put(remote->base.store, change->object);
        return;
    }
    held = store_get_uid(remote->base.store, object_uid(change->object));
    if (held)
        store_delete(remote->base.store, held);
    object_unref(change->object);
}

static void on_changed(struct mirror *mirror, enum mirror_change change, const struct object *old,
                       const struct object *object)
{
    struct remote_run *remote = container_of(mirror, struct mirrored, mirror)->run;

    mem_grow(remote->changes, remote->n_changes, remote->changes_cap);
    remote->changes[remote->n_changes++] =
        (struct change){object->revision, change, object_ref(object)};
}

/* A mirror that has fallen behind lists again by itself; any other error means that the daemon is
 * lost. */
static void on_failed(struct mirror *mirror, const struct error *err)
{
    struct remote_run *remote = container_of(mirror, struct mirrored, mirror)->run;

    if (err->code != ERR_GONE && remote->why.code == ERR_NONE)
        remote->why = *err;
}

static int by_revision(const void *a, const void *b)
{
    const struct change *one = a, *other = b;

    return (one->revision > other->revision) - (one->revision < other->revision);
}

static void count_over(void *arg, const struct object *pod)
{
    int32_t *over = arg;

    *over += backend_pod_over(pod);
}

static bool is_ahead_of_pods(const struct remote_run *remote, const struct object *job)
{
    const struct job_status *status = job_status_of(job);
    int32_t over = 0;

    if (!job_phase_finished(status->phase))
        return false;
    store_each_owned(remote->base.store, &kind_pod, object_uid(job), count_over, &over);
    return over < status->succeeded + status->failed;
}

static void find_unfinished(void *arg, const struct object *job)
{
    bool *found = arg;

    *found |= !job_phase_finished(job_status_of(job)->phase);
}

static bool is_ahead_of_jobs(const struct remote_run *remote, const struct object *flow)
{
    const struct jobflow_summary *summary = jobflow_summary_of(flow);
    bool unfinished = false;

    if (!summary || !flow_phase_finished(summary->phase) || summary->jobs_unfinished)
        return false;
    store_each_owned(remote->base.store, &kind_job, object_uid(flow), find_unfinished, &unfinished);
    return unfinished;
}

/* Returns true for the end of a job or of a flow, when the watch of its pods or jobs has not
 * delivered their ends. Logs are printed when pods are seen to end, and a run ends with its flows. */
static bool is_early(const struct remote_run *remote, const struct change *change)
{
    if (change->change == MIRROR_DELETED)
        return false;
    return change->object->kind == &kind_job        ? is_ahead_of_pods(remote, change->object)
           : change->object->kind == &kind_job_flow ? is_ahead_of_jobs(remote, change->object)
                                                    : false;
}

/* Returns true while a change has to wait. The wait is bounded, because pods and jobs may
 * have been removed. */
static bool must_wait(struct remote_run *remote, const struct change *change)
{
    if (remote->late_pumps == LATE_PUMPS_MAX)
        return false;
    if (is_early(remote, change)) {
        remote->late_pumps++;
        return true;
    }
    remote->late_pumps = 0;
    return false;
}

/* Changes that happened together arrive on several watches at slightly different times. Each change
 * waits for one more pass, so a step is seen to end before its flow does. */
static void apply_changes(struct remote_run *remote)
{
    size_t n = 0;
    int64_t newest;

    if (remote->n_changes == 0)
        return;
    qsort(remote->changes, remote->n_changes, sizeof *remote->changes, by_revision);
    newest = remote->changes[remote->n_changes - 1].revision;
    for (; n < remote->n_changes && remote->changes[n].revision <= remote->complete; n++) {
        if (remote->complete != INT64_MAX && must_wait(remote, &remote->changes[n]))
            break;
        apply_change(remote, &remote->changes[n]);
    }
    remote->n_changes -= n;
    memmove(remote->changes, remote->changes + n, remote->n_changes * sizeof *remote->changes);
    remote->complete = newest;
}

static void pump(struct timer *timer)
{
    struct remote_run *remote = container_of(timer, struct remote_run, pump);

    client_pass(remote->client, 0);
    apply_changes(remote);
    timer_start(remote->base.loop, timer, PUMP_MS);
    if (remote->why.code != ERR_NONE && remote->lost)
        take(remote->lost)(remote->ctx, &remote->why);
}

/* Returns the only namespace that the set uses, which limits what must be mirrored; NULL when there
 * are several. Manifests that name none are in `usual`. */
static const char *common_namespace(const struct manifests *set, const char *usual)
{
    const char *common = NULL;

    assert(usual);
    for (size_t i = 0; i < set->count; i++) {
        const char *ns = metadata_text(set->items[i].doc, "namespace");

        if (!set->items[i].kind->namespaced)
            continue;
        if (!ns)
            ns = usual;
        if (common && strcmp(ns, common) != 0)
            return NULL;
        common = ns;
    }
    return common;
}

static bool all_synced(const struct remote_run *remote)
{
    for (int i = 0; i < MIRRORED_N; i++)
        if (!mirror_is_synced(&remote->mirrors[i].mirror))
            return false;
    return true;
}

static bool open_mirrors(struct remote_run *remote, const char *ns, struct error *err)
{
    struct remote *server = client_remote(remote->client);

    for (int i = 0; i < MIRRORED_N; i++) {
        struct mirrored *one = &remote->mirrors[i];

        one->run = remote;
        one->mirror = (struct mirror){
            .kind = mirrored[i],
            .ns = ns,
            .event_bytes_max = event_bytes_max,
            .changed = on_changed,
            .failed = on_failed,
        };
        mirror_start(&one->mirror, server);
    }
    while (!all_synced(remote) && remote->why.code == ERR_NONE)
        client_pass(remote->client, PUMP_MS); /* a longer wait would notice the last mirror late */
    if (remote->why.code != ERR_NONE) {
        *err = remote->why;
        return false;
    }
    remote->complete = INT64_MAX; /* a list shows all changes so far */
    apply_changes(remote);
    timer_start(remote->base.loop, &remote->pump, PUMP_MS);
    return true;
}

/* Sends one write; returns the answer's document, owned, or NULL with the findings. */
static json_t *ask(struct remote_run *remote, const char *method, const char *target,
                   const json_t *body, struct error_list *errors)
{
    bool patches = strcmp(method, "PATCH") == 0;
    scoped(buf) struct buf text = {0};
    scoped(client_call) struct client_call call = {
        .method = method,
        .target = target,
        .content_type = patches ? "application/merge-patch+json" : "application/json",
    };

    if (body)
        json_text(body, &text);
    call.body = text.data;
    call.body_len = text.len;
    if (client_do(remote->client, &call, NULL))
        return json_loadb(call.text.data, call.text.len, 0, NULL);
    if (errors)
        client_findings(&call, errors);
    return NULL;
}

static void object_path(const struct object *object, struct buf *out)
{
    resource_write_path(object->kind, object_namespace(object), object_name(object), out);
}

static void namespaces(struct backend *backend, const struct manifests *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const char *name = metadata_text(set->items[i].doc, "namespace");
        scoped(json) json_t *doc = NULL, *made = NULL;

        if (!name || !set->items[i].kind->namespaced ||
            store_get(backend->store, &kind_namespace, "", name))
            continue;
        doc = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace", "metadata",
                        "name", name);
        made = ask(of(backend), "POST", "/api/v1/namespaces", doc, NULL);
        if (made)
            store_answer(of(backend), made);
    }
}

enum sending { SEND, TRY };

/* Creates the object, or patches the stored one. */
static json_t *send_manifest(struct remote_run *remote, const struct manifest *manifest,
                             enum sending sending, struct error_list *errors)
{
    const char *ns = metadata_text(manifest->doc, "namespace");
    const char *name = metadata_text(manifest->doc, "name");
    scoped(buf) struct buf path = {0};
    scoped(json) json_t *stored = NULL, *patch = NULL;

    if (name) {
        resource_write_path(manifest->kind, ns, name, &path);
        stored = client_get(remote->client, path.data, NULL);
    }
    if (!stored) {
        buf_clear(&path);
        resource_write_path(manifest->kind, ns, NULL, &path);
    }
    resource_write_query("fieldManager", "jobflow-run", &path);
    resource_write_query("fieldValidation", "Strict", &path);
    resource_write_query("dryRun", sending == TRY ? "All" : NULL, &path);
    resource_write_query("settle", stored ? NULL : "false", &path);
    if (!stored)
        return ask(remote, "POST", path.data, manifest->doc, errors);
    patch = apply_patch(manifest, stored);
    return ask(remote, "PATCH", path.data, patch, errors);
}

static bool possible(struct backend *backend, const struct manifest *manifest,
                     struct error_list *errors)
{
    scoped(json) json_t *result = send_manifest(of(backend), manifest, TRY, errors);

    return result != NULL;
}

static const struct object *apply(struct backend *backend, const struct manifest *manifest,
                                  struct error_list *errors)
{
    scoped(json) json_t *result = send_manifest(of(backend), manifest, SEND, errors);
    const struct object *object = result ? store_answer(of(backend), result) : NULL;

    if (result && !object)
        error_list_add(errors, ERR_INTERNAL, "", "the daemon's answer is no object");
    return object;
}

static void delete_object(struct remote_run *remote, const struct object *object, int64_t grace_s,
                          bool keep_record)
{
    scoped(json) json_t *options = json_pack("{s:s, s:s, s:s}", "kind", "DeleteOptions",
                                             "apiVersion", "v1", "propagationPolicy", "Background");
    scoped(buf) struct buf path = {0};
    json_t *result;

    if (grace_s >= 0)
        json_object_set_new(options, "gracePeriodSeconds", json_integer(grace_s));
    object_path(object, &path);
    if (keep_record)
        buf_str(&path, "?record=true");
    result = ask(remote, "DELETE", path.data, options, NULL);
    json_decref(result);
}

/* Grace 0 passes the deletion protection of unfinished objects; pods have a grace of their own. */
static void forget(struct backend *backend, const struct object *object, bool keep_record)
{
    delete_object(of(backend), object, 0, keep_record);
    store_delete(backend->store, object);
}

struct selection {
    const struct flow_tracker *tracker;
    struct store *store;
    const struct object **items; /* objects to delete, [count] references */
    size_t count, cap;
};

static const char *owner_uid(const struct object *object)
{
    const struct owner_ref *owner = object ? meta_controller(object->meta) : NULL;

    return owner ? owner->uid : "";
}

static void select_pod(void *arg, const struct object *pod)
{
    struct selection *selection = arg;
    const char *job = owner_uid(pod);

    if (backend_pod_over(pod) ||
        (!flow_tracker_find(selection->tracker, job) &&
         !flow_tracker_find(selection->tracker, owner_uid(store_get_uid(selection->store, job)))))
        return;
    mem_grow(selection->items, selection->count, selection->cap);
    selection->items[selection->count++] = object_ref(pod);
}

static struct selection select_pods(struct backend *backend, const struct flow_tracker *tracker)
{
    struct selection selection = {.tracker = tracker, .store = backend->store};

    store_each(backend->store, &kind_pod, NULL, select_pod, &selection);
    return selection;
}

static void selection_release(struct selection *selection)
{
    for (size_t i = 0; i < selection->count; i++)
        object_unref((struct object *)(size_t)selection->items[i]);
    mem_free(selection->items);
}

static size_t alive(struct backend *backend, const struct flow_tracker *tracker)
{
    struct selection selection = select_pods(backend, tracker);

    selection_release(&selection);
    return selection.count;
}

static void abort_flow(struct remote_run *remote, const struct flow_view *flow,
                       struct error_list *refusals)
{
    scoped(json) json_t *patch =
        json_pack("{s:{s:{s:s}}}", "metadata", "annotations", ANNOTATION_FLOW_ABORT, "run");
    scoped(buf) struct buf path = {0};
    struct error_list found = {0};

    resource_write_path(&kind_job_flow, flow->ns, flow->name, &path);
    json_decref(ask(remote, "PATCH", path.data, patch, &found));
    for (size_t i = 0; i < found.count; i++)
        if (found.items[i].code != ERR_NOT_FOUND) /* a deleted flow needs no abort */
            error_list_append(refusals, &found.items[i]);
    error_list_release(&found);
}

/* Flows are aborted and keep their record. A bare Job is deleted, as the local backend does,
 * because it has no record that could say that it was ended. */
static void stop(struct backend *backend, const struct flow_tracker *tracker,
                 struct error_list *refusals)
{
    for (const struct flow_view *flow = flow_tracker_flows(tracker); flow; flow = flow->next)
        if (!flow->bare_job)
            abort_flow(of(backend), flow, refusals);
        else if (flow->object && !job_phase_finished(job_status_of(flow->object)->phase))
            delete_object(of(backend), flow->object, -1, false);
}

static void kill_all(struct backend *backend, const struct flow_tracker *tracker)
{
    struct selection selection = select_pods(backend, tracker);

    for (size_t i = 0; i < selection.count; i++)
        delete_object(of(backend), selection.items[i], 0, false);
    selection_release(&selection);
}

static const struct backend_ops ops = {namespaces, possible, apply, forget, alive, stop, kill_all};

static bool read_log(struct runtime *rt, const char *uid, const struct log_query *options,
                     int64_t *offset, struct buf *out, struct error *err)
{
    const struct remote_run *remote = container_of(rt, struct remote_run, logs);

    return runtime_log_read(client_data_dir(remote->client), uid, options, offset, out, err);
}

static const char *describe(struct runtime *rt)
{
    return "in a daemon";
}

static const struct runtime_ops log_ops = {.read_log = read_log, .describe = describe};

struct backend *backend_remote_new(struct client *client, const struct manifests *set,
                                   const char *ns, void (*lost)(void *ctx, const struct error *err),
                                   void *ctx, struct error *err)
{
    struct remote_run *remote = mem_alloc(sizeof *remote);

    remote->client = client;
    remote->lost = lost;
    remote->ctx = ctx;
    remote->logs.ops = &log_ops;
    remote->pump.fire = pump;
    remote->base.ops = &ops;
    remote->base.shared = true;
    remote->base.loop = loop_new(clock_real());
    remote->base.store = store_open(remote->base.loop, &(const struct store_options){0}, err);
    remote->base.runtime = &remote->logs;
    if (open_mirrors(remote, common_namespace(set, ns), err))
        return &remote->base;
    backend_remote_free(&remote->base);
    return NULL;
}

void backend_remote_free(struct backend *backend)
{
    struct remote_run *remote;

    if (!backend)
        return;
    remote = of(backend);
    timer_stop(backend->loop, &remote->pump);
    for (int i = 0; i < MIRRORED_N; i++)
        mirror_stop(&remote->mirrors[i].mirror);
    for (size_t i = 0; i < remote->n_changes; i++)
        object_unref(remote->changes[i].object);
    mem_free(remote->changes);
    store_close(backend->store);
    loop_free(backend->loop);
    mem_free(remote);
}
