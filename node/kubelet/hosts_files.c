/*
 * Hosts files are made for groups: pods of one job see each other's names; a pod without a job is a
 * group of its own. A Service belongs to the group of the job its selector names; a general
 * Service, whose selector names no job, is compared with every pod of its namespace.
 *
 * Names that Services give to pods of a group are also shown to the other groups of the namespace:
 * to a starting pod at once, to running pods after REFRESH_MS, because jobs may start and end by
 * the hundred.
 */
#include "node/kubelet/hosts_files.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/collections/hash.h"
#include "node/machine/address_pool.h"
#include "node/proxy/service_spec.h"

enum { REFRESH_MS = 100 };

struct service {
    UT_hash_handle hh; /* links the Services in a hash table by "namespace/name" */
    char *key;
    struct meta *meta;
    json_t *selector; /* labels that the Service selects, with string values */
    struct host_group *group;
    char address[ADDRESS_TEXT_MAX]; /* address of the Service; "": its name leads to its pods */
    struct service *next; /* next in the list of its group, hosts->general or hosts->addressed */
};

/* The number of Services of a namespace. */
struct service_count {
    UT_hash_handle hh;
    size_t n;
    char ns[];
};

struct host_group {
    UT_hash_handle hh; /* links the groups in a hash table by "namespace/job", or by uid of the
                        * pod */
    char *key;
    TAILQ_HEAD(, host_entry) entries;
    LIST_ENTRY(host_group) active; /* links the groups that have entries, in hosts->active */
    struct service *services;
    struct buf text; /* text of the hosts file; empty: it must be built */
    uint64_t seen;   /* value of hosts->shown when the text was built */
    bool dirty;
    struct host_group *next_dirty;
};

struct hosts {
    struct loop *loop;
    void (*changed)(void *ctx, struct host_entry *entry, const char *text);
    void *ctx;
    struct host_group *groups;
    LIST_HEAD(, host_group) active; /* groups with entries; groups of jobs that wait have none */
    struct service *services;
    struct service *general; /* Services whose selector names no job */
    struct service *addressed;
    struct service_count *counts;
    struct buf with_aliases; /* memory to compose a text in */
    struct host_group *dirty;
    uint64_t shown; /* counts changes of the names that Services give to pods */
    struct task send;
    struct timer refresh;
};

/* Returns the namespace of a group that has entries. */
static const char *namespace_of(const struct host_group *group)
{
    return TAILQ_FIRST(&group->entries)->meta->namespace;
}

static struct host_group *group_keyed(struct hosts *hosts, const char *key)
{
    struct host_group *group;

    HASH_FIND(hh, hosts->groups, key, strlen(key), group);
    if (group)
        return group;
    group = mem_alloc(sizeof *group);
    TAILQ_INIT(&group->entries);
    group->key = mem_strdup(key);
    HASH_ADD_KEYPTR(hh, hosts->groups, group->key, strlen(key), group);
    return group;
}

static void mark(struct hosts *hosts, struct host_group *group)
{
    if (group->dirty)
        return;
    group->dirty = true;
    group->next_dirty = hosts->dirty;
    hosts->dirty = group;
    loop_post(hosts->loop, &hosts->send);
}

static void names_changed(struct hosts *hosts)
{
    hosts->shown++;
    if (!timer_armed(&hosts->refresh))
        timer_start(hosts->loop, &hosts->refresh, REFRESH_MS);
}

static void group_changed(struct hosts *hosts, struct host_group *group)
{
    buf_clear(&group->text);
    if (!TAILQ_EMPTY(&group->entries) && (group->services || hosts->general))
        names_changed(hosts);
    mark(hosts, group);
}

static void free_group(struct hosts *hosts, struct host_group *group)
{
    HASH_DELETE(hh, hosts->groups, group);
    buf_release(&group->text);
    mem_free(group->key);
    mem_free(group);
}

static void add_full_names(struct buf *out, const char *host, const char *domain, const char *ns)
{
    buf_printf(out, " %s.%s.%s.svc.cluster.local %s.%s.%s.svc %s.%s.%s %s.%s", host, domain, ns,
               host, domain, ns, host, domain, ns, host, domain);
}

static void add_names(struct buf *out, const char *address, const char *host, const char *domain,
                      const char *ns)
{
    buf_str(out, address);
    if (domain)
        add_full_names(out, host, domain, ns);
    buf_printf(out, " %s\n", host);
}

static void add_service_names(struct buf *out, const char *address, const char *name,
                              const char *ns)
{
    buf_printf(out, "%s %s.%s.svc.cluster.local %s.%s.svc %s.%s %s\n", address, name, ns, name, ns,
               name, ns, name);
}

static bool selects(const struct service *service, const struct meta *pod)
{
    return strcmp(service->meta->namespace, pod->namespace) == 0 &&
           service_selector_selects(service->selector, pod);
}

static void add_services(const struct service *service, const struct host_entry *entry,
                         struct buf *out)
{
    for (; service; service = service->next)
        if (selects(service, entry->meta))
            add_service_names(out, entry->address, service->meta->name, entry->meta->namespace);
}

/* Adds the lines about a pod that other groups see: the names of Services that select it and, if
 * one of them is its subdomain, its own full name. */
static void add_names_for_others(const struct service *service, const struct host_entry *entry,
                                 struct buf *out)
{
    const char *ns = entry->meta->namespace;

    for (; service; service = service->next) {
        const char *name = service->meta->name;

        if (!selects(service, entry->meta))
            continue;
        if (entry->subdomain && strcmp(entry->subdomain, name) == 0) {
            buf_str(out, entry->address);
            add_full_names(out, entry->hostname, name, ns);
            buf_char(out, '\n');
        }
        add_service_names(out, entry->address, name, ns);
    }
}

static void add_other_groups(const struct hosts *hosts, const struct host_group *group,
                             struct buf *out)
{
    const struct host_group *other;
    const struct host_entry *entry;

    if (TAILQ_EMPTY(&group->entries))
        return;
    LIST_FOREACH(other, &hosts->active, active)
    {
        if (other == group || (!other->services && !hosts->general) ||
            strcmp(namespace_of(other), namespace_of(group)) != 0)
            continue;
        TAILQ_FOREACH(entry, &other->entries, in_group)
        {
            if (!entry->running || !*entry->address)
                continue;
            add_names_for_others(other->services, entry, out);
            add_names_for_others(hosts->general, entry, out);
        }
    }
}

static void add_addressed(const struct hosts *hosts, const struct host_group *group,
                          struct buf *out)
{
    for (const struct service *service = hosts->addressed; service; service = service->next)
        if (!TAILQ_EMPTY(&group->entries) &&
            strcmp(service->meta->namespace, namespace_of(group)) == 0)
            add_service_names(out, service->address, service->meta->name, service->meta->namespace);
}

static const char *text_of(struct hosts *hosts, struct host_group *group)
{
    const struct host_entry *entry;
    struct buf *out = &group->text;

    if (out->len && group->seen == hosts->shown)
        return out->data;
    group->seen = hosts->shown;
    buf_clear(out);
    buf_str(out, "127.0.0.1 localhost\n");
    TAILQ_FOREACH(entry, &group->entries, in_group)
    {
        if (*entry->address)
            add_names(out, entry->address, entry->hostname, entry->subdomain,
                      entry->meta->namespace);
    }
    TAILQ_FOREACH(entry, &group->entries, in_group)
    {
        if (!*entry->address)
            continue;
        add_services(group->services, entry, out);
        add_services(hosts->general, entry, out);
    }
    add_addressed(hosts, group, out);
    add_other_groups(hosts, group, out);
    return out->data;
}

static void refresh(struct timer *timer)
{
    struct hosts *hosts = container_of(timer, struct hosts, refresh);
    struct host_group *group;

    LIST_FOREACH(group, &hosts->active, active)
    {
        if (group->seen != hosts->shown)
            mark(hosts, group);
    }
}

static void send_dirty(struct task *task)
{
    struct hosts *hosts = container_of(task, struct hosts, send);
    struct host_entry *entry;

    while (hosts->dirty) {
        struct host_group *group = hosts->dirty;

        hosts->dirty = group->next_dirty;
        group->dirty = false;
        TAILQ_FOREACH(entry, &group->entries, in_group)
        {
            if (entry->running)
                hosts->changed(hosts->ctx, entry, hosts_text(hosts, entry));
        }
        if (TAILQ_EMPTY(&group->entries) && !group->services)
            free_group(hosts, group);
    }
}

const char *hosts_text(struct hosts *hosts, struct host_entry *entry)
{
    const char *text = text_of(hosts, entry->group);

    if (!entry->aliases)
        return text;
    buf_clear(&hosts->with_aliases);
    buf_str(&hosts->with_aliases, text);
    buf_str(&hosts->with_aliases, entry->aliases);
    return hosts->with_aliases.data;
}

void hosts_join(struct hosts *hosts, struct host_entry *entry)
{
    const char *job = meta_label(entry->meta, LABEL_JOB_NAME);
    scoped_str key =
        job ? mem_printf("%s/%s", entry->meta->namespace, job) : mem_strdup(entry->meta->uid);
    struct host_group *group = group_keyed(hosts, key);

    if (TAILQ_EMPTY(&group->entries))
        LIST_INSERT_HEAD(&hosts->active, group, active);
    entry->group = group;
    TAILQ_INSERT_TAIL(&group->entries, entry, in_group);
    if (*entry->address)
        group_changed(hosts, group);
}

void hosts_leave(struct hosts *hosts, struct host_entry *entry)
{
    struct host_group *group = entry->group;

    if (!group)
        return;
    TAILQ_REMOVE(&group->entries, entry, in_group);
    entry->group = NULL;
    if (TAILQ_EMPTY(&group->entries))
        LIST_REMOVE(group, active);
    if (!*entry->address) {
        mark(hosts, group); /* the Service is in no file; its group may be empty now */
        return;
    }
    if (group->services || hosts->general)
        names_changed(hosts);
    group_changed(hosts, group);
}

void hosts_run(struct hosts *hosts, struct host_entry *entry, bool running)
{
    if (entry->running != running && entry->group && *entry->address &&
        (entry->group->services || hosts->general))
        names_changed(hosts);
    entry->running = running;
}

static struct service_count *service_count_of(const struct hosts *hosts, const char *ns)
{
    struct service_count *count;

    HASH_FIND(hh, hosts->counts, ns, strlen(ns), count);
    return count;
}

bool hosts_serves(const struct hosts *hosts, const char *ns)
{
    return hosts->counts && service_count_of(hosts, ns);
}

static void count_service(struct hosts *hosts, const char *ns)
{
    struct service_count *count = service_count_of(hosts, ns);

    if (!count) {
        count = mem_alloc(sizeof *count + strlen(ns) + 1);
        memcpy(count->ns, ns, strlen(ns) + 1);
        HASH_ADD_KEYPTR(hh, hosts->counts, count->ns, strlen(ns), count);
    }
    count->n++;
}

static void uncount_service(struct hosts *hosts, const char *ns)
{
    struct service_count *count = service_count_of(hosts, ns);

    if (--count->n)
        return;
    HASH_DELETE(hh, hosts->counts, count);
    mem_free(count);
}

static void namespace_changed(struct hosts *hosts, const char *ns)
{
    struct host_group *group;

    LIST_FOREACH(group, &hosts->active, active)
    {
        if (strcmp(namespace_of(group), ns) == 0)
            group_changed(hosts, group);
    }
}

static struct service **list_of(struct hosts *hosts, const struct service *service)
{
    if (*service->address)
        return &hosts->addressed;
    return service->group ? &service->group->services : &hosts->general;
}

static void drop_service(struct hosts *hosts, struct service *service)
{
    struct service **at = list_of(hosts, service);

    while (*at != service)
        at = &(*at)->next;
    *at = service->next;
    if (!service->group || !TAILQ_EMPTY(&service->group->entries))
        names_changed(hosts);
    if (service->group)
        group_changed(hosts, service->group);
    else
        namespace_changed(hosts, service->meta->namespace);
    HASH_DELETE(hh, hosts->services, service);
    uncount_service(hosts, service->meta->namespace);
    meta_unref(service->meta);
    json_decref(service->selector);
    mem_free(service->key);
    mem_free(service);
}

static void add_service(struct hosts *hosts, const char *key, const struct object *object,
                        const char *address)
{
    scoped(json) json_t *body = object_body_json(object);
    json_t *selector = json_object_get(json_object_get(body, "spec"), "selector");
    const char *job = json_string_value(json_object_get(selector, LABEL_JOB_NAME));
    struct service *service, **list;

    if (!json_object_size(selector))
        return;
    service = mem_alloc(sizeof *service);
    service->key = mem_strdup(key);
    service->meta = meta_ref(object->meta);
    service->selector = json_incref(selector);
    HASH_ADD_KEYPTR(hh, hosts->services, service->key, strlen(service->key), service);
    count_service(hosts, object_namespace(object));
    if (address)
        snprintf(service->address, sizeof service->address, "%s", address);
    else if (job) {
        scoped_str group_key = mem_printf("%s/%s", object_namespace(object), job);

        service->group = group_keyed(hosts, group_key);
    }
    list = list_of(hosts, service);
    service->next = *list;
    *list = service;
    if (service->group)
        group_changed(hosts, service->group);
    else
        namespace_changed(hosts, object_namespace(object));
}

void hosts_service(struct hosts *hosts, enum cluster_change change, const struct object *object,
                   const char *address)
{
    scoped_str key = mem_printf("%s/%s", object_namespace(object), object_name(object));
    struct service *known;

    HASH_FIND(hh, hosts->services, key, strlen(key), known);
    if (known)
        drop_service(hosts, known);
    if (change != CHANGE_DELETED)
        add_service(hosts, key, object, address);
}

struct hosts *hosts_new(struct loop *loop,
                        void (*changed)(void *ctx, struct host_entry *entry, const char *text),
                        void *ctx)
{
    struct hosts *hosts = mem_alloc(sizeof *hosts);

    hosts->loop = loop;
    hosts->changed = changed;
    hosts->ctx = ctx;
    hosts->send.run = send_dirty;
    hosts->refresh.fire = refresh;
    return hosts;
}

void hosts_free(struct hosts *hosts)
{
    struct service *service, *next_service;
    struct host_group *group, *next_group;

    if (!hosts)
        return;
    HASH_ITER(hh, hosts->services, service, next_service)
    drop_service(hosts, service);
    HASH_ITER(hh, hosts->groups, group, next_group)
    free_group(hosts, group);
    buf_release(&hosts->with_aliases);
    loop_cancel(hosts->loop, &hosts->send);
    timer_stop(hosts->loop, &hosts->refresh);
    mem_free(hosts);
}
