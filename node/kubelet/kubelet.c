/*
 * The kubelet's records, and what happens to them: an object is created, changed or deleted; the
 * runtime reports; a ConfigMap, Secret, claim or Service changes. Also its start and stop. Pods of
 * a previous run are reconciled in adopt.c.
 */
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/kubelet/internal.h"
#include "probes/attempt.h"

enum { GRACE_DEFAULT_S = 30 };

struct kubelet_pod *kubelet_find_pod(struct kubelet *k, const char *uid)
{
    struct kubelet_pod *pod;

    HASH_FIND(hh, k->pods, uid, strlen(uid), pod);
    return pod;
}

struct kubelet_pod *kubelet_pod_new(struct kubelet *k, const struct meta *meta)
{
    struct kubelet_pod *pod = mem_alloc(sizeof *pod);

    pod->kubelet = k;
    pod->meta = meta_ref(meta);
    pod->stop_grace_ms = -1;
    pod->need.pods = 1;
    HASH_ADD_KEYPTR(hh, k->pods, pod->meta->uid, strlen(pod->meta->uid), pod);
    return pod;
}

static void free_pod(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    HASH_DELETE(hh, k->pods, pod);
    kubelet_probes_stop(pod);
    kubelet_untrack_sources(pod);
    kubelet_release_ports(pod);
    hosts_leave(k->hosts, &pod->hosts);
    address_pool_give_back(&k->addresses, pod->address);
    blob_unref(pod->to_write);
    blob_unref(pod->written);
    kubelet_give_back_devices(pod);
    mem_free(pod->hostname);
    mem_free(pod->subdomain);
    mem_free(pod->aliases);
    object_unref((struct object *)pod->object);
    meta_unref(pod->meta);
    mem_free(pod);
}

/* Removes what the runtime keeps of a pod that is gone, unless its log is kept. */
static void purge(struct kubelet *k, const char *uid)
{
    if (!k->options.log_kept || !k->options.log_kept(k->options.ctx, uid))
        k->runtime->ops->purge(k->runtime, uid);
}

void kubelet_free_if_done(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;
    bool in_flight =
        pod->commit != COMMIT_IDLE || (pod->write != WRITE_IDLE && pod->write != WRITE_RETRY);

    if (in_flight)
        return;
    if (!kubelet_pod_gone(pod) && pod->step == STEP_RELEASED && !pod->to_write && !pod->to_delete &&
        !pod->address) {
        free_pod(pod); /* nothing is left to do or to keep before the object is deleted */
        return;
    }
    if (pod->existence != OBJECT_DELETED_DURABLY)
        return;
    if (pod->step == STEP_STARTED || pod->step == STEP_ADOPTING)
        return; /* the pod's last report is still to come */
    if (pod->in_runtime) {
        if (pod->step != STEP_RELEASED)
            k->runtime->ops->release(k->runtime, pod->meta->uid);
        purge(k, pod->meta->uid);
    }
    free_pod(pod);
}

/* Fills a new record from its object. */
static void read_object(struct kubelet_pod *pod, const struct object *object)
{
    const struct pod_spec *spec = pod_spec_of(object);
    struct pod_resources requests = pod_spec_requests(spec);
    const struct pod_status *status;

    pod->object = object_ref(object);
    pod->need.cpu_milli = amount_clamp(requests.cpu_milli);
    pod->need.memory_bytes = amount_clamp(requests.memory_bytes);
    kubelet_count_extras(pod, spec);
    pod->qos = pod_qos_class(spec);
    pod->phase = pod_status_phase(object);
    if (pod_phase_ended(pod->phase))
        return; /* there may be many such pods, and their status is not written again */
    status = pod_status_of(object);
    pod->start_ms = status->start_ms;
    pod->scheduled_ms = status->scheduled_ms;
    pod->ready_ms = status->ready_ms;
    kubelet_assign_address(pod, spec);
}

static int64_t grace_ms(const struct kubelet_pod *pod)
{
    const struct meta *meta = pod->object->meta;
    int64_t grace_s = meta->deletion_grace_s >= 0 ? meta->deletion_grace_s : GRACE_DEFAULT_S;

    return grace_s * 1000;
}

void kubelet_stop_started(struct kubelet_pod *pod, int64_t grace)
{
    struct kubelet *k = pod->kubelet;

    if (pod->stop_grace_ms >= 0 && grace >= pod->stop_grace_ms)
        return;
    pod->stop_grace_ms = grace;
    k->runtime->ops->stop(k->runtime, pod->meta->uid, grace);
}

void kubelet_terminate(struct kubelet_pod *pod)
{
    if (pod->step == STEP_ADOPTING || pod->step == STEP_ADOPTING_ENDED)
        return; /* reconcile() handles the pod */
    if (pod->step == STEP_STARTED) {
        kubelet_stop_started(pod, grace_ms(pod));
        return;
    }
    kubelet_dequeue(pod); /* the pod was never started */
    kubelet_delete_object(pod);
}

static void forget(struct kubelet_pod *pod)
{
    pod_object_set(&pod->existence, OBJECT_DELETED);
    kubelet_probes_stop(pod);
    kubelet_untrack_sources(pod);
    if (pod->step == STEP_STARTED)
        kubelet_stop_started(pod, 0);
    else
        kubelet_dequeue(pod);
    hosts_leave(pod->kubelet->hosts, &pod->hosts);
    kubelet_await_durable(pod);
}

bool kubelet_pod_ended(const struct kubelet_pod *pod)
{
    return pod_phase_ended(pod->phase);
}

void kubelet_admit(struct kubelet_pod *pod)
{
    const char *reason = NULL;
    scoped_str why = NULL;

    why = kubelet_unrunnable(pod, &reason);
    if (why) {
        kubelet_write_failed(pod, reason, why);
    } else if (object_deleting(pod->object)) {
        pod_step_set(&pod->step, STEP_DELETING);
        kubelet_delete_object(pod);
    } else {
        kubelet_enqueue(pod);
    }
}

bool kubelet_is_ours(const struct kubelet *k, const struct object *object)
{
    const char *node = pod_spec_of(object)->node_name;

    return node && strcmp(node, k->options.node_name) == 0;
}

/* A pod without a record: a new one, or one that ended and whose record was freed. */
static void see_unknown(struct kubelet *k, enum cluster_change change, const struct object *object)
{
    bool ended = pod_phase_ended(pod_status_phase(object));
    struct kubelet_pod *pod;

    if (k->adopted && (ended || change == CHANGE_DELETED) &&
        (change != CHANGE_DELETED || !pod_status_of(object)->start_ms))
        return;
    pod = kubelet_pod_new(k, object->meta);
    read_object(pod, object);
    if (change == CHANGE_DELETED) {
        pod_step_set(&pod->step, STEP_RELEASED);
        pod->in_runtime = true; /* the pod may have left logs */
        forget(pod);
    } else if (k->adopted) {
        kubelet_admit(pod);
    }
}

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *object)
{
    struct kubelet *k = container_of(watcher, struct kubelet, pod_watcher);
    struct kubelet_pod *pod = kubelet_find_pod(k, object_uid(object));

    services_pod(k->services, change, object);
    if (pod && pod->object) {
        bool was_deleting = object_deleting(pod->object);

        const struct object *before = pod->object;

        pod->object = object_ref(object);
        if (change == CHANGE_DELETED)
            forget(pod);
        else if (object_deleting(object) && (!was_deleting || pod->step == STEP_STARTED))
            kubelet_terminate(pod);
        else
            kubelet_pod_updated(pod, before);
        object_unref((struct object *)before);
        return;
    }
    if (!pod && kubelet_is_ours(k, object))
        see_unknown(k, change, object);
}

static void last_report(struct kubelet_pod *pod, bool end_written)
{
    pod->in_runtime = true;
    hosts_run(pod->kubelet->hosts, &pod->hosts, false);
    kubelet_give_capacity(pod);
    kubelet_release_ports(pod);
    if (end_written && !kubelet_pod_gone(pod)) {
        if (pod->step == STEP_STARTED)
            kubelet_release_ended(pod);
        else
            pod_step_set(&pod->step, STEP_ADOPTING_ENDED);
        return;
    }
    pod_step_set(&pod->step, STEP_ENDED);
    if (kubelet_pod_gone(pod))
        kubelet_free_if_done(pod);
    else if (object_deleting(pod->object))
        kubelet_delete_object(pod);
}

static void on_report(void *ctx, const struct runtime_report *report)
{
    struct kubelet *k = ctx;
    struct kubelet_pod *pod = kubelet_find_pod(k, report->uid);
    bool end_written;

    if (!pod) {
        if (!report->final)
            return;
        k->runtime->ops->release(k->runtime, report->uid);
        purge(k, report->uid);
        return;
    }
    if (pod->step != STEP_STARTED && pod->step != STEP_ADOPTING)
        return;
    if (report->final) {
        kubelet_probes_stop(pod);
        kubelet_untrack_sources(pod);
    }
    end_written = kubelet_pod_ended(pod); /* the end was written by a previous run */
    if (kubelet_stop_was_lost(pod, report))
        kubelet_run_again(pod, &report->status);
    else if (!kubelet_pod_gone(pod) && !end_written)
        kubelet_write_report(pod, &report->status);
    if (report->final)
        last_report(pod, end_written);
}

/* Handles a change of a ConfigMap or Secret. When one is deleted, files that came from it stay as
 * they are. */
static void config_or_secret_changed(struct kubelet *k, enum cluster_change change,
                                     const struct object *old, const struct object *object)
{
    if (change == CHANGE_DELETED)
        return;
    kubelet_unblock_object(k, object);
    if (!old || old->body != object->body)
        kubelet_config_changed(k, object);
}

static void config_changed(struct cluster_watcher *watcher, enum cluster_change change,
                           const struct object *old, const struct object *object)
{
    config_or_secret_changed(container_of(watcher, struct kubelet, config_watcher), change, old,
                             object);
}

static void secret_changed(struct cluster_watcher *watcher, enum cluster_change change,
                           const struct object *old, const struct object *object)
{
    config_or_secret_changed(container_of(watcher, struct kubelet, secret_watcher), change, old,
                             object);
}

static void claim_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *object)
{
    if (change != CHANGE_DELETED)
        kubelet_unblock_object(container_of(watcher, struct kubelet, claim_watcher), object);
}

static void service_changed(struct cluster_watcher *watcher, enum cluster_change change,
                            const struct object *old, const struct object *object)
{
    struct kubelet *k = container_of(watcher, struct kubelet, service_watcher);

    if (change == CHANGE_MODIFIED && old && old->body == object->body)
        return;
    services_changed(k->services, change, object);
    hosts_service(k->hosts, change, object, services_address(k->services, object));
}

static void see_pod(void *arg, const struct object *object)
{
    struct kubelet *k = arg;

    pod_changed(&k->pod_watcher, CHANGE_ADDED, NULL, object);
}

static void watch(struct kubelet *k, struct cluster_watcher *watcher, const struct kind *kind,
                  void (*changed)(struct cluster_watcher *, enum cluster_change,
                                  const struct object *, const struct object *))
{
    watcher->kind = kind;
    watcher->changed = changed;
    cluster_watch(k->cluster, watcher);
}

static int socket_to(void *ctx, const struct sockaddr *to)
{
    struct runtime *runtime = ctx;

    return runtime->ops->socket_to(runtime, to, SOCK_STREAM);
}

struct kubelet *kubelet_start(struct cluster *cluster, struct runtime *runtime,
                              const struct kubelet_options *options)
{
    struct kubelet *k = mem_alloc(sizeof *k);

    k->cluster = cluster;
    k->runtime = runtime;
    k->sockets = (struct probe_sockets){socket_to, runtime};
    k->options = *options;
    k->addresses.private_network = options->private_network;
    k->range_fd = -1;
    k->devices = options->devices ? device_pool_new(options->devices) : NULL;
    k->dirty_tail = &k->dirty;
    k->accepted_tail = &k->accepted;
    k->adoption_done.run = kubelet_adoption_done;
    k->starts.run = kubelet_run_starts;
    k->flush.run = kubelet_flush_run;
    k->collect.run = kubelet_collect_run;
    k->retry.fire = kubelet_retry;
    k->refresh.run = kubelet_refresh_run;
    STAILQ_INIT(&k->stale);
    k->queue.before = kubelet_starts_before;
    k->hosts = hosts_new(cluster->loop, kubelet_hosts_changed, k);

    kubelet_start_services(k);
    cluster_each(cluster, &kind_pod, NULL, see_pod, k);
    watch(k, &k->pod_watcher, &kind_pod, pod_changed);
    watch(k, &k->config_watcher, &kind_config_map, config_changed);
    watch(k, &k->secret_watcher, &kind_secret, secret_changed);
    watch(k, &k->claim_watcher, &kind_pvc, claim_changed);
    watch(k, &k->service_watcher, &kind_service, service_changed);
    runtime->report = on_report;
    runtime->exec_done = kubelet_exec_done;
    runtime->ctx = k;
    runtime->ops->adopt(runtime, kubelet_pod_found, &k->adoption_done);
    return k;
}

static void release(struct kubelet *k)
{
    struct kubelet_pod *pod, *next_pod;
    struct blocker *blocker, *next_blocker;

    HASH_ITER(hh, k->pods, pod, next_pod)
    free_pod(pod);
    HASH_ITER(hh, k->blockers, blocker, next_blocker)
    kubelet_free_blocker(k, blocker);
    device_pool_free(k->devices);
    hosts_free(k->hosts);
    services_free(k->services);
    if (k->range_fd >= 0)
        close(k->range_fd);
    probe_http_client_free(k->http);
    for (size_t i = 0; i < POD_PHASE_N; i++)
        blob_unref(k->shared[i].blob);
    mem_free(k);
}

void kubelet_call_done(struct kubelet *k)
{
    k->calls--;
    if (k->stopped && !k->calls)
        release(k);
}

void kubelet_stop(struct kubelet *k)
{
    struct loop *loop;

    if (!k)
        return;
    loop = k->cluster->loop;
    cluster_unwatch(k->cluster, &k->pod_watcher);
    cluster_unwatch(k->cluster, &k->config_watcher);
    cluster_unwatch(k->cluster, &k->secret_watcher);
    cluster_unwatch(k->cluster, &k->claim_watcher);
    cluster_unwatch(k->cluster, &k->service_watcher);
    loop_cancel(loop, &k->adoption_done);
    loop_cancel(loop, &k->starts);
    loop_cancel(loop, &k->flush);
    loop_cancel(loop, &k->refresh);
    loop_cancel(loop, &k->collect);
    timer_stop(loop, &k->retry);
    kubelet_forget_batches(k);
    k->stopped = true;
    if (!k->calls)
        release(k);
}
