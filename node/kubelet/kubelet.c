/*
 * Pods as their objects and the runtime's reports come; start and stop. What earlier lives left is
 * judged in adopt.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "node/kubelet/internal.h"
#include "node/machine/address_range.h"
#include "probes/attempt.h"

enum { GRACE_DEFAULT_S = 30 };

/* Records. */

struct kubelet_pod *kubelet_pod_of(struct kubelet *k, const char *uid)
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
    pod->step = STEP_ADOPTING;
    pod->need.pods = 1;
    HASH_ADD_KEYPTR(hh, k->pods, pod->meta->uid, strlen(pod->meta->uid), pod);
    return pod;
}

static void free_pod(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    HASH_DELETE(hh, k->pods, pod);
    kubelet_probe_end(pod);
    kubelet_follow_end(pod);
    kubelet_ports_give(pod);
    hosts_leave(k->hosts, &pod->hosts);
    address_pool_give_back(&k->addresses, pod->address);
    blob_unref(pod->to_write);
    blob_unref(pod->written);
    mem_free(pod->hostname);
    mem_free(pod->subdomain);
    mem_free(pod->aliases);
    object_unref((struct object *)pod->object);
    meta_unref(pod->meta);
    mem_free(pod);
}

void kubelet_pod_settle(struct kubelet_pod *pod)
{
    struct kubelet *k = pod->kubelet;

    if (pod->written || pod->removing || pod->dirty || pod->accepted || pod->batched)
        return;
    if (!pod->gone && pod->step == STEP_RELEASED && !pod->to_write && !pod->to_remove &&
        !pod->address) {
        free_pod(pod); /* there is nothing to do or to keep before its object goes */
        return;
    }
    if (!pod->gone_durable)
        return;
    if (pod->step == STEP_STARTED || pod->step == STEP_ADOPTING)
        return; /* its last report is to come */
    if (pod->to_runtime) {
        if (pod->step != STEP_RELEASED)
            k->runtime->ops->release(k->runtime, pod->meta->uid);
        k->runtime->ops->purge(k->runtime, pod->meta->uid);
    }
    free_pod(pod);
}

void kubelet_lock_range(struct kubelet *k, uint8_t wanted)
{
    if (k->options.lock_addresses && k->range_fd < 0)
        k->addresses.second = address_range_lock(wanted, &k->range_fd);
}

static void set_address(struct kubelet_pod *pod, const struct pod_spec *spec)
{
    struct kubelet *k = pod->kubelet;

    const struct pod_status *status = pod_status_of(pod->object);

    if ((status->pod_ip && *status->pod_ip) || kubelet_needs_address(k, pod->object))
        kubelet_lock_range(k, address_range_of(status->pod_ip));
    pod->address = address_pool_reserve(&k->addresses, status->pod_ip);
    if (!pod->address && status->start_ms && status->pod_ip) {
        /* started in another network than the one pods get now: it keeps its address */
        snprintf(pod->address_text, sizeof pod->address_text, "%s", status->pod_ip);
    } else {
        if (!pod->address && kubelet_needs_address(k, pod->object))
            pod->address = address_pool_take(&k->addresses);
        address_pool_text(&k->addresses, pod->address, pod->address_text);
    }
    if (!k->options.volumes.sim && kubelet_needs_hosts(k, spec))
        kubelet_join_hosts(pod, spec); /* nobody reads a simulated hosts file */
}

/* What the object says; the record is new. */
static void read_object(struct kubelet_pod *pod, const struct object *object)
{
    const struct pod_spec *spec = pod_spec_of(object);
    struct pod_resources requests = pod_spec_requests(spec);
    const struct pod_status *status;

    pod->object = object_ref(object);
    pod->need.cpu_milli = amount_clamp(requests.cpu_milli);
    pod->need.memory_bytes = amount_clamp(requests.memory_bytes);
    pod->qos = pod_qos_class(spec);
    pod->phase = pod_status_phase(object);
    if (pod_phase_ended(pod->phase))
        return; /* there may be many of them, and nothing more is written of their status */
    status = pod_status_of(object);
    pod->start_ms = status->start_ms;
    pod->scheduled_ms = status->scheduled_ms;
    pod->ready_ms = status->ready_ms;
    set_address(pod, spec);
}

/* Deletion. */

static int64_t grace_ms(const struct kubelet_pod *pod)
{
    const struct meta *meta = pod->object->meta;
    int64_t grace_s = meta->deletion_grace_s >= 0 ? meta->deletion_grace_s : GRACE_DEFAULT_S;

    return grace_s * 1000;
}

void kubelet_stop_started(struct kubelet_pod *pod, int64_t grace)
{
    struct kubelet *k = pod->kubelet;

    if (pod->stopping && grace >= pod->stop_grace_ms)
        return;
    pod->stopping = true;
    pod->stop_grace_ms = grace;
    k->runtime->ops->stop(k->runtime, pod->meta->uid, grace);
}

void kubelet_doom(struct kubelet_pod *pod)
{
    if (pod->step == STEP_ADOPTING)
        return; /* seen to when it is judged */
    if (pod->step == STEP_STARTED) {
        kubelet_stop_started(pod, grace_ms(pod));
        return;
    }
    kubelet_dequeue(pod); /* never started */
    kubelet_remove(pod);
}

static void forget(struct kubelet_pod *pod)
{
    pod->gone = true;
    kubelet_probe_end(pod);
    kubelet_follow_end(pod);
    if (pod->step == STEP_STARTED)
        kubelet_stop_started(pod, 0);
    else if (pod->step != STEP_ADOPTING)
        kubelet_dequeue(pod);
    hosts_leave(pod->kubelet->hosts, &pod->hosts);
    kubelet_accepted(pod);
}

/* Arrival. */

bool kubelet_pod_ended(const struct kubelet_pod *pod)
{
    return pod_phase_ended(pod->phase);
}

void kubelet_arrive(struct kubelet_pod *pod)
{
    const char *reason = NULL;
    scoped_str why = NULL;

    pod->step = STEP_QUEUED;
    why = kubelet_unrunnable(pod->kubelet, pod_spec_of(pod->object), &reason);
    if (why)
        kubelet_write_failed(pod, reason, why);
    else if (object_deleting(pod->object))
        kubelet_remove(pod);
    else
        kubelet_enqueue(pod);
}

bool kubelet_is_ours(const struct kubelet *k, const struct object *object)
{
    const char *node = pod_spec_of(object)->node_name;

    return node && strcmp(node, k->options.node_name) == 0;
}

/* A pod without a record: a new one, or one that ended long ago and is heard of again. */
static void meet(struct kubelet *k, enum cluster_change change, const struct object *object)
{
    bool ended = pod_phase_ended(pod_status_phase(object));
    struct kubelet_pod *pod;

    if (k->adopted && (ended || change == CHANGE_DELETED) &&
        (change != CHANGE_DELETED || !pod_status_of(object)->start_ms))
        return;
    pod = kubelet_pod_new(k, object->meta);
    read_object(pod, object);
    if (change == CHANGE_DELETED) {
        pod->step = STEP_RELEASED;
        pod->to_runtime = true; /* it may have left logs */
        forget(pod);
    } else if (k->adopted) {
        kubelet_arrive(pod);
    }
}

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *object)
{
    struct kubelet *k = container_of(watcher, struct kubelet, pod_watcher);
    struct kubelet_pod *pod = kubelet_pod_of(k, object_uid(object));

    services_pod(k->services, change, object);
    if (pod && pod->object) {
        bool was_deleting = object_deleting(pod->object);

        const struct object *before = pod->object;

        pod->object = object_ref(object);
        if (change == CHANGE_DELETED)
            forget(pod);
        else if (object_deleting(object) && (!was_deleting || pod->step == STEP_STARTED))
            kubelet_doom(pod);
        else
            kubelet_follow_itself(pod, before);
        object_unref((struct object *)before);
        return;
    }
    if (!pod && kubelet_is_ours(k, object))
        meet(k, change, object);
}

/* Reports. */

static void on_report(void *ctx, const struct runtime_report *report)
{
    struct kubelet *k = ctx;
    struct kubelet_pod *pod = kubelet_pod_of(k, report->uid);
    bool told;

    if (!pod) {
        if (!report->final)
            return;
        k->runtime->ops->release(k->runtime, report->uid);
        k->runtime->ops->purge(k->runtime, report->uid);
        return;
    }
    if (pod->final || (pod->step != STEP_STARTED && pod->step != STEP_ADOPTING))
        return;
    if (report->final) {
        kubelet_probe_end(pod);
        kubelet_follow_end(pod);
    }
    told = kubelet_pod_ended(pod); /* an earlier life wrote its end: it is judged with the others */
    if (!pod->gone && !told)
        kubelet_write_report(pod, &report->status);
    if (!report->final)
        return;
    pod->final = pod->to_runtime = true;
    hosts_run(pod->kubelet->hosts, &pod->hosts, false);
    kubelet_room_give(pod);
    kubelet_ports_give(pod);
    if (told && !pod->gone) {
        if (pod->step == STEP_STARTED) /* it was judged before this came */
            kubelet_let_go(pod);
        return;
    }
    pod->step = STEP_ENDED;
    if (pod->gone)
        kubelet_pod_settle(pod);
    else if (object_deleting(pod->object))
        kubelet_remove(pod);
}

/* Other objects. */

/* A ConfigMap or Secret. Those that went leave the files as they were. */
static void source_changed(struct kubelet *k, enum cluster_change change, const struct object *old,
                           const struct object *object)
{
    if (change == CHANGE_DELETED)
        return;
    kubelet_unhold(k, object);
    if (!old || old->body != object->body)
        kubelet_config_changed(k, object);
}

static void config_changed(struct cluster_watcher *watcher, enum cluster_change change,
                           const struct object *old, const struct object *object)
{
    source_changed(container_of(watcher, struct kubelet, config_watcher), change, old, object);
}

static void secret_changed(struct cluster_watcher *watcher, enum cluster_change change,
                           const struct object *old, const struct object *object)
{
    source_changed(container_of(watcher, struct kubelet, secret_watcher), change, old, object);
}

static void claim_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *object)
{
    if (change != CHANGE_DELETED)
        kubelet_unhold(container_of(watcher, struct kubelet, claim_watcher), object);
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

static void hosts_changed(void *ctx, struct host_entry *entry, const char *text)
{
    struct kubelet_pod *pod = container_of(entry, struct kubelet_pod, hosts);

    pod->kubelet->runtime->ops->set_hosts(pod->kubelet->runtime, pod->meta->uid, text);
    if (kubelet_hosts_as_addresses(pod))
        kubelet_stale(pod);
}

/* Start and stop. */

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
    k->dirty_tail = &k->dirty;
    k->accepted_tail = &k->accepted;
    k->adoption_done.run = kubelet_adoption_done;
    k->pump.run = kubelet_pump_run;
    k->flush.run = kubelet_flush_run;
    k->collect.run = kubelet_collect_run;
    k->retry.fire = kubelet_retry;
    k->refresh.run = kubelet_refresh_run;
    STAILQ_INIT(&k->stale);
    TAILQ_INIT(&k->queue);
    k->hosts = hosts_new(cluster->loop, hosts_changed, k);

    kubelet_serve(k);
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
    struct held *held, *next_held;

    HASH_ITER(hh, k->pods, pod, next_pod)
    free_pod(pod);
    HASH_ITER(hh, k->held, held, next_held)
    kubelet_free_held(k, held);
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
    loop_cancel(loop, &k->pump);
    loop_cancel(loop, &k->flush);
    loop_cancel(loop, &k->refresh);
    loop_cancel(loop, &k->collect);
    timer_stop(loop, &k->retry);
    kubelet_forget_batches(k);
    k->stopped = true;
    if (!k->calls)
        release(k);
}
