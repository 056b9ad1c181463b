/*
 * Services with an address of their own, their endpoints, and their listeners in the proxy.
 *
 *   Service ── address, a listener of the proxy for each port
 *      └─ endpoints: the pods it selects that can be reached now
 *
 * A change of endpoints marks the Service; at the end of the turn the proxy gets the new targets of
 * each marked Service once.
 */
#include "node/kubelet/services.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/collections/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/machine/address_pool.h"
#include "node/machine/address_range.h"
#include "node/machine/sockaddr_rules.h"
#include "node/proxy/selector_index.h"
#include "node/proxy/service_endpoints.h"
#include "node/proxy/service_listeners.h"

enum { TRY_SOON_MS = 100, TRY_AGAIN_MS = 2000 };

struct service {
    UT_hash_handle hh; /* links the Services in a hash table by "namespace/name" */
    char *key;
    struct services *all;
    const struct object *object;
    struct service_spec spec;
    struct selector_entry selector;
    uint32_t address;
    char text[ADDRESS_TEXT_MAX];
    struct service_listeners listeners;
    unsigned tries; /* number of tries to open listeners whose port was in use */
    struct service_endpoints endpoints;
    bool dirty;
    struct service *next_dirty;
};

struct services {
    struct services_rules rules;
    struct address_pool addresses;
    struct listener_factory factory;
    struct service *services;
    struct selector_index selector_index;
    struct service *dirty;
    struct task set_targets;
    struct timer reopen; /* when listeners whose port was in use are tried again */
};

static void mark(struct service *service)
{
    struct services *all = service->all;

    if (service->dirty)
        return;
    service->dirty = true;
    service->next_dirty = all->dirty;
    all->dirty = service;
    loop_post(all->rules.cluster->loop, &all->set_targets);
}

static void update_endpoints(struct service *service, const struct object *pod, bool gone)
{
    if (service_endpoints_update(&service->endpoints, &service->spec, pod, gone))
        mark(service);
}

/* A pod that was created, changed or deleted. */
struct pod_change {
    const struct object *pod;
    bool gone;
};

static bool update_entry(void *arg, struct selector_entry *selector)
{
    const struct pod_change *change = arg;

    update_endpoints(container_of(selector, struct service, selector), change->pod, change->gone);
    return true;
}

void services_pod(struct services *all, enum cluster_change change, const struct object *pod)
{
    struct pod_change pod_change = {pod, change == CHANGE_DELETED};

    if (all)
        selector_index_each(&all->selector_index, pod->meta, update_entry, &pod_change);
}

static void see_pod(void *arg, const struct object *pod)
{
    update_endpoints(arg, pod, false);
}

static void set_targets(struct service *service, size_t index)
{
    size_t n;
    struct proxy_target *targets =
        service_endpoints_targets(&service->endpoints, &service->spec.ports[index], &n);

    proxy_set_targets(service->all->factory.proxy, service->listeners.items[index].number, targets,
                      n);
    mem_free(targets);
}

static void set_dirty_targets(struct task *task)
{
    struct services *all = container_of(task, struct services, set_targets);

    while (all->dirty) {
        struct service *service = all->dirty;

        all->dirty = service->next_dirty;
        service->dirty = false;
        for (size_t i = 0; i < service->listeners.n; i++)
            if (service->listeners.items[i].number)
                set_targets(service, i);
    }
}

static void open_failed(void *ctx, void *about, const struct service_port *port, int error)
{
    const struct service *service = about;
    struct cluster *cluster = service->all->rules.cluster;

    if (error == EADDRINUSE)
        timer_start(cluster->loop, &service->all->reopen,
                    service->tries ? TRY_AGAIN_MS : TRY_SOON_MS);
    if (error == EADDRINUSE && service->tries == 1)
        cluster_event(cluster, service->object, EVENT_WARNING, "PortInUse", "relay",
                      "port %d/%s: a program of this machine listens on it at every address; end "
                      "it, or give the Service another port",
                      port->port, service_transport_text(port->transport));
    else if (error != EADDRINUSE)
        cluster_event(cluster, service->object, EVENT_WARNING, "PortNotOpened", "relay",
                      "port %d/%s at %s: %s", port->port, service_transport_text(port->transport),
                      service->text, strerrordesc_np(error));
}

static void open_listeners(struct service *service)
{
    service_listeners_open(&service->all->factory, &service->listeners, inet_addr(service->text),
                           &service->spec, service);
}

static bool has_closed_port(const struct service *service)
{
    for (size_t i = 0; i < service->listeners.n; i++)
        if (!service->listeners.items[i].number)
            return true;
    return false;
}

/* Tries closed ports again: the program that used the port may have ended, or the proxy may have
 * closed a listener of a deleted Service since. */
static void reopen_listeners(struct timer *timer)
{
    struct services *all = container_of(timer, struct services, reopen);

    for (struct service *service = all->services; service; service = service->hh.next) {
        bool was_open = service->listeners.any;

        if (!has_closed_port(service))
            continue;
        service->tries++;
        open_listeners(service);
        mark(service);
        if (service->listeners.any && !was_open)
            all->rules.opened(all->rules.ctx, service->object);
    }
}

/* Returns the pods' range that belongs to a Service address of a previous run; 0 = none. */
static uint8_t range_beside(const char *cluster_ip)
{
    uint8_t bytes[4];
    char pods[ADDRESS_TEXT_MAX];

    if (!cluster_ip || inet_pton(AF_INET, cluster_ip, bytes) != 1 || !bytes[1])
        return 0;
    snprintf(pods, sizeof pods, "%d.%d.0.0", bytes[0], bytes[1] - 1);
    return address_range_of(pods);
}

static void take_address(struct service *service)
{
    struct services *all = service->all;
    const char *wanted = service->spec.cluster_ip;

    if (!all->addresses.second)
        all->addresses.second = all->rules.range(all->rules.ctx, range_beside(wanted));
    service->address = address_pool_claim(&all->addresses, wanted);
    if (!service->address)
        service->address = address_pool_take(&all->addresses);
    address_pool_text(&all->addresses, service->address, service->text);
}

static void address_written(struct cluster_call *call, const struct object *result,
                            const struct error *err)
{
    /* After a conflict or a deletion a watch event follows. */
    if (err && err->code != ERR_CONFLICT && err->code != ERR_NOT_FOUND)
        log_warn("address of a Service could not be written", kv_str("error", err->message));
    mem_free(call);
}

static void write_address(const struct service *service)
{
    const struct object *object = service->object;
    scoped(json) json_t *body = NULL;
    struct cluster_call *call;
    json_t *spec;

    if (service->spec.cluster_ip && strcmp(service->spec.cluster_ip, service->text) == 0)
        return;
    body = object_body_json(object);
    spec = json_object_get(body, "spec");
    json_object_set_new(spec, "clusterIP", json_string(service->text));
    json_object_set_new(spec, "clusterIPs", json_pack("[s]", service->text));
    json_object_set_new(spec, "ipFamilies", json_pack("[s]", "IPv4"));
    json_object_set_new(spec, "ipFamilyPolicy", json_string("SingleStack"));
    if (service->spec.cluster_ip && *service->spec.cluster_ip)
        cluster_event(service->all->rules.cluster, object, EVENT_WARNING, "ClusterIPReallocated",
                      "relay", "%s is not available on this node: the Service has %s",
                      service->spec.cluster_ip, service->text);
    call = mem_alloc(sizeof *call);
    call->done = address_written;
    cluster_update(service->all->rules.cluster, call,
                   object_with_body(object, object_body_from_json(body)));
}

static struct service *service_of(const struct services *all, const struct object *object)
{
    scoped_str key = mem_printf("%s/%s", object_namespace(object), object_name(object));
    struct service *service;

    HASH_FIND(hh, all->services, key, strlen(key), service);
    return service;
}

static void unmark(struct service *service)
{
    struct services *all = service->all;

    for (struct service **at = &all->dirty; *at; at = &(*at)->next_dirty)
        if (*at == service) {
            *at = service->next_dirty;
            break;
        }
    service->dirty = false;
}

static void drop(struct service *service)
{
    struct services *all = service->all;

    service_endpoints_release(&service->endpoints);
    unmark(service);
    service_listeners_close(&all->factory, &service->listeners);
    address_pool_give_back(&all->addresses, service->address);
    selector_index_remove(&all->selector_index, &service->selector);
    HASH_DELETE(hh, all->services, service);
    service_spec_release(&service->spec);
    object_unref((struct object *)service->object);
    mem_free(service->key);
    mem_free(service);
}

static struct service *add(struct services *all, const struct object *object)
{
    struct service *service = mem_alloc(sizeof *service);

    service->all = all;
    service->key = mem_printf("%s/%s", object_namespace(object), object_name(object));
    HASH_ADD_KEYPTR(hh, all->services, service->key, strlen(service->key), service);
    return service;
}

/* Takes over the spec of a Service; `spec` is then owned by the record. */
static void take_spec(struct service *service, const struct object *object,
                      struct service_spec *spec)
{
    struct services *all = service->all;

    selector_index_remove(&all->selector_index, &service->selector);
    if (service->object)
        object_unref((struct object *)service->object);
    service_spec_release(&service->spec);
    service->object = object_ref(object);
    service->spec = *spec;
    selector_index_add(&all->selector_index, &service->selector, object_namespace(object),
                       spec->job);
}

static bool same_selection(const struct service_spec *a, const struct service_spec *b)
{
    return json_equal(a->selector, b->selector) && a->with_unready == b->with_unready;
}

static void warn_protocol(struct services *all, const struct service_spec *spec,
                          const struct object *object)
{
    if (spec->other_port)
        cluster_event(all->rules.cluster, object, EVENT_WARNING, "ProtocolNotRelayed", "relay",
                      "only TCP and UDP are forwarded: for %s make the Service headless "
                      "(clusterIP: None) and connect to its pods",
                      spec->other_port);
}

static void apply(struct services *all, struct service *service, const struct object *object,
                  struct service_spec *spec)
{
    bool is_new = !service, same = !is_new && same_selection(&service->spec, spec);

    if (is_new)
        service = add(all, object);
    if (!same)
        service_endpoints_release(&service->endpoints);
    take_spec(service, object, spec);
    if (!service->address)
        take_address(service);
    if (!service->address) {
        cluster_event(all->rules.cluster, object, EVENT_WARNING, "NoAddress", "relay",
                      "all addresses of Services are in use; its name leads to its pods");
        return;
    }
    service->tries = 0;
    open_listeners(service);
    if (is_new)
        warn_protocol(all, &service->spec, object);
    write_address(service);
    mark(service);
    if (!same)
        cluster_each(all->rules.cluster, &kind_pod, object_namespace(object), see_pod, service);
}

void services_changed(struct services *all, enum cluster_change change, const struct object *object)
{
    struct service *service;
    struct service_spec spec;

    if (!all)
        return;
    service = service_of(all, object);
    if (service && change != CHANGE_DELETED && service->object->body == object->body)
        return;
    service_spec_read(object, &spec);
    if (change != CHANGE_DELETED && service_spec_wants_address(&spec)) {
        apply(all, service, object, &spec);
        return;
    }
    if (change != CHANGE_DELETED && (service || change == CHANGE_ADDED) &&
        !service_spec_is_headless(&spec))
        warn_protocol(all, &spec, object);
    service_spec_release(&spec);
    if (service)
        drop(service);
}

static void add_addressed(void *arg, const struct object *object)
{
    struct service_spec spec;
    bool addressed;

    service_spec_read(object, &spec);
    addressed = spec.cluster_ip && *spec.cluster_ip;
    service_spec_release(&spec);
    if (addressed)
        services_changed(arg, CHANGE_ADDED, object);
}

static void add_any(void *arg, const struct object *object)
{
    services_changed(arg, CHANGE_ADDED, object);
}

/* Services that have addresses keep them; the others take what is left. */
void services_start(struct services *all)
{
    if (!all)
        return;
    cluster_each(all->rules.cluster, &kind_service, NULL, add_addressed, all);
    cluster_each(all->rules.cluster, &kind_service, NULL, add_any, all);
}

const char *services_address(const struct services *all, const struct object *object)
{
    const struct service *service = all ? service_of(all, object) : NULL;

    return service && service->listeners.any ? service->text : NULL;
}

static bool is_another(void *arg, struct selector_entry *selector)
{
    const struct service *service = container_of(selector, struct service, selector);

    return !service_spec_selects(&service->spec, arg);
}

bool services_select(const struct services *all, const struct object *pod)
{
    return all && !selector_index_each(&all->selector_index, pod->meta, is_another, pod->meta);
}

struct expected {
    const struct meta *pod;
    uint16_t *ports; /* ports of the Services, [SOCKADDR_PORTS_MAX] */
    size_t n;
};

static bool add_ports(void *arg, struct selector_entry *selector)
{
    const struct service *service = container_of(selector, struct service, selector);
    struct expected *out = arg;

    if (!service_spec_selects(&service->spec, out->pod))
        return true;
    for (size_t i = 0; i < service->spec.n_ports && out->n < SOCKADDR_PORTS_MAX; i++)
        if (service->spec.ports[i].target)
            out->ports[out->n++] = service->spec.ports[i].target;
    return true;
}

const uint16_t *services_ports(const struct services *all, const struct object *pod,
                               struct arena *arena, size_t *n)
{
    struct expected expected = {.pod = pod->meta};

    *n = 0;
    if (!all || !all->services)
        return NULL;
    expected.ports = arena_array(arena, SOCKADDR_PORTS_MAX, sizeof *expected.ports);
    selector_index_each(&all->selector_index, pod->meta, add_ports, &expected);
    *n = expected.n;
    return expected.ports;
}

void services_each(const struct services *all, const char *ns,
                   void (*visit)(void *arg, const char *name, const char *address,
                                 const struct service_spec *spec),
                   void *arg)
{
    for (const struct service *service = all ? all->services : NULL; service;
         service = service->hh.next)
        if (service->address && strcmp(object_namespace(service->object), ns) == 0)
            visit(arg, object_name(service->object), service->text, &service->spec);
}

struct services *services_new(const struct services_rules *rules)
{
    struct services *all = mem_alloc(sizeof *all);

    all->rules = *rules;
    all->addresses.private_network = rules->private_network;
    all->addresses.services = true;
    all->set_targets.run = set_dirty_targets;
    all->reopen.fire = reopen_listeners;
    all->factory = (struct listener_factory){.socket_at = rules->socket_at,
                                             .connect_holder = rules->line,
                                             .failed = open_failed,
                                             .ctx = rules->ctx};
    return all;
}

void services_free(struct services *all)
{
    struct service *service, *next;

    if (!all)
        return;
    HASH_ITER(hh, all->services, service, next)
    drop(service);
    loop_cancel(all->rules.cluster->loop, &all->set_targets);
    timer_stop(all->rules.cluster->loop, &all->reopen);
    listener_factory_release(&all->factory);
    mem_free(all);
}
